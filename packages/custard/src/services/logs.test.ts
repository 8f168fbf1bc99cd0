import { beforeEach, expect, test } from "vitest";
import type { RequestId, StackId } from "../engine/ids.ts";
import type { TraceEntry } from "../engine/ports.ts";
import { MemoryDocuments } from "../storage/memory-documents.ts";
import { FunctionRegistry } from "./functions.ts";
import { LogGroups } from "./log-groups.ts";
import { LogStreams } from "./log-streams.ts";
import { filterLogEvents, listLogGroups, listLogStreams, type LogSources } from "./logs.ts";
import { BufferedTraces, MemoryTraceStore } from "./traces.ts";

const scope = { partition: "aws", account: "123456789012", region: "us-east-1" };
const start = Date.UTC(2026, 0, 1);

let sources: LogSources & { readonly traces: BufferedTraces };

function note(text: string, more: Partial<TraceEntry> = {}): void {
  sources.traces.note({
    at: start,
    requestId: "r" as RequestId,
    stackId: "arn:aws:cloudformation:us-east-1:123456789012:stack/s/1" as StackId,
    kind: "log",
    text,
    functionName: "f",
    ...more,
  });
}

beforeEach(async () => {
  const documents = new MemoryDocuments();
  const functions = new FunctionRegistry(documents);
  const logGroups = new LogGroups(documents, () => 5);
  const logStreams = new LogStreams(documents, () => start);
  sources = { functions, logGroups, logStreams, traces: new BufferedTraces(new MemoryTraceStore()) };
  const settings = {
    runtime: "nodejs20.x",
    handler: "index.handler",
    role: "arn:aws:iam::123456789012:role/r",
  };
  const code = { kind: "inline", source: "" } as const;
  await functions.create(scope, { name: "f", code, settings });
  const logging = { format: "Text", group: "/mine" } as const;
  await functions.create(scope, { name: "g", code, settings: { ...settings, logging } });
});

async function messages(query: object = {}): Promise<readonly string[]> {
  const { events } = await filterLogEvents(sources, scope, { group: "/aws/lambda/f", ...query });
  return events.map(({ message }) => message);
}

test("groups are those that were made and those that functions write to", async () => {
  await sources.logGroups.create(scope, { name: "/aws/lambda/f", retentionDays: 7 });
  await sources.logGroups.create(scope, { name: "other" });
  expect(await listLogGroups(sources, scope)).toMatchObject([
    { name: "/aws/lambda/f", retentionDays: 7, createdAt: 5 },
    { name: "/mine" },
    { name: "other" },
  ]);
  expect(await listLogGroups(sources, scope, "/aws/")).toHaveLength(1);
  expect(await listLogGroups(sources, { ...scope, region: "eu-west-1" })).toEqual([]);
});

test("a function's lines are its group's events, without what else was noted and what is of other places", async () => {
  note("START", { kind: "invoked" });
  note("hello");
  note("PUT 200", { kind: "put" });
  note("elsewhere", { stackId: "arn:aws:cloudformation:eu-west-1:123456789012:stack/s/1" as StackId });
  note("g's", { functionName: "g" });
  expect(await messages()).toEqual(["START", "hello"]);
  expect(await messages({ group: "/mine" })).toEqual(["g's"]);
});

test("events are found by time and by terms", async () => {
  note("error one", { at: start });
  note("error two", { at: start + 1000 });
  note("warning three", { at: start + 2000 });
  expect(await messages({ from: start + 1000 })).toEqual(["error two", "warning three"]);
  expect(await messages({ until: start + 1000 })).toEqual(["error one"]);
  expect(await messages({ pattern: "error" })).toEqual(["error one", "error two"]);
  expect(await messages({ pattern: "error -one" })).toEqual(["error two"]);
  expect(await messages({ pattern: "?one ?three" })).toEqual(["error one", "warning three"]);
  expect(await messages({ pattern: '"error two"' })).toEqual(["error two"]);
  await expect(messages({ pattern: "{ $.a = 1 }" })).rejects.toMatchObject({
    code: "InvalidParameterException",
  });
});

test("pages give every event once", async () => {
  for (let index = 0; index < 25; index += 1) note(`line ${index}`);
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const page = await filterLogEvents(sources, scope, {
      group: "/aws/lambda/f",
      limit: 10,
      ...(after === undefined ? {} : { after }),
    });
    seen.push(...page.events.map(({ message }) => message));
    after = page.next;
  } while (after !== undefined);
  expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => `line ${index}`));
});

test("streams are named as Lambda's, one a day", async () => {
  note("a");
  note("b", { at: start + 86_400_000 });
  expect(await listLogStreams(sources, scope, "/aws/lambda/f")).toEqual([
    {
      name: expect.stringMatching(/^2026\/01\/02\/\[\$LATEST\][0-9a-f]{32}$/),
      createdAt: start + 86_400_000,
      firstAt: start + 86_400_000,
      lastAt: start + 86_400_000,
    },
    {
      name: expect.stringMatching(/^2026\/01\/01\/\[\$LATEST\][0-9a-f]{32}$/),
      createdAt: start,
      firstAt: start,
      lastAt: start,
    },
  ]);
});

test("a group that isn't there is refused, one without events is empty", async () => {
  await expect(messages({ group: "none" })).rejects.toMatchObject({
    code: "ResourceNotFoundException",
    message: "The specified log group does not exist.",
  });
  await sources.logGroups.create(scope, { name: "empty", token: "t" });
  await sources.logGroups.create(scope, { name: "empty", token: "t" });
  expect(await messages({ group: "empty" })).toEqual([]);
  await expect(sources.logGroups.create(scope, { name: "empty" })).rejects.toMatchObject({
    code: "ResourceAlreadyExistsException",
    message: "The specified log group already exists",
  });
  await expect(sources.logGroups.create(scope, { name: "a b" })).rejects.toThrow("logGroupName");
  await expect(sources.logGroups.update(scope, "empty", { retentionDays: 2 })).rejects.toThrow(
    "retentionInDays",
  );
  await sources.logGroups.delete(scope, "empty");
  await expect(sources.logGroups.delete(scope, "empty")).rejects.toThrow("does not exist");
});
