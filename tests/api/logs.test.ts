/** CloudWatch Logs through AWS's own client: streams and events that were put, beside those of functions. */
import {
  CloudWatchLogsClient,
  CreateLogGroupCommand,
  CreateLogStreamCommand,
  DeleteLogGroupCommand,
  DeleteLogStreamCommand,
  DescribeLogStreamsCommand,
  FilterLogEventsCommand,
  GetLogEventsCommand,
  InvalidParameterException,
  paginateFilterLogEvents,
  paginateGetLogEvents,
  PutLogEventsCommand,
  PutSubscriptionFilterCommand,
  ResourceAlreadyExistsException,
  ResourceNotFoundException,
} from "@aws-sdk/client-cloudwatch-logs";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { deploy, openTestEndpoint, settingsOf, type TestEndpoint } from "./support.ts";

const logGroupName = "/mine";
const now = Date.now();

let endpoint: TestEndpoint;
let logs: CloudWatchLogsClient;

beforeAll(async () => {
  endpoint = await openTestEndpoint();
  logs = new CloudWatchLogsClient(settingsOf(endpoint));
});

afterAll(async () => {
  logs.destroy();
  await endpoint.close();
});

beforeEach(async () => {
  await logs.send(new DeleteLogGroupCommand({ logGroupName })).catch(() => undefined);
  await logs.send(new CreateLogGroupCommand({ logGroupName }));
  for (const logStreamName of ["a", "b"])
    await logs.send(new CreateLogStreamCommand({ logGroupName, logStreamName }));
});

async function put(logStreamName: string, ...messages: readonly (readonly [number, string])[]) {
  const logEvents = messages.map(([after, message]) => ({ timestamp: now + after, message }));
  return await logs.send(new PutLogEventsCommand({ logGroupName, logStreamName, logEvents }));
}

test("events of several streams come in the order of their time, and by stream", async () => {
  await put("a", [0, "one"], [2, "three"]);
  await put("b", [1, "two"]);
  const messages = async (how: object) =>
    ((await logs.send(new FilterLogEventsCommand({ logGroupName, ...how }))).events ?? []).map(
      ({ message }) => message,
    );
  expect(await messages({ interleaved: true })).toEqual(["one", "two", "three"]);
  expect(await messages({ logStreamNames: ["b"] })).toEqual(["two"]);
  expect(await messages({ logStreamNamePrefix: "a" })).toEqual(["one", "three"]);
  expect(await messages({ startTime: now + 1, endTime: now + 1 })).toEqual(["two"]);
  expect(await messages({ filterPattern: "?one ?two" })).toEqual(["one", "two"]);
  const { logStreams } = await logs.send(new DescribeLogStreamsCommand({ logGroupName }));
  expect(logStreams).toMatchObject([
    { logStreamName: "a", firstEventTimestamp: now, lastEventTimestamp: now + 2 },
    { logStreamName: "b", lastEventTimestamp: now + 1 },
  ]);
});

test("pages give every event of a stream once, forwards and backwards", async () => {
  const events = Array.from({ length: 25 }, (_, index) => [index, `line ${index}`] as const);
  await put("a", ...events);
  const lines = events.map(([, message]) => message);
  const forwards: unknown[] = [];
  const request = { logGroupName, logStreamName: "a", startFromHead: true, limit: 10 };
  // The client's own paginator ends when a token comes back.
  for await (const page of paginateGetLogEvents({ client: logs, stopOnSameToken: true }, request))
    forwards.push(...(page.events ?? []).map(({ message }) => message));
  expect(forwards).toEqual(lines);
  const last = await logs.send(new GetLogEventsCommand({ logGroupName, logStreamName: "a", limit: 10 }));
  expect(last.events?.map(({ message }) => message)).toEqual(lines.slice(15));
  const before = await logs.send(
    new GetLogEventsCommand({
      logGroupName,
      logStreamName: "a",
      limit: 10,
      nextToken: last.nextBackwardToken,
    }),
  );
  expect(before.events?.map(({ message }) => message)).toEqual(lines.slice(5, 15));
  const filtered: unknown[] = [];
  for await (const page of paginateFilterLogEvents({ client: logs }, { logGroupName, limit: 10 }))
    filtered.push(...(page.events ?? []).map(({ message }) => message));
  expect(filtered).toEqual(lines);
});

test("events that are too old or too new are left out, and a batch out of order is refused", async () => {
  const day = 86_400_000;
  expect((await put("a", [-20 * day, "old"])).rejectedLogEventsInfo).toEqual({ tooOldLogEventEndIndex: 1 });
  expect((await put("a", [0, "now"], [day / 4, "new"])).rejectedLogEventsInfo).toEqual({
    tooNewLogEventStartIndex: 1,
  });
  const refused = put("a", [1, "second"], [0, "first"]);
  await expect(refused).rejects.toThrow(InvalidParameterException);
  await expect(refused).rejects.toThrow(
    "Log events in a single PutLogEvents request must be in chronological order.",
  );
});

test("streams and groups that aren't there, or are already, are refused", async () => {
  const again = logs.send(new CreateLogStreamCommand({ logGroupName, logStreamName: "a" }));
  await expect(again).rejects.toThrow(ResourceAlreadyExistsException);
  await expect(put("none", [0, "x"])).rejects.toThrow("The specified log stream does not exist.");
  await put("a", [0, "x"]);
  await logs.send(new DeleteLogStreamCommand({ logGroupName, logStreamName: "a" }));
  await expect(logs.send(new GetLogEventsCommand({ logGroupName, logStreamName: "a" }))).rejects.toThrow(
    ResourceNotFoundException,
  );
  await logs.send(new CreateLogStreamCommand({ logGroupName, logStreamName: "a" }));
  const { events } = await logs.send(new GetLogEventsCommand({ logGroupName, logStreamName: "a" }));
  expect(events).toEqual([]);
});

test("a stack's group is deleted with its streams: one of the same name begins empty", async () => {
  const template = (name: string) =>
    `Resources: { Group: { Type: 'AWS::Logs::LogGroup', Properties: { LogGroupName: '${name}' } } }`;
  await deploy(endpoint, "logs", template("/stack"));
  const stream = { logGroupName: "/stack", logStreamName: "s" };
  await logs.send(new CreateLogStreamCommand(stream));
  const logEvents = [{ timestamp: now, message: "x" }];
  await logs.send(new PutLogEventsCommand({ ...stream, logEvents }));
  await deploy(endpoint, "logs", template("/other"));
  await logs.send(new CreateLogGroupCommand({ logGroupName: "/stack" }));
  const { events } = await logs.send(new FilterLogEventsCommand({ logGroupName: "/stack" }));
  expect(events).toEqual([]);
});

test("what isn't offered is refused by its name", async () => {
  const subscription = new PutSubscriptionFilterCommand({
    logGroupName,
    filterName: "f",
    filterPattern: "",
    destinationArn: "arn:aws:lambda:us-east-1:123456789012:function:f",
  });
  await expect(logs.send(subscription)).rejects.toThrow(
    "Custard doesn't offer the operation PutSubscriptionFilter of logs.",
  );
});
