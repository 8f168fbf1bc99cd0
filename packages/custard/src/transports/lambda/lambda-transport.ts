/**
 * Delivers requests to functions that run on this machine.
 *
 * Owns how a request becomes an asynchronous invocation, what is noted of it, and when a function counts as silent.
 *
 * Invariants
 * L1. "silent" is said only when no attempt is left, nothing that ran for the request spoke to others, every instance
 *     that ran it was destroyed first, and no answer had come by then.
 * L2. Neither notes nor reasons contain the signature of a response URL.
 * L3. A delivery that is aborted leaves a running function alone; only further attempts are dropped.
 */
import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import { type ProviderRequest, formatRequest } from "@custard/provider/protocol";
import { hideSignatures } from "../../engine/hide-signatures.ts";
import type { RequestId, StackId } from "../../engine/ids.ts";
import type { Clock, Delivery, Documents, TraceEntry, Traces, Transport } from "../../engine/ports.ts";
import { type FunctionReference, parseFunctionArn } from "../../services/function-arn.ts";
import { FunctionError } from "../../services/function-error.ts";
import type { ResolvedFunction } from "../../services/function-record.ts";
import type { Runtime, RuntimeFamily } from "../../services/function-settings.ts";
import type { FunctionRegistry } from "../../services/functions.ts";
import type { OperationSettings } from "../../services/operation-settings.ts";
import { adviceOn } from "./advice.ts";
import { type LastMessage, lastMessages } from "./destination-record.ts";
import { invokeAsync } from "./async-invocations.ts";
import { type Attempt, type Invocation, type Observation, invoke } from "./invoke.ts";
import { Leftovers } from "./leftovers.ts";
import { FunctionPool } from "./pool.ts";
import { findPython } from "./python-interpreter.ts";
import type { SandboxOptions } from "./sandbox.ts";
import { TransportError } from "./transport-error.ts";

/** What the transport needs. */
export interface LambdaTransportOptions {
  readonly functions: FunctionRegistry;
  readonly documents: Documents;
  readonly traces: Traces;
  readonly clock: Clock;
  /** For unpacked code and for the folders of instances; created when missing. Best outside of any project. */
  readonly workDirectory: string;
  /**
   * Has an answer for this request been received? Asked after the request's instances were destroyed: it may wait
   * until a body that is just being received is recorded.
   */
  readonly answered: (request: ProviderRequest) => boolean | Promise<boolean>;
  /** Variables for all functions of a family: redirect, certificates, endpoint. */
  readonly environment?: (family: RuntimeFamily) => Readonly<Record<string, string>>;
  /** Folders in which Node functions find packages last, e.g. the project's `node_modules`. */
  readonly nodeModules?: readonly string[];
  /** Milliseconds before the second and third attempt. Default 1,000 and 2,000; Lambda's are 60,000 and 120,000. */
  readonly retryDelays?: readonly number[];
  /** Ends a request at once that its function certainly leaves unanswered. Default true. */
  readonly failFast?: boolean;
  /** What holds for one request instead of these two, as far as it says so. */
  readonly settingsOf?: (
    request: ProviderRequest,
  ) => Promise<Partial<Pick<OperationSettings, "retryDelays" | "failFast">>>;
  /** Sends what an asynchronous invocation leaves behind to a destination that is no function: a topic, a queue. */
  readonly sendRecord?: (message: LastMessage) => Promise<void>;
  /** Keeps a spare process of each runtime that was used. Default false. */
  readonly keepSpares?: boolean;
  /** Default: the number of processors. */
  readonly cores?: number;
  /** How long an unused instance is kept. Default 10 minutes. */
  readonly idleMs?: number;
  /** How long the start of an instance may take. Default: Lambda's 10 seconds. */
  readonly initLimitMs?: number;
  /** Runs functions in sandboxes, which must have been found possible before: see `probeSandbox`. */
  readonly sandbox?: SandboxOptions;
  /** Executables; default: this process's Node.js, and the user's `python3`. */
  readonly node?: string;
  readonly python?: string;
}

/** A call of a function by others than CloudFormation. */
export interface DirectInvocation {
  readonly reference: FunctionReference;
  readonly payload: Uint8Array;
  readonly clientContext?: string;
  readonly observe?: (observation: Observation) => void;
}

/** Which function gets a request that comes by another way, and what it gets. */
export interface Addressed {
  readonly functionArn: string;
  readonly payload: Uint8Array;
}

