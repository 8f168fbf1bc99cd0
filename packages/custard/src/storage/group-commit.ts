/**
 * Puts writes that arrive together into one transaction, so that they share one flush to the disk.
 *
 * Invariants
 * G1: a write's promise resolves only when it is durable; when it rejects, nothing of that write was kept.
 * G2: writes are performed in the order in which they arrived, each within its own savepoint.
 * G3: after a flush that failed half-way, nobody can tell what is on the disk; all later writes are refused.
 */
import type { Database } from "./database.ts";
import { StorageError } from "./storage-error.ts";

/** Milliseconds that a write without hurry waits for company. */
const patience = 100;

interface Write {
  perform(): void;
  /** Called after the commit, or with what went wrong. */
  settle(error?: StorageError): void;
}

/** Serves everyone who writes to one database. */
export class GroupCommit {
  readonly #database: Database;
  #queue: Write[] = [];
  #immediate: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #refusal: StorageError | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Performs a write together with all others of this turn of the event loop. `done` runs right after the commit. */
  write(perform: () => void, done: () => void = () => {}): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#enqueue({
        perform,
        settle(error) {
          if (error !== undefined) return reject(error);
          done();
          resolve();
        },
      });
      this.#immediate ??= setImmediate(() => this.flush());
    });
  }

  /** Performs a write together with the next one, or a little later. It may be lost when the process dies. */
  writeLater(perform: () => void): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    this.#enqueue({ perform, settle() {} });
    this.#timer ??= setTimeout(() => this.flush(), patience).unref();
  }

  /** Performs what is waiting, now. */
  flush(): void {
    clearImmediate(this.#immediate);
    clearTimeout(this.#timer);
    this.#immediate = undefined;
    this.#timer = undefined;
    const writes = this.#queue;
    this.#queue = [];
    if (writes.length > 0) this.#commit(writes);
  }

  /** Performs what is waiting and refuses all that comes later. */
  close(): void {
    this.flush();
    this.#refusal ??= new StorageError("Unavailable", "The state directory was closed.");
  }

  #enqueue(write: Write): void {
    this.#queue.push(write);
  }

  #commit(writes: readonly Write[]): void {
    const outcomes = this.#attempt(writes);
    for (const [index, write] of writes.entries()) write.settle(outcomes[index]);
  }

  #attempt(writes: readonly Write[]): readonly (StorageError | undefined)[] {
    if (this.#refusal !== undefined) return writes.map(() => this.#refusal);
    try {
      this.#database.execute("BEGIN IMMEDIATE");
      const outcomes = writes.map((write) => this.#performOne(write));
      this.#database.execute("COMMIT");
      return outcomes;
    } catch (error) {
      const reason = toStorageError(error);
      this.#abandon(reason);
      return writes.map(() => reason);
    }
  }

  #performOne(write: Write): StorageError | undefined {
    this.#database.execute("SAVEPOINT one");
    try {
      write.perform();
      this.#database.execute("RELEASE one");
      return undefined;
    } catch (error) {
      // A full disk may have ended the whole transaction: then this throws too, and the group fails.
      this.#database.execute("ROLLBACK TO one; RELEASE one");
      return toStorageError(error);
    }
  }

  #abandon(reason: StorageError): void {
    try {
      if (this.#database.inTransaction) this.#database.execute("ROLLBACK");
    } catch (cause) {
      this.#refusal = new StorageError("Unavailable", reason.message, { cause });
    }
    if (isFailedFlush(reason)) this.#refusal = reason;
  }
}

function isFailedFlush(reason: StorageError): boolean {
  const { cause } = reason;
  return cause instanceof Error && String(Reflect.get(cause, "code")).startsWith("SQLITE_IOERR");
}

function toStorageError(error: unknown): StorageError {
  if (error instanceof StorageError) return error;
  throw error;
}
