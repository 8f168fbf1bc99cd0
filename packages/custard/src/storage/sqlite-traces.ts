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
    const sql = "SELECT * FROM traces WHERE request_id = ? ORDER BY number";
    return this.#database().all(sql, toStoredName(requestId)).map(toEntry);
  }

  ofStack(stackId: StackId, limit: number): readonly TraceEntry[] {
    return this.#newest("stack_id", stackId, limit);
  }

  ofFunction(functionName: string, limit: number): readonly TraceEntry[] {
    return this.#newest("function_name", functionName, limit);
  }

  close(): void {
    this.#opened?.close();
    this.#opened = undefined;
  }

  #newest(column: "stack_id" | "function_name", value: string, limit: number): readonly TraceEntry[] {
    const sql = `SELECT * FROM traces WHERE ${column} = ? ORDER BY number DESC LIMIT ?`;
    return this.#database().all(sql, toStoredName(value), limit).map(toEntry).toReversed();
  }

  #database(): Database {
    this.#opened ??= open(this.#path);
    return this.#opened;
  }
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
