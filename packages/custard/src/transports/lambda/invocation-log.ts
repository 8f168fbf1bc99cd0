/** The lines that Lambda itself writes around an invocation. */
import type { ResolvedFunction } from "../../services/function-record.ts";
import type { Init } from "./function-workers.ts";
import type { FinishedInvocation, InvocationOutcome, ProcessExit } from "./instance.ts";

/** What a failed invocation amounts to: what a synchronous caller gets, and what the log says. */
export interface InvocationFault {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly payload: Uint8Array;
  /** A line of the platform about it, when it has one. */
  readonly logLine?: string;
}

/** Lambda's report of an outcome; undefined for a result. */
export function faultOf(
  outcome: InvocationOutcome,
  context: { requestId: string; timeoutSeconds: number; at: number },
): InvocationFault | undefined {
  switch (outcome.kind) {
    case "returned":
      return undefined;
    case "failed":
      return outcome.report;
    case "exited":
      return exitFault(outcome.exit, context.requestId);
    case "timed-out":
      return timeoutFault(context);
    case "out-of-memory":
      return exitFault({ code: null, signal: "SIGKILL" }, context.requestId);
  }
}

/** Lambda's report of an instance that didn't get ready. */
export function initFaultOf(init: Init, context: { requestId: string }): InvocationFault | undefined {
  const { outcome } = init;
  switch (outcome.kind) {
    case "ready":
      return undefined;
    case "failed":
      return outcome.report;
    case "exited":
      return exitFault(outcome.exit, context.requestId);
    case "timed-out": {
      const errorMessage = `RequestId: ${context.requestId} Error: Task timed out after ${seconds(outcome.durationMs)} seconds`;
      return withPayload({ errorType: "Sandbox.Timedout", errorMessage });
    }
  }
}

/** `START RequestId: … Version: …` */
export function startLine(requestId: string, resolved: ResolvedFunction): string {
  return `START RequestId: ${requestId} Version: ${resolved.version}`;
}

/** `INIT_START …`, once for each instance. */
export function initStartLine(resolved: ResolvedFunction): string {
  return `INIT_START Runtime Version: ${resolved.settings.runtime}`;
}

/** `INIT_REPORT …`, for an init that failed. */
export function initReportLine(init: Init): string {
  const { outcome } = init;
  const duration = `INIT_REPORT Init Duration: ${milliseconds(outcome.durationMs)} ms\tPhase: init\tStatus: `;
  switch (outcome.kind) {
    case "ready":
      return `${duration}success`;
    case "timed-out":
      return `${duration}timeout`;
    case "failed":
      return `${duration}error\tError Type: ${outcome.report.errorType}`;
    case "exited":
      return `${duration}error\tError Type: Runtime.ExitError`;
  }
}

/** `END` and `REPORT`. Billed durations are whole milliseconds, rounded up. */
export function endLines(
  requestId: string,
  resolved: ResolvedFunction,
  facts: { finished: FinishedInvocation; init: Init | undefined },
): readonly string[] {
  const { finished, init } = facts;
  const { memoryMegabytes } = resolved.settings;
  const initMs = init?.outcome.durationMs ?? 0;
  const fields = [
    `REPORT RequestId: ${requestId}`,
    `Duration: ${milliseconds(finished.durationMs)} ms`,
    `Billed Duration: ${Math.ceil(finished.durationMs + initMs)} ms`,
    `Memory Size: ${memoryMegabytes} MB`,
    ...(finished.peakMegabytes === undefined ? [] : [`Max Memory Used: ${finished.peakMegabytes} MB`]),
    ...(init === undefined ? [] : [`Init Duration: ${milliseconds(initMs)} ms`]),
    ...statusFields(finished.outcome),
  ];
  return [`END RequestId: ${requestId}`, fields.join("\t")];
}

function statusFields(outcome: InvocationOutcome): readonly string[] {
  switch (outcome.kind) {
    case "returned":
    case "failed":
      return [];
    case "timed-out":
      return ["Status: timeout"];
    case "exited":
      return ["Status: error", "Error Type: Runtime.ExitError"];
    case "out-of-memory":
      return ["Status: error", "Error Type: Runtime.OutOfMemory"];
  }
}

function exitFault({ code, signal }: ProcessExit, requestId: string): InvocationFault {
  const how = exitText(code, signal);
  return withPayload({
    errorType: "Runtime.ExitError",
    errorMessage: `RequestId: ${requestId} Error: ${how}`,
  });
}

function exitText(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return `Runtime exited with error: signal: ${signalTexts[signal] ?? signal}`;
  if (code === 0 || code === null) return "Runtime exited without providing a reason";
  return `Runtime exited with error: exit status ${code}`;
}

/** As Go, in which Lambda's supervisor is written, names signals. */
const signalTexts: Partial<Record<NodeJS.Signals, string>> = {
  SIGKILL: "killed",
  SIGSEGV: "segmentation fault",
  SIGABRT: "aborted (core dumped)",
  SIGTERM: "terminated",
  SIGBUS: "bus error",
};

function timeoutFault({
  requestId,
  timeoutSeconds,
  at,
}: {
  requestId: string;
  timeoutSeconds: number;
  at: number;
}): InvocationFault {
  const text = `Task timed out after ${timeoutSeconds.toFixed(2)} seconds`;
  const errorMessage = `RequestId: ${requestId} Error: ${text}`;
  return withPayload({
    errorType: "Sandbox.Timedout",
    errorMessage,
    logLine: `${new Date(at).toISOString()} ${requestId} ${text}`,
  });
}

function withPayload(fault: Omit<InvocationFault, "payload">): InvocationFault {
  const { errorType, errorMessage } = fault;
  return {
    logLine: `${errorMessage}\t${errorType}`,
    ...fault,
    payload: Buffer.from(JSON.stringify({ errorType, errorMessage })),
  };
}

function milliseconds(value: number): string {
  return value.toFixed(2);
}

function seconds(value: number): string {
  return (value / 1000).toFixed(2);
}
