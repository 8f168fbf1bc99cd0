/**
 * One stack in memory: its events are decided on one after another, and what they lead to becomes durable before
 * anybody hears of it.
 *
 * H1: the stack held here is the fold of what the journal holds.
 * H2: events that wait together are decided one by one and appended together; a refused one refuses only its caller.
 * H3: when the journal refuses a change nothing has happened, and everybody who waited for it is told.
 */
import { apply } from "./apply.ts";
import { commandKey, type Command } from "./command.ts";
import { decide } from "./decide.ts";
import type { Decision, Knowledge } from "./draft.ts";
import type { StackOccurrence } from "./event.ts";
import type { StackId } from "./ids.ts";
import type { Change, Journal, StackSummary } from "./ports.ts";
import { decodeRecord, decodeStack, encodeRecord, encodeStack, type KnownTemplates } from "./state-codec.ts";
import type { Stack } from "./stack.ts";

/** So many records may have to be folded when a stack is loaded. */
const recordsBetweenSnapshots = 500;

interface Waiting {
  readonly event: StackOccurrence;
  readonly resolve: (stack: Stack | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Where a host keeps its stack, and what it tells of it. */
export interface HostContext {
  readonly journal: Journal;
  readonly knowledge: Knowledge;
  /** Called after each durable change. */
  changed(stackId: StackId): void;
}

/** See above. */
export class StackHost {
  readonly #stackId: StackId;
  readonly #context: HostContext;
  #stack: Stack | undefined;
  #snapshotVersion = 0;
  #loaded: Promise<void> | undefined;
  #waiting: Waiting[] = [];
  #busy = false;

  constructor(stackId: StackId, context: HostContext) {
    this.#stackId = stackId;
    this.#context = context;
  }

  /** Is nothing waiting or running here? */
  get idle(): boolean {
    return !this.#busy && this.#waiting.length === 0;
  }

  /** The stack as it stands durably; undefined when there is none. */
  async stack(): Promise<Stack | undefined> {
    await this.#load();
    return this.#stack;
  }

  /** Decides on an event. Resolves with the stack after it, once it is durable. Throws `StackError` when refused. */
  handle(event: StackOccurrence): Promise<Stack | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ event, resolve, reject });
      if (!this.#busy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#loadAndTake(batch);
    }
    this.#busy = false;
  }

  async #loadAndTake(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#load();
      await this.#take(batch);
    } catch (error) {
      // H3; the journal is asked again before the next event.
      this.#loaded = undefined;
      for (const { reject } of batch) reject(error);
    }
  }

  /** A claim that another stack turns out to hold is a fact to decide on; so everything is decided anew. */
  async #take(batch: readonly Waiting[]): Promise<void> {
    const holders = new Map<string, StackId>();
    for (;;) {
      const decided = this.#decideAll(batch, holders);
      const claim = await this.#append(decided.decisions).then(() => undefined, takenClaim);
      if (claim === undefined) return this.#answer(decided);
      const holder = await this.#context.journal.holder(claim);
      if (holder !== undefined) holders.set(claim, holder);
    }
  }

  #decideAll(batch: readonly Waiting[], holders: ReadonlyMap<string, StackId>): Decided {
    const { knowledge } = this.#context;
    const known: Knowledge = {
      facts: (type) => knowledge.facts(type),
      holder: (claim) => holders.get(claim),
    };
    const decided: Decided = { decisions: [], accepted: [], refused: [] };
    let stack = this.#stack;
    for (const waiting of batch) {
      try {
        const decision = decide(stack, waiting.event, known);
        stack = decision.stack;
        decided.decisions.push(decision);
        decided.accepted.push(waiting);
      } catch (error) {
        decided.refused.push({ waiting, error });
      }
    }
    return decided;
  }

  #answer({ accepted, refused }: Decided): void {
    for (const { waiting, error } of refused) waiting.reject(error);
    for (const { resolve } of accepted) resolve(this.#stack);
  }

  async #append(decisions: readonly Decision[]): Promise<void> {
    const stack = decisions.at(-1)?.stack;
    const records = decisions.flatMap((decision) => decision.records);
    const orders = commandsOf(decisions);
    // A decision may command without a record: that another stack be told something.
    const nothing = records.length === 0 && orders.commands.length === 0 && orders.withdraw.length === 0;
    if (stack === undefined || nothing) return;
    const due = stack.version - this.#snapshotVersion >= recordsBetweenSnapshots;
    await this.#context.journal.append({
      stackId: this.#stackId,
      expectedVersion: stack.version - records.length,
      records: records.map(encodeRecord),
      ...orders,
      claims: decisions.flatMap((decision) => decision.claims),
      summary: summarise(stack),
      ...(due ? { snapshot: encodeStack(stack) } : {}),
    });
    if (due) this.#snapshotVersion = stack.version;
    this.#stack = stack;
    this.#context.changed(this.#stackId);
  }

  #load(): Promise<void> {
    this.#loaded ??= this.#read();
    return this.#loaded;
  }

  async #read(): Promise<void> {
    const { snapshot, records } = await this.#context.journal.load(this.#stackId);
    const templates: KnownTemplates = new Map();
    let stack = snapshot === undefined ? undefined : decodeStack(snapshot.state, templates);
    for (const record of records) stack = apply(stack, decodeRecord(record, stack?.identity, templates));
    this.#snapshotVersion = snapshot?.version ?? 0;
    this.#stack = stack;
  }
}

/** What was decided on a batch of events, before anybody hears of it. */
interface Decided {
  readonly decisions: Decision[];
  readonly accepted: Waiting[];
  readonly refused: { readonly waiting: Waiting; readonly error: unknown }[];
}

/** The claim that another stack holds. Other errors are thrown. The journal's own error is told by its members. */
function takenClaim(error: unknown): string {
  const taken = error instanceof Error && "code" in error && error.code === "ClaimTaken" && "claim" in error;
  if (taken && typeof error.claim === "string") return error.claim;
  throw error;
}

/** A command that a later decision of the same change has withdrawn never leaves. */
function commandsOf(decisions: readonly Decision[]): Pick<Change, "commands" | "withdraw"> {
  const commands = new Map<string, Command>();
  const withdraw = new Set<string>();
  for (const decision of decisions) {
    for (const key of decision.withdraw) if (!commands.delete(key)) withdraw.add(key);
    for (const command of decision.commands) commands.set(commandKey(command), command);
  }
  return {
    commands: [...commands].map(([key, { dueAt, ...body }]) => ({ key, dueAt, body })),
    withdraw: [...withdraw],
  };
}

function summarise(stack: Stack): StackSummary {
  const { stackId, stackName, account, region } = stack.identity;
  return {
    stackId,
    stackName,
    account,
    region,
    status: stack.status,
    createdAt: stack.createdAt,
    ...(stack.deletedAt === undefined ? {} : { deletedAt: stack.deletedAt }),
  };
}
