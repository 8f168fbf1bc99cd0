/**
 * Puts writes that arrive together into one transaction, so that they share one flush to the disk. The process goes on
 * while the disk is busy, and what arrives meanwhile makes the next transaction.
 *
 * Invariants
 * G1: a write's promise resolves only when it is durable; when it rejects, nothing of that write was kept.
 * G2: writes are performed in the order in which they arrived, each within its own savepoint.
 * G3: after a flush that failed half-way, nobody can tell what is on the disk; all later writes are refused.
 * G4: what is committed can be read a little before it is durable. Whatever is written because of it is durable later.
 */
import type { Database } from "./database.ts";
import { StorageError } from "./storage-error.ts";

/** Milliseconds that a write without hurry waits for company. */
const patience = 100;

interface Write {
  perform(): void;
  /** Called when it is durable, or with what went wrong. */
  settle(error?: StorageError): void;
}

/** Writes that were committed together and whose flush is under way. */
interface Group {
  readonly writes: readonly Write[];
  readonly outcomes: readonly (StorageError | undefined)[];
}

/** Serves everyone who writes to one database. */
export class GroupCommit {
  readonly #database: Database;
  #queue: Write[] = [];
  #flushing: Group | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #refusal: StorageError | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Performs a write together with all others of this turn of the event loop. `done` runs as soon as it is durable. */
  write(perform: () => void, done: () => void = () => {}): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({
        perform,
        settle(error) {
          if (error !== undefined) return reject(error);
          done();
          resolve();
        },
      });
      this.#hurry();
    });
  }

  /** Performs a write together with the next one, or a little later. It may be lost when the process dies. */
  writeLater(perform: () => void): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    this.#queue.push({ perform, settle() {} });
    this.#timer ??= setTimeout(() => this.#hurry(), patience).unref();
  }

  /** Makes what is waiting durable, now: the process stands still until the disk has it. */
  flush(): void {
    this.#finish(this.#syncNow());
    this.#commit();
    this.#finish(this.#syncNow());
  }

  /** Performs what is waiting and refuses all that comes later. */
  close(): void {
    this.flush();
    this.#refusal ??= new StorageError("Unavailable", "The state directory was closed.");
  }

  /** What is flushed now takes along nothing more; the next group begins when it is done. */
  #hurry(): void {
    if (this.#flushing === undefined) this.#immediate ??= setImmediate(() => this.#commitAndSync());
  }

  #commitAndSync(): void {
    const group = this.#commit();
    if (group === undefined) return;
    if (group.outcomes.every((outcome) => outcome !== undefined)) return this.#synced(group);
    this.#database.sync().then(
      () => this.#synced(group),
      (error: unknown) => this.#synced(group, toStorageError(error)),
    );
  }

  /** Somebody in a greater hurry may have flushed it already. */
  #synced(group: Group, failure?: StorageError): void {
    if (this.#flushing !== group) return;
    this.#finish(failure);
    if (this.#queue.length > 0) this.#hurry();
  }

  #syncNow(): StorageError | undefined {
    if (this.#flushing === undefined) return undefined;
    try {
      this.#database.syncNow();
      return undefined;
    } catch (error) {
      return toStorageError(error);
    }
  }

  #finish(failure: StorageError | undefined): void {
    const group = this.#flushing;
    this.#flushing = undefined;
    if (failure !== undefined) this.#refusal = failure;
    if (group !== undefined)
      for (const [index, write] of group.writes.entries()) write.settle(group.outcomes[index] ?? failure);
  }

  #commit(): Group | undefined {
    clearImmediate(this.#immediate);
    clearTimeout(this.#timer);
    this.#immediate = undefined;
    this.#timer = undefined;
    const writes = this.#queue;
    this.#queue = [];
    if (writes.length === 0) return undefined;
    this.#flushing = { writes, outcomes: this.#attempt(writes) };
    return this.#flushing;
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