/** What such a call gave. */
export interface InvocationResult {
  readonly requestId: string;
  readonly version: string;
  readonly payload: Uint8Array;
  /** There when the function failed: `Unhandled`, as Lambda's header says. */
  readonly functionError?: "Unhandled";
  /** What the log says of it, oldest first. */
  readonly log: readonly string[];
}

/** The transport, and what else can be done with functions. */
export interface LambdaTransport extends Transport {
  /** Runs a function and waits for its result. Throws `FunctionError` when there is none of that name. */
  invoke(call: DirectInvocation): Promise<InvocationResult>;
  /** Delivers a request to another function than its service token's, in another shape: how a topic's subscriber gets it. */
  deliverTo(request: ProviderRequest, to: Addressed, signal: AbortSignal): Promise<Delivery>;
  /** Runs a function as an asynchronous call does: up to three attempts. Resolves when the call is accepted. */
  invokeLater(call: DirectInvocation): Promise<{ readonly requestId: string }>;
  /** Starts a process of a runtime whose function isn't known yet. Resolves when it is started. */
  prewarm(runtime: Runtime): Promise<void>;
  /** Ends every function's process, after asynchronous calls had a few seconds for the attempt that they are at. */
  close(): Promise<void>;
}

/** Lambda's limit for an asynchronous event since 2025: 1 MB (Q7). */
const eventBytes = 1_048_576;
const linesPerRequest = 2000;
/** Milliseconds for which closing waits for asynchronous calls. */
const closingTime = 5000;
const usualDelays = [1000, 2000];

/** Makes a transport; nothing is started before it is needed. */
export function createLambdaTransport(options: LambdaTransportOptions): LambdaTransport {
  return new LocalLambda(options);
}

class LocalLambda implements LambdaTransport {
  readonly #options: LambdaTransportOptions;
  readonly #pool: FunctionPool;
  readonly #closing = new AbortController();
  /** Asynchronous calls that nobody waits for. */
  readonly #calls = new Set<Promise<unknown>>();
  #python: Promise<string> | undefined;

