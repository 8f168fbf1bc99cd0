/** CloudWatch Logs: its operations, over what functions wrote. */
import { LogError, type LogGroup } from "../../services/log-groups.ts";
import {
  filterLogEvents,
  listLogGroups,
  listLogStreams,
  type LogEvent,
  type LogSources,
  streamEvents,
} from "../../services/logs.ts";
import { ApiError } from "../api-error.ts";
import { definedOf } from "../defined.ts";
import type { Input } from "../input.ts";
import { pageOf } from "../pages.ts";
import type { Handler, Scope, Service } from "../service.ts";
import type { WireObject } from "../wire.ts";

/** What Logs works on. */
export type LogsWorld = LogSources;

type Handle = Handler<LogsWorld>;

const createLogGroup: Handle = async ({ input, scope }, { logGroups }) => {
  await logGroups.create(scope, {
    name: input.need("logGroupName"),
    ...definedOf({ keyId: input.text("kmsKeyId"), tags: input.map("tags") }),
  });
  return {};
};

const deleteLogGroup: Handle = async ({ input, scope }, { logGroups, logStreams }) => {
  const name = input.need("logGroupName");
  await logGroups.delete(scope, name);
  await logStreams.deleteAll(scope, name);
  return {};
};

const createLogStream: Handle = async ({ input, scope }, world) => {
  const group = input.need("logGroupName");
  await needGroup(world, scope, group);
  await world.logStreams.create(scope, { group, stream: input.need("logStreamName") });
  return {};
};

const deleteLogStream: Handle = async ({ input, scope }, world) => {
  const group = input.need("logGroupName");
  await needGroup(world, scope, group);
  await world.logStreams.delete(scope, { group, stream: input.need("logStreamName") });
  return {};
};

const putLogEvents: Handle = async ({ input, scope }, world) => {
  const group = input.need("logGroupName");
  await needGroup(world, scope, group);
  const events = input
    .objects("logEvents")
    .map((event) => ({ at: event.number("timestamp") ?? 0, message: event.need("message") }));
  const name = { group, stream: input.need("logStreamName") };
  const { tooOldEnd, tooNewStart } = await world.logStreams.put(scope, name, events);
  const isAllTaken = tooOldEnd === undefined && tooNewStart === undefined;
  return {
    // Nobody asks for it any more; older clients look for it.
    nextSequenceToken: "49039859502372590229306245023098612346234523450928723458",
    ...(isAllTaken
      ? {}
      : {
          rejectedLogEventsInfo: {
            tooOldLogEventEndIndex: tooOldEnd,
            tooNewLogEventStartIndex: tooNewStart,
          },
        }),
  };
};

const describeLogGroups: Handle = async ({ input, scope }, world) => {
  const pattern = input.text("logGroupNamePattern")?.toLowerCase();
  const groups = (await listLogGroups(world, scope, input.text("logGroupNamePrefix") ?? "")).filter(
    ({ name }) => pattern === undefined || name.toLowerCase().includes(pattern),
  );
  const { items, next } = pageOf(groups, {
    keyOf: ({ name }) => name,
    size: input.number("limit") ?? 50,
    token: input.text("nextToken"),
    code: "InvalidParameterException",
  });
  const shown = items.map(({ name, createdAt, retentionDays }) => ({
    logGroupName: name,
    creationTime: createdAt,
    retentionInDays: retentionDays,
    metricFilterCount: 0,
    arn: `${arnOf(scope, name)}:*`,
    logGroupArn: arnOf(scope, name),
    storedBytes: 0,
    logGroupClass: "STANDARD",
  }));
  return { logGroups: shown, nextToken: next };
};

