import { partitionOf } from "@custard/provider/protocol";
import { ChangeSets } from "./change-sets.ts";
import { exportClaim, stackClaim } from "./claims.ts";
import type { Occurrence, StackRequest } from "./event.ts";
import type { LogicalId, StackId } from "./ids.ts";
import {
  checkedName,
  definedOf,
  referenceOf,
  termsOf,
  tokenOf,
  toLogicalIds,
  toReference,
  toRequest,
  type DeleteInput,
  type StackInput,
  type StackReference,
} from "./inputs.ts";
import { alreadyExists, noTemplate, notImported, stackNotFound } from "./messages.ts";
import { isRepeated } from "./operations.ts";
import { prepareRequest } from "./prepare-request.ts";
import { parseSignal } from "./parse-signal.ts";
import type { ArrivedResponse, ArrivedSignal, StackSummary } from "./ports.ts";
import { Runner, type Ports } from "./runner.ts";
import { StackError } from "./stack-error.ts";
import { isSettled, stackStatuses, type StackStatus } from "./stack-status.ts";
import type { Stack, StackIdentity, Terms } from "./stack.ts";
import { decodeRecord, type KnownTemplates } from "./state-codec.ts";
import { makeStackId } from "./unique-id.ts";
import { viewEvent, viewExports, viewStack } from "./view.ts";
import type { ExportView, StackEvent, StackView } from "./views.ts";

export type { DeleteInput, StackInput, StackReference } from "./inputs.ts";

/** What the engine needs beside its ports. */
export interface EngineOptions {
  readonly region: string;
  readonly account: string;
  /** A fresh unguessable text for each stack, from which all its ids are made. */
  newSeed(): string;
}

/** Stacks, run as CloudFormation runs them. Throws `StackError` where CloudFormation refuses a call. */
export class Engine {
  readonly changeSets: ChangeSets;
  readonly #ports: Ports;
  readonly #options: EngineOptions;
  readonly #runner: Runner;
  #closed = false;

  constructor(ports: Ports, options: EngineOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#runner = new Runner(ports);
    const { account, region } = options;
    this.changeSets = new ChangeSets({
      account,
      region,
      journal: ports.journal,
      stack: (stackId) => this.#runner.stack(stackId),
      dispatch: (stackId, occurrence) => this.#dispatch(stackId, occurrence),
      newStack: (input) => this.#newStack(input),
      templates: ports.templates,
      prepare: (stack, request) => prepareRequest(ports, stack, request),
    });
  }

  /** Goes on with what an earlier process left, and performs what is asked from now on. */
  start(): void {
    this.#runner.start();
  }

