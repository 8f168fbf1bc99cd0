/**
 * What must hold of every stack, whatever happens to it. Each law watches the journal from outside: it folds the
 * records by itself, and knows what was delivered.
 */
import { isDeepStrictEqual } from "node:util";
import { stringifyScalars, type Json, type ProviderRequest } from "@custard/provider/protocol";
import { apply } from "../../packages/custard/src/engine/apply.ts";
import type { LogicalId, RequestId, StackId } from "../../packages/custard/src/engine/ids.ts";
import type { Change } from "../../packages/custard/src/engine/ports.ts";
import { hasUpdates } from "../../packages/custard/src/engine/plan.ts";
import type { Ending, Shown, StackRecord } from "../../packages/custard/src/engine/record.ts";
import {
  declaredOf,
  isCustom,
  isLive,
  physicalIdOf,
  type Resource,
  type Slot,
} from "../../packages/custard/src/engine/resource.ts";
import { decodeRecord, type KnownTemplates } from "../../packages/custard/src/engine/state-codec.ts";
import { isSettled } from "../../packages/custard/src/engine/stack-status.ts";
import type { Pending, Stack } from "../../packages/custard/src/engine/stack.ts";
import { revealMap, type ValueMap } from "../../packages/custard/src/template/value.ts";

/** A law was broken. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** Throws a `Violation` when `holds` is false. */
export function law(holds: boolean, text: () => string): void {
  if (!holds) throw new Violation(text());
}

/** What was sent last for a logical id; before it, what was withdrawn before it could leave. */
type Sent = readonly Json[];

/** The state that an operation began with. */
interface Before {
  readonly resources: ReadonlyMap<LogicalId, Slot>;
  readonly sent: ReadonlyMap<LogicalId, Sent>;
  readonly templateBody: string;
  readonly outputs: Stack["outputs"];
}

/** Watches one stack. */
export class StackLaws {
  readonly #stackId: StackId;
  readonly #faithful: boolean;
  readonly #tell: (line: string) => void;
  readonly #templates: KnownTemplates = new Map();
  #stack: Stack | undefined;
  #before: Before | undefined;
  readonly #issued = new Map<RequestId, Pending>();
  readonly #endings = new Map<RequestId, Ending>();
  readonly #delivered = new Map<RequestId, ProviderRequest>();
  /** Requests to which something was sent; unknown when a journal is replayed. */
  #answered: Set<string> | undefined = new Set();
  readonly #nonces = new Map<RequestId, string>();
  /** What the newest event of a physical resource says. */
  readonly #lastShown = new Map<string, Shown>();
  readonly #skipped = new Set<string>();
  /** Physical resources of a retaining declaration, once an operation with them has succeeded. */
  readonly #kept = new Set<string>();
  readonly #sent = new Map<LogicalId, Sent>();
  readonly #history = new Map<LogicalId, Sent>();
  /** Is the rollback in progress one that failed before? */
  #goesOn = false;
  /** What a user told the rollback to skip. */
  readonly #leftAsIs = new Set<LogicalId>();
  readonly #sentBefore = new Map<RequestId, Sent>();
  readonly #committed = new Set<RequestId>();

  /** `faithful`: the providers give the old ids back when they are asked for the old properties. */
  constructor(stackId: StackId, options: { faithful: boolean; tell: (line: string) => void }) {
    this.#stackId = stackId;
    this.#faithful = options.faithful;
    this.#tell = options.tell;
  }

  get stack(): Stack | undefined {
    return this.#stack;
  }

  /** A change has become durable. */
  appended(change: Change): void {
    const wasSettled = this.#stack === undefined || isSettled(this.#stack.status);
    const records = change.records.map((json) => {
      const record = decodeRecord(json, this.#stack?.identity, this.#templates);
      this.#stack = apply(this.#stack, record);
      this.#watch(record, this.#stack);
      return record;
    });
    const stack = this.#stack;
    if (stack === undefined) return;
    this.#commandsLaw(change, stack);
    this.#noteSent(
      change.commands.map(({ key }) => key),
      records,
    );
    this.#boundaryLaws(stack);
    if (!wasSettled && isSettled(stack.status)) this.#settledLaws(stack);
  }

