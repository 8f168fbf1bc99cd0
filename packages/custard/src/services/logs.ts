/** Logs of functions as CloudWatch shows them: a view of what was noted of their invocations. */
import { createHash } from "node:crypto";
import type { TraceEntry } from "../engine/ports.ts";
import type { ResolvedFunction } from "./function-record.ts";
import type { FunctionRegistry } from "./functions.ts";
import { LogError, type LogGroups, type LogScope } from "./log-groups.ts";
import { type LogStreams, missingStream } from "./log-streams.ts";
import type { TraceLog } from "./traces.ts";

/** What the view looks into. */
export interface LogSources {
  readonly functions: FunctionRegistry;
  readonly logGroups: LogGroups;
  readonly logStreams: LogStreams;
  readonly traces: Pick<TraceLog, "ofFunction">;
}

/** A group that can be read: one that was made, or a function's. */
export interface ReadableGroup {
  readonly name: string;
  readonly createdAt: number;
  readonly retentionDays?: number;
}

/** Which events are wanted; times in milliseconds, `until` not included. */
export interface LogQuery {
  readonly group: string;
  readonly from?: number;
  readonly until?: number;
  /** Terms: all plain ones, any with `?`, none with `-`; quoted ones may hold blanks. */
  readonly pattern?: string;
  /** Of these streams, or of those whose names begin so. */
  readonly streams?: readonly string[];
  readonly streamPrefix?: string;
  /** Events after the one with this id. */
  readonly after?: string;
  /** Default and most 10,000. */
  readonly limit?: number;
}

/** One line. */
export interface LogEvent {
  /** Sorts as the events do. */
  readonly id: string;
  readonly at: number;
  readonly message: string;
  readonly stream: string;
  /** When it came. */
  readonly putAt: number;
}

const most = 10_000;

