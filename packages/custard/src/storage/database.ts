import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import Libsql from "libsql";
import type { Migrations } from "./migrations.ts";
import { ensurePrivateFile } from "./private-file.ts";
import { StorageError } from "./storage-error.ts";

/** How safe a commit is: `full` survives a power cut once `sync` is done, `normal` survives a killed process. */
export type Durability = "full" | "normal";

/** What can be bound to a statement. */
export type Bindable = string | number | Uint8Array | null;

/** A row as the driver gives it; `textOf` and its like read columns. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * The few things that we need of a SQLite driver, all synchronous. Every error leaves as a `StorageError`
 * (`Unavailable` or `Corrupt`). Another driver takes its place in this file alone.
 */
export class Database {
  readonly #driver: Libsql.Database;
  readonly #path: string;
  readonly #readOnly: boolean;
  readonly #durability: Durability;
  /** The log's own descriptor, to flush it by. No lock is on the log, so that it may be closed again. */
  #log: number | undefined;
  readonly #statements = new Map<string, Libsql.Statement>();

  /**
   * Opens the file, creating it (readable by its owner only) and migrating it as needed. With `readOnly` nothing is
   * created or changed, and another process may be writing: then a file of another version can't be opened.
   */
  constructor(
    path: string,
    options: {
      readonly durability: Durability;
      readonly migrations: Migrations;
      readonly readOnly?: boolean;
    },
  ) {
    this.#path = path;
    this.#readOnly = options.readOnly ?? false;
    this.#durability = options.durability;
    this.#driver = this.#attempt(() => {
      // SQLite gives -wal and -shm the mode of the database file: it must be right before they exist.
      if (!this.#readOnly) ensurePrivateFile(path);
      return new Libsql(path);
    });
    try {
      if (options.readOnly === true) this.#restrict(options.migrations);
      else {
        this.execute("PRAGMA journal_mode = WAL");
        // The log is flushed by `sync`: SQLite itself would keep the whole process waiting for the disk.
        this.execute("PRAGMA synchronous = normal");
        this.#migrate(options.migrations);
      }
    } catch (error) {
      this.#driver.close();
      throw error;
    }
  }

  get inTransaction(): boolean {
    return this.#driver.inTransaction;
  }

  /** Runs statements that return nothing. */
  execute(sql: string): void {
    this.#attempt(() => this.#driver.exec(sql));
  }

  run(sql: string, ...values: Bindable[]): void {
    this.#attempt(() => this.#statement(sql).run(values));
  }

  get(sql: string, ...values: Bindable[]): Row | undefined {
    return this.#attempt(() => toRow(this.#statement(sql).get(values)));
  }

  all(sql: string, ...values: Bindable[]): readonly Row[] {
    return this.#attempt(() => this.#statement(sql).all(values).map(toExistingRow));
  }

  /** Rows one after the other, for those who stop early. */
  *each(sql: string, ...values: Bindable[]): Generator<Row> {
    const rows = this.#attempt(() => this.#statement(sql).iterate(values));
    for (;;) {
      const next = this.#attempt(() => rows.next());
      if (next.done === true) return;
      yield toExistingRow(next.value);
    }
  }

  /** Makes durable what is committed, if that is wanted. The process goes on meanwhile. */
  async sync(): Promise<void> {
    if (this.#durability === "normal") return;
    const log = this.#attempt(() => this.#openLog());
    await new Promise<void>((resolve, reject) => {
      fdatasync(log, (error) => (error === null ? resolve() : reject(this.#asStorageError(error))));
    });
  }

  /** The same, while the process stands still. */
  syncNow(): void {
    if (this.#durability === "full") this.#attempt(() => fdatasyncSync(this.#openLog()));
  }

  /** Moves everything from the -wal file into the database and closes it. A reader only closes it. */
  close(): void {
    if (!this.#readOnly) this.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    this.#statements.clear();
    this.#driver.close();
    if (this.#log !== undefined) closeSync(this.#log);
    this.#log = undefined;
  }

  #openLog(): number {
    this.#log ??= openSync(`${this.#path}-wal`, "r+");
    return this.#log;
  }

  #statement(sql: string): Libsql.Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#driver.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #restrict(migrations: Migrations): void {
    this.execute("PRAGMA query_only = ON");
    const done = this.#version(migrations);
    if (done === migrations.length) return;
    const why =
      done === 0
        ? "holds nothing: it was emptied, or never finished"
        : "was written by an older version of Custard";
    throw new StorageError("Unavailable", `${this.#path} ${why}.`);
  }

  #version(migrations: Migrations): number {
    const done = integerOf(this.get("PRAGMA user_version"), "user_version");
    if (done <= migrations.length) return done;
    throw new StorageError("Unavailable", `${this.#path} was written by a newer version of Custard.`);
  }

  #migrate(migrations: Migrations): void {
    const done = this.#version(migrations);
    for (const [index, sql] of migrations.slice(done).entries()) {
      this.execute(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${done + index + 1}; COMMIT`);
    }
  }

  #attempt<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw this.#asStorageError(error);
    }
  }

  #asStorageError(error: unknown): StorageError {
    if (error instanceof StorageError) return error;
    const code = error instanceof Error ? String(Reflect.get(error, "code") ?? "") : "";
    const text = error instanceof Error ? error.message : String(error);
    if (code.startsWith("SQLITE_CORRUPT") || code.startsWith("SQLITE_NOTADB")) {
      return new StorageError("Corrupt", `${this.#path} is damaged: ${text}.`, { cause: error });
    }
    return new StorageError("Unavailable", `${this.#path}: ${text}.`, { cause: error });
  }
}

/** A text column. */
export function textOf(row: Row | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value !== "string") throw unexpected(column);
  return value;
}

/** An integer column. */
export function integerOf(row: Row | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value !== "number") throw unexpected(column);
  return value;
}

/** A blob column. */
export function bytesOf(row: Row | undefined, column: string): Uint8Array {
  const value = row?.[column];
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  throw unexpected(column);
}

/**
 * A name as it is stored. SQLite's text ends at a NUL character and can't hold half a surrogate pair, so those are
 * escaped, as in JSON. The escape of a name's beginning is the beginning of the name's escape.
 */
export function toStoredName(name: string): string {
  return JSON.stringify(name).slice(1, -1);
}

/** The inverse of `toStoredName`. */
export function fromStoredName(stored: string): string {
  return String(JSON.parse(`"${stored}"`));
}

function toRow(value: unknown): Row | undefined {
  return value === undefined ? undefined : toExistingRow(value);
}

function toExistingRow(value: unknown): Row {
  if (typeof value !== "object" || value === null)
    throw new Error("The SQLite driver gave a row that is no object.");
  return Object.fromEntries(Object.entries(value));
}

function unexpected(column: string): StorageError {
  return new StorageError(
    "Corrupt",
    `Column ${column} doesn't hold what it should: the state directory was damaged.`,
  );
}
