import type { Json } from "@custard/provider/protocol";
import type { StackId } from "../engine/ids.ts";
import type {
  Change,
  Claim,
  ClaimedCommand,
  Journal,
  Loaded,
  StackSummary,
  StoredCommand,
} from "../engine/ports.ts";
import { CommandQueue } from "./command-queue.ts";
import { type Database, fromStoredName, integerOf, type Row, textOf, toStoredName } from "./database.ts";
import type { GroupCommit } from "./group-commit.ts";
import { parseStored } from "./stored-json.ts";
import { claimTaken, StorageError, versionConflict } from "./storage-error.ts";

/**
 * A journal in a SQLite database that no other process uses. Open commands are mirrored in memory, so leases end
 * with the process. A confirmation is written with the next append, or a little later; a crash before that repeats
 * the command, which the runner must stand anyway.
 */
export class SqliteJournal implements Journal {
  readonly #database: Database;
  readonly #writes: GroupCommit;
  readonly #queue = new CommandQueue();

  constructor(database: Database, writes: GroupCommit) {
    this.#database = database;
    this.#writes = writes;
    for (const row of database.all("SELECT stack_id, key, due_at, body FROM commands ORDER BY number")) {
      this.#queue.takeOver(stackIdOf(row), [toCommand(row)]);
    }
  }

  async load(stackId: StackId): Promise<Loaded> {
    const stack = this.#find(stackId);
    if (stack === undefined) return { version: 0, records: [] };
    const snapshot = this.#snapshotOf(stack.number);
    const records = this.#recordsOf(stack.number, snapshot?.version ?? 0, stack.version);
    return snapshot === undefined
      ? { version: stack.version, records }
      : { version: stack.version, snapshot, records };
  }

  async records(stackId: StackId, after: number, limit: number): Promise<readonly Json[]> {
    const stack = this.#find(stackId);
    return stack === undefined ? [] : this.#recordsOf(stack.number, after, limit);
  }

