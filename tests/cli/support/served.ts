import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Running, startCustard } from "./custard.ts";

/** A `custard serve` that has said where it is. */
export interface Serving extends Running {
  readonly url: string;
  readonly pid: number;
}

/** Starts `custard serve` on a free port and waits until it serves. It is killed when the test ends before it. */
export async function startServing(
  folder: string,
  options: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<Serving> {
  const running = startCustard(folder, ["serve", "--port", "0", "--json", ...options], env);
  const ready = new Promise<string>((tell) => {
    let text = "";
    running.child.stdout?.on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("\n")) tell(text);
    });
  });
  const ended = running.ended.then((end): never => {
    throw new Error(`custard serve ended with ${end.code}: ${end.stderr}`);
  });
  // Who waits for its end asks `ended`.
  ended.catch(() => undefined);
  const { url, pid } = JSON.parse(await Promise.race([ready, ended])) as { url: string; pid: number };
  return { ...running, url, pid };
}

/** What a server has left for command lines in a state directory. */
export function addressIn(folder: string): { readonly port: number; readonly secret: string } {
  return JSON.parse(readFileSync(join(folder, ".custard/server.json"), "utf8")) as {
    port: number;
    secret: string;
  };
}
