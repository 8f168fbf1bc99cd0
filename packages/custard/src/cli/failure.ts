import type { TraceEntry, Traces } from "../engine/ports.ts";
import type { StackEvent } from "../engine/views.ts";
import { adviceFor } from "./advice.ts";
import { printableLines } from "./printable.ts";

/** Why an operation failed: one resource's failure, or the stack's own when no resource is to blame. */
export interface Failure {
  readonly logicalId: string;
  readonly resourceType: string;
  readonly status: string;
  readonly reason: string;
  readonly requestId?: string;
  /** The provider's own last log lines about the request, oldest first. */
  readonly logs: readonly string[];
  readonly advice: string;
}

const shownLines = 10;

/** The failures among an operation's events, oldest first; what was only cancelled on account of others is left out. */
export async function explainFailures(
  events: readonly StackEvent[],
  traces: Traces,
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const event of culprits(events)) failures.push(await explain(event, traces));
  return failures;
}

function culprits(events: readonly StackEvent[]): readonly StackEvent[] {
  const byStep = new Map<string, StackEvent>();
  for (const event of events.filter(isCulprit)) byStep.set(`${event.logicalId} ${event.status}`, event);
  if (byStep.size > 0) return [...byStep.values()];
  return events.filter((event) => isOfStack(event) && turnsBack(event.status)).slice(0, 1);
}

function isCulprit(event: StackEvent): boolean {
  return !isOfStack(event) && event.status.endsWith("_FAILED") && !isCancellation(event.reason);
}

function isOfStack(event: StackEvent): boolean {
  return event.physicalId === event.stackId;
}

function isCancellation(reason: string | undefined): boolean {
  return reason === "Resource creation cancelled" || reason === "Resource update cancelled";
}

function turnsBack(status: string): boolean {
  return (
    status === "ROLLBACK_IN_PROGRESS" ||
    status === "UPDATE_ROLLBACK_IN_PROGRESS" ||
    status.endsWith("_FAILED")
  );
}

async function explain(event: StackEvent, traces: Traces): Promise<Failure> {
  const trace = event.requestId === undefined ? [] : await traces.ofRequest(event.requestId);
  const reason = event.reason ?? "";
  return {
    logicalId: event.logicalId,
    resourceType: event.resourceType,
    status: event.status,
    reason,
    ...(event.requestId === undefined ? {} : { requestId: event.requestId }),
    logs: ownLogLines(trace).slice(-shownLines),
    advice: trace.findLast((entry) => entry.kind === "advice")?.text ?? adviceFor(reason, event.status),
  };
}

/**
 * The provider's own log lines of a trace: without those of the platform, of the response modules, and of the frames
 * below the handler, and without the time and id of the request that Lambda puts before each.
 */
export function ownLogLines(trace: readonly TraceEntry[]): readonly string[] {
  const lines = trace.filter((entry) => entry.kind === "log").flatMap((entry) => printableLines(entry.text));
  return lines.filter(isOwn).map(withoutHead);
}

const notOwn = [
  /^\s*$/,
  /^(?:INIT_START |START RequestId: |END RequestId: |REPORT RequestId: )/,
  /^\s+at .*(?:\/runtimes\/node\/|\(node:internal|new Promise \(<anonymous>\))/,
  /(?:^|\t)Response body:$|^\s*\{"Status":"|(?:^|\t)Status code: \d+/,
];

function isOwn(line: string): boolean {
  return !notOwn.some((pattern) => pattern.test(line));
}

/** Node.js: `time id level text`; Python's loggers: `[level] time id text`. */
function withoutHead(line: string): string {
  return line
    .replace(/^\d{4}-[-:.\dT]+Z\t[-0-9a-f]{36}\t([A-Z]+)\t/, (_, level: string) =>
      level === "INFO" ? "" : `${level} `,
    )
    .replace(/^(\[[A-Z]+\])\t\d{4}-[-:.\dT]+Z\t[-0-9a-f]{36}\t/, "$1 ");
}
