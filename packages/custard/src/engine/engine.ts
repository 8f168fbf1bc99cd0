import { partitionOf } from "@custard/provider/protocol";
import type { ParameterInput } from "../template/parameters.ts";
import { stackClaim } from "./claims.ts";
import type { StackRequest } from "./event.ts";
import type { LogicalId, StackId } from "./ids.ts";
import { alreadyExists, stackNotFound } from "./messages.ts";
import type { ArrivedResponse, StackSummary } from "./ports.ts";
import { Runner, type Ports } from "./runner.ts";
import { StackError } from "./stack-error.ts";
import { isSettled, stackStatuses, type StackStatus } from "./stack-status.ts";
import type { OnFailure, Stack } from "./stack.ts";
import { decodeRecord } from "./state-codec.ts";
import { makeStackId } from "./unique-id.ts";
import { viewEvent, viewStack } from "./view.ts";
import type { StackEvent, StackView } from "./views.ts";

/** What a stack is to be. */
export interface StackInput {
  /** 1 to 128 letters, digits and hyphens, a letter first. */
  readonly stackName: string;
  readonly templateBody: string;
  readonly parameters?: Readonly<Record<string, string>>;
  /** Parameters that keep the value that they have. */
  readonly previousParameters?: readonly string[];
  readonly tags?: Readonly<Record<string, string>>;
  readonly notificationArns?: readonly string[];
  readonly region?: string;
  readonly account?: string;
  /** The folder of the template's file: local code paths start there. */
  readonly directory?: string;
  /** The same as `onFailure: "DO_NOTHING"`. */
  readonly disableRollback?: boolean;
  readonly onFailure?: OnFailure;
  readonly clientRequestToken?: string;
  readonly terminationProtection?: boolean;
}

/** Which stack: by name (in a region and account) or by its ARN. */
export interface StackReference {
  readonly stack: string;
  readonly region?: string;
  readonly account?: string;
}

/** What the engine needs beside its ports. */
export interface EngineOptions {
  readonly region: string;
  readonly account: string;
  /** A fresh unguessable text for each stack, from which all its ids are made. */
  newSeed(): string;
}

/** Stacks, run as CloudFormation runs them. Throws `StackError` where CloudFormation refuses a call. */
export class Engine {
  readonly #ports: Ports;
  readonly #options: EngineOptions;
  readonly #runner: Runner;

  constructor(ports: Ports, options: EngineOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#runner = new Runner(ports);
  }

  /** Goes on with what an earlier process left, and performs what is asked from now on. */
  start(): void {
    this.#runner.start();
  }

  /** Stops without ending any operation; the next process goes on with them. The journal stays open. */
  async close(): Promise<void> {
    await this.#runner.close();
  }

