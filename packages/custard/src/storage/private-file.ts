import { chmodSync, closeSync, openSync } from "node:fs";

/**
 * Makes an empty file that only its owner can read, unless it exists. An existing one is not opened: closing any
 * descriptor of a file ends all POSIX locks that this process has on it, SQLite's too.
 */
export function ensurePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, "code") !== "EEXIST") throw error;
    chmodSync(path, 0o600);
  }
}
