/** Where the command line looks for the server that works on a state directory. */
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A running server, as it tells of itself in a file that only its owner can read. */
export interface ServerAddress {
  readonly pid: number;
  /** On 127.0.0.1. */
  readonly port: number;
  /** Who knows it may ask for anything; another one in every run. */
  readonly secret: string;
  /** Of Custard: another one may speak otherwise. */
  readonly version: string;
}

function fileOf(stateDirectory: string): string {
  return join(stateDirectory, "server.json");
}

/** Says where the server is; read whole or not at all. */
export async function writeAddress(stateDirectory: string, address: ServerAddress): Promise<void> {
  const file = fileOf(stateDirectory);
  await rm(`${file}.new`, { force: true });
  await writeFile(`${file}.new`, `${JSON.stringify(address)}\n`, { mode: 0o600, flag: "wx" });
  await rename(`${file}.new`, file);
}

/** Says that there is no server. */
export async function removeAddress(stateDirectory: string): Promise<void> {
  await rm(fileOf(stateDirectory), { force: true });
}

/** What the last server said that hasn't taken its leave: it may be dead. Undefined when there is none. */
export async function readAddress(stateDirectory: string): Promise<ServerAddress | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(fileOf(stateDirectory), "utf8"));
    return isAddress(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isAddress(value: unknown): value is ServerAddress {
  if (typeof value !== "object" || value === null) return false;
  const { pid, port, secret, version }: Partial<Record<keyof ServerAddress, unknown>> = value;
  return (
    typeof pid === "number" &&
    typeof port === "number" &&
    typeof secret === "string" &&
    typeof version === "string"
  );
}
