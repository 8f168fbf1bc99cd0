/**
 * The loop: performs what decisions command, and reports back as events.
 *
 * L1: a command is performed at least once after its records are durable, and is forgotten only when its request has
 *     ended or there is nothing more to do about it.
 * L2: commands for one logical id's built-in type or nested stack run one after another.
 * L3: trouble outside is tried again after a while; it never ends an operation by itself.
 */
import type { ProviderRequest } from "@custard/provider/protocol";
import { parseTask, type Task } from "./command.ts";
import { findImport, releaseImport } from "./correspond.ts";
import { governChild, reportToParent, type Nursery } from "./govern-child.ts";
import type { Feedback, Occurrence, StackOccurrence } from "./event.ts";
import type { PhysicalId, StackId } from "./ids.ts";
import { performDropNested } from "./nested-change-sets.ts";
import { notify } from "./notify.ts";
import { toProviderRequest, toResourceTask } from "./perform.ts";
import type {
  ClaimedCommand,
  Clock,
  Delivery,
  Journal,
  Lookups,
  Notifications,
  ResourceTypes,
  ResponseUrls,
  Templates,
  Traces,
  Transforms,
  Transport,
  TaskOutcome,
  WaitUrls,
} from "./ports.ts";
import { isOwnType } from "./resource.ts";
import { prepareRequest } from "./prepare-request.ts";
import { resolveReferences } from "./resolve-references.ts";
import { StackHost } from "./stack-host.ts";
import type { Pending, Stack } from "./stack.ts";

/** Milliseconds for which a command is this process's own; it is claimed anew while it is being performed. */
const lease = 600_000;
const longestSleep = 3_600_000;
const firstPause = 1_000;
const longestPause = 30_000;
/** Why a sleep ends early. Without one, each of the many wakings would make an error with a stack trace. */
const woken = "something is to be done";
/** Stacks that are kept in memory although nothing happens to them. */
const idleHosts = 64;

/** All that the engine is connected to. */
export interface Ports {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly types: ResourceTypes;
  readonly transports: readonly Transport[];
  readonly responseUrls: ResponseUrls;
  readonly traces: Traces;
  /** Without it no macro runs, and nothing is included. */
  readonly transforms?: Transforms;
  /** Without it dynamic references stay as they are written. */
  readonly lookups?: Lookups;
  /** Without it nobody is notified of stack events. */
  readonly notifications?: Notifications;
  /** Without it there are no wait condition handles. */
  readonly waitUrls?: WaitUrls;
  /** Without it there are no nested stacks. */
  readonly templates?: Templates;
  /** Fail a request whose provider has certainly ended without answering, instead of waiting for its deadline. */
  readonly failFast: boolean;
  /** Told of trouble that was met while performing a command; it will be tried again. */
  trouble(error: unknown): void;
}

