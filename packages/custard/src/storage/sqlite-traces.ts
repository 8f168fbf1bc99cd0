import { existsSync } from "node:fs";
import type { RequestId, StackId } from "../engine/ids.ts";
import type { TraceEntry } from "../engine/ports.ts";
import type { TraceStore } from "../services/traces.ts";
import {
  type Bindable,
  Database,
  fromStoredName,
  integerOf,
  type Row,
  textOf,
  toStoredName,
} from "./database.ts";
import { traceMigrations } from "./migrations.ts";
import { StorageError } from "./storage-error.ts";

/** So many observations are kept; older ones go when the database is opened. */
const keptEntries = 200_000;

/**
 * Observations in a database of their own, opened at the first use. A killed process loses none that were added, a
 * power cut may lose the newest.
 */
export class SqliteTraceStore implements TraceStore {
  readonly #path: string;
  #opened: Database | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  add(entries: readonly TraceEntry[]): void {
    const database = this.#database();
    database.execute("BEGIN");
    try {
      for (const entry of entries) insert(database, entry);
      database.execute("COMMIT");
    } catch (error) {
      if (database.inTransaction) database.execute("ROLLBACK");
      throw error;
    }
  }

  ofRequest(requestId: RequestId): readonly TraceEntry[] {
    return entriesOfRequest(this.#database(), requestId);
  }

  ofStack(stackId: StackId, limit: number): readonly TraceEntry[] {
    return newestEntries(this.#database(), { column: "stack_id", value: stackId, limit });
  }

  ofFunction(functionName: string, limit: number): readonly TraceEntry[] {
    return newestEntries(this.#database(), { column: "function_name", value: functionName, limit });
  }

  close(): void {
    this.#opened?.close();
    this.#opened = undefined;
  }

  #database(): Database {
    this.#opened ??= open(this.#path);
    return this.#opened;
  }
}

/** The observations of a database that another process may be adding to. None while there is no such file. */
export class SqliteTraceReader implements TraceStore {
  readonly #path: string;
  #opened: Database | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  add(): void {
    throw new StorageError("Unavailable", `${this.#path} was opened to be read only.`);
  }

  ofRequest(requestId: RequestId): readonly TraceEntry[] {
    const database = this.#database();
    return database === undefined ? [] : entriesOfRequest(database, requestId);
  }

  ofStack(stackId: StackId, limit: number): readonly TraceEntry[] {
    const database = this.#database();
    return database === undefined
      ? []
      : newestEntries(database, { column: "stack_id", value: stackId, limit });
  }

  ofFunction(functionName: string, limit: number): readonly TraceEntry[] {
    const database = this.#database();
    return database === undefined
      ? []
      : newestEntries(database, { column: "function_name", value: functionName, limit });
  }

  close(): void {
    this.#opened?.close();
  }

  #database(): Database | undefined {
    if (this.#opened === undefined && existsSync(this.#path)) {
      const options = { durability: "normal", migrations: traceMigrations, readOnly: true } as const;
      this.#opened = new Database(this.#path, options);
    }
    return this.#opened;
  }
}

function entriesOfRequest(database: Database, requestId: RequestId): readonly TraceEntry[] {
  const sql = "SELECT * FROM traces WHERE request_id = ? ORDER BY number";
  return database.all(sql, toStoredName(requestId)).map(toEntry);
}

function newestEntries(
  database: Database,
  wanted: {
    readonly column: "stack_id" | "function_name";
    readonly value: string;
    readonly limit: number;
  },
): readonly TraceEntry[] {
  const sql = `SELECT * FROM traces WHERE ${wanted.column} = ? ORDER BY number DESC LIMIT ?`;
  return database.all(sql, toStoredName(wanted.value), wanted.limit).map(toEntry).toReversed();
}

function open(path: string): Database {
  const database = new Database(path, { durability: "normal", migrations: traceMigrations });
  database.run("DELETE FROM traces WHERE number <= (SELECT max(number) FROM traces) - ?", keptEntries);
  return database;
}

function insert(database: Database, entry: TraceEntry): void {
  const values: Bindable[] = [
    entry.at,
    toStoredName(entry.requestId),
    toStoredName(entry.stackId),
    entry.functionName === undefined ? null : toStoredName(entry.functionName),
    entry.kind,
    // A log line may hold anything, NUL characters too.
    toStoredName(entry.text),
  ];
  database.run(
    "INSERT INTO traces (at, request_id, stack_id, function_name, kind, text) VALUES (?, ?, ?, ?, ?, ?)",
    ...values,
  );
}

// The casts are the border at which stored text becomes ours again: nothing else writes this table.
function toEntry(row: Row): TraceEntry {
  const entry = {
    at: integerOf(row, "at"),
    requestId: fromStoredName(textOf(row, "request_id")) as RequestId,
    stackId: fromStoredName(textOf(row, "stack_id")) as StackId,
    kind: textOf(row, "kind") as TraceEntry["kind"],
    text: fromStoredName(textOf(row, "text")),
  };
  return row["function_name"] === null
    ? entry
    : { ...entry, functionName: fromStoredName(textOf(row, "function_name")) };
}
