/**
 * What must hold of every stack, whatever happens to it. Each law watches the journal from outside: it folds the
 * records by itself, and knows what was delivered.
 */
import { isDeepStrictEqual } from "node:util";
import { stringifyScalars, type Json, type ProviderRequest } from "@custard/provider/protocol";
import { apply } from "../../packages/custard/src/engine/apply.ts";
import type { ResourceChange } from "../../packages/custard/src/engine/change-set.ts";
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
import type {
  Before as State,
  OperationStart,
  Pending,
  Stack,
} from "../../packages/custard/src/engine/stack.ts";
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
  readonly state: State;
  readonly sent: ReadonlyMap<LogicalId, Sent>;
}

/** Watches one stack. */
export class StackLaws {
  readonly #stackId: StackId;
  readonly #faithful: boolean;
  readonly #tell: (line: string) => void;
  readonly #templates: KnownTemplates;
  #stack: Stack | undefined;
  #before: Before | undefined;
  readonly #issued = new Map<RequestId, Pending>();
  readonly #endings = new Map<RequestId, Ending>();
  readonly #delivered = new Map<RequestId, ProviderRequest>();
  /** Requests to which something was sent; unknown when a journal is replayed. */
  #answered: Set<string> | undefined = new Set();
  /** What got through to a provider. */
  readonly #taken = new Set<RequestId>();
  readonly #crashesBefore = new Map<RequestId, number>();
  readonly #crashes: () => number;
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
  /** What the change set has said that is being executed. */
  #announced: readonly ResourceChange[] | undefined;
  /** What the update may not remove, by the policy that was in force when it began. */
  #mayNotGo: ReadonlySet<LogicalId> = new Set();
  /** What came out of an Update under another id, although the change set said that it would keep its own. */
  readonly #unforeseen = new Set<LogicalId>();
  /** What the operation has asked for on its way forward. */
  readonly #asked = new Set<LogicalId>();
  #forced = false;

  /** `faithful`: the providers give the old ids back when they are asked for the old properties. */
  constructor(
    stackId: StackId,
    options: {
      faithful: boolean;
      tell: (line: string) => void;
      templates?: KnownTemplates;
      crashes?: () => number;
    },
  ) {
    this.#crashes = options.crashes ?? (() => 0);
    this.#stackId = stackId;
    this.#templates = options.templates ?? new Map();
    this.#faithful = options.faithful;
    this.#tell = options.tell;
  }

  get stack(): Stack | undefined {
    return this.#stack;
  }

  /** Does the stack still answer for this physical resource? */
  isKnown(logicalId: LogicalId, physicalId: string): boolean {
    const slot = this.#stack?.resources.get(logicalId);
    const { current } = slot ?? {};
    const newest = current?.status === "CREATE_IN_PROGRESS" ? current.provisionalId : undefined;
    const ids = [newest, current === undefined ? undefined : physicalIdOf(current)];
    const waits = slot?.former.some(
      (former) => former.physicalId === physicalId && former.status !== "DELETE_COMPLETE",
    );
    return waits === true || ids.some((id) => id === physicalId);
  }

  /** What the newest event of a physical resource says. */
  lastStatusOf(logicalId: LogicalId, physicalId: string): string | undefined {
    return this.#lastShown.get(`${logicalId} ${physicalId}`)?.status;
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

  /** A request reaches its provider, maybe again; or is refused on its way. */
  delivered(request: ProviderRequest, { refused = false }: { readonly refused?: boolean } = {}): void {
    const requestId = request.requestId as RequestId;
    if (!refused) this.#taken.add(requestId);
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
      const timed = kind === "provider" || kind === "signals";
      law(!timed || at.hasCommand(`deadline:${requestId}`), () => `${requestId} has no deadline`);
    }
    for (const name of stack.operation?.asked ?? [])
      law(at.hasCommand(`find-import:${name}`), () => `nobody looks for the export ${name}`);
  }

  // ------------------------------------------------------------------------------------- record by record

