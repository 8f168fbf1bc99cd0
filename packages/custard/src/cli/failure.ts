import type { TraceEntry, Traces } from "../engine/ports.ts";
import type { StackEvent, StackView } from "../engine/views.ts";
import { adviceFor } from "./advice.ts";
import { printableLines } from "./printable.ts";

/** Why an operation failed: one resource's failure, or the stack's own when no resource is to blame. */
export interface Failure {
  /** Logical ids of the nested stacks in which the resource is, the outermost first. */
  readonly within: readonly string[];
  readonly logicalId: string;
  readonly resourceType: string;
  readonly status: string;
  readonly reason: string;
  readonly requestId?: string;
  /** The provider's own last log lines about the request, oldest first. */
  readonly logs: readonly string[];
  readonly advice: string;
}

/** The resource, below the nested stacks that lead to it: `Child/Thing`. */
export function nameOf({ within, logicalId }: Failure): string {
  return [...within, logicalId].join("/");
}

const shownLines = 10;

/** Where more is to be read about an operation's events. */
export interface FailureSources {
  readonly traces: Pick<Traces, "ofRequest">;
  /** All events of a stack, by its id. */
  events(stackId: string): Promise<readonly StackEvent[]>;
  stack(stackId: string): Promise<StackView>;
}

/**
 * The failures among an operation's events, oldest first; what was only cancelled on account of others is left out. A
 * nested stack that failed is replaced by what failed in it.
 */
export async function explainFailures(
  events: readonly StackEvent[],
  sources: FailureSources,
  within: readonly string[] = [],
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const event of culprits(events)) {
    const inside = await insideOf(event, events, sources);
    const deeper = await explainFailures(inside, sources, [...within, event.logicalId]);
    failures.push(...(deeper.length > 0 ? deeper : [{ within, ...(await explain(event, sources)) }]));
  }
  return failures;
}

/** What happened in a nested stack in the course of its parent's operation; nothing when it is none, or wasn't made. */
async function insideOf(
  event: StackEvent,
  [first]: readonly StackEvent[],
  sources: FailureSources,
): Promise<readonly StackEvent[]> {
  const nested = event.resourceType === "AWS::CloudFormation::Stack" && event.physicalId.startsWith("arn:");
  if (!nested || isOfStack(event) || first === undefined) return [];
  const all = await sources.events(event.physicalId);
  return all.filter(({ at }) => at >= first.at && at <= event.at);
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

async function explain(event: StackEvent, sources: FailureSources): Promise<Omit<Failure, "within">> {
  const trace = event.requestId === undefined ? [] : await sources.traces.ofRequest(event.requestId);
  const stack = await sources.stack(event.stackId);
  const reason = event.reason ?? "";
  return {
    logicalId: event.logicalId,
    resourceType: event.resourceType,
    status: event.status,
    reason,
    ...(event.requestId === undefined ? {} : { requestId: event.requestId }),
    logs: ownLogLines(trace).slice(-shownLines),
    advice:
      trace.findLast((entry) => entry.kind === "advice")?.text ?? adviceFor({ event, reason, trace, stack }),
  };
}

/**
 * The provider's own log lines of a trace: without those of the platform, of the response modules, and of the frames
 * below the handler, and without the time and id of the request that Lambda puts before each.
 */
function ownLogLines(trace: readonly TraceEntry[]): readonly string[] {
  const lines = trace
    .filter((entry) => entry.kind === "log" && !isOfPlatform(entry.text))
    .flatMap((entry) => printableLines(unfolded(entry.text)));
  return lines.filter(isOwn).map((line) => withShortPaths(withoutHead(line)));
}

const platform = [
  /^(?:INIT_START|INIT_REPORT|START RequestId:|END RequestId:|REPORT RequestId:) /,
  /^\{"time":"[^"]+","type":"platform\./,
  /^(?:\S+ )?(?:RequestId: )?[-0-9a-f]{36} (?:Error: Runtime exited|Task timed out)/,
  /^Lambda invokes the function again in /,
];

/** What Lambda itself writes: the advice says it better. */
function isOfPlatform(text: string): boolean {
  return platform.some((pattern) => pattern.test(text));
}

/** Node.js functions log an error as one line of JSON: its stack is what people read. */
function unfolded(text: string): string {
  const [, head, json] =
    /^(.*)(?:Invoke Error|Uncaught Exception|Unhandled Promise Rejection) \t(\{.*\})$/s.exec(text) ?? [];
  const stack = json === undefined ? undefined : stackTraceOf(json);
  return stack === undefined ? text : `${head}${stack.join("\n")}`;
}

function stackTraceOf(json: string): readonly string[] | undefined {
  try {
    const { stack, reason }: { stack?: unknown; reason?: { stack?: unknown } | null } = JSON.parse(json);
    const lines = reason?.stack ?? stack;
    return Array.isArray(lines) ? lines.filter((line) => typeof line === "string") : undefined;
  } catch {
    return undefined;
  }
}

/** Where functions are unpacked is of no use to anybody. */
function withShortPaths(line: string): string {
  return line.replace(/(?:file:\/\/)?\/[^\s"'()]*\/functions-\d+-[^/\s]+\/code\/[0-9a-f]{40}\/task\//g, "");
}

const notOwn = [
  /^\s*$/,
  /^\s+at .*(?:\/runtimes\/node\/|\(node:internal|new Promise \(<anonymous>\))/,
  /(?:^|\t)Response body:$|^\s*\{"Status":"|(?:^|\t)Status code: \d+/,
];

function isOwn(line: string): boolean {
  return !notOwn.some((pattern) => pattern.test(line));
}

/** Node.js: `time id level text`; Python's loggers: `[level] time id text`. */
function withoutHead(line: string): string {
  return line
    .replace(/^\d{4}-[-:.\dT]+Z\t(?:[-0-9a-f]{36}|undefined)\t([A-Z]+)\t/, (_, level: string) =>
      level === "INFO" ? "" : `${level} `,
    )
    .replace(/^(\[[A-Z]+\])\t\d{4}-[-:.\dT]+Z\t[-0-9a-f]{36}\t/, "$1 ");
}