  constructor(options: LambdaTransportOptions) {
    this.#options = options;
    this.#pool = new FunctionPool({
      workDirectory: options.workDirectory,
      cores: options.cores ?? availableParallelism(),
      idleMs: options.idleMs ?? 600_000,
      keepSpares: options.keepSpares ?? false,
      leftovers: new Leftovers(options.documents),
      initLimitMs: options.initLimitMs ?? 10_000,
      source: {
        code: (code) => options.functions.codeBytes(code),
        layers: ({ settings }) => options.functions.layerCode(settings),
        nodeModules: options.nodeModules ?? [],
      },
      environment: options.environment ?? (() => ({})),
      nodeModules: options.nodeModules ?? [],
      node: options.node ?? process.execPath,
      python: () => this.#findPython(),
      ...(options.sandbox === undefined ? {} : { sandbox: options.sandbox }),
    });
  }

  serves(serviceToken: string): boolean {
    return /^arn:[^:]*:lambda:/.test(serviceToken);
  }

  prewarm(runtime: Runtime): Promise<void> {
    return this.#pool.prewarm(runtime);
  }

  async deliver(request: ProviderRequest, signal: AbortSignal): Promise<Delivery> {
    const payload = Buffer.from(JSON.stringify(formatRequest(request)));
    return await this.deliverTo(request, { functionArn: request.serviceToken, payload }, signal);
  }

  async deliverTo(request: ProviderRequest, to: Addressed, signal: AbortSignal): Promise<Delivery> {
    return await untilAborted(this.#deliver(request, to, signal), signal);
  }

  async invoke(call: DirectInvocation): Promise<InvocationResult> {
    const resolved = await this.#options.functions.resolve(call.reference);
    const log: string[] = [];
    const observe = (observation: Observation) => {
      if (observation.kind === "log" || observation.kind === "invoked") log.push(observation.text);
      call.observe?.(observation);
    };
    const invocation = invocationOf(call);
    const attempt = await invoke(this.#pool, { resolved, invocation }, observe);
    const { requestId } = invocation;
    const result = { requestId, version: resolved.version, payload: attempt.payload, log };
    return attempt.fault === undefined ? result : { ...result, functionError: "Unhandled" };
  }

  async invokeLater(call: DirectInvocation): Promise<{ readonly requestId: string }> {
    const resolved = await this.#options.functions.resolve(call.reference);
    const invocation = invocationOf(call);
    const given = async () => this.#closing.signal.aborted;
    const observe = call.observe ?? (() => undefined);
    const delays = this.#options.retryDelays ?? usualDelays;
    // Nobody waits for it; what becomes of it is in the log. Closing lets the attempt end, and makes no other.
    const attempted = this.#attempt({ resolved, invocation, given, delays, observe }, this.#closing.signal);
    const quiet = attempted.catch(() => undefined).finally(() => this.#calls.delete(quiet));
    this.#calls.add(quiet);
    return { requestId: invocation.requestId };
  }

  async close(): Promise<void> {
    this.#closing.abort(new TransportError("Closed", "Functions are no longer run."));
    const waiting = new AbortController();
    await Promise.race([
      Promise.all(this.#calls),
      this.#options.clock.sleep(closingTime, waiting.signal).catch(() => undefined),
    ]);
    waiting.abort(new Error("They have ended."));
    await this.#pool.close();
  }

  async #settingsOf(request: ProviderRequest): Promise<Pick<OperationSettings, "retryDelays" | "failFast">> {
    const { retryDelays = usualDelays, failFast = true, settingsOf } = this.#options;
    return { retryDelays, failFast, ...(await settingsOf?.(request)) };
  }

  async #findPython(): Promise<string> {
    const { python, workDirectory } = this.#options;
    if (python !== undefined) return python;
    this.#python ??= findPython({ workDirectory, environment: process.env, directory: process.cwd() });
    return await this.#python;
  }

  async #deliver(request: ProviderRequest, to: Addressed, signal: AbortSignal): Promise<Delivery> {
    const { payload } = to;
    const addressed = await this.#address(request, to);
    if (typeof addressed === "string") return { kind: "refused", reason: addressed };
    const note = this.#noterOf(request, addressed);
    note(
      "delivered",
      `${request.requestType} of ${request.logicalId} goes to function ${addressed.reference.name}.`,
    );
    if (addressed.settings.reservedConcurrency === 0) {
      const { failFast } = await this.#settingsOf(request);
      return neverRuns(addressed, note, failFast);
    }
    try {
      return await this.#run({ request, resolved: addressed, payload, note }, signal);
    } catch (error) {
      const isRefusal =
        error instanceof FunctionError || (error instanceof TransportError && error.code !== "Closed");
      if (isRefusal) return { kind: "refused", reason: error.message };
      throw error;
    }
  }

  async #run(delivery: InFlight, signal: AbortSignal): Promise<Delivery> {
    const { request, resolved, payload, note } = delivery;
    const isOver = () => signal.aborted || this.#closing.signal.aborted;
    // An answer stops no attempt: Lambda knows nothing of it.
    const given = async () => isOver();
    const observe = (observation: Observation) => note(observation.kind, observation.text);
    const invocation = { requestId: randomUUID(), payload };
    const { retryDelays: delays } = await this.#settingsOf(request);
    const attempted = await this.#attempt({ resolved, invocation, given, delays, observe }, signal);
    if (isOver() || (await this.#options.answered(request))) return { kind: "over" };
    return await this.#judge(delivery, attempted);
  }

  /** All attempts of an asynchronous invocation, and what its settings say is to be done with its record. */
  async #attempt(call: AsyncCall, signal: AbortSignal): Promise<Attempted> {
    const { resolved, invocation, given, delays, observe } = call;
    const { clock } = this.#options;
    const isSenseless = async () => (await given()) || (await this.#isGone(resolved));
    const retries = { delays, given: isSenseless };
    const surroundings = { pool: this.#pool, clock, observe };
    const attempts = await invokeAsync({ resolved, invocation, retries }, surroundings, signal);
    const messages = lastMessages({ resolved, invocation, attempts, at: clock.now() });
    for (const message of messages) await this.#forward(message, observe);
    return { attempts, destinations: messages.map(({ to }) => to) };
  }

  /** A deleted function is not called again. */
  async #isGone({ reference }: ResolvedFunction): Promise<boolean> {
    return await this.#options.functions.resolve(reference).then(
      () => false,
      (error: unknown) => {
        if (error instanceof FunctionError) return true;
        throw error;
      },
    );
  }

  /** A destination that can't be reached loses its record, as on Lambda; the log says so. */
  async #forward(message: LastMessage, observe: (observation: Observation) => void): Promise<void> {
    const { to, body, what } = message;
    const log = (text: string) => observe({ kind: "log", text });
    log(`${what} goes to ${to}.`);
    const reference = parseFunctionArn(to);
    try {
      if (reference !== undefined) {
        await this.invokeLater({ reference, payload: Buffer.from(body), observe });
      } else if (this.#options.sendRecord === undefined) {
        log(`Nothing here delivers to ${to}: it is lost.`);
      } else {
        await this.#options.sendRecord(message);
      }
    } catch (error) {
      log(`${to} didn't take it: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** L1. */
  async #judge(
    { request, resolved, note }: InFlight,
    { attempts, destinations }: Attempted,
  ): Promise<Delivery> {
    const workers = [...new Set(attempts.map((attempt) => attempt.worker))];
    const connections = (await Promise.all(workers.map((worker) => worker.connections()))).flat();
    connections.push(...destinations);
    const trace = await this.#options.traces.ofRequest(toRequestId(request));
    const advice = adviceOn({ resolved, attempts, trace });
    if (connections.length > 0) {
      note(
        "advice",
        `${advice} It turned to others (${connections.join(", ")}): an answer may still come from there.`,
      );
      return { kind: "over" };
    }
    if (workers.some((worker) => worker.instance.alive)) {
      note(
        "frozen",
        "The handler has ended; its process stands still until the next event and can't send anything.",
      );
    }
    if (!(await this.#settingsOf(request)).failFast) {
      note("advice", advice);
      return { kind: "over" };
    }
    for (const worker of workers) await worker.instance.destroyWhenFree();
    if (await this.#options.answered(request)) return { kind: "over" };
    note("advice", advice);
    return { kind: "silent", advice };
  }

  /** The function, or Lambda's own words why the request can't go to it. */
  async #address(
    request: ProviderRequest,
    { functionArn, payload }: Addressed,
  ): Promise<ResolvedFunction | string> {
    const details = (status: number) =>
      `(Service: Lambda, Status Code: ${status}, Request ID: ${request.requestId})`;
    const reference = parseFunctionArn(functionArn);
    if (reference === undefined) return `Invalid function ARN: ${functionArn} ${details(400)}`;
    const region = request.stackId.split(":")[3] ?? "";
    if (reference.region !== region) {
      return `Functions from '${reference.region}' are not reachable in this region ('${region}') ${details(404)}`;
    }
    if (payload.length > eventBytes) {
      return `${payload.length} byte payload is too large for the Event invocation type (limit ${eventBytes} bytes) ${details(413)}`;
    }
    try {
      return await this.#options.functions.resolve(reference);
    } catch (error) {
      if (error instanceof FunctionError) return `${error.message} ${details(404)}`;
      throw error;
    }
  }

  #noterOf(request: ProviderRequest, resolved: ResolvedFunction): Note {
    const { traces, clock } = this.#options;
    const owner = {
      requestId: toRequestId(request),
      stackId: toStackId(request),
      functionName: resolved.reference.name,
    };
    let lines = 0;
    return (kind, text) => {
      if (kind === "log") lines += 1;
      if (kind === "log" && lines > linesPerRequest) return;
      const shown =
        lines === linesPerRequest ? "… further lines of this request are not kept." : logged(text);
      traces.note({ at: clock.now(), ...owner, kind, text: shown });
    };
  }
}

type Note = (kind: TraceEntry["kind"], text: string) => void;

interface AsyncCall {
  readonly resolved: ResolvedFunction;
  readonly invocation: Invocation;
  readonly given: () => Promise<boolean>;
  /** Before the second attempt, and the third. */
  readonly delays: readonly number[];
  readonly observe: (observation: Observation) => void;
}

interface Attempted {
  readonly attempts: readonly Attempt[];
  /** Who got the record of the invocation or its event, and with it the request. */
  readonly destinations: readonly string[];
}

interface InFlight {
  readonly request: ProviderRequest;
  readonly resolved: ResolvedFunction;
  readonly payload: Uint8Array;
  readonly note: Note;
}

function neverRuns({ reference }: ResolvedFunction, note: Note, failFast: boolean): Delivery {
  const advice = `Function ${reference.name} has ReservedConcurrentExecutions 0, so that Lambda never runs it: raise it or leave it out.`;
  note("advice", advice);
  return failFast ? { kind: "silent", advice } : { kind: "over" };
}

function invocationOf({ payload, clientContext }: DirectInvocation): Invocation {
  const invocation = { requestId: randomUUID(), payload };
  return clientContext === undefined ? invocation : { ...invocation, clientContext };
}

/** L2. Carriage returns stand for line ends within one log event. */
function logged(text: string): string {
  return hideSignatures(text).replaceAll("\r", "\n");
}

/** L3. */
async function untilAborted<Result>(running: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return await new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    running.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Requests carry plain strings, since providers see them too; inside they have brands. */
function toRequestId(request: ProviderRequest): RequestId {
  return request.requestId as RequestId;
}

function toStackId(request: ProviderRequest): StackId {
  return request.stackId as StackId;
}
