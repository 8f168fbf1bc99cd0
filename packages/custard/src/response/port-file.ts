/** Where programs that the user started himself look which port the engine of a state directory has now. */
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The file of a state directory. */
export function portFileOf(stateDirectory: string): string {
  return join(stateDirectory, "endpoint-port");
}

/** Says where the endpoint is; read whole or not at all. */
export async function writePort(file: string, port: number): Promise<void> {
  await writeFile(`${file}.new`, String(port), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** Says that there is no endpoint. */
export async function removePort(file: string): Promise<void> {
  await rm(file, { force: true });
}
