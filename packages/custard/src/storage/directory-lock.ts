import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import { ensurePrivateFile } from "./private-file.ts";
import { type LockHolder, StorageError } from "./storage-error.ts";

/**
 * Keeps a directory to one process. The lock is SQLite's own on an empty database, so the operating system ends it
 * together with the process, however that dies; the text file beside it only says who holds it.
 */
export class DirectoryLock {
  readonly #lock: Libsql.Database;
  readonly #ownerFile: string;

  /** Throws `StorageError` `Locked`, naming the holder, when another process (or this one) has the directory. */
  constructor(directory: string, command?: string) {
    this.#ownerFile = join(directory, "custard.pid");
    const file = join(directory, "custard.lock");
    this.#lock = openFile(file);
    try {
      this.#lock.exec("BEGIN EXCLUSIVE");
    } catch (cause) {
      this.#lock.close();
      if (!isBusy(cause)) throw unusable(file, cause);
      const holder = readHolder(this.#ownerFile);
      throw new StorageError("Locked", `${directory} is in use by ${nameOf(holder)}.`, {
        cause,
        ...(holder === undefined ? {} : { holder }),
      });
    }
    writeFileSync(this.#ownerFile, `${[process.pid, command ?? ""].join(" ").trim()}\n`, { mode: 0o600 });
  }

  release(): void {
    rmSync(this.#ownerFile, { force: true });
    this.#lock.exec("ROLLBACK");
    this.#lock.close();
  }
}

/** `PID COMMAND`, as the holder has written it. */
function readHolder(file: string): LockHolder | undefined {
  try {
    const [, pid, command = ""] = /^(\d+) ?(.*)$/m.exec(readFileSync(file, "utf8")) ?? [];
    if (pid === undefined) return undefined;
    return { pid: Number(pid), ...(command === "" ? {} : { command }) };
  } catch {
    return undefined;
  }
}

function nameOf(holder: LockHolder | undefined): string {
  if (holder === undefined) return "another process";
  const { pid, command } = holder;
  if (pid === process.pid) return "this process already";
  return command === undefined ? `process ${pid}` : `process ${pid} (${command})`;
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
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  return new StorageError(
    "Unavailable",
    `The state directory can't be used: ${file} can't be opened${why}.`,
    { cause },
  );
}
