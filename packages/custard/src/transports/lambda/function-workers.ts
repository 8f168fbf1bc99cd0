/**
 * The instances of one revision of one function, and the events that wait for them.
 *
 * Invariants
 * W1. An event that waits gets the instance that is free first; one instance runs one event at a time.
 * W2. While instances make progress, at most `cores` of them are busy; when none became free for a while (they
 *     sleep or wait for something), more are started, as Lambda would have from the beginning.
 * W3. An event that an instance could not be handed goes back to the head of the line.
 */
import type { FinishedInvocation, InitOutcome, InvocationLimits } from "./instance.ts";
import type { RuntimeEvent } from "./runtime-api.ts";
import { TransportError } from "./transport-error.ts";
import type { Worker } from "./worker.ts";

/** An event on its way to an instance. */
export interface Job {
  /** Made at the moment at which it is handed over, since its deadline counts from there. */
  readonly event: () => RuntimeEvent;
  /** An instance was found; `init` tells how it started when this is its first event. */
  readonly onStart: (worker: Worker, init: Init | undefined) => void;
  readonly limits: InvocationLimits;
}

/** How an instance started. */
export interface Init {
  readonly outcome: InitOutcome;
  readonly lines: readonly string[];
  readonly logStream: string;
  /** A first start that took too long. */
  readonly suppressed?: InitOutcome;
}

/** What became of a job. */
export type JobResult =
  | { readonly kind: "finished"; readonly finished: FinishedInvocation; readonly worker: Worker }
  /** No instance could be started for it. */
  | { readonly kind: "init-failed"; readonly init: Init; readonly worker: Worker };

/** What the workers of a function need of their pool. */
export interface WorkersOptions {
  readonly cores: number;
  /** Most instances of one function at once. */
  readonly limit: number;
  readonly idleMs: number;
  /** Starts an instance when the machine has room for it. */
  readonly start: () => Promise<Worker>;
  readonly initLimitMs: number;
  readonly timeoutMs: number;
}

interface Waiting {
  readonly job: Job;
  readonly resolve: (result: JobResult) => void;
  readonly reject: (reason: unknown) => void;
}

interface Idle {
  readonly worker: Worker;
  readonly timer: NodeJS.Timeout;
}

/** How long no instance may become free before more than `cores` are used. */
const stallMs = 250;

/** So long an event may still run when everything is closed. */
const closingMs = 500;

