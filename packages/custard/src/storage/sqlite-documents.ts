import type { Json } from "@custard/provider/protocol";
import type { Documents } from "../engine/ports.ts";
import { bytesOf, type Database, fromStoredName, textOf, toStoredName } from "./database.ts";
import type { GroupCommit } from "./group-commit.ts";
import { parseStored } from "./stored-json.ts";

/** Documents beside the journal, in the same database and as durable. */
export class SqliteDocuments implements Documents {
  readonly #database: Database;
  readonly #writes: GroupCommit;

  constructor(database: Database, writes: GroupCommit) {
    this.#database = database;
    this.#writes = writes;
  }

  async get(key: string): Promise<Json | undefined> {
    const row = this.#database.get("SELECT value FROM documents WHERE key = ?", toStoredName(key));
    return row === undefined ? undefined : parseStored(textOf(row, "value"));
  }

  put(key: string, value: Json): Promise<void> {
    const text = JSON.stringify(value);
    const sql = "INSERT OR REPLACE INTO documents (key, value) VALUES (?, ?)";
    return this.#writes.write(() => this.#database.run(sql, toStoredName(key), text));
  }

  delete(key: string): Promise<void> {
    return this.#writes.write(() =>
      this.#database.run("DELETE FROM documents WHERE key = ?", toStoredName(key)),
    );
  }

  async list(prefix: string): Promise<readonly { readonly key: string; readonly value: Json }[]> {
    const start = toStoredName(prefix);
    const found: { key: string; value: Json }[] = [];
    for (const row of this.#database.each(
      "SELECT key, value FROM documents WHERE key >= ? ORDER BY key",
      start,
    )) {
      const stored = textOf(row, "key");
      if (!stored.startsWith(start)) break;
      found.push({ key: fromStoredName(stored), value: parseStored(textOf(row, "value")) });
    }
    // SQLite compares bytes, we compare as JavaScript does.
    return found.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  async getBlob(key: string): Promise<Uint8Array | undefined> {
    const row = this.#database.get("SELECT bytes FROM blobs WHERE key = ?", toStoredName(key));
    return row === undefined ? undefined : bytesOf(row, "bytes");
  }

  putBlob(key: string, bytes: Uint8Array): Promise<void> {
    const copy = Uint8Array.from(bytes);
    const sql = "INSERT OR REPLACE INTO blobs (key, bytes) VALUES (?, ?)";
    return this.#writes.write(() => this.#database.run(sql, toStoredName(key), copy));
  }

  deleteBlob(key: string): Promise<void> {
    return this.#writes.write(() => this.#database.run("DELETE FROM blobs WHERE key = ?", toStoredName(key)));
  }
}