  append(change: Change): Promise<void> {
    // Encoded now: the caller may change its objects while the write waits for its turn.
    const encoded = encode(change);
    const { stackId, withdraw } = change;
    const commands = structuredClone(change.commands);
    return this.#writes.write(
      () => this.#write(encoded),
      () => {
        this.#queue.remove(stackId, withdraw);
        this.#queue.put(stackId, commands);
      },
    );
  }

  async claimDue(now: number, limit: number, lease: number): Promise<readonly ClaimedCommand[]> {
    return this.#queue.claimDue(now, limit, lease);
  }

  async nextDue(): Promise<number | undefined> {
    return this.#queue.nextDue();
  }

  async confirm(stackId: StackId, key: string): Promise<void> {
    this.#writes.writeLater(() => this.#deleteCommand(toStoredName(stackId), toStoredName(key)));
    this.#queue.remove(stackId, [key]);
  }

  async holder(name: string): Promise<StackId | undefined> {
    const row = this.#claimOf(toStoredName(name));
    return row === undefined ? undefined : stackIdOf(row);
  }

  async summaries(): Promise<readonly StackSummary[]> {
    return this.#database
      .all("SELECT summary FROM stacks ORDER BY number")
      .map((row) => toSummary(textOf(row, "summary")));
  }

  /** Writes what is still waiting. The database stays open for its other users. */
  async close(): Promise<void> {
    this.#writes.flush();
  }

  #find(stackId: StackId): { readonly number: number; readonly version: number } | undefined {
    const row = this.#database.get(
      "SELECT number, version FROM stacks WHERE stack_id = ?",
      toStoredName(stackId),
    );
    return row === undefined
      ? undefined
      : { number: integerOf(row, "number"), version: integerOf(row, "version") };
  }

  #snapshotOf(stack: number): { readonly version: number; readonly state: Json } | undefined {
    const row = this.#database.get("SELECT version, state FROM snapshots WHERE stack = ?", stack);
    if (row === undefined) return undefined;
    return { version: integerOf(row, "version"), state: parseStored(textOf(row, "state")) };
  }

  #recordsOf(stack: number, after: number, limit: number): readonly Json[] {
    return this.#database
      .all(
        "SELECT body FROM records WHERE stack = ? AND number > ? ORDER BY number LIMIT ?",
        stack,
        after,
        limit,
      )
      .map((row) => parseStored(textOf(row, "body")));
  }

  #write(change: EncodedChange): void {
    const number = this.#writeStack(change);
    for (const claim of change.claims) this.#writeClaim(change.stackId, claim);
    for (const [index, body] of change.records.entries()) {
      const position = change.expectedVersion + index + 1;
      this.#database.run(
        "INSERT INTO records (stack, number, body) VALUES (?, ?, ?)",
        number,
        position,
        body,
      );
    }
    if (change.snapshot !== undefined) {
      const sql = "INSERT OR REPLACE INTO snapshots (stack, version, state) VALUES (?, ?, ?)";
      this.#database.run(sql, number, change.version, change.snapshot);
    }
    for (const key of change.withdraw) this.#deleteCommand(change.stackId, key);
    for (const { key, dueAt, body } of change.commands) {
      const sql = "INSERT OR REPLACE INTO commands (stack_id, key, due_at, body) VALUES (?, ?, ?, ?)";
      this.#database.run(sql, change.stackId, key, dueAt, body);
    }
  }

  #writeStack(change: EncodedChange): number {
    const row = this.#database.get("SELECT number, version FROM stacks WHERE stack_id = ?", change.stackId);
    const version = row === undefined ? 0 : integerOf(row, "version");
    if (version !== change.expectedVersion) {
      throw versionConflict(fromStoredName(change.stackId), change.expectedVersion, version);
    }
    const sql =
      row === undefined
        ? "INSERT INTO stacks (version, summary, stack_id) VALUES (?, ?, ?) RETURNING number"
        : "UPDATE stacks SET version = ?, summary = ? WHERE stack_id = ? RETURNING number";
    return integerOf(this.#database.get(sql, change.version, change.summary, change.stackId), "number");
  }

  #writeClaim(stackId: string, { name, action }: Claim): void {
    if (action === "release") {
      this.#database.run("DELETE FROM claims WHERE name = ? AND stack_id = ?", name, stackId);
      return;
    }
    const row = this.#claimOf(name);
    if (row === undefined)
      this.#database.run("INSERT INTO claims (name, stack_id) VALUES (?, ?)", name, stackId);
    else if (textOf(row, "stack_id") !== stackId) throw claimTaken(fromStoredName(name), stackIdOf(row));
  }

  #claimOf(name: string): Row | undefined {
    return this.#database.get("SELECT stack_id FROM claims WHERE name = ?", name);
  }

  #deleteCommand(stackId: string, key: string): void {
    this.#database.run("DELETE FROM commands WHERE stack_id = ? AND key = ?", stackId, key);
  }
}

/** A change as it is stored: names escaped, JSON as text. */
interface EncodedChange {
  readonly stackId: string;
  readonly expectedVersion: number;
  readonly version: number;
  readonly records: readonly string[];
  readonly commands: readonly { readonly key: string; readonly dueAt: number; readonly body: string }[];
  readonly withdraw: readonly string[];
  readonly claims: readonly Claim[];
  readonly summary: string;
  readonly snapshot: string | undefined;
}

function encode(change: Change): EncodedChange {
  return {
    stackId: toStoredName(change.stackId),
    expectedVersion: change.expectedVersion,
    version: change.expectedVersion + change.records.length,
    records: change.records.map((record) => JSON.stringify(record)),
    commands: change.commands.map(({ key, dueAt, body }) => ({
      key: toStoredName(key),
      dueAt,
      body: JSON.stringify(body),
    })),
    withdraw: change.withdraw.map(toStoredName),
    claims: change.claims.map(({ name, action }) => ({ name: toStoredName(name), action })),
    summary: JSON.stringify(change.summary),
    snapshot: change.snapshot === undefined ? undefined : JSON.stringify(change.snapshot),
  };
}

function toCommand(row: Row): StoredCommand {
  return {
    key: fromStoredName(textOf(row, "key")),
    dueAt: integerOf(row, "due_at"),
    body: parseStored(textOf(row, "body")),
  };
}

// The two casts below are the border at which stored text becomes ours again: nothing else writes these columns.

function stackIdOf(row: Row): StackId {
  return fromStoredName(textOf(row, "stack_id")) as StackId;
}

function toSummary(text: string): StackSummary {
  const value = parseStored(text);
  if (typeof value !== "object" || value === null)
    throw new StorageError("Corrupt", "A stack's summary is no object.");
  return value as unknown as StackSummary;
}
