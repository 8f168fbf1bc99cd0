import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Documents, Journal } from "../engine/ports.ts";
import { BufferedTraces, type TraceLog } from "../services/traces.ts";
import { Database } from "./database.ts";
import { DirectoryLock, isHeld } from "./directory-lock.ts";
import { GroupCommit } from "./group-commit.ts";
import { journalMigrations } from "./migrations.ts";
import { SqliteDocuments } from "./sqlite-documents.ts";
import { SqliteJournal } from "./sqlite-journal.ts";
import { SqliteTraceReader, SqliteTraceStore } from "./sqlite-traces.ts";
import { StorageError } from "./storage-error.ts";

/** What a state directory holds. */
export interface SqliteStorage {
  readonly journal: Journal;
  readonly documents: Documents;
  readonly traces: TraceLog;
  /** Writes what is waiting and gives the directory back. */
  close(): Promise<void>;
}

/**
 * Opens a state directory, making it when it isn't there. Its files hold secrets in clear and can be read by their
 * owner only. One process at a time, which calls itself `holder`: throws `StorageError` `Locked` with its pid; `Corrupt` when the
 * database is damaged; `Unavailable` when it can't be opened.
 */
export function openSqliteStorage(directory: string, holder?: string): SqliteStorage {
  makeDirectory(directory);
  const lock = new DirectoryLock(directory, holder);
  try {
    return openLocked(directory, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function openLocked(directory: string, lock: DirectoryLock): SqliteStorage {
  const database = new Database(join(directory, "custard.db"), {
    durability: "full",
    migrations: journalMigrations,
  });
  try {
    return useDatabase(database, { directory, lock });
  } catch (error) {
    database.close();
    throw error;
  }
}

function useDatabase(
  database: Database,
  held: { readonly directory: string; readonly lock: DirectoryLock },
): SqliteStorage {
  const writes = new GroupCommit(database);
  const traces = new BufferedTraces(new SqliteTraceStore(join(held.directory, "traces.db")));
  return {
    journal: new SqliteJournal(database, writes),
    documents: new SqliteDocuments(database, writes),
    traces,
    async close() {
      await traces.close();
      writes.close();
      database.close();
      held.lock.release();
    },
  };
}

/** What can be read of a state directory, also while another process is at work there. */
export interface SqliteReader {
  readonly journal: Journal;
  readonly documents: Documents;
  readonly traces: TraceLog;
  /** Does some process work here? */
  inUse(): boolean;
  close(): Promise<void>;
}

/**
 * Opens a state directory to look at it: nothing is written, and nobody is kept from writing. Undefined when nothing
 * was ever kept there. Throws `StorageError` `Corrupt` or `Unavailable`.
 */
export function readSqliteStorage(directory: string): SqliteReader | undefined {
  const file = join(directory, "custard.db");
  if (!isThere(file)) return undefined;
  const database = new Database(file, { durability: "full", migrations: journalMigrations, readOnly: true });
  const writes = new GroupCommit(database);
  const traces = new BufferedTraces(new SqliteTraceReader(join(directory, "traces.db")));
  return {
    journal: new SqliteJournal(database, writes),
    documents: new SqliteDocuments(database, writes),
    traces,
    inUse: () => isHeld(directory),
    async close() {
      await traces.close();
      database.close();
    },
  };
}

/** A directory that may not be looked into is not an empty one. */
function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    throw new StorageError("Unavailable", `The state directory can't be looked into${why}.`, { cause });
  }
}

function makeDirectory(directory: string): void {
  try {
    makeWithParents(directory);
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    throw new StorageError("Unavailable", `The state directory ${directory} can't be made${why}.`, { cause });
  }
}

/** Node.js's own recursive mkdir never ends where a file system answers that the parent is missing although it is there. */
function makeWithParents(directory: string): void {
  if (existsSync(directory)) return;
  const parent = dirname(directory);
  if (parent !== directory) makeWithParents(parent);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if (!existsSync(directory)) throw error;
  }
}
