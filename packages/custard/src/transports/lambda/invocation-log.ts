/** The lines that Lambda itself writes around an invocation. */
import type { ResolvedFunction } from "../../services/function-record.ts";
import type { Init } from "./function-workers.ts";
import type { FinishedInvocation, InitOutcome, InvocationOutcome, ProcessExit } from "./instance.ts";
import {
  endEvents,
  initReportEvents,
  initStartEvents,
  startEvent,
  type Metrics,
  type PlatformStatus,
} from "./platform-events.ts";

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
  if (isJson(resolved)) return startEvent(requestId, resolved);
  return `START RequestId: ${requestId} Version: ${resolved.version}`;
}

/** `INIT_START …`, once for each instance. */
export function initStartLines(resolved: ResolvedFunction): readonly string[] {
  if (isJson(resolved)) return initStartEvents(resolved);
  return [`INIT_START Runtime Version: ${resolved.settings.runtime}`];
}

/** `INIT_REPORT …`, for an init that failed. */
export function initReportLines(init: Init, resolved: ResolvedFunction): readonly string[] {
  const { outcome } = init;
  const status = initStatusOf(outcome);
  if (isJson(resolved)) return initReportEvents(resolved, { ...status, durationMs: outcome.durationMs });
  const error = status.errorType === undefined ? "" : `\tError Type: ${status.errorType}`;
  return [
    `INIT_REPORT Init Duration: ${milliseconds(outcome.durationMs)} ms\tPhase: init\tStatus: ${status.status}${error}`,
  ];
}

function initStatusOf(outcome: InitOutcome): PlatformStatus {
  switch (outcome.kind) {
    case "ready":
      return { status: "success" };
    case "timed-out":
      return { status: "timeout" };
    case "failed":
      return { status: "error", errorType: outcome.report.errorType };
    case "exited":
      return { status: "error", errorType: "Runtime.ExitError" };
  }
}

/** `END` and `REPORT`, and what the platform has to say of a fault. Billed durations are whole milliseconds, rounded up. */
export function endLines(
  requestId: string,
  resolved: ResolvedFunction,
  facts: { finished: FinishedInvocation; init: Init | undefined; fault: InvocationFault | undefined },
): readonly string[] {
  const { finished, init, fault } = facts;
  const status = statusOf(finished.outcome);
  const initMs = init?.outcome.durationMs;
  const metrics = {
    durationMs: finished.durationMs,
    billedDurationMs: Math.ceil(finished.durationMs + (initMs ?? 0)),
    memorySizeMB: resolved.settings.memoryMegabytes,
    ...(finished.peakMegabytes === undefined ? {} : { maxMemoryUsedMB: finished.peakMegabytes }),
    ...(initMs === undefined ? {} : { initDurationMs: initMs }),
  };
  if (isJson(resolved)) return endEvents(resolved, { requestId, metrics, ...status });
  const report = reportLine(requestId, { metrics, outcome: finished.outcome });
  return [...(fault?.logLine === undefined ? [] : [fault.logLine]), `END RequestId: ${requestId}`, report];
}

function reportLine(
  requestId: string,
  { metrics, outcome }: { readonly metrics: Metrics; readonly outcome: InvocationOutcome },
): string {
  const fields = [
    `REPORT RequestId: ${requestId}`,
    `Duration: ${milliseconds(metrics.durationMs)} ms`,
    `Billed Duration: ${metrics.billedDurationMs} ms`,
    `Memory Size: ${metrics.memorySizeMB} MB`,
    ...(metrics.maxMemoryUsedMB === undefined ? [] : [`Max Memory Used: ${metrics.maxMemoryUsedMB} MB`]),
    ...(metrics.initDurationMs === undefined
      ? []
      : [`Init Duration: ${milliseconds(metrics.initDurationMs)} ms`]),
    ...statusFields(outcome),
  ];
  return fields.join("\t");
}

/** A handler's own error is no status of the platform in the text format. */
function statusFields(outcome: InvocationOutcome): readonly string[] {
  if (outcome.kind === "failed" || outcome.kind === "returned") return [];
  const { status, errorType } = statusOf(outcome);
  return [`Status: ${status}`, ...(errorType === undefined ? [] : [`Error Type: ${errorType}`])];
}

function statusOf(outcome: InvocationOutcome): PlatformStatus {
  switch (outcome.kind) {
    case "returned":
      return { status: "success" };
    case "failed":
      return { status: "error", errorType: outcome.report.errorType };
    case "timed-out":
      return { status: "timeout" };
    case "exited":
      return { status: "error", errorType: "Runtime.ExitError" };
    case "out-of-memory":
      return { status: "error", errorType: "Runtime.OutOfMemory" };
  }
}

function isJson({ settings }: ResolvedFunction): boolean {
  return settings.logging.format === "JSON";
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