/** See above. */
export class Runner {
  readonly #ports: Ports;
  readonly #nursery: Nursery;
  readonly #hosts = new Map<StackId, StackHost>();
  readonly #performing = new Set<string>();
  readonly #notifying = new Set<Promise<void>>();
  readonly #turns = new Map<string, Promise<void>>();
  readonly #listeners = new Set<(stackId: StackId) => void>();
  readonly #stop = new AbortController();
  /** Has anything changed since the loop looked for commands? */
  #changedSince = false;
  /** Set while the loop sleeps. */
  #sleep: AbortController | undefined;
  #loop: Promise<void> | undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
    this.#nursery = {
      templates: ports.templates,
      prepare: (stack, request) => prepareRequest(ports, stack, request),
      journal: ports.journal,
      stack: (stackId) => this.stack(stackId),
      tell: (stackId, occurrence) => this.#tell(stackId, occurrence),
    };
  }

  /** Starts performing commands, those of an earlier process first. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** Stops: nothing more is performed; what was not finished goes on when the journal is opened again. */
  async close(): Promise<void> {
    this.#stop.abort(new Error("the engine is closing"));
    this.#wake();
    await this.#loop;
    await this.#notifyRest();
    await Promise.allSettled(this.#turns.values());
  }

  /** Whoever follows a stack closes as soon as it has settled: its last events go out before. */
  async #notifyRest(): Promise<void> {
    if (this.#ports.notifications === undefined) return;
    await Promise.allSettled(this.#notifying);
    for (const command of await this.#claim()) {
      if (parseTask(command.body).kind !== "notify") continue;
      // What fails is tried again at the next start.
      await this.#perform(command).catch((error: unknown) => this.#ports.trouble(error));
    }
  }

  /** Hands an event to its stack. Resolves when its effects are durable. */
  async dispatch(event: StackOccurrence): Promise<Stack | undefined> {
    return this.#host(event.stackId).handle(event);
  }

  /** The stack as it stands durably. */
  async stack(stackId: StackId): Promise<Stack | undefined> {
    return this.#host(stackId).stack();
  }

  /** Calls back after each durable change of a stack. Returns a function that ends this. */
  listen(listener: (stackId: StackId) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #host(stackId: StackId): StackHost {
    const known = this.#hosts.get(stackId);
    if (known !== undefined) return known;
    this.#forgetIdleHosts();
    const host = new StackHost(stackId, {
      journal: this.#ports.journal,
      knowledge: this.#ports.types,
      changed: (changed) => this.#changed(changed),
    });
    this.#hosts.set(stackId, host);
    return host;
  }

  #forgetIdleHosts(): void {
    if (this.#hosts.size < idleHosts) return;
    for (const [stackId, host] of this.#hosts) if (host.idle) this.#hosts.delete(stackId);
  }

  #changed(stackId: StackId): void {
    this.#wake();
    for (const listener of this.#listeners) listener(stackId);
  }

  // ------------------------------------------------------------------------------------------------ the loop

  async #run(): Promise<void> {
    const { journal, clock } = this.#ports;
    while (!this.#stop.signal.aborted) {
      this.#changedSince = false;
      const claimed = await this.#claim();
      for (const command of claimed) void this.#take(command);
      if (claimed.length > 0) continue;
      const due = await journal.nextDue();
      const delay = due === undefined ? longestSleep : Math.max(0, due - clock.now());
      await this.#sleepUntilWoken(Math.min(delay, longestSleep));
    }
  }

  async #sleepUntilWoken(delay: number): Promise<void> {
    if (this.#changedSince || this.#stop.signal.aborted) return;
    this.#sleep = new AbortController();
    await this.#ports.clock.sleep(delay, this.#sleep.signal).catch(() => undefined);
    this.#sleep = undefined;
  }

  #wake(): void {
    this.#changedSince = true;
    this.#sleep?.abort(woken);
  }

  async #claim(): Promise<readonly ClaimedCommand[]> {
    try {
      return await this.#ports.journal.claimDue(this.#ports.clock.now(), 256, lease);
    } catch (error) {
      this.#ports.trouble(error);
      await this.#pause(firstPause);
      return [];
    }
  }

  async #take(command: ClaimedCommand): Promise<void> {
    const name = `${command.stackId} ${command.key}`;
    if (this.#performing.has(name)) return;
    this.#performing.add(name);
    try {
      await this.#performUntilDone(command);
    } finally {
      this.#performing.delete(name);
    }
  }

  async #performUntilDone(command: ClaimedCommand): Promise<void> {
    let pause = firstPause;
    while (!this.#stop.signal.aborted) {
      try {
        await this.#perform({ ...command, ...(pause > firstPause ? { repeated: true } : {}) });
        return;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        // L3
        this.#ports.trouble(error);
        await this.#pause(pause);
        pause = Math.min(pause * 2, longestPause);
      }
    }
  }

  /** A signal of its own for each command: hundreds of listeners on one look like a leak to Node. */
  #untilStopped(): AbortSignal {
    return AbortSignal.any([this.#stop.signal]);
  }

  async #pause(delay: number): Promise<void> {
    await this.#ports.clock.sleep(delay, this.#stop.signal).catch(() => undefined);
  }

  async #perform(command: ClaimedCommand): Promise<void> {
    const { stackId } = command;
    const stack = await this.stack(stackId);
    const repeated = command.repeated === true;
    const task = parseTask(command.body);
    if (stack !== undefined && (await this.#performTask(stack, { task, repeated })) === "open") return;
    await this.#ports.journal.confirm(stackId, command.key);
  }

  async #performTask(
    stack: Stack,
    { task, repeated }: { task: Task; repeated: boolean },
  ): Promise<"done" | "open"> {
    switch (task.kind) {
      case "deliver":
      case "perform":
      case "deadline":
      case "child":
        return this.#performAbout(stack, { task, repeated });
      case "report":
        await reportToParent(this.#nursery, stack, task);
        return "done";
      case "notify":
        await this.#inSight(this.#notify(stack, task));
        return "done";
      case "creation-timeout":
        await this.#tell(stack.identity.stackId, { kind: "creation-timed-out" });
        return "done";
      case "find-import":
        await findImport(this.#nursery, stack, task);
        return "done";
      case "release-import":
        await releaseImport(this.#nursery, stack, task);
        return "done";
      case "drop-nested":
        await performDropNested(this.#nursery, task);
        return "done";
    }
  }

  async #inSight(notifying: Promise<void>): Promise<void> {
    this.#notifying.add(notifying);
    await notifying.finally(() => this.#notifying.delete(notifying));
  }

  async #notify(stack: Stack, task: Extract<Task, { kind: "notify" }>): Promise<void> {
    const { journal, notifications } = this.#ports;
    if (notifications !== undefined) await notify({ journal, notifications }, stack, task);
  }

  /** Performs a command about a request, unless it has ended. A deadline stays until then. */
  async #performAbout(
    stack: Stack,
    { task, repeated }: { task: RequestTask; repeated: boolean },
  ): Promise<"done" | "open"> {
    const { kind, requestId } = task;
    const pending = stack.requests.get(requestId);
    if (pending !== undefined) await this.#act(kind, { stack, pending, repeated });
    const now = await this.stack(stack.identity.stackId);
    return kind === "deadline" && now?.requests.has(requestId) === true ? "open" : "done";
  }

  async #tell(stackId: StackId, occurrence: Occurrence): Promise<Stack | undefined> {
    return this.dispatch({ ...occurrence, at: this.#ports.clock.now(), stackId });
  }

  async #act(kind: RequestTask["kind"], at: Act): Promise<void> {
    const { stack, pending, repeated } = at;
    switch (kind) {
      case "deadline":
        await this.#report(stack, { kind: "deadline-passed", requestId: pending.requestId });
        return;
      case "deliver":
        if (pending.kind === "provider") await this.#deliver({ stack, pending, repeated });
        return;
      case "perform":
        if (pending.kind === "task")
          await this.#inTurn({ stack, pending }, () => this.#runTask({ stack, pending, repeated }));
        return;
      case "child":
        if (pending.kind === "child")
          await this.#inTurn({ stack, pending }, () => governChild(this.#nursery, stack, pending));
    }
  }

  async #report(stack: Stack, feedback: Feedback): Promise<void> {
    await this.#tell(stack.identity.stackId, feedback);
  }

  // --------------------------------------------------------------------------------------------- performing

  async #deliver({ stack, pending, repeated }: Act & { pending: { kind: "provider" } }): Promise<void> {
    const { requestId } = pending;
    const resolved = await resolveReferences(this.#ports.lookups, stack.identity, pending);
    const delivery: Delivery =
      resolved.kind === "failed"
        ? { kind: "refused", reason: resolved.reason }
        : await this.#handOver(toProviderRequest(stack, resolved.pending, this.#ports.responseUrls));
    switch (delivery.kind) {
      case "over":
        return;
      case "refused":
        await this.#report(stack, {
          kind: "delivery-refused",
          requestId,
          reason: delivery.reason,
          repeated,
        });
        return;
      case "silent":
        if (this.#ports.failFast)
          await this.#report(stack, { kind: "provider-silent", requestId, advice: delivery.advice });
    }
  }

  async #handOver(request: ProviderRequest): Promise<Delivery> {
    const { serviceToken } = request;
    const transport = this.#ports.transports.find((candidate) => candidate.serves(serviceToken));
    if (transport !== undefined) return transport.deliver(request, this.#untilStopped());
    return {
      kind: "refused",
      reason: `Invalid service token: ${serviceToken} is no ARN of a Lambda function or an SNS topic.`,
    };
  }

  /** L2 */
  async #inTurn(at: { stack: Stack; pending: Pending }, work: () => Promise<void>): Promise<void> {
    const name = `${at.stack.identity.stackId} ${at.pending.logicalId}`;
    const before = this.#turns.get(name) ?? Promise.resolve();
    const turn = before.then(work);
    const quiet = turn.catch(() => undefined);
    this.#turns.set(name, quiet);
    await turn.finally(() => {
      if (this.#turns.get(name) === quiet) this.#turns.delete(name);
    });
  }

  async #performTaskOf({
    stack,
    pending,
    repeated,
  }: Act & { pending: { kind: "task" } }): Promise<TaskOutcome> {
    const resolved = await resolveReferences(this.#ports.lookups, stack.identity, pending);
    if (resolved.kind === "failed")
      return {
        kind: "failed",
        reason: resolved.reason,
        ...(repeated ? { physicalId: pending.targetId } : {}),
      };
    return this.#ports.types.perform(toResourceTask(stack, resolved.pending), this.#untilStopped());
  }

  /** A wait condition's handle is its URL; deleting it, or a wait condition, takes nothing. */
  #ownOutcome(stack: Stack, pending: Extract<Pending, { kind: "task" }>): TaskOutcome {
    const { stackId, region, partition } = stack.identity;
    const { logicalId, issuedAt, action, targetId } = pending;
    if (action === "delete") return { kind: "done", physicalId: targetId, attributes: {} };
    const url = this.#ports.waitUrls?.urlFor({ stackId, logicalId, region, partition, issuedAt });
    return url === undefined ? unserved() : { kind: "done", physicalId: url as PhysicalId, attributes: {} };
  }

  async #runTask(act: Act & { pending: { kind: "task" } }): Promise<void> {
    const { stack, pending } = act;
    const outcome = isOwnType(pending.type)
      ? this.#ownOutcome(stack, pending)
      : await this.#performTaskOf(act);
    await this.#report(stack, { kind: "task-ended", requestId: pending.requestId, outcome });
  }
}

function unserved(): TaskOutcome {
  return { kind: "failed", reason: "Nobody could signal a wait condition here: there are no URLs for it." };
}

/** What is done about a request; `repeated`: it may have been done before. */
interface Act {
  readonly stack: Stack;
  readonly pending: Pending;
  readonly repeated: boolean;
}

type RequestTask = Extract<Task, { kind: "deliver" | "perform" | "deadline" | "child" }>;
