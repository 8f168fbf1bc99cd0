/**
 * One instance of a function: a child process in a group of its own, its Runtime API, its deadline.
 *
 * Owns the process from spawn to exit. Which event goes to which instance is the pool's.
 *
 * Invariants
 * I1. As soon as an invocation is over, and until the next, the process group is stopped (SIGSTOP): code that a
 *     handler left running doesn't run on, as on Lambda.
 * I2. An invocation is over when the process asks for the next event, exits, or passes its deadline; at the deadline
 *     the whole group is killed.
 * I3. Log lines that the process wrote before an invocation was over belong to that invocation.
 * I4. An instance whose process has exited never gets an event; an event that it was not handed goes elsewhere.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { type LineReader, readLines } from "./read-lines.ts";
import { descendantOf, memoryMegabytes, peakMemoryMegabytes } from "./process-facts.ts";
import { type InstanceSandbox, takeListeners } from "./sandbox.ts";
import { RuntimeApi, type RuntimeEvent, type RuntimeReport } from "./runtime-api.ts";

/** How a process is started. */
export interface Launch {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
  /** One of our own bootstraps, which show a token to the Runtime API. */
  readonly isOurs: boolean;
  /** Set for a process whose network is its own. */
  readonly sandbox?: InstanceSandbox;
}

/** What a spare process is told. */
export interface Assignment {
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly heapMegabytes: number;
}

/** How an invocation ended. */
export type InvocationOutcome =
  | { readonly kind: "returned"; readonly payload: Uint8Array }
  | { readonly kind: "failed"; readonly report: RuntimeReport }
  | { readonly kind: "exited"; readonly exit: ProcessExit }
  | { readonly kind: "timed-out" }
  | { readonly kind: "out-of-memory" };

/** An invocation that is over, and what it took. */
export interface FinishedInvocation {
  readonly outcome: InvocationOutcome;
  readonly durationMs: number;
  /** Absent where the machine doesn't tell. */
  readonly peakMegabytes?: number;
}

/** How a process ended. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How the start of an instance ended. */
export type InitOutcome =
  | { readonly kind: "ready"; readonly durationMs: number }
  | { readonly kind: "failed"; readonly report: RuntimeReport; readonly durationMs: number }
  | { readonly kind: "exited"; readonly exit: ProcessExit; readonly durationMs: number }
  | { readonly kind: "timed-out"; readonly durationMs: number };

interface Running {
  readonly startedAt: number;
  readonly finish: (finished: FinishedInvocation) => void;
  readonly onLine: (line: string) => void;
  readonly timers: readonly NodeJS.Timeout[];
  result?: InvocationOutcome & { readonly kind: "returned" | "failed" };
  /** Why the process was killed. */
  killedFor?: "timed-out" | "out-of-memory";
}

/** What an invocation may use. */
export interface InvocationLimits {
  readonly memoryMegabytes: number;
  readonly onLine: (line: string) => void;
}

/** So long a process, or its output, may take to end after it said that it would. */
const goodbyeMs = 200;

/** How often the memory of a running process is looked at. */
const memoryLookMs = 100;

/** A running process of a function. */
export class Instance {
  /** Resolves when the process has exited and its output is read. */
  readonly exited: Promise<ProcessExit>;
  readonly #child: ChildProcess;
  readonly #depth: number;
  readonly #api: RuntimeApi;
  readonly #output: readonly LineReader[];
  readonly #initLines: string[] = [];
  #startedAt = performance.now();
  #initReport: RuntimeReport | undefined;
  readonly #whenStarted = new Set<() => void>();
  readonly #whenFree = new Set<() => void>();
  #ready = false;
  #running: Running | undefined;
  #exit: ProcessExit | undefined;
  #frozen = false;
  #ending = false;