const describeLogStreams: Handle = async ({ input, scope }, world) => {
  const group = groupOf(input);
  const prefix = input.text("logStreamNamePrefix") ?? "";
  const streams = (await listLogStreams(world, scope, group)).filter(({ name }) => name.startsWith(prefix));
  const isByTime = input.text("orderBy") === "LastEventTime";
  const sorted = isByTime ? streams.toReversed() : streams.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const ordered = input.flag("descending") === true ? sorted.toReversed() : sorted;
  const { items, next } = pageOf(ordered, {
    keyOf: ({ name }) => name,
    size: input.number("limit") ?? 50,
    token: input.text("nextToken"),
    code: "InvalidParameterException",
  });
  const shown = items.map(({ name, createdAt, firstAt, lastAt }) => ({
    logStreamName: name,
    creationTime: createdAt,
    firstEventTimestamp: firstAt,
    lastEventTimestamp: lastAt,
    lastIngestionTime: lastAt,
    uploadSequenceToken: "49039859502372590229306245023098612346234523450928723458",
    arn: `${arnOf(scope, group)}:log-stream:${name}`,
    storedBytes: 0,
  }));
  return { logStreams: shown, nextToken: next };
};

const filter: Handle = async ({ input, scope }, world) => {
  const [streams, streamPrefix] = [input.texts("logStreamNames"), input.text("logStreamNamePrefix")];
  if (streams !== undefined && streamPrefix !== undefined)
    throw new LogError(
      "InvalidParameterException",
      "Cannot specify both logStreamNames and logStreamNamePrefix in the same request.",
    );
  const { events, next } = await filterLogEvents(world, scope, {
    group: groupOf(input),
    ...definedOf({
      streams,
      streamPrefix,
      from: input.number("startTime"),
      until: untilOf(input),
      pattern: input.text("filterPattern"),
      after: input.text("nextToken"),
      limit: input.number("limit"),
    }),
  });
  return {
    events: events.map((event) => ({ eventId: event.id, logStreamName: event.stream, ...toEvent(event) })),
    searchedLogStreams: [],
    nextToken: next,
  };
};

/**
 * A page of one stream, from its head or its end. A token names the event that it goes on from, forwards (`f/`) or
 * backwards (`b/`); a page that comes back with the same token is the last one.
 */
const getLogEvents: Handle = async ({ input, scope }, world) => {
  const all = await streamEvents(world, scope, {
    group: groupOf(input),
    stream: input.need("logStreamName"),
    ...definedOf({ from: input.number("startTime"), until: input.number("endTime") }),
  });
  const token = tokenIn(input);
  const limit = input.number("limit") ?? 10_000;
  const shown = pageOfStream(all, { ...token, limit, isFromHead: input.flag("startFromHead") === true });
  return {
    events: shown.map(toEvent),
    nextForwardToken: `f/${shown.at(-1)?.id ?? token.id}`,
    nextBackwardToken: `b/${shown[0]?.id ?? token.id}`,
  };
};

const putRetentionPolicy: Handle = async ({ input, scope }, world) => {
  const retentionDays = input.number("retentionInDays");
  await change(world, scope, { name: input.need("logGroupName"), change: definedOf({ retentionDays }) });
  return {};
};

const deleteRetentionPolicy: Handle = async ({ input, scope }, { logGroups }) => {
  const name = input.need("logGroupName");
  const { keyId, tags } = await logGroups.get(scope, name);
  await logGroups.update(scope, name, { tags, ...definedOf({ keyId }) });
  return {};
};

const listTagsLogGroup: Handle = async ({ input, scope }, { logGroups }) => {
  const { tags } = await logGroups.get(scope, input.need("logGroupName"));
  return { tags };
};

const listTagsForResource: Handle = async ({ input, scope }, { logGroups }) => {
  const { tags } = await logGroups.get(scope, nameOf(input.need("resourceArn")));
  return { tags };
};

const tagResource: Handle = async ({ input, scope }, world) => {
  const name = nameOf(input.need("resourceArn"));
  const { tags } = await world.logGroups.get(scope, name);
  await change(world, scope, { name, change: { tags: { ...tags, ...input.map("tags") } } });
  return {};
};

