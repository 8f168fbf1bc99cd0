import type { Json } from "@custard/provider/protocol";
import type { StackId } from "../../packages/custard/src/engine/ids.ts";
import type {
  Change,
  ClaimedCommand,
  Journal,
  Loaded,
  StackSummary,
} from "../../packages/custard/src/engine/ports.ts";
import { CommandQueue } from "../../packages/custard/src/storage/command-queue.ts";
import { MemoryJournal } from "../../packages/custard/src/storage/memory-journal.ts";

/**
 * What outlives a process: the journal's content. A confirmation becomes durable with the next append only, as in the
 * SQLite journal, so a crash may repeat commands.
 */
export class Disk {
  readonly journal: MemoryJournal = new MemoryJournal();
  readonly #open = new Map<string, ClaimedCommand>();
  readonly #confirmed = new Set<string>();

  get commands(): readonly ClaimedCommand[] {
    return [...this.#open.values()];
  }

  hasCommand(stackId: StackId, key: string): boolean {
    return this.#open.has(`${stackId} ${key}`);
  }

  async append(change: Change): Promise<void> {
    await this.journal.append(change);
    const { stackId } = change;
    this.write();
    for (const key of change.withdraw) this.#open.delete(`${stackId} ${key}`);
    for (const command of change.commands) {
      // A confirmation of the command that stood under this key before isn't one of this command.
      this.#open.set(`${stackId} ${command.key}`, { ...structuredClone(command), stackId });
    }
  }

  confirmLater(stackId: StackId, key: string): void {
    this.#confirmed.add(`${stackId} ${key}`);
  }

  /** What an append does on its way, or a little time alone. */
  write(): void {
    for (const name of this.#confirmed) this.#open.delete(name);
    this.#confirmed.clear();
  }

  /** What a crash does. */
  forgetUnwritten(): void {
    this.#confirmed.clear();
  }
}

/** How a process's journal may be interfered with. */
export interface Interference {
  /** Asked before and after each call's effect: does the process die here? */
  dies(): boolean;
  /** Told of each change that has become durable. */
  appended(change: Change): void;
}

/** The journal as one process sees it. Once the process is dead, no call has an effect or ends. */
export class ProcessJournal implements Journal {
  readonly #disk: Disk;
  readonly #interference: Interference;
  readonly #queue = new CommandQueue();
  #dead = false;

  constructor(disk: Disk, interference: Interference) {
    this.#disk = disk;
    this.#interference = interference;
    disk.forgetUnwritten();
    for (const command of disk.commands) this.#queue.takeOver(command.stackId, [command]);
  }

  get dead(): boolean {
    return this.#dead;
  }

  die(): void {
    this.#dead = true;
  }

  load(stackId: StackId): Promise<Loaded> {
    return this.#call(() => this.#disk.journal.load(stackId));
  }

  records(stackId: StackId, after: number, limit: number): Promise<readonly Json[]> {
    return this.#call(() => this.#disk.journal.records(stackId, after, limit));
  }

  append(change: Change): Promise<void> {
    return this.#call(async () => {
      await this.#disk.append(change);
      this.#queue.remove(change.stackId, change.withdraw);
      this.#queue.put(change.stackId, change.commands);
      this.#interference.appended(change);
    });
  }

  claimDue(now: number, limit: number, lease: number): Promise<readonly ClaimedCommand[]> {
    return this.#call(async () => this.#queue.claimDue(now, limit, lease));
  }

  async nextDue(): Promise<number | undefined> {
    return this.#dead ? new Promise(() => {}) : this.#queue.nextDue();
  }

  confirm(stackId: StackId, key: string): Promise<void> {
    return this.#call(async () => {
      this.#queue.remove(stackId, [key]);
      this.#disk.confirmLater(stackId, key);
    });
  }

  holder(name: string): Promise<StackId | undefined> {
    return this.#call(() => this.#disk.journal.holder(name));
  }

  summaries(): Promise<readonly StackSummary[]> {
    return this.#call(() => this.#disk.journal.summaries());
  }

  async close(): Promise<void> {}

  async #call<T>(effect: () => Promise<T>): Promise<T> {
    if (this.#dies()) return new Promise(() => {});
    const result = await effect();
    return this.#dies() ? new Promise(() => {}) : result;
  }

  #dies(): boolean {
    if (!this.#dead && this.#interference.dies()) this.#dead = true;
    return this.#dead;
  }
}
