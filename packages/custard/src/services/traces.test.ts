import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../../../tests/support/state-directory.ts";
import type { RequestId, StackId } from "../engine/ids.ts";
import type { TraceEntry } from "../engine/ports.ts";
import { SqliteTraceStore } from "../storage/sqlite-traces.ts";
import { BufferedTraces, longestText, MemoryTraceStore } from "./traces.ts";

function entry(
  at: number,
  more: { request?: string; stack?: string; text?: string; functionName?: string } = {},
): TraceEntry {
  const { request = "r1", stack = "s1", text = `entry ${at}`, functionName } = more;
  const base = { at, requestId: request as RequestId, stackId: stack as StackId, kind: "log" as const, text };
  return functionName === undefined ? base : { ...base, functionName };
}

const stores = [
  { name: "in memory", store: () => new MemoryTraceStore() },
  { name: "in SQLite", store: () => new SqliteTraceStore(join(temporaryDirectory(), "traces.db")) },
];

describe.each(stores)("traces $name", ({ store }) => {
  function start() {
    const traces = new BufferedTraces(store());
    onTestFinished(() => traces.close());
    return traces;
  }

  test("what is noted of a function's request without the function's name is the function's too", async () => {
    const traces = start();
    traces.note(entry(1, { request: "other" }));
    traces.note(entry(2, { functionName: "f" }));
    traces.note(entry(3));
    expect(await traces.ofFunction("f", 10)).toEqual([2, 3].map((at) => entry(at, { functionName: "f" })));
  });

  test("what was noted can be asked for at once, by request, stack and function", async () => {
    const traces = start();
    const entries = [
      entry(3, { functionName: "f" }),
      entry(1, { functionName: "f" }),
      entry(2, { request: "r2", functionName: "f" }),
      entry(4, { request: "r3", stack: "s2", functionName: "g" }),
    ];
    for (const each of entries) traces.note(each);
    expect(await traces.ofRequest("r1" as RequestId)).toEqual([entries[0], entries[1]]);
    expect(await traces.ofStack("s1" as StackId, 10)).toEqual(entries.slice(0, 3));
    expect(await traces.ofStack("s1" as StackId, 2)).toEqual(entries.slice(1, 3));
    expect(await traces.ofFunction("f", 1)).toEqual([entries[2]]);
    expect(await traces.ofFunction("unknown", 10)).toEqual([]);
  });

  test("a text may hold anything and is cut when it is too long", async () => {
    const traces = start();
    traces.note(entry(1, { text: "a\0b \ud800 \\u0000 '" }));
    traces.note(entry(2, { text: "x".repeat(longestText + 5) }));
    const [odd, long] = await traces.ofRequest("r1" as RequestId);
    expect(odd?.text).toBe("a\0b \ud800 \\u0000 '");
    expect(long?.text).toBe(`${"x".repeat(longestText)}… (5 more characters)`);
  });

  test("thousands of notes are all kept", async () => {
    const traces = start();
    for (let at = 0; at < 3000; at += 1) traces.note(entry(at));
    expect((await traces.ofRequest("r1" as RequestId)).map(({ at }) => at)).toEqual([...Array(3000).keys()]);
  });
});

test("a watcher hears each note until it stops", () => {
  const traces = new BufferedTraces(new MemoryTraceStore());
  const heard: number[] = [];
  const stop = traces.watch(({ at }) => heard.push(at));
  traces.note(entry(1));
  stop();
  traces.note(entry(2));
  expect(heard).toEqual([1]);
});

test("noting never fails, even when nothing can be stored", async () => {
  const store = new MemoryTraceStore();
  store.add = () => {
    throw new Error("disk full");
  };
  const traces = new BufferedTraces(store);
  for (let at = 0; at < 2000; at += 1) traces.note(entry(at));
  await expect(traces.close()).resolves.toBeUndefined();
});

test("observations are there again when the database is opened again", async () => {
  const path = join(temporaryDirectory(), "traces.db");
  const before = new BufferedTraces(new SqliteTraceStore(path));
  before.note(entry(1));
  await before.close();
  const after = new BufferedTraces(new SqliteTraceStore(path));
  onTestFinished(() => after.close());
  expect(await after.ofRequest("r1" as RequestId)).toEqual([entry(1)]);
});