  /**
   * Stops without ending any operation; the next process goes on with them. The journal stays open, and stacks can
   * still be looked at; calls that would change one throw.
   */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#runner.close();
  }

  /** Starts to create a stack. Resolves when that is durable; `watch` tells how it goes. */
  async createStack(input: StackInput): Promise<StackId> {
    if (input.templateBody === undefined) throw new StackError("InvalidInput", noTemplate);
    const given = toRequest(input);
    const { identity, seed } = this.#newStack(input);
    const { stackId } = identity;
    const holder = await this.#ports.journal.holder(stackClaim(identity));
    if (holder !== undefined) return this.#repeatedCreate(holder, given);
    const request = await prepareRequest(this.#ports, { identity }, given);
    await this.#dispatch(stackId, {
      kind: "create-stack",
      identity,
      seed,
      terminationProtection: input.terminationProtection ?? false,
      request,
    });
    return stackId;
  }

  /** A create of an existing stack is refused, unless it is the repetition of the call that created it. */
  async #repeatedCreate(stackId: StackId, { clientRequestToken }: StackRequest): Promise<StackId> {
    const stack = await this.#known(stackId);
    if (isRepeated(stack, "create", clientRequestToken)) return stackId;
    throw new StackError("StackAlreadyExists", alreadyExists(stack.identity.stackName));
  }

  /** Starts to update a stack. `StackError` `NoUpdates` when nothing would change. */
  async updateStack(input: StackInput): Promise<StackId> {
    if ((input.templateBody === undefined) !== (input.usePreviousTemplate ?? false))
      throw new StackError("InvalidInput", noTemplate);
    const { identity, definition: previous } = await this.#known(await this.#find(referenceOf(input)));
    const request = await prepareRequest(this.#ports, { identity, previous }, toRequest(input));
    await this.#dispatch(identity.stackId, { kind: "update-stack", request });
    return identity.stackId;
  }

  /** Starts to delete a stack. Deleting what is deleted or being deleted does nothing. */
  async deleteStack(input: DeleteInput): Promise<void> {
    await this.#ask(input, {
      kind: "delete-stack",
      retain: toLogicalIds(input.retain),
      ...(input.force === undefined ? {} : { force: input.force }),
      ...tokenOf(input),
      ...termsOf(input),
    });
  }

  /** Rolls an update back that is in progress. */
  async cancelUpdate(
    stack: string | (StackReference & { readonly clientRequestToken?: string }),
  ): Promise<void> {
    const input = typeof stack === "string" ? { stack } : stack;
    await this.#ask(input, { kind: "cancel-update", ...tokenOf(input) });
  }

  /**
   * Goes on with a rollback that failed; what is skipped is taken for rolled back as it stands: logical ids, of nested
   * stacks as `<name of the nested stack>.<logical id>`.
   */
  async continueUpdateRollback(
    input: StackReference & {
      readonly skip?: readonly string[];
      readonly clientRequestToken?: string;
      readonly terms?: Terms;
    },
  ): Promise<void> {
    const { skip = [] } = input;
    await this.#ask(input, { kind: "continue-rollback", skip, ...tokenOf(input), ...termsOf(input) });
  }

  /** Undoes a create or update that failed and was left as it was. */
  async rollbackStack(
    input: StackReference & {
      readonly retainExceptOnCreate?: boolean;
      readonly clientRequestToken?: string;
      readonly terms?: Terms;
    },
  ): Promise<StackId> {
    const { retainExceptOnCreate = false } = input;
    const more = { ...tokenOf(input), ...termsOf(input) };
    return this.#ask(input, { kind: "roll-back", retainExceptOnCreate, ...more });
  }

  /** Protects a stack from deletion, or ends this. */
  async setTerminationProtection(stack: string | StackReference, enabled: boolean): Promise<StackId> {
    return this.#ask(toReference(stack), { kind: "set-termination-protection", enabled });
  }

  /** Puts a stack policy in force: its JSON text. */
  async setStackPolicy(stack: string | StackReference, policy: string): Promise<void> {
    await this.#ask(toReference(stack), { kind: "set-policy", policy });
  }

  /** The text of the stack policy in force; undefined when the stack has none. */
  async stackPolicy(stack: string | StackReference): Promise<string | undefined> {
    return (await this.#known(await this.#find(toReference(stack)))).policy;
  }

  /** A stack as it stands. A deleted one is found by its ARN alone (fact 110). */
  async stack(stack: string | StackReference): Promise<StackView> {
    const reference = toReference(stack);
    const found = await this.#runner.stack(await this.#find(reference));
    if (found === undefined) throw new StackError("StackNotFound", stackNotFound(reference.stack));
    return viewStack(found, this.#ports.types);
  }

  /** All stacks, deleted ones too, oldest first. */
  async stacks(): Promise<readonly StackSummary[]> {
    return this.#ports.journal.summaries();
  }

  /** All exports of an account and region, by name. */
  async exports(
    place: { readonly region?: string; readonly account?: string } = {},
  ): Promise<readonly ExportView[]> {
    const { account, region } = { ...this.#options, ...definedOf(place) };
    const views: ExportView[] = [];
    for (const summary of await this.stacks()) {
      if (summary.account !== account || summary.region !== region) continue;
      if (summary.status !== "DELETE_COMPLETE")
        views.push(...viewExports(await this.#known(summary.stackId)));
    }
    return views.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Names of the stacks that use an export. `StackError` when none does. */
  async importers(
    name: string,
    place: { readonly region?: string; readonly account?: string } = {},
  ): Promise<readonly string[]> {
    const { account, region } = { ...this.#options, ...definedOf(place) };
    const holder = await this.#ports.journal.holder(exportClaim({ account, region }, name));
    const stack = holder === undefined ? undefined : await this.#runner.stack(holder);
    const importers = stack?.importers.get(name);
    if (importers === undefined) throw new StackError("InvalidInput", notImported(name));
    return [...importers.values()].map(({ stackName }) => stackName);
  }

  /** All events of a stack, oldest first. */
  async events(stack: string | StackReference): Promise<readonly StackEvent[]> {
    const stackId = await this.#find(toReference(stack));
    return this.#eventsAfter(await this.#known(stackId), 0);
  }

  /** Events from sequence > `after` (default 0) on, as they happen, until no operation runs and all were given. */
  async *watch(
    stackId: StackId,
    options: { readonly after?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<StackEvent> {
    let { after = 0 } = options;
    for (;;) {
      const change = this.#nextChange(stackId, options.signal);
      try {
        const stack = await this.#known(stackId);
        for (const event of await this.#eventsAfter(stack, after)) yield event;
        after = Math.max(after, stack.version);
        const now = await this.#known(stackId);
        if (isSettled(now.status) && now.version <= after) return;
        if (now.version > after) continue;
        await change.promise;
      } finally {
        change.end();
      }
    }
  }

  /** Resolves with the stack when no operation runs. */
  async settled(stackId: StackId, signal?: AbortSignal): Promise<StackView> {
    for (;;) {
      const change = this.#nextChange(stackId, signal);
      try {
        const stack = await this.#known(stackId);
        if (isSettled(stack.status)) return viewStack(stack, this.#ports.types);
        await change.promise;
      } finally {
        change.end();
      }
    }
  }

  /** The stacks on which an operation is in progress; a started engine is at work on them. */
  async resume(): Promise<readonly StackId[]> {
    const summaries = await this.stacks();
    return summaries
      .filter(({ status }) => status in stackStatuses && !isSettled(status as StackStatus))
      .map(({ stackId }) => stackId);
  }

  /** Takes a body that arrived at a response URL. Resolves when it is durable. */
  async receive(arrived: ArrivedResponse): Promise<void> {
    const { stackId } = arrived;
    if ((await this.#runner.stack(stackId)) === undefined) return;
    await this.#runner.dispatch({ kind: "answered", at: this.#ports.clock.now(), ...arrived });
  }

  /** Takes a body that arrived at the URL of a wait condition's handle. Resolves when it is durable. */
  async receiveSignal({ stackId, logicalId, body }: ArrivedSignal): Promise<void> {
    if ((await this.#runner.stack(stackId)) === undefined) return;
    await this.#dispatch(stackId, { kind: "handle-signalled", logicalId, signal: parseSignal(body) });
  }

  /** Signals a resource that waits for signals by its creation policy. */
  async signalResource(
    input: StackReference & {
      readonly logicalId: string;
      readonly uniqueId: string;
      readonly status: "SUCCESS" | "FAILURE";
    },
  ): Promise<void> {
    const { uniqueId, status } = input;
    const logicalId = input.logicalId as LogicalId;
    await this.#ask(input, { kind: "signal-resource", logicalId, signal: { uniqueId, status } });
  }

  /** Does this request still wait for its answer? */
  async isPending(stackId: StackId, requestId: ArrivedResponse["requestId"]): Promise<boolean> {
    return (await this.#runner.stack(stackId))?.requests.has(requestId) === true;
  }

  /** Who a stack will be that doesn't exist yet. */
  #newStack(input: { stackName: string; region?: string; account?: string }): {
    readonly identity: StackIdentity;
    readonly seed: string;
  } {
    const { account, region } = { ...this.#options, ...definedOf(input) };
    const stackName = checkedName(input.stackName);
    const seed = this.#options.newSeed();
    const base = { stackName, account, region, partition: partitionOf(region) };
    return { identity: { ...base, stackId: makeStackId(base, seed) }, seed };
  }

  async #ask(reference: StackReference, occurrence: Occurrence): Promise<StackId> {
    const stackId = await this.#find(reference);
    await this.#dispatch(stackId, occurrence);
    return stackId;
  }

  async #dispatch(stackId: StackId, occurrence: Occurrence): Promise<Stack | undefined> {
    // A signal that arrives now is kept; what a call asks for would be done by nobody.
    if (this.#closed && occurrence.kind !== "handle-signalled")
      throw new Error("The engine is closed: nothing more can be asked of it.");
    return this.#runner.dispatch({ ...occurrence, at: this.#ports.clock.now(), stackId });
  }

  async #known(stackId: StackId): Promise<Stack> {
    const stack = await this.#runner.stack(stackId);
    if (stack === undefined) throw new StackError("StackNotFound", stackNotFound(stackId));
    return stack;
  }

  async #eventsAfter(stack: Stack, after: number): Promise<StackEvent[]> {
    const { identity } = stack;
    const records = await this.#ports.journal.records(
      identity.stackId,
      after,
      Math.max(0, stack.version - after),
    );
    const templates: KnownTemplates = new Map();
    return records.flatMap((json, index) => {
      const record = decodeRecord(json, identity, templates);
      return viewEvent(record, { identity, sequence: after + index + 1 }) ?? [];
    });
  }

  async #find(reference: StackReference): Promise<StackId> {
    const { stack } = reference;
    if (stack.startsWith("arn:")) {
      const found = await this.#runner.stack(stack as StackId);
      if (found !== undefined) return found.identity.stackId;
    }
    const { account, region } = { ...this.#options, ...definedOf(reference) };
    const stackId = await this.#ports.journal.holder(stackClaim({ account, region, stackName: stack }));
    if (stackId === undefined) throw new StackError("StackNotFound", stackNotFound(stack));
    return stackId;
  }

  #nextChange(
    stackId: StackId,
    signal: AbortSignal | undefined,
  ): { promise: Promise<void>; end: () => void } {
    let end = () => {};
    const promise = new Promise<void>((resolve, reject) => {
      const unlisten = this.#runner.listen((changed) => {
        if (changed === stackId) resolve();
      });
      const abort = () => reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
      if (signal?.aborted === true) abort();
      signal?.addEventListener("abort", abort);
      end = () => {
        unlisten();
        signal?.removeEventListener("abort", abort);
        resolve();
      };
    });
    promise.catch(() => undefined);
    return { promise, end: () => end() };
  }
}
