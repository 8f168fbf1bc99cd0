/** Lambda's own lines in the JSON log format. Source: its pages on log formats and on the schema of telemetry events. */
import type { Json } from "@custard/provider/protocol";
import type { ResolvedFunction } from "../../services/function-record.ts";
import type { LogLevel } from "../../services/function-settings.ts";

/** How something ended. */
export interface PlatformStatus {
  readonly status: "success" | "error" | "timeout";
  readonly errorType?: string;
}

/** What an invocation took. */
export interface Metrics {
  readonly durationMs: number;
  readonly billedDurationMs: number;
  readonly memorySizeMB: number;
  readonly maxMemoryUsedMB?: number;
  readonly initDurationMs?: number;
}

/** What stands for `START`, whatever the level: it begins the invocation here. */
export function startEvent(requestId: string, { version }: ResolvedFunction): string {
  return event("platform.start", { requestId, version });
}

/** What stands for `INIT_START`. */
export function initStartEvents(resolved: ResolvedFunction): readonly string[] {
  const record = {
    initializationType: "on-demand",
    phase: "init",
    runtimeVersion: resolved.settings.runtime,
    functionName: resolved.reference.name,
    functionVersion: resolved.version,
  };
  return fromLevel(resolved, "INFO", () => event("platform.initStart", record));
}

/** What stands for `INIT_REPORT`. */
export function initReportEvents(
  resolved: ResolvedFunction,
  { durationMs, ...status }: PlatformStatus & { readonly durationMs: number },
): readonly string[] {
  const record = {
    initializationType: "on-demand",
    phase: "init",
    ...status,
    metrics: { durationMs: rounded(durationMs) },
  };
  return fromLevel(resolved, levelOf(status, "INFO"), () => event("platform.initReport", record));
}

/** What stands for `END` and `REPORT`. */
export function endEvents(
  resolved: ResolvedFunction,
  {
    requestId,
    metrics,
    ...status
  }: PlatformStatus & { readonly requestId: string; readonly metrics: Metrics },
): readonly string[] {
  const shown = Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, rounded(value)]));
  const done = { requestId, ...status, metrics: { durationMs: rounded(metrics.durationMs) } };
  return [
    ...fromLevel(resolved, levelOf(status, "DEBUG"), () => event("platform.runtimeDone", done)),
    ...fromLevel(resolved, levelOf(status, "INFO"), () =>
      event("platform.report", { requestId, metrics: shown, ...status }),
    ),
  ];
}

function levelOf({ status }: PlatformStatus, otherwise: LogLevel): LogLevel {
  return status === "success" ? otherwise : "WARN";
}

const levels: readonly LogLevel[] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

/** Nothing when the function's `SystemLogLevel` is higher. */
function fromLevel({ settings }: ResolvedFunction, level: LogLevel, line: () => string): readonly string[] {
  const least = settings.logging.systemLevel ?? "INFO";
  return levels.indexOf(level) < levels.indexOf(least) ? [] : [line()];
}

function event(type: string, record: Json): string {
  return JSON.stringify({ time: new Date().toISOString(), type, record });
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