const untagResource: Handle = async ({ input, scope }, world) => {
  const name = nameOf(input.need("resourceArn"));
  const removed = input.texts("tagKeys") ?? [];
  const { tags } = await world.logGroups.get(scope, name);
  const kept = Object.fromEntries(Object.entries(tags).filter(([key]) => !removed.includes(key)));
  await change(world, scope, { name, change: { tags: kept } });
  return {};
};

export const logs: Service<LogsWorld> = {
  name: "logs",
  operations: {
    CreateLogGroup: createLogGroup,
    CreateLogStream: createLogStream,
    DeleteLogStream: deleteLogStream,
    PutLogEvents: putLogEvents,
    DeleteLogGroup: deleteLogGroup,
    DeleteRetentionPolicy: deleteRetentionPolicy,
    DescribeLogGroups: describeLogGroups,
    DescribeLogStreams: describeLogStreams,
    FilterLogEvents: filter,
    GetLogEvents: getLogEvents,
    ListTagsForResource: listTagsForResource,
    ListTagsLogGroup: listTagsLogGroup,
    PutRetentionPolicy: putRetentionPolicy,
    TagResource: tagResource,
    UntagResource: untagResource,
  },
  explain: (error) => (error instanceof LogError ? new ApiError(error.code, error.message) : undefined),
};

/** Where a page goes on, and in which way. */
function tokenIn(input: Input): { readonly way: string; readonly id: string } {
  const token = input.text("nextToken");
  const [, way = "", id = ""] = /^([fb])\/(.*)$/.exec(token ?? "") ?? [];
  if (token === undefined || way !== "") return { way, id };
  throw new LogError("InvalidParameterException", "The specified nextToken is invalid.");
}

function pageOfStream(
  all: readonly LogEvent[],
  wanted: { readonly way: string; readonly id: string; readonly limit: number; readonly isFromHead: boolean },
): readonly LogEvent[] {
  const { way, id, limit, isFromHead } = wanted;
  if (way === "f") return all.filter((event) => event.id > id).slice(0, limit);
  if (way === "b") return all.filter((event) => event.id < id).slice(-limit);
  return isFromHead ? all.slice(0, limit) : all.slice(-limit);
}

/** A group that was made, or that functions write to. */
async function needGroup(world: LogsWorld, scope: Scope, name: string): Promise<void> {
  const groups = await listLogGroups(world, scope, name);
  if (!groups.some((group) => group.name === name)) await world.logGroups.get(scope, name);
}

/** Changes some settings of a group; the others stay. */
async function change(
  { logGroups }: LogsWorld,
  scope: Scope,
  wanted: { readonly name: string; readonly change: Parameters<LogsWorld["logGroups"]["update"]>[2] },
): Promise<LogGroup> {
  const { retentionDays, keyId, tags } = await logGroups.get(scope, wanted.name);
  const settings = { tags, ...definedOf({ retentionDays, keyId }), ...wanted.change };
  return await logGroups.update(scope, wanted.name, settings);
}

function groupOf(input: Input): string {
  const name = input.text("logGroupName") ?? input.text("logGroupIdentifier");
  if (name !== undefined) return nameOf(name);
  throw new LogError("InvalidParameterException", "Either logGroupName or logGroupIdentifier must be given.");
}

function nameOf(nameOrArn: string): string {
  return nameOrArn.replace(/^arn:[^:]*:logs:[^:]*:[^:]*:log-group:([^:]*).*$/, "$1");
}

function arnOf({ partition, region, account }: Scope, group: string): string {
  return `arn:${partition}:logs:${region}:${account}:log-group:${group}`;
}

/** `endTime` counts as well. */
function untilOf(input: Input): number | undefined {
  const end = input.number("endTime");
  return end === undefined ? undefined : end + 1;
}

function toEvent({ at, message, putAt }: LogEvent): WireObject {
  return { timestamp: at, message, ingestionTime: putAt };
}