  /** Goes through a whole journal afterwards, of which the appends are no longer known. */
  replay(records: readonly Json[], delivered: readonly ProviderRequest[]): void {
    this.#answered = undefined;
    const keys = delivered.map(({ requestId }) => `deliver:${requestId}`);
    for (const json of records) {
      const record = decodeRecord(json, this.#stack?.identity, this.#templates);
      this.#stack = apply(this.#stack, record);
      this.#watch(record, this.#stack);
      this.#noteSent(keys, [record]);
      if (record.kind === "stack-status" && isSettled(record.status)) this.#settledLaws(this.#stack);
    }
    if (this.#stack !== undefined) this.#boundaryLaws(this.#stack);
    for (const request of delivered) this.delivered(request);
  }

  /** A request reaches its provider, maybe again. */
  delivered(request: ProviderRequest): void {
    const requestId = request.requestId as RequestId;
    const earlier = this.#delivered.get(requestId);
    law(earlier === undefined || isDeepStrictEqual(earlier, request), () => `${requestId} changed`);
    this.#delivered.set(requestId, request);
    const issued = this.#issued.get(requestId);
    law(issued !== undefined, () => `${requestId} was delivered before it was recorded`);
    law(request.stackId === this.#stackId, () => `${requestId} names another stack`);
    if (request.requestType === "Delete") this.#retainLaw(request);
  }

  /** Something arrives at the response URL of a request. */
  answered(requestId: string): void {
    this.#answered?.add(requestId);
  }

  /** Everything is quiet and a process is up: what is pending must be in somebody's hands. */
  quiet(at: { handed(request: Pending): boolean; hasCommand(key: string): boolean }): void {
    const stack = this.#stack;
    if (stack === undefined) return;
    for (const [requestId, request] of stack.requests) {
      const { logicalId, kind } = request;
      law(at.handed(request), () => `${logicalId}: nobody was asked for ${requestId}, and nobody will be`);
      law(kind === "task" || at.hasCommand(`deadline:${requestId}`), () => `${requestId} has no deadline`);
    }
  }

  // ------------------------------------------------------------------------------------- record by record

  /** Records that are not named here can't break a law by themselves. */
  #watch(record: StackRecord, stack: Stack): void {
    if (record.kind === "request-issued") this.#issue(record.request, stack);
    else if (record.kind === "request-ended") this.#end(record.requestId, record.ending);
    else if (record.kind === "resource" && record.shown !== undefined)
      this.#show(record.logicalId, record.shown);
    else if (record.kind === "stack-status") this.#tell(`stack ${record.status} ${record.reason ?? ""}`);
    else if (record.kind === "operation-started") this.#start(stack);
    else if (record.kind === "rollback-continued") this.#goOn(record.skipped);
  }

  #start(stack: Stack): void {
    this.#goesOn = false;
    this.#leftAsIs.clear();
    this.#noteBefore(stack);
  }

  #goOn(skipped: readonly LogicalId[]): void {
    this.#goesOn = true;
    for (const logicalId of skipped) {
      this.#leftAsIs.add(logicalId);
      // Skipping takes it for gone back, whatever its provider has.
      this.#sent.set(logicalId, this.#before?.sent.get(logicalId) ?? []);
    }
  }