/** Instances and line of one revision. */
export class FunctionWorkers {
  readonly #options: WorkersOptions;
  readonly #waiting: Waiting[] = [];
  readonly #all = new Set<Worker>();
  readonly #fresh = new Map<Worker, Init>();
  #idle: Idle[] = [];
  #busy = 0;
  #starting = 0;
  #allowance: number;
  #stall: NodeJS.Timeout | undefined;
  #retired = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#allowance = options.cores;
  }

  /** Nothing runs, waits or is kept warm. */
  get empty(): boolean {
    return this.#all.size === 0 && this.#waiting.length === 0 && this.#starting === 0;
  }

  /** Runs a job on the first instance that is free. */
  async run(job: Job): Promise<JobResult> {
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#pump();
    });
  }

  /** A newer revision has come: idle instances end now, busy ones after their event. */
  retire(): void {
    this.#retired = true;
    for (const { worker, timer } of this.#idle.splice(0)) {
      clearTimeout(timer);
      void worker.instance.destroy();
    }
  }

  /** Ends everything. What runs has a moment to come to its end: many a provider has just answered. */
  async close(): Promise<void> {
    clearTimeout(this.#stall);
    for (const waiting of this.#waiting.splice(0))
      waiting.reject(new TransportError("Closed", "Functions are no longer run."));
    this.retire();
    await Promise.all([...this.#all].map((worker) => worker.instance.destroyWhenFree(closingMs)));
  }

  #pump(): void {
    while (this.#waiting.length > 0 && this.#idle.length > 0) this.#hand();
    if (this.#waiting.length > this.#starting && this.#mayStart()) void this.#startOne();
    if (this.#waiting.length > 0 && this.#stall === undefined) this.#watchForStall();
    if (this.#waiting.length === 0) this.#endWatch();
  }

  #mayStart(): boolean {
    const { cores, limit } = this.#options;
    const active = this.#busy + this.#starting;
    return this.#starting < cores && active < this.#allowance && this.#all.size + this.#starting < limit;
  }

  #hand(): void {
    const idle = this.#idle.pop();
    const waiting = this.#waiting.shift();
    if (idle === undefined || waiting === undefined) return;
    clearTimeout(idle.timer);
    void this.#serve(idle.worker, waiting);
  }

  async #serve(worker: Worker, waiting: Waiting): Promise<void> {
    this.#busy += 1;
    waiting.job.onStart(worker, this.#fresh.get(worker));
    this.#fresh.delete(worker);
    const finished = await worker.instance.invoke(waiting.job.event(), waiting.job.limits);
    this.#busy -= 1;
    if (finished === undefined) {
      // W3. An instance that takes no event is of no use, whatever the matter is with it.
      this.#waiting.unshift(waiting);
      void worker.instance.destroy();
    } else {
      waiting.resolve({ kind: "finished", finished, worker });
    }
    // W2: an instance became free, so that there is progress.
    this.#endWatch();
    this.#rest(worker);
    this.#pump();
  }

  #rest(worker: Worker): void {
    if (!worker.instance.alive) return;
    if (this.#retired) return void worker.instance.destroy();
    const timer = setTimeout(() => void worker.instance.destroy(), this.#options.idleMs).unref();
    this.#idle.push({ worker, timer });
    // I1, but not when its next event is here already.
    if (this.#waiting.length < this.#idle.length) worker.instance.freeze();
  }

  async #startOne(): Promise<void> {
    this.#starting += 1;
    try {
      const { worker, init } = await this.#startReady();
      this.#starting -= 1;
      if (init.outcome.kind === "ready") this.#welcome(worker, init);
      else this.#waiting.shift()?.resolve({ kind: "init-failed", init, worker });
    } catch (reason) {
      this.#starting -= 1;
      this.#waiting.shift()?.reject(reason);
    }
    this.#pump();
  }

  /** A start that took too long is made once more within the invocation, as on Lambda, with the function's timeout. */
  async #startReady(): Promise<{ readonly worker: Worker; readonly init: Init }> {
    const { initLimitMs, timeoutMs } = this.#options;
    const first = await this.#startWithin(initLimitMs);
    if (first.init.outcome.kind !== "timed-out") return first;
    const second = await this.#startWithin(timeoutMs);
    const lines = [...first.init.lines, ...second.init.lines];
    return { worker: second.worker, init: { ...second.init, lines, suppressed: first.init.outcome } };
  }

  async #startWithin(limitMs: number): Promise<{ readonly worker: Worker; readonly init: Init }> {
    const worker = await this.#options.start();
    this.#all.add(worker);
    void worker.instance.exited.then(() => this.#forget(worker));
    const outcome = await worker.instance.ready(limitMs);
    const init = { outcome, lines: worker.instance.takeInitLines(), logStream: worker.logStream };
    return { worker, init };
  }

  #welcome(worker: Worker, init: Init): void {
    this.#fresh.set(worker, init);
    this.#rest(worker);
  }

  #forget(worker: Worker): void {
    this.#all.delete(worker);
    this.#fresh.delete(worker);
    const gone = this.#idle.filter((idle) => idle.worker === worker);
    for (const { timer } of gone) clearTimeout(timer);
    this.#idle = this.#idle.filter((idle) => idle.worker !== worker);
    this.#pump();
  }

  #watchForStall(): void {
    this.#stall = setTimeout(() => {
      this.#stall = undefined;
      this.#allowance = this.#busy + this.#starting + this.#options.cores;
      this.#pump();
    }, stallMs);
  }

  #endWatch(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
    this.#allowance = this.#options.cores;
  }
}