  /** Starts to create a stack. Resolves when that is durable; `watch` tells how it goes. */
  async createStack(input: StackInput): Promise<StackId> {
    const region = input.region ?? this.#options.region;
    const account = input.account ?? this.#options.account;
    const stackName = checkedName(input.stackName);
    if ((await this.#ports.journal.holder(stackClaim({ account, region, stackName }))) !== undefined) {
      throw new StackError("StackAlreadyExists", alreadyExists(stackName));
    }
    const seed = this.#options.newSeed();
    const base = { stackName, account, region, partition: partitionOf(region) };
    const stackId = makeStackId(base, seed);
    await this.#runner
      .dispatch({
        kind: "create-stack",
        at: this.#ports.clock.now(),
        stackId,
        identity: { ...base, stackId },
        seed,
        terminationProtection: input.terminationProtection ?? false,
        request: toRequest(input),
      })
      .catch((error: unknown) => {
        // Two creates of one name at the same moment: the journal lets one of them through.
        throw isClaimTaken(error)
          ? new StackError("StackAlreadyExists", alreadyExists(stackName), { cause: error })
          : error;
      });
    return stackId;
  }

  /** Starts to update a stack. `StackError` `NoUpdates` when nothing would change. */
  async updateStack(input: StackInput): Promise<StackId> {
    const stackId = await this.#find(referenceOf(input));
    await this.#runner.dispatch({
      kind: "update-stack",
      at: this.#ports.clock.now(),
      stackId,
      request: toRequest(input),
    });
    return stackId;
  }

  /** Starts to delete a stack. Deleting what is deleted or being deleted does nothing. */
  async deleteStack(
    input: StackReference & { readonly retain?: readonly string[]; readonly clientRequestToken?: string },
  ): Promise<void> {
    const stackId = await this.#find(input);
    const { clientRequestToken } = input;
    await this.#runner.dispatch({
      kind: "delete-stack",
      at: this.#ports.clock.now(),
      stackId,
      retain: (input.retain ?? []).map((name) => name as LogicalId),
      ...(clientRequestToken === undefined ? {} : { clientRequestToken }),
    });
  }

  /** Rolls an update back that is in progress. */
  async cancelUpdate(stack: string | StackReference): Promise<void> {
    const stackId = await this.#find(toReference(stack));
    await this.#runner.dispatch({ kind: "cancel-update", at: this.#ports.clock.now(), stackId });
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

  /** All events of a stack, oldest first. */
  async events(stack: string | StackReference): Promise<readonly StackEvent[]> {
    const stackId = await this.#find(toReference(stack));
    return this.#eventsAfter(await this.#known(stackId), 0);
  }

  /** Events from sequence > `after` on, as they happen, until no operation runs and all were given. */
  async *watch(
    stackId: StackId,
    options: { readonly after: number; readonly signal?: AbortSignal },
  ): AsyncGenerator<StackEvent> {
    let { after } = options;
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

  /** Does this request still wait for its answer? */
  async isPending(stackId: StackId, requestId: ArrivedResponse["requestId"]): Promise<boolean> {
    return (await this.#runner.stack(stackId))?.requests.has(requestId) === true;
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
    return records.flatMap((json, index) => {
      const record = decodeRecord(json, identity);
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

function toReference(stack: string | StackReference): StackReference {
  return typeof stack === "string" ? { stack } : stack;
}

function referenceOf({ stackName, region, account }: StackInput): StackReference {
  return { stack: stackName, ...definedOf({ region, account }) };
}

function definedOf({ region, account }: { region?: string | undefined; account?: string | undefined }): {
  region?: string;
  account?: string;
} {
  return { ...(region === undefined ? {} : { region }), ...(account === undefined ? {} : { account }) };
}

function toRequest(input: StackInput): StackRequest {
  const parameters = new Map<string, ParameterInput>();
  for (const name of input.previousParameters ?? []) parameters.set(name, { kind: "previous" });
  for (const [name, value] of Object.entries(input.parameters ?? {}))
    parameters.set(name, { kind: "value", value });
  const { directory, clientRequestToken } = input;
  return {
    templateBody: input.templateBody,
    parameters,
    tags: input.tags ?? {},
    notificationArns: input.notificationArns ?? [],
    onFailure: input.onFailure ?? (input.disableRollback === true ? "DO_NOTHING" : "ROLLBACK"),
    ...(directory === undefined ? {} : { directory }),
    ...(clientRequestToken === undefined ? {} : { clientRequestToken }),
  };
}

/** Fact 121. */
function checkedName(stackName: string): string {
  if (!/^[a-zA-Z][-a-zA-Z0-9]*$/.test(stackName)) {
    throw new StackError(
      "InvalidInput",
      `1 validation error detected: Value '${stackName}' at 'stackName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*|arn:[-a-zA-Z0-9:/._+]*`,
    );
  }
  if (stackName.length <= 128) return stackName;
  throw new StackError(
    "InvalidInput",
    `1 validation error detected: Value '${stackName}' at 'stackName' failed to satisfy constraint: Member must have length less than or equal to 128`,
  );
}

/** The journal's own error, told by its code: storage is not known here. */
function isClaimTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ClaimTaken";
}
