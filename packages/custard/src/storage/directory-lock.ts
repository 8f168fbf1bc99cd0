import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import { ensurePrivateFile } from "./private-file.ts";
import { StorageError } from "./storage-error.ts";

/**
 * Keeps a directory to one process. The lock is SQLite's own on an empty database, so the operating system ends it
 * together with the process, however that dies; the text file beside it only says who holds it.
 */
export class DirectoryLock {
  readonly #lock: Libsql.Database;
  readonly #ownerFile: string;

  /** Throws `StorageError` `Locked`, naming the holder, when another process (or this one) has the directory. */
  constructor(directory: string) {
    this.#ownerFile = join(directory, "custard.pid");
    const file = join(directory, "custard.lock");
    this.#lock = openFile(file);
    try {
      this.#lock.exec("BEGIN EXCLUSIVE");
    } catch (cause) {
      this.#lock.close();
      if (!isBusy(cause)) throw unusable(file, cause);
      throw new StorageError("Locked", `${directory} is in use by ${this.#owner()}.`, { cause });
    }
    writeFileSync(this.#ownerFile, `${process.pid}\n`, { mode: 0o600 });
  }

  release(): void {
    rmSync(this.#ownerFile, { force: true });
    this.#lock.exec("ROLLBACK");
    this.#lock.close();
  }

  #owner(): string {
    try {
      const pid = readFileSync(this.#ownerFile, "utf8").trim();
      return pid === String(process.pid) ? "this process already" : `process ${pid}`;
    } catch {
      return "another process";
    }
  }
}

/** Does a living process say that it holds the directory? A look, without touching the lock. */
export function isHeld(directory: string): boolean {
  try {
    process.kill(Number.parseInt(readFileSync(join(directory, "custard.pid"), "utf8"), 10), 0);
    return true;
  } catch (error) {
    return error instanceof Error && Reflect.get(error, "code") === "EPERM";
  }
}

function openFile(file: string): Libsql.Database {
  try {
    ensurePrivateFile(file);
    return new Libsql(file);
  } catch (cause) {
    throw unusable(file, cause);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, "code") === "SQLITE_BUSY";
}

function unusable(file: string, cause: unknown): StorageError {
  return new StorageError("Unavailable", `The state directory can't be used: ${file} can't be opened.`, {
    cause,
  });
}