/** The groups that were made, and those that functions write to, by name. */
export async function listLogGroups(
  sources: LogSources,
  scope: LogScope,
  prefix = "",
): Promise<readonly ReadableGroup[]> {
  const made = await sources.logGroups.list(scope, prefix);
  const ofFunctions = (await sources.functions.list(scope))
    .map((each) => ({ name: groupOf(each), createdAt: each.modifiedAt }))
    .filter(({ name }) => name.startsWith(prefix));
  const groups = new Map<string, ReadableGroup>(
    [...ofFunctions, ...made].map((group) => [group.name, group]),
  );
  return [...groups.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Events of a group in their order, and the id to go on after when there are more. Throws `LogError`. */
export async function filterLogEvents(
  sources: LogSources,
  scope: LogScope,
  query: LogQuery,
): Promise<{ readonly events: readonly LogEvent[]; readonly next?: string }> {
  const matches = parsePattern(query.pattern ?? "");
  const all = (await eventsOf(sources, scope, query.group)).filter(
    ({ id, at, message, stream }) =>
      isWanted(stream, query) &&
      at >= (query.from ?? 0) &&
      at < (query.until ?? Number.POSITIVE_INFINITY) &&
      (query.after === undefined || id > query.after) &&
      matches(message),
  );
  const events = all.slice(0, Math.min(query.limit ?? most, most));
  const last = events.at(-1);
  return { events, ...(events.length < all.length && last !== undefined ? { next: last.id } : {}) };
}

/** All events of one stream in their order, between two times; `until` isn't included. Throws `LogError`. */
export async function streamEvents(
  sources: LogSources,
  scope: LogScope,
  wanted: {
    readonly group: string;
    readonly stream: string;
    readonly from?: number;
    readonly until?: number;
  },
): Promise<readonly LogEvent[]> {
  const { group, stream, from = 0, until = Number.POSITIVE_INFINITY } = wanted;
  const all = (await eventsOf(sources, scope, group)).filter((event) => event.stream === stream);
  if (all.length === 0 && (await sources.logStreams.find(scope, { group, stream })) === undefined)
    throw missingStream();
  return all.filter(({ at }) => at >= from && at < until);
}

/** The streams of a group, made or written to by functions; the newest event first. */
export async function listLogStreams(
  sources: LogSources,
  scope: LogScope,
  group: string,
): Promise<readonly ReadableStream[]> {
  const events = await eventsOf(sources, scope, group);
  const made = await sources.logStreams.list(scope, group);
  const streams = new Map<string, ReadableStream>(made.map((stream) => [stream.name, stream]));
  for (const { stream, at } of events) {
    const known = streams.get(stream) ?? { name: stream, createdAt: at };
    streams.set(stream, { firstAt: at, ...known, lastAt: at });
  }
  return [...streams.values()].toSorted((a, b) => (b.lastAt ?? 0) - (a.lastAt ?? 0));
}

/** A stream with the times of its events, when it has any. */
export interface ReadableStream {
  readonly name: string;
  readonly createdAt: number;
  readonly firstAt?: number;
  readonly lastAt?: number;
}

function isWanted(stream: string, { streams, streamPrefix = "" }: LogQuery): boolean {
  return (streams === undefined || streams.includes(stream)) && stream.startsWith(streamPrefix);
}

async function eventsOf(sources: LogSources, scope: LogScope, group: string): Promise<readonly LogEvent[]> {
  const writers = (await sources.functions.list(scope)).filter((each) => groupOf(each) === group);
  if (writers.length === 0) await sources.logGroups.get(scope, group);
  const events = await Promise.all(
    writers.map((each) => eventsOfFunction(sources, scope, each.reference.name)),
  );
  const put = await sources.logStreams.events(scope, group);
  return [...events.flat(), ...put].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

async function eventsOfFunction(
  { traces }: LogSources,
  scope: LogScope,
  name: string,
): Promise<readonly LogEvent[]> {
  const entries = await traces.ofFunction(name, most);
  return entries
    .filter((entry) => (entry.kind === "log" || entry.kind === "invoked") && isOf(entry, scope))
    .map((entry, index, all) => ({
      id: `${String(entry.at).padStart(15, "0")}-${name}-${String(index - firstOfTime(all, index)).padStart(6, "0")}`,
      at: entry.at,
      message: entry.text,
      stream: streamOf(entry, name),
      putAt: entry.at,
    }));
}

/** Where the entries of the same millisecond begin: an id must stay the same when older entries are gone. */
function firstOfTime(entries: readonly TraceEntry[], index: number): number {
  const at = entries[index]?.at;
  let first = index;
  while (first > 0 && entries[first - 1]?.at === at) first -= 1;
  return first;
}

/** Functions of one name may exist in several places; a stack's ARN tells where its requests went. */
function isOf({ stackId }: TraceEntry, { account, region }: LogScope): boolean {
  const [prefix, , , ofRegion, ofAccount] = stackId.split(":");
  return prefix !== "arn" || (ofRegion === region && ofAccount === account);
}

/** One a day for each function, in the form of Lambda's names; which instance wrote isn't known any more. */
function streamOf({ at }: TraceEntry, name: string): string {
  const day = new Date(at).toISOString().slice(0, 10).replaceAll("-", "/");
  return `${day}/[$LATEST]${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;
}

function groupOf({ settings, reference }: ResolvedFunction): string {
  return settings.logging.group ?? `/aws/lambda/${reference.name}`;
}

function parsePattern(pattern: string): (message: string) => boolean {
  if (/^\s*[{[%]/.test(pattern))
    throw new LogError(
      "InvalidParameterException",
      `Invalid filter pattern: Custard knows terms only, and this is ${pattern}`,
    );
  const terms = [...pattern.matchAll(/([-?]?)(?:"((?:[^"\\]|\\.)*)"|(\S+))/g)].map(
    ([, sign = "", quoted, plain = ""]) => ({ sign, text: quoted?.replaceAll(/\\(.)/g, "$1") ?? plain }),
  );
  const textsOf = (sign: string) => terms.filter((term) => term.sign === sign).map(({ text }) => text);
  const [all, any, none] = [textsOf(""), textsOf("?"), textsOf("-")];
  return (message) =>
    all.every((text) => message.includes(text)) &&
    (any.length === 0 || any.some((text) => message.includes(text))) &&
    !none.some((text) => message.includes(text));
}