  #end(requestId: RequestId, ending: Ending): void {
    law(this.#issued.has(requestId), () => `${requestId} ended but was never issued`);
    law(!this.#endings.has(requestId), () => `${requestId} ended twice`);
    const isAnswered = ending !== "answered" || this.#answered?.has(requestId) !== false;
    law(isAnswered, () => `${requestId} ended with an answer to another request`);
    this.#endings.set(requestId, ending);
    if (ending === "refused") this.#takeBack(requestId);
  }

  /** An update of a stack that failed before goes on from the state before the first of them. */
  #noteBefore(stack: Stack): void {
    const goesOn = stack.status === "UPDATE_FAILED" || stack.status === "CREATE_FAILED";
    if (goesOn || stack.operation?.kind !== "update") return;
    const { before } = stack.operation;
    if (before === undefined) throw new Violation("an update without a state before");
    const { resources, definition, outputs } = before;
    const sent = new Map(this.#sent);
    this.#before = { resources, sent, templateBody: definition.template.body, outputs };
  }

  /** What was refused on its way has never been sent. */
  #takeBack(requestId: RequestId): void {
    const request = this.#issued.get(requestId);
    const sent = request === undefined ? undefined : this.#sent.get(request.logicalId);
    const before = this.#sentBefore.get(requestId);
    if (request !== undefined && sent !== undefined && before !== undefined)
      this.#sent.set(request.logicalId, before);
  }

  #issue(request: Pending, stack: Stack): void {
    const { requestId, logicalId } = request;
    law(!this.#issued.has(requestId), () => `${requestId} was issued twice`);
    this.#issued.set(requestId, request);
    const rivals = [...stack.requests.values()].filter((other) => other.logicalId === logicalId);
    law(rivals.length === 1, () => `two requests are pending for ${logicalId}`);
    if (request.action === "delete") this.#deleteOrderLaw(request, stack);
    else this.#orderLaw(request, stack);
    if (request.action === "update" && request.kind === "provider") this.#oldPropertiesLaw(request);
  }

