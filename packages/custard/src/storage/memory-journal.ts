import type { Json } from "@custard/provider/protocol";
import type { StackId } from "../engine/ids.ts";
import type { Change, ClaimedCommand, Journal, Loaded, StackSummary } from "../engine/ports.ts";
import { CommandQueue } from "./command-queue.ts";
import { parseStored } from "./stored-json.ts";
import { claimTaken, versionConflict } from "./storage-error.ts";

interface KeptStack {
  /** As text, so that what is read back is what any other journal would give. */
  readonly records: string[];
  snapshot?: { readonly version: number; readonly state: string };
  summary: StackSummary;
}

/** A journal that lasts as long as its process: for tests, simulation and embedders. */
export class MemoryJournal implements Journal {
  readonly #stacks = new Map<StackId, KeptStack>();
  readonly #claims = new Map<string, StackId>();
  readonly #queue = new CommandQueue();

  async load(stackId: StackId): Promise<Loaded> {
    const stack = this.#stacks.get(stackId);
    if (stack === undefined) return { version: 0, records: [] };
    const { records, snapshot } = stack;
    const tail = records.slice(snapshot?.version ?? 0).map(parseStored);
    if (snapshot === undefined) return { version: records.length, records: tail };
    const state = parseStored(snapshot.state);
    return { version: records.length, snapshot: { version: snapshot.version, state }, records: tail };
  }

  async records(stackId: StackId, after: number, limit: number): Promise<readonly Json[]> {
    const records = this.#stacks.get(stackId)?.records ?? [];
    return records.slice(after, after + limit).map(parseStored);
  }

  async append(change: Change): Promise<void> {
    const { stackId } = change;
    const records = this.#stacks.get(stackId)?.records ?? [];
    if (records.length !== change.expectedVersion) {
      throw versionConflict(stackId, change.expectedVersion, records.length);
    }
    this.#checkClaims(change);
    this.#applyClaims(change);
    this.#keep(change, records);
    this.#queue.remove(stackId, change.withdraw);
    this.#queue.put(stackId, structuredClone(change.commands));
  }

  async claimDue(now: number, limit: number, lease: number): Promise<readonly ClaimedCommand[]> {
    return this.#queue.claimDue(now, limit, lease);
  }

  async nextDue(): Promise<number | undefined> {
    return this.#queue.nextDue();
  }

  async confirm(stackId: StackId, key: string): Promise<void> {
    this.#queue.remove(stackId, [key]);
  }

  async holder(name: string): Promise<StackId | undefined> {
    return this.#claims.get(name);
  }

  async summaries(): Promise<readonly StackSummary[]> {
    return [...this.#stacks.values()].map((stack) => stack.summary);
  }

  async close(): Promise<void> {}

  #checkClaims({ stackId, claims }: Change): void {
    for (const { name, action } of claims) {
      const holder = this.#claims.get(name);
      if (action === "take" && holder !== undefined && holder !== stackId) throw claimTaken(name, holder);
    }
  }

  #applyClaims({ stackId, claims }: Change): void {
    for (const { name, action } of claims) {
      if (action === "take") this.#claims.set(name, stackId);
      else if (this.#claims.get(name) === stackId) this.#claims.delete(name);
    }
  }

  #keep(change: Change, before: string[]): void {
    const records = before;
    for (const record of change.records) records.push(JSON.stringify(record));
    const previous = this.#stacks.get(change.stackId)?.snapshot;
    const snapshot =
      change.snapshot === undefined
        ? previous
        : { version: records.length, state: JSON.stringify(change.snapshot) };
    const summary = { ...change.summary };
    this.#stacks.set(
      change.stackId,
      snapshot === undefined ? { records, summary } : { records, summary, snapshot },
    );
  }
}
