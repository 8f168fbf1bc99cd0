/**
 * Which commands are due, and who has them. Every journal of one process keeps its open commands here; what makes
 * them durable is the journal's own affair.
 *
 * Invariants
 * Q1: a command is handed out at most once per lease; leases live and die with the process.
 * Q2: putting a command under a key in use replaces it, and ends its lease.
 * Q3: a command that was handed out before, by this process or another, says so.
 * Q4: what is due longest comes first; of two that are due at once, the one that was put first.
 */
import type { ClaimedCommand, StoredCommand } from "../engine/ports.ts";
import type { StackId } from "../engine/ids.ts";

interface Entry {
  command: ClaimedCommand;
  readonly sequence: number;
  /** Due time, or the end of the lease. */
  readyAt: number;
  /** False once it was removed or replaced: the heap drops it when it comes up. */
  live: boolean;
}

/** Open commands by due time. */
export class CommandQueue {
  readonly #byStack = new Map<StackId, Map<string, Entry>>();
  /** A binary heap by `readyAt`, then `sequence`. */
  readonly #heap: Entry[] = [];
  #sequence = 0;

  /** Takes what an earlier process has left. */
  takeOver(stackId: StackId, commands: readonly StoredCommand[]): void {
    this.#put(stackId, commands, { repeated: true });
  }

  put(stackId: StackId, commands: readonly StoredCommand[]): void {
    this.#put(stackId, commands, {});
  }

  #put(stackId: StackId, commands: readonly StoredCommand[], origin: { readonly repeated?: true }): void {
    for (const { key, dueAt, body } of commands) {
      this.remove(stackId, [key]);
      const entry: Entry = {
        command: { key, dueAt, body, stackId, ...origin },
        sequence: this.#sequence++,
        readyAt: dueAt,
        live: true,
      };
      this.#entriesOf(stackId).set(key, entry);
      this.#push(entry);
    }
  }

  remove(stackId: StackId, keys: readonly string[]): void {
    const entries = this.#byStack.get(stackId);
    if (entries === undefined) return;
    for (const key of keys) {
      const entry = entries.get(key);
      if (entry !== undefined) entry.live = false;
      entries.delete(key);
    }
    if (entries.size === 0) this.#byStack.delete(stackId);
  }

  claimDue(now: number, limit: number, lease: number): readonly ClaimedCommand[] {
    const claimed: Entry[] = [];
    while (claimed.length < limit) {
      const next = this.#peek();
      if (next === undefined || next.readyAt > now) break;
      this.#pop();
      claimed.push(next);
    }
    const commands = claimed.map(({ command }) => command);
    for (const entry of claimed) {
      entry.command = { ...entry.command, repeated: true };
      entry.readyAt = now + lease;
      this.#push(entry);
    }
    return commands;
  }

  nextDue(): number | undefined {
    return this.#peek()?.readyAt;
  }

  #entriesOf(stackId: StackId): Map<string, Entry> {
    const known = this.#byStack.get(stackId);
    if (known !== undefined) return known;
    const entries = new Map<string, Entry>();
    this.#byStack.set(stackId, entries);
    return entries;
  }

  #peek(): Entry | undefined {
    while (this.#heap[0]?.live === false) this.#pop();
    return this.#heap[0];
  }

  #push(entry: Entry): void {
    let child = this.#heap.push(entry) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!this.#swapIfLater(parent, child)) break;
      child = parent;
    }
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    let parent = 0;
    for (;;) {
      const left = 2 * parent + 1;
      const child = isBefore(this.#heap[left + 1], this.#heap[left]) ? left + 1 : left;
      if (!this.#swapIfLater(parent, child)) return;
      parent = child;
    }
  }

  #swapIfLater(parent: number, child: number): boolean {
    const above = this.#heap[parent];
    const below = this.#heap[child];
    if (above === undefined || below === undefined || !isBefore(below, above)) return false;
    this.#heap[parent] = below;
    this.#heap[child] = above;
    return true;
  }
}

function isBefore(a: Entry | undefined, b: Entry | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a.readyAt === b.readyAt ? a.sequence < b.sequence : a.readyAt < b.readyAt;
}