  /** Whatever a resource depends on is there before it is asked for. */
  #orderLaw({ logicalId }: Pending, stack: Stack): void {
    const { operation, resources } = stack;
    const { dependencies, exists } = orderOf(stack);
    for (const name of dependencies.get(logicalId) ?? []) {
      const isThere = isLive(resources.get(name)?.current) || operation?.done.has(name) === true;
      law(isThere || !exists(name), () => `${logicalId} was asked for before ${name} was there`);
    }
  }

  /** Whatever depends on a resource is gone, or couldn't be deleted, before it is deleted. */
  #deleteOrderLaw({ logicalId }: Pending, stack: Stack): void {
    for (const [name, slot] of stack.resources) {
      if (name === logicalId) continue;
      const waits = slot.former.some(
        (former) =>
          (former.status === "WAITING" || former.status === "DELETE_IN_PROGRESS") &&
          former.declared.dependsOn.includes(logicalId),
      );
      law(!waits, () => `${logicalId} is deleted before ${name}, which depends on it`);
    }
  }

  /**
   * `OldResourceProperties` are what was sent last. Where going back has failed once, they may also be what the
   * update had sent: that is what the second attempt goes back from.
   */
  #oldPropertiesLaw(request: Extract<Pending, { action: "update" }>): void {
    const sent = this.#sent.get(request.logicalId) ?? [];
    const earlier = this.#goesOn ? (this.#history.get(request.logicalId) ?? []) : [];
    const old = asSent(request.oldProperties);
    law(
      [...sent, ...earlier].some((properties) => isDeepStrictEqual(properties, old)),
      () => `${request.logicalId}: OldResourceProperties ${text(old)} were never sent, but ${text(sent)}`,
    );
  }

  #show(logicalId: LogicalId, shown: Shown): void {
    const { status, physicalId, reason, requestId } = shown;
    this.#tell(`  ${logicalId} ${status} ${physicalId} ${reason ?? ""}`);
    if (physicalId === "") return;
    const name = `${logicalId} ${physicalId}`;
    this.#lastShown.set(name, shown);
    const request = requestId === undefined ? undefined : this.#issued.get(requestId);
    // An id that comes back in an answer is a new resource, as far as policies go.
    const isNew =
      request?.action === "create" || (request?.action === "update" && request.physicalId !== physicalId);
    if (isNew) this.#kept.delete(name);
    if (status === "DELETE_SKIPPED") this.#skipped.add(name);
    else this.#skipped.delete(name);
    if (status === "DELETE_COMPLETE") this.#deletedLaw(name, shown);
  }

  /** Nothing is called deleted that wasn't: its provider was asked, and said so. */
  #deletedLaw(name: string, { physicalId, requestId }: Shown): void {
    const request = requestId === undefined ? undefined : this.#issued.get(requestId);
    const ending = requestId === undefined ? undefined : this.#endings.get(requestId);
    law(
      request?.action === "delete" &&
        request.physicalId === physicalId &&
        (ending === "answered" || ending === "done"),
      () => `${name} is called deleted without a Delete that was answered`,
    );
  }

  /** No Delete is sent for what was never there, or is retained. */
  #retainLaw(request: Extract<ProviderRequest, { requestType: "Delete" }>): void {
    const name = `${request.logicalId} ${request.physicalId}`;
    law(this.#lastShown.has(name), () => `${name} is deleted but was never there`);
    law(!this.#skipped.has(name), () => `${name} is deleted although it was retained`);
    law(!this.#kept.has(name), () => `${name} is deleted against its policy`);
  }

  // ------------------------------------------------------------------------------------- change by change

  /** Every pending request that this change issued stands with its commands in the same transaction. */
  #commandsLaw(change: Change, stack: Stack): void {
    const keys = new Set(change.commands.map(({ key }) => key));
    for (const [requestId, request] of stack.requests) {
      const isNew = !this.#committed.has(requestId);
      this.#committed.add(requestId);
      if (!isNew) continue;
      const wanted = request.kind === "task" ? ["perform"] : ["deliver", "deadline"];
      for (const kind of wanted)
        law(keys.has(`${kind}:${requestId}`), () => `${requestId} was issued without its ${kind}`);
    }
  }
  #noteSent(commands: readonly string[], records: readonly StackRecord[]): void {
    const keys = new Set(commands);
    for (const record of records) {
      if (record.kind !== "request-issued" || record.request.action === "delete") continue;
      const { requestId, logicalId, properties } = record.request;
      const left = keys.has(`deliver:${requestId}`);
      this.#sentBefore.set(requestId, this.#sent.get(logicalId) ?? []);
      const before = left ? [] : (this.#sent.get(logicalId) ?? []);
      if (record.request.kind !== "provider") continue;
      this.#sent.set(logicalId, [asSent(properties), ...before]);
      this.#history.set(logicalId, [...(this.#history.get(logicalId) ?? []), asSent(properties)]);
    }
  }

  #boundaryLaws(stack: Stack): void {
    const settled = isSettled(stack.status);
    law(
      settled === (stack.requests.size === 0),
      () => `${stack.status} with ${stack.requests.size} pending requests`,
    );
    for (const [logicalId, slot] of stack.resources) {
      this.#placesLaw(logicalId, slot);
      this.#newestAnswerLaw(logicalId, slot);
    }
  }

  /** A physical id stands in one place only (R1). */
  #placesLaw(logicalId: LogicalId, { current, former }: Slot): void {
    const waiting = former
      .filter(({ status }) => status !== "DELETE_COMPLETE" && status !== "DELETE_SKIPPED")
      .map(({ physicalId }) => physicalId);
    const ids = [current === undefined ? undefined : physicalIdOf(current), ...waiting].filter(
      (id) => id !== undefined,
    );
    law(new Set(ids).size === ids.length, () => `${logicalId} has one physical id twice: ${ids.join(", ")}`);
  }

  /** Attributes come from the answer that was accepted, and from no later one. */
  #newestAnswerLaw(logicalId: LogicalId, { current }: Slot): void {
    if (!isLive(current) || !isCustom(current.good.declared.type)) return;
    const { requestId, attributes } = current.good;
    law(this.#endings.get(requestId) === "answered", () => `${logicalId} lives by an answer that came late`);
    const nonce = text(revealMap(attributes)["Nonce"]);
    const first = this.#nonces.get(requestId) ?? nonce;
    this.#nonces.set(requestId, first);
    law(first === nonce, () => `${logicalId} took a second answer to one request`);
  }

  // ------------------------------------------------------------------------------- operation by operation

  #settledLaws(stack: Stack): void {
    for (const requestId of this.#issued.keys())
      law(this.#endings.has(requestId), () => `${requestId} was neither answered nor given up`);
    for (const [name, shown] of this.#lastShown) this.#accountLaw(name, shown, stack);
    switch (stack.status) {
      case "CREATE_COMPLETE":
      case "UPDATE_COMPLETE":
        return this.#convergedLaw(stack);
      case "UPDATE_ROLLBACK_COMPLETE":
        return this.#rolledBackLaw(stack);
      case "DELETE_COMPLETE":
      case "ROLLBACK_COMPLETE":
        return this.#emptyLaw(stack, []);
      case "DELETE_FAILED":
      case "ROLLBACK_FAILED":
        return this.#emptyLaw(stack, ["DELETE_FAILED"]);
      case "CREATE_FAILED":
      case "UPDATE_FAILED":
      case "UPDATE_ROLLBACK_FAILED":
        return this.#failedLaw(stack);
      case "REVIEW_IN_PROGRESS":
      case "CREATE_IN_PROGRESS":
      case "ROLLBACK_IN_PROGRESS":
      case "UPDATE_IN_PROGRESS":
      case "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS":
      case "UPDATE_ROLLBACK_IN_PROGRESS":
      case "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS":
      case "DELETE_IN_PROGRESS":
        return;
    }
  }

  /** Every physical resource that was ever shown is there, waits for its deletion, or was told of when it went. */
  #accountLaw(name: string, shown: Shown, stack: Stack): void {
    if (shown.status.startsWith("DELETE_")) return;
    const [logicalId, ...rest] = name.split(" ");
    const slot = stack.resources.get(logicalId as LogicalId);
    const ids = [
      slot?.current === undefined ? undefined : physicalIdOf(slot.current),
      ...(slot?.former ?? []).map(({ physicalId }) => physicalId),
    ];
    law(
      ids.some((id) => id === rest.join(" ")),
      () => `${name} was ${shown.status} and is forgotten in ${stack.status}`,
    );
  }

  /** The stack is what its template says, and the same template again has nothing to do. */
  #convergedLaw(stack: Stack): void {
    const wanted = [...stack.definition.dependencies.keys()].toSorted();
    const found = [...stack.resources].filter(([, slot]) => isLive(slot.current)).map(([id]) => id);
    law(
      isDeepStrictEqual(wanted, found.toSorted()) && found.length === stack.resources.size,
      () => `${stack.status} with ${[...stack.resources.keys()].join()} instead of ${wanted.join()}`,
    );
    law(!hasUpdates(stack, stack.definition), () => `${stack.status} but not what the template says`);
    const left = [...stack.resources.values()].flatMap(({ former }) => former);
    law(left.length === 0, () => `${stack.status} with resources that wait for their deletion`);
    for (const [logicalId, { current }] of stack.resources)
      if (logicalId.startsWith("Keep") && isLive(current))
        this.#kept.add(`${logicalId} ${current.good.physicalId}`);
  }

  /** After a rollback the stack is what it was before. */
  #rolledBackLaw(stack: Stack): void {
    const before = this.#before;
    if (before === undefined) throw new Violation("a rollback without an operation");
    law(stack.definition.template.body === before.templateBody, () => "the template wasn't restored");
    law(isDeepStrictEqual(stack.outputs, before.outputs), () => "the outputs weren't restored");
    for (const [logicalId, { current }] of before.resources)
      if (wasThere(current)) this.#restoredLaw(logicalId, current, stack);
    for (const [logicalId, { current, former }] of stack.resources) {
      const isOld = wasThere(before.resources.get(logicalId)?.current);
      law(current === undefined || isOld, () => `${logicalId} is still there after the rollback`);
      law(former.length === 0, () => `${logicalId} still waits for its deletion after the rollback`);
    }
  }

  /** Each surviving resource was last sent what it had been sent before the update. */
  #restoredLaw(logicalId: LogicalId, old: Resource, stack: Stack): void {
    const now = stack.resources.get(logicalId)?.current;
    if (now === undefined) throw new Violation(`${logicalId} is missing after the rollback`);
    if (this.#leftAsIs.has(logicalId)) return;
    if (this.#before !== undefined) this.#sameSentLaw(logicalId, this.#before);
    law(
      isDeepStrictEqual(asSent(declaredOf(now).properties), asSent(declaredOf(old).properties)),
      () => `${logicalId} is declared otherwise after the rollback`,
    );
    law(
      !this.#faithful || physicalIdOf(now) === physicalIdOf(old),
      () => `${logicalId} was ${physicalIdOf(old)} and is ${physicalIdOf(now)} after the rollback`,
    );
  }

  #sameSentLaw(logicalId: LogicalId, before: Before): void {
    const then = before.sent.get(logicalId)?.at(-1);
    const now = this.#sent.get(logicalId)?.at(-1);
    law(
      isDeepStrictEqual(then, now),
      () => `${logicalId} was last sent ${text(now)} but had ${text(then)} before the update`,
    );
  }

  /** What stopped halfway says so: nothing is in progress, and something has failed. */
  #failedLaw(stack: Stack): void {
    const resources = [...stack.resources.values()].flatMap(({ current }) => current ?? []);
    law(
      resources.every(({ status }) => !status.endsWith("_IN_PROGRESS")),
      () => `a resource is in progress in ${stack.status}`,
    );
    law(
      resources.some(({ status }) => status.endsWith("_FAILED")) ||
        (stack.reason ?? "").includes("attribute"),
      () => `nothing has failed in ${stack.status}`,
    );
  }

  #emptyLaw(stack: Stack, allowed: readonly string[]): void {
    const failed = new Set<string>();
    for (const [logicalId, { current, former }] of stack.resources) {
      law(current === undefined, () => `${logicalId} is there in ${stack.status}`);
      for (const { status } of former) {
        if (status === "DELETE_FAILED") failed.add(logicalId);
        const known = ["DELETE_COMPLETE", "DELETE_SKIPPED", ...allowed].includes(status);
        law(known, () => `${logicalId} is ${status} in ${stack.status}`);
      }
    }
    const named = /\[(.*)\]/.exec(stack.reason ?? "")?.[1] ?? "";
    law(
      named === [...failed].join(", "),
      () => `${stack.status} names [${named}], not ${[...failed].join()}`,
    );
  }
}

/** By which dependencies a stack goes now, and which of them count. */
function orderOf({ operation, definition }: Stack) {
  if (operation?.phase !== "rollback" || operation.before === undefined) {
    const { dependencies } = definition;
    return { dependencies, exists: (id: LogicalId) => dependencies.has(id) };
  }
  // What wasn't there before the update doesn't come back.
  const { before } = operation;
  const exists = (id: LogicalId) => before.resources.get(id)?.current !== undefined;
  return { dependencies: before.definition.dependencies, exists };
}

function wasThere(resource: Resource | undefined): resource is Resource {
  return resource !== undefined && resource.status !== "CREATE_FAILED";
}

function asSent(properties: ValueMap): Json {
  return stringifyScalars(revealMap(properties));
}

function text(value: unknown): string {
  return JSON.stringify(value);
}
