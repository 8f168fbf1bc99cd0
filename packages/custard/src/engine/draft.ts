import { apply } from "./apply.ts";
import { commandKey, commandKeysOf, creationTimeoutKey, type Command } from "./command.ts";
import type { LogicalId, RequestId, StackId } from "./ids.ts";
import type { Claim, TypeFacts } from "./ports.ts";
import type { Ending, Happening, Shown, StackRecord } from "./record.ts";
import type { Former, Resource, Slot } from "./resource.ts";
import type { Operation, Pending, Stack } from "./stack.ts";
import type { StackStatus } from "./stack-status.ts";
import { makeChangeSetId, makePhysicalId, makeRequestId, makeStackId } from "./unique-id.ts";

/** What a decision may know beside the stack: pure data about resource types. */
export interface Knowledge {
  facts(type: string): TypeFacts | undefined;
  /** Which other stack is known to hold a claim; asked for before one is taken. */
  holder?(claim: string): StackId | undefined;
}

/** What one event leads to. */
export interface Decision {
  readonly stack: Stack;
  readonly records: readonly StackRecord[];
  readonly commands: readonly Command[];
  /** Keys of commands whose request has ended. */
  readonly withdraw: readonly string[];
  readonly claims: readonly Claim[];
}

/**
 * A decision in the making: every record is applied at once, so what follows sees its effect.
 * It lives for one event; nothing outside sees it change.
 */
export class Draft {
  readonly at: number;
  readonly knowledge: Knowledge;
  readonly #records: StackRecord[] = [];
  readonly #commands = new Map<string, Command>();
  readonly #withdraw: string[] = [];
  readonly #claims: Claim[] = [];
  #stack: Stack | undefined;
  #idCounter = 0;

  constructor(stack: Stack | undefined, at: number, knowledge: Knowledge) {
    this.#stack = stack;
    this.at = at;
    this.knowledge = knowledge;
  }

  get stack(): Stack {
    if (this.#stack === undefined) throw new Error("no stack yet");
    return this.#stack;
  }

  get operation(): Operation {
    const { operation } = this.stack;
    if (operation === undefined) throw new Error("no operation in flight");
    return operation;
  }

  record(happening: Happening): void {
    const token = this.#stack?.operation?.clientRequestToken;
    const record: StackRecord = { ...happening, at: this.at, ...(token === undefined ? {} : { token }) };
    this.#stack = apply(this.#stack, record);
    const operationNumber = this.#stack.lastOperations?.[0]?.number;
    this.#records.push(
      isShown(record) && operationNumber !== undefined ? { ...record, operationNumber } : record,
    );
  }

  slot(logicalId: LogicalId): Slot | undefined {
    return this.stack.resources.get(logicalId);
  }

  setStatus(status: StackStatus, reason?: string): void {
    const { timeoutMinutes, status: before } = this.stack;
    if (before === "CREATE_IN_PROGRESS" && timeoutMinutes !== undefined) this.withdraw(creationTimeoutKey);
    this.record({ kind: "stack-status", status, ...(reason === undefined ? {} : { reason }) });
  }

  setCurrent(logicalId: LogicalId, current: Resource | null, shown?: Shown): void {
    this.record({ kind: "resource", logicalId, current, ...(shown === undefined ? {} : { shown }) });
  }

  setFormer(logicalId: LogicalId, former: readonly Former[], shown?: Shown): void {
    this.record({ kind: "resource", logicalId, former, ...(shown === undefined ? {} : { shown }) });
  }

  claim(name: string, action: Claim["action"]): void {
    this.#claims.push({ name, action });
  }

  /** Sends a request to a provider, or a task to a built-in type. */
  issue(request: Pending): void {
    this.record({ kind: "request-issued", request });
    const { requestId } = request;
    switch (request.kind) {
      case "provider":
        this.command({ kind: "deliver", requestId, dueAt: this.at });
        this.command({ kind: "deadline", requestId, dueAt: request.deadline });
        return;
      case "task":
        this.command({ kind: "perform", requestId, dueAt: this.at });
        return;
      case "child":
        this.command({ kind: "child", requestId, dueAt: this.at });
        return;
      case "signals":
        this.command({ kind: "deadline", requestId, dueAt: request.deadline });
    }
  }

  /** Something to be done once the decision is durable. */
  command(command: Command): void {
    this.#commands.set(commandKey(command), command);
  }

  /** A command that is no longer needed. */
  withdraw(key: string): void {
    if (!this.#commands.delete(key)) this.#withdraw.push(key);
  }

  /** Returns whether the request may have left: one that was issued in this same decision has not. */
  endRequest(requestId: RequestId, ending: Ending): boolean {
    this.record({ kind: "request-ended", requestId, ending });
    const keys = commandKeysOf(requestId);
    const unsent = keys.filter((key) => this.#commands.delete(key)).length > 0;
    if (!unsent) this.#withdraw.push(...keys);
    return !unsent;
  }

  newRequestId(): RequestId {
    return makeRequestId(this.#nextId());
  }

  /** The ARN of a nested stack to be. */
  newChildId(logicalId: LogicalId): StackId {
    const id = this.#nextId();
    const { stackName } = this.stack.identity;
    const name = makePhysicalId(stackName.slice(0, 60), logicalId.slice(0, 50) as LogicalId, id);
    return makeStackId({ ...this.stack.identity, stackName: name }, `${id.seed}:${id.counter}`);
  }

  newChangeSetId(name: string): string {
    return makeChangeSetId(this.stack.identity, name, this.#nextId());
  }

  newPhysicalId(logicalId: LogicalId): ReturnType<typeof makePhysicalId> {
    return makePhysicalId(this.stack.identity.stackName, logicalId, this.#nextId());
  }

  finish(): Decision {
    this.#notify();
    return {
      stack: this.stack,
      records: this.#records,
      commands: [...this.#commands.values()],
      withdraw: this.#withdraw,
      claims: this.#claims,
    };
  }

  /** What users will see of the decision goes to the topics that the stack notifies. */
  #notify(): void {
    const { version, definition } = this.stack;
    const { notificationArns: topicArns } = definition;
    const seen = this.#records.some(isShown);
    if (!seen || topicArns.length === 0) return;
    const after = version - this.#records.length;
    this.command({ kind: "notify", after, until: version, topicArns, dueAt: this.at });
  }

  #nextId(): { seed: string; counter: number } {
    // The version grows with each record and a decision makes fewer ids than 2^20, so no counter comes twice.
    this.#idCounter += 1;
    return {
      seed: this.stack.seed,
      counter: (this.stack.version - this.#records.length) * 2 ** 20 + this.#idCounter,
    };
  }
}

/** Do users see it as an event? */
function isShown(record: StackRecord): boolean {
  return record.kind === "stack-status" || (record.kind === "resource" && record.shown !== undefined);
}