  private constructor(child: ChildProcess, api: RuntimeApi, depth: number) {
    this.#depth = depth;
    this.#child = child;
    this.#api = api;
    // Nothing can have been called yet: the process has just been started, in this very turn of the loop.
    api.attach({
      onNext: () => this.#onNext(),
      onResponse: (payload) => this.#onResult({ kind: "returned", payload }),
      onError: (report) => this.#onResult({ kind: "failed", report }),
      onInitError: (report) => this.#onInitError(report),
    });
    this.#output = [child.stdout, child.stderr].flatMap((stream) =>
      stream === null ? [] : [readLines(stream, (line) => this.#onLine(line))],
    );
    this.exited = new Promise((resolve) => {
      const settle = (exit: ProcessExit) => {
        if (this.#exit !== undefined) return;
        this.#exit = exit;
        this.#api.close();
        for (const reader of this.#output) reader.end();
        this.#finishByExit(exit);
        for (const wake of this.#whenStarted) wake();
        resolve(exit);
      };
      // `close` comes after all output; a grandchild that keeps the pipe open must not hold it back for ever.
      child.once("close", (code, signal) => settle({ code, signal }));
      child.once("exit", (code, signal) => {
        this.#kill("SIGKILL");
        setTimeout(() => settle({ code, signal }), goodbyeMs).unref();
      });
      child.once("error", (error) => {
        this.#initReport = notStarted(error);
        settle({ code: 127, signal: null });
      });
    });
  }

  /** Opens a Runtime API and starts a process that speaks to it. */
  static async start(launch: Launch): Promise<Instance> {
    const api = await RuntimeApi.open({ asksForToken: launch.isOurs });
    try {
      return new Instance(spawnProcess(launch, api), api, launch.sandbox?.depth ?? 0);
    } catch (cause) {
      api.close();
      throw cause;
    }
  }

  /** Undefined when the process couldn't be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Can it take events? */
  get alive(): boolean {
    return this.#exit === undefined && !this.#ending;
  }

  /** Lines that were written before the first invocation; taken once. */
  takeInitLines(): readonly string[] {
    return this.#initLines.splice(0);
  }

  /** A spare process becomes its function's; init is counted from here. */
  assign({ environment, ...others }: Assignment): void {
    this.#startedAt = performance.now();
    const address = { AWS_LAMBDA_RUNTIME_API: this.#api.address };
    this.#api.assign({ ...others, environment: { ...environment, ...address } });
  }

  /** Waits until the process has asked for its first event or has exited; true when neither came in time. */
  async started(limitMs: number): Promise<boolean> {
    if (this.#ready || this.#exit !== undefined) return false;
    return await new Promise((resolve) => {
      const timer = setTimeout(() => done(true), limitMs);
      const wake = () => done(false);
      const done = (late: boolean) => {
        clearTimeout(timer);
        this.#whenStarted.delete(wake);
        resolve(late);
      };
      this.#whenStarted.add(wake);
    });
  }

  /** Waits until the process asks for its first event, at most `limitMs`; a late one is killed. */
  async ready(limitMs: number): Promise<InitOutcome> {
    const late = await this.started(limitMs);
    await this.#drain();
    const durationMs = performance.now() - this.#startedAt;
    if (this.#ready) return { kind: "ready", durationMs };
    if (late && this.#initReport === undefined) {
      await this.destroy();
      return { kind: "timed-out", durationMs };
    }
    const exit = await this.exited;
    if (this.#initReport !== undefined) return { kind: "failed", report: this.#initReport, durationMs };
    return { kind: "exited", exit, durationMs };
  }

  /** Runs one event. Undefined when the process was gone before it could be handed over (I4). */
  async invoke(
    event: RuntimeEvent,
    { memoryMegabytes: most, onLine }: InvocationLimits,
  ): Promise<FinishedInvocation | undefined> {
    if (!this.alive || this.#running !== undefined) return undefined;
    this.#thaw();
    return await new Promise((resolve) => {
      const left = Math.max(0, event.deadline - Date.now());
      const timers = [
        setTimeout(() => this.#killFor("timed-out"), left),
        setInterval(() => this.#checkMemory(most), memoryLookMs),
      ];
      this.#running = { startedAt: performance.now(), finish: resolve, onLine, timers };
      if (this.#api.give(event)) return;
      stop(timers);
      this.#running = undefined;
      resolve(undefined);
    });
  }

  /** Stops the whole process group (I1). */
  freeze(): void {
    if (this.#frozen) return;
    this.#frozen = true;
    this.#kill("SIGSTOP");
  }

  /** Kills the process group, frozen or not, and waits for its end. */
  async destroy(): Promise<void> {
    this.#ending = true;
    this.#kill("SIGKILL");
    await this.exited;
  }

  /** The same, but lets the event that it runs come to its end first, at most for `limitMs`; it gets no other. */
  async destroyWhenFree(limitMs?: number): Promise<void> {
    this.#ending = true;
    if (this.#running !== undefined) await this.#free(limitMs);
    await this.destroy();
  }

  async #free(limitMs: number | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#whenFree.add(resolve);
      if (limitMs !== undefined) setTimeout(resolve, limitMs).unref();
    });
  }

  #thaw(): void {
    if (!this.#frozen) return;
    this.#frozen = false;
    this.#kill("SIGCONT");
  }

  #kill(signal: NodeJS.Signals): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch {
      // The group has ended by itself.
    }
  }

  #onNext(): void {
    if (!this.#ready) {
      this.#ready = true;
      for (const wake of this.#whenStarted) wake();
      return;
    }
    if (this.#running?.result === undefined) return;
    // Before anything else: whatever the process does from now on is done too late.
    this.freeze();
    void this.#finish();
  }

  #onResult(result: NonNullable<Running["result"]>): void {
    if (this.#running !== undefined) this.#running.result = result;
  }

  #onInitError(report: RuntimeReport): void {
    this.#initReport = report;
    // Lambda ends a runtime that reports this, whether it exits by itself or not.
    setTimeout(() => this.#kill("SIGKILL"), goodbyeMs).unref();
  }

  async #finish(): Promise<void> {
    const running = this.#running;
    if (running?.result === undefined) return;
    stop(running.timers);
    await this.#drain();
    if (this.#running !== running) return;
    this.#settle(running, running.result);
  }

  #finishByExit(exit: ProcessExit): void {
    const running = this.#running;
    if (running === undefined) return;
    stop(running.timers);
    // A result that was posted counts; a process that then exits is no longer usable, that is all.
    const { result, killedFor } = running;
    this.#settle(
      running,
      result ?? (killedFor === undefined ? { kind: "exited", exit } : { kind: killedFor }),
    );
  }

  #killFor(reason: NonNullable<Running["killedFor"]>): void {
    if (this.#running === undefined) return;
    this.#running.killedFor = reason;
    this.#kill("SIGKILL");
  }

  /** In a sandbox, the function's process is not the one that was spawned. */
  #functionPid(): number | undefined {
    return this.pid === undefined ? undefined : descendantOf(this.pid, this.#depth);
  }

  #checkMemory(limitMegabytes: number): void {
    const pid = this.#functionPid();
    if (pid !== undefined && (memoryMegabytes(pid) ?? 0) > limitMegabytes) this.#killFor("out-of-memory");
  }

  #settle(running: Running, outcome: InvocationOutcome): void {
    this.#running = undefined;
    const pid = this.#functionPid();
    const peakMegabytes = pid === undefined ? undefined : peakMemoryMegabytes(pid);
    const durationMs = performance.now() - running.startedAt;
    for (const wake of this.#whenFree) wake();
    running.finish({ outcome, durationMs, ...(peakMegabytes === undefined ? {} : { peakMegabytes }) });
  }

  /** I3: what the process wrote before its call is in the pipe already; two turns of the loop read it. */
  async #drain(): Promise<void> {
    let quiet = 0;
    while (quiet < 2) {
      const before = this.#output.reduce((sum, reader) => sum + reader.bytesRead(), 0);
      await new Promise((resolve) => setImmediate(resolve));
      const after = this.#output.reduce((sum, reader) => sum + reader.bytesRead(), 0);
      quiet = after === before ? quiet + 1 : 0;
    }
    for (const reader of this.#output) reader.flush();
  }

  #onLine(line: string): void {
    if (this.#running !== undefined) this.#running.onLine(line);
    else if (this.#initLines.length < 1000) this.#initLines.push(line);
  }
}

function spawnProcess(launch: Launch, api: RuntimeApi): ChildProcess {
  const { command, arguments: args, environment, directory, sandbox } = launch;
  const child = spawn(command, args, {
    cwd: directory,
    env: { ...environment, ...addressOf(api, launch) },
    detached: true,
    stdio: ["ignore", "pipe", "pipe", ...(sandbox === undefined ? [] : ["ipc" as const])],
  });
  if (sandbox !== undefined)
    takeListeners(child, { api: (socket) => api.accept(socket), endpoint: sandbox.onConnection });
  return child;
}

function stop(timers: readonly NodeJS.Timeout[]): void {
  for (const timer of timers) clearTimeout(timer);
}

/** Lambda's words for a runtime that can't be started: no executable file, or one for another machine. */
function notStarted(error: Error): RuntimeReport {
  const code = "code" in error ? error.code : undefined;
  const isMissing = code === "ENOENT" || code === "EACCES";
  const errorType = "Runtime.InvalidEntrypoint";
  const errorMessage = isMissing
    ? "Couldn't find valid bootstrap(s): [/var/task/bootstrap /opt/bootstrap]"
    : `fork/exec failed: ${error.message}`;
  return { errorType, errorMessage, payload: Buffer.from(JSON.stringify({ errorType, errorMessage })) };
}

/** The bootstraps take the token out of their environment, so that the function's programs don't inherit it. */
function addressOf(api: RuntimeApi, { isOurs, sandbox }: Launch): Record<string, string> {
  const address = { AWS_LAMBDA_RUNTIME_API: sandbox?.address ?? api.address };
  return isOurs ? { ...address, CUSTARD_RUNTIME_TOKEN: api.token } : address;
}
