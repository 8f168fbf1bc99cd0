/** Runs one attempt at one event on a function, and says what became of it. */
import type { ResolvedFunction } from "../../services/function-record.ts";
import type { Init, JobResult } from "./function-workers.ts";
import {
  type InvocationFault,
  endLines,
  faultOf,
  initFaultOf,
  initReportLines,
  initStartLines,
  startLine,
} from "./invocation-log.ts";
import type { FunctionPool } from "./pool.ts";
import type { Worker } from "./worker.ts";

/** An event for a function. The same id serves all attempts, as on Lambda. */
export interface Invocation {
  /** Lambda's own request id; not CloudFormation's. */
  readonly requestId: string;
  readonly payload: Uint8Array;
  readonly clientContext?: string;
}

/** Something seen of an invocation. */
export interface Observation {
  readonly kind: "invoked" | "log" | "returned" | "failed" | "frozen";
  readonly text: string;
  /** The instance's log stream, once there is one. */
  readonly logStream?: string;
}

/** How an attempt ended. */
export interface Attempt {
  readonly fault?: InvocationFault;
  /** What the function returned, or its fault, as a synchronous caller gets it. */
  readonly payload: Uint8Array;
  /** The instance that ran it. */
  readonly worker: Worker;
  /** Which way it failed. */
  readonly ending: "returned" | "failed" | "exited" | "timed-out" | "out-of-memory" | "init-failed";
  readonly durationMs: number;
}

/** Runs an attempt. Rejects on trouble outside only: no interpreter, code that is gone, a closed pool. */
export async function invoke(
  pool: FunctionPool,
  call: { readonly resolved: ResolvedFunction; readonly invocation: Invocation },
  observe: (observation: Observation) => void,
): Promise<Attempt> {
  const { resolved, invocation } = call;
  const log = (text: string, logStream: string) => observe({ kind: "log", text, logStream });
  let logStream = "";
  let init: Init | undefined;
  const result = await pool.run(resolved, {
    event: () => ({
      requestId: invocation.requestId,
      functionArn: resolved.arn,
      deadline: Date.now() + resolved.settings.timeoutSeconds * 1000,
      payload: invocation.payload,
      ...(invocation.clientContext === undefined ? {} : { clientContext: invocation.clientContext }),
    }),
    onStart: (worker, freshInit) => {
      logStream = worker.logStream;
      init = freshInit;
      if (freshInit !== undefined) for (const line of initLines(resolved, freshInit)) log(line, logStream);
      observe({ kind: "invoked", text: startLine(invocation.requestId, resolved), logStream });
    },
    limits: { memoryMegabytes: resolved.settings.memoryMegabytes, onLine: (line) => log(line, logStream) },
  });
  return conclude(result, { resolved, invocation, init, observe });
}

interface Conclusion {
  readonly resolved: ResolvedFunction;
  readonly invocation: Invocation;
  readonly init: Init | undefined;
  readonly observe: (observation: Observation) => void;
}

function conclude(result: JobResult, context: Conclusion): Attempt {
  switch (result.kind) {
    case "init-failed":
      return concludeInit(result, context);
    case "finished":
      return concludeFinished(result, context);
  }
}

function concludeInit(result: JobResult & { kind: "init-failed" }, context: Conclusion): Attempt {
  const { init, worker } = result;
  const { resolved, invocation, observe } = context;
  const fault = initFaultOf(init, invocation);
  if (fault === undefined) throw new Error("W1: an instance that is ready was reported as failed");
  const { logStream } = init;
  for (const text of [...initLines(resolved, init), ...initReportLines(init, resolved)])
    observe({ kind: "log", text, logStream });
  observe({ kind: "failed", text: `${fault.errorType}: ${fault.errorMessage}`, logStream });
  return {
    fault,
    payload: fault.payload,
    worker,
    ending: "init-failed",
    durationMs: init.outcome.durationMs,
  };
}

function concludeFinished(result: JobResult & { kind: "finished" }, context: Conclusion): Attempt {
  const { finished, worker } = result;
  const { resolved, invocation, init, observe } = context;
  const { logStream } = worker;
  const { timeoutSeconds } = resolved.settings;
  const fault = faultOf(finished.outcome, {
    requestId: invocation.requestId,
    timeoutSeconds,
    at: Date.now(),
  });
  const lines = endLines(invocation.requestId, resolved, { finished, init, fault });
  for (const text of lines) observe({ kind: "log", text, logStream });
  const ending = finished.outcome.kind;
  const { durationMs } = finished;
  if (fault !== undefined) {
    observe({ kind: "failed", text: `${fault.errorType}: ${fault.errorMessage}`, logStream });
    return { fault, payload: fault.payload, worker, ending, durationMs };
  }
  observe({ kind: "returned", text: `The function returned after ${Math.round(durationMs)} ms.`, logStream });
  const payload = finished.outcome.kind === "returned" ? finished.outcome.payload : new Uint8Array();
  return { payload, worker, ending, durationMs };
}

function initLines(resolved: ResolvedFunction, init: Init): readonly string[] {
  const suppressed =
    init.suppressed === undefined ? [] : initReportLines({ ...init, outcome: init.suppressed }, resolved);
  return [...initStartLines(resolved), ...init.lines, ...suppressed];
}