  /** Records that are not named here can't break a law by themselves. */
  #watch(record: StackRecord, stack: Stack): void {
    if (record.kind === "request-issued") this.#issue(record.request, stack);
    else if (record.kind === "request-ended") this.#end(record.requestId, record.ending);
    else if (record.kind === "resource" && record.shown !== undefined)
      this.#show(record.logicalId, record.shown);
    else if (record.kind === "stack-status") this.#tell(`stack ${record.status} ${record.reason ?? ""}`);
    else if (record.kind === "operation-started") this.#start(stack, record.operation);
    else if (record.kind === "rollback-continued") this.#goOn(record.skipped);
  }

  #start(stack: Stack, { kind, changeSet }: OperationStart): void {
    this.#goesOn = false;
    this.#leftAsIs.clear();
    this.#asked.clear();
    this.#unforeseen.clear();
    this.#announced = changeSet === undefined ? undefined : stack.changeSets.get(changeSet)?.changes;
    this.#forced = stack.operation?.force === true;
    law(kind !== "delete" || !stack.terminationProtection, () => "a protected stack is deleted");
    this.#mayNotGo = kind === "update" ? unremovable(stack) : new Set();
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

  /** An update of a stack that hasn't come to its end goes on from the state before the first of them. */
  #noteBefore({ status, operation }: Stack): void {
    if (operation?.kind !== "update") return;
    const { before } = operation;
    if (before === undefined) {
      law(status === "CREATE_FAILED" || status === "UPDATE_FAILED", () => "an update without a state before");
      return;
    }
    if (before !== this.#before?.state) this.#before = { state: before, sent: new Map(this.#sent) };
  }

  /**
   * What was refused on its way has never been sent, unless an earlier attempt got through. After a crash the engine
   * can't tell, and has to take it for sent.
   */
  #takeBack(requestId: RequestId): void {
    const request = this.#issued.get(requestId);
    const sent = request === undefined ? undefined : this.#sent.get(request.logicalId);
    const before = this.#sentBefore.get(requestId);
    if (request === undefined || sent === undefined || before === undefined) return;
    if (this.#taken.has(requestId)) return;
    const known = this.#crashesBefore.get(requestId) === this.#crashes();
    this.#sent.set(request.logicalId, known ? before : [asSent(request.properties), ...before]);
  }

  #issue(request: Pending, stack: Stack): void {
    const { requestId, logicalId } = request;
    law(!this.#issued.has(requestId), () => `${requestId} was issued twice`);
    this.#issued.set(requestId, request);
    this.#crashesBefore.set(requestId, this.#crashes());
    const rivals = [...stack.requests.values()].filter((other) => other.logicalId === logicalId);
    law(rivals.length === 1, () => `two requests are pending for ${logicalId}`);
    if (request.action === "delete") this.#deleteLaw(request, stack);
    else if (request.action !== "commit") this.#changeLaw(request, stack);
    if (request.action === "update" && request.kind === "provider") this.#oldPropertiesLaw(request);
  }

  #deleteLaw(request: Pending, stack: Stack): void {
    const { logicalId } = request;
    this.#deleteOrderLaw(request, stack);
    law(
      stack.operation?.retain.has(logicalId) !== true,
      () => `${logicalId} is deleted although a user retains it`,
    );
    const removed =
      stack.operation?.phase === "cleanup" && stack.resources.get(logicalId)?.current === undefined;
    law(!removed || !this.#mayNotGo.has(logicalId), () => `${logicalId} is removed against the stack policy`);
  }

  #changeLaw(request: Pending, stack: Stack): void {
    this.#orderLaw(request, stack);
    const { logicalId } = request;
    const current = stack.resources.get(logicalId)?.current;
    if (stack.operation?.phase !== "forward") return;
    this.#asked.add(logicalId);
    const changed = current !== undefined && "good" in current && request.kind !== "signals";
    // A nested stack is asked whether or not anything of it changes.
    if (!changed || request.kind === "child") return;
    const action = request.action === "create" ? "Update:Replace" : "Update:Modify";
    law(!isProtected(stack, logicalId, action), () => `${logicalId} is changed against the stack policy`);
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
    if (requestId !== undefined) this.#noteNew(logicalId, physicalId, this.#issued.get(requestId));
    if (status === "DELETE_SKIPPED") this.#skipped.add(name);
    else this.#skipped.delete(name);
    if (status === "DELETE_COMPLETE") this.#deletedLaw(name, shown);
  }

  /** An id that comes back in an answer is a new resource, as far as policies go. */
  #noteNew(logicalId: LogicalId, physicalId: string, request: Pending | undefined): void {
    const renewed = request?.action === "update" && request.physicalId !== physicalId;
    if (renewed) this.#unforeseen.add(logicalId);
    if (renewed || request?.action === "create") this.#kept.delete(`${logicalId} ${physicalId}`);
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
      for (const kind of commandsFor[request.kind])
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
    const { requests, operation } = stack;
    law(
      isSettled(stack.status)
        ? requests.size === 0
        : requests.size > 0 || (operation?.asked.size ?? 0) > 0 || operation?.held === true,
      () => `${stack.status} with ${requests.size} pending requests`,
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
    if (this.#announced !== undefined) this.#announcedLaw(stack, this.#announced);
    for (const [name, shown] of this.#lastShown) this.#accountLaw(name, shown, stack);
    switch (stack.status) {
      case "CREATE_COMPLETE":
      case "UPDATE_COMPLETE":
        return this.#convergedLaw(stack);
      case "UPDATE_ROLLBACK_COMPLETE":
        return this.#rolledBackLaw(stack);
      case "DELETE_COMPLETE":
      case "ROLLBACK_COMPLETE":
        return this.#emptyLaw(stack, this.#forced ? ["DELETE_FAILED"] : []);
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

  /** A change set that was executed has done what it said, and nothing else. */
  #announcedLaw({ status, definition }: Stack, announced: readonly ResourceChange[]): void {
    const said = new Map(announced.map((change) => [change.logicalId, change]));
    const surprised = dependentsOf(
      [...this.#unforeseen].filter((logicalId) => said.get(logicalId)?.replacement === "False"),
      definition,
    );
    for (const logicalId of this.#asked)
      law(
        said.has(logicalId) || surprised.has(logicalId),
        () => `${logicalId} was changed and no change set said so`,
      );
    if (status !== "CREATE_COMPLETE" && status !== "UPDATE_COMPLETE") return;
    for (const [logicalId, { action, details }] of said) {
      const certain = details.some(
        // An attribute of what is replaced may come out as it was.
        ({ part, evaluation, source }) =>
          part === "Properties" && evaluation === "Static" && source !== "ResourceAttribute",
      );
      const due = action === "Add" || (action === "Modify" && certain);
      law(!due || this.#asked.has(logicalId), () => `${logicalId} wasn't changed as the change set said`);
      const gone = action !== "Remove" || !definition.dependencies.has(logicalId);
      law(gone, () => `${logicalId} wasn't removed as the change set said`);
    }
    this.#announced = undefined;
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
    // Of nested stacks nobody knows without asking them.
    const nests = [...stack.resources.keys()].some((id) => id.startsWith("Nest"));
    law(
      nests || !hasUpdates(stack, stack.definition),
      () => `${stack.status} but not what the template says`,
    );
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
    const { definition, outputs, resources } = before.state;
    law(stack.definition.template.body === definition.template.body, () => "the template wasn't restored");
    law(isDeepStrictEqual(stack.outputs, outputs), () => "the outputs weren't restored");
    for (const [logicalId, { current }] of resources)
      if (wasThere(current)) this.#restoredLaw(logicalId, current, stack);
    for (const [logicalId, { current, former }] of stack.resources) {
      const isOld = wasThere(resources.get(logicalId)?.current);
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
        // The stack itself may have failed: by its outputs, exports or imports, or by taking too long.
        !(stack.reason ?? "The following").startsWith("The following"),
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
      this.#forced || named === [...failed].join(", "),
      () => `${stack.status} names [${named}], not ${[...failed].join()}`,
    );
  }
}

/** What stands beside a request in the journal, so that it is performed and ends. */
const commandsFor = {
  provider: ["deliver", "deadline"],
  task: ["perform"],
  child: ["child"],
  signals: ["deadline"],
} as const;

/** Does the policy in force deny it? It is of the simulation's own form: one statement that denies, one that allows. */
function isProtected({ operation, policy }: Stack, logicalId: LogicalId, action: string): boolean {
  const body = operation?.policy ?? policy;
  if (body === undefined) return false;
  const { Statement } = JSON.parse(body) as {
    Statement: { Effect: string; Action: string; Resource: string }[];
  };
  return Statement.some(
    ({ Effect, Action, Resource }) =>
      Effect === "Deny" &&
      Resource === `LogicalResourceId/${logicalId}` &&
      (Action === action || Action === "Update:*"),
  );
}

/** What an update that begins now may not remove: what has been there, isn't in the template, and is protected. */
function unremovable(stack: Stack): ReadonlySet<LogicalId> {
  const there = [...stack.resources].flatMap(([logicalId, { current }]) =>
    current !== undefined && "good" in current ? [logicalId] : [],
  );
  return new Set(
    there.filter(
      (logicalId) =>
        !stack.definition.dependencies.has(logicalId) && isProtected(stack, logicalId, "Update:Delete"),
    ),
  );
}

/** Whatever depends on one of these, at any distance. */
function dependentsOf(
  logicalIds: readonly LogicalId[],
  { dependencies }: Stack["definition"],
): ReadonlySet<LogicalId> {
  const found = new Set<LogicalId>();
  const reached = [...logicalIds];
  for (const one of reached)
    for (const [logicalId, needed] of dependencies)
      if (needed.has(one) && !found.has(logicalId)) {
        found.add(logicalId);
        reached.push(logicalId);
      }
  return found;
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
