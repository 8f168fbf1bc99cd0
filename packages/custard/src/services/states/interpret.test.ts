import type { Json } from "@custard/provider/protocol";
import { expect, test } from "vitest";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { parseDefinition, type StateGroup } from "./definition.ts";
import { interpret } from "./interpret.ts";
import { StateFault } from "./state-fault.ts";

type Perform = (input: Json, resource: string) => Json | Promise<Json>;

/** Runs a definition on a virtual clock; tasks are functions of the test. */
async function run(
  definition: unknown,
  options: { input?: Json; perform?: Perform; memory?: Map<string, Json> } = {},
) {
  const { input = {}, perform = () => null, memory = new Map<string, Json>() } = options;
  const parsed = parseDefinition(JSON.stringify(definition));
  if (!parsed.ok) throw new Error(parsed.faults.join("\n"));
  const clock = new VirtualClock();
  const start = clock.now();
  const ended = interpret(
    {
      definition: parsed.definition,
      input,
      context: { Execution: { Name: "e" } },
      signal: new AbortController().signal,
    },
    {
      clock,
      perform: async (task) => await perform(task.input, task.resource),
      remember: async (key, act) => {
        if (!memory.has(key)) memory.set(key, await act());
        return memory.get(key) ?? null;
      },
    },
  ).then(
    (output) => ({ output, took: clock.now() - start }),
    (error: unknown) => ({ error, took: clock.now() - start }),
  );
  let over = false;
  void ended.then(() => (over = true));
  while (!over) {
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    if (!over) clock.advanceToNext();
  }
  return await ended;
}

function machine(states: Readonly<Record<string, object>>): unknown {
  return { StartAt: Object.keys(states)[0], States: states };
}

const end = { End: true };

test("CDK's waiter asks again until its function is content", async () => {
  let asked = 0;
  const waiter = machine({
    "framework-isComplete-task": {
      Type: "Task",
      Resource: "arn:aws:lambda:us-east-1:123456789012:function:complete",
      Retry: [{ ErrorEquals: ["States.ALL"], IntervalSeconds: 5, MaxAttempts: 360, BackoffRate: 1 }],
      Catch: [{ ErrorEquals: ["States.ALL"], Next: "framework-onTimeout-task" }],
      ...end,
    },
    "framework-onTimeout-task": {
      Type: "Task",
      Resource: "arn:aws:lambda:us-east-1:123456789012:function:late",
      ...end,
    },
  });
  const patient = await run(waiter, {
    input: { id: 1 },
    perform: (input) => {
      asked += 1;
      if (asked < 4) throw new StateFault("Retry", "{}");
      return { input };
    },
  });
  expect(patient).toEqual({ output: { input: { id: 1 } }, took: 15_000 });
  const late = await run(waiter, {
    input: { id: 1 },
    perform: (input, resource) => {
      if (resource.endsWith(":late")) return input;
      throw new StateFault("Retry", "not yet");
    },
  });
  expect(late).toEqual({ output: { Error: "Retry", Cause: "not yet" }, took: 1_800_000 });
});

test.each([
  { retry: {}, delays: [1, 2, 4] },
  { retry: { IntervalSeconds: 3, BackoffRate: 1, MaxAttempts: 2 }, delays: [3, 3] },
  { retry: { IntervalSeconds: 1, BackoffRate: 3, MaxAttempts: 4, MaxDelaySeconds: 5 }, delays: [1, 3, 5, 5] },
  { retry: { MaxAttempts: 0 }, delays: [] },
])("$retry waits $delays seconds", async ({ retry, delays }) => {
  const task = { Type: "Task", Resource: "f", Retry: [{ ErrorEquals: ["A"], ...retry }], ...end };
  let tries = 0;
  const ended = await run(machine({ task }), {
    perform: () => {
      tries += 1;
      throw new StateFault("A", "");
    },
  });
  expect(tries).toBe(delays.length + 1);
  expect(ended.took).toBe(1000 * delays.reduce((sum, delay) => sum + delay, 0));
  expect(ended).toMatchObject({ error: { error: "A" } });
});

test.each<{ names: string[]; error: string; caught: boolean }>([
  { names: ["A"], error: "A", caught: true },
  { names: ["B"], error: "A", caught: false },
  { names: ["States.ALL"], error: "A", caught: true },
  { names: ["States.ALL"], error: "States.Timeout", caught: true },
  { names: ["States.TaskFailed"], error: "A", caught: true },
  { names: ["States.TaskFailed"], error: "States.Timeout", caught: false },
  { names: ["States.ALL"], error: "States.Runtime", caught: false },
  { names: ["States.Runtime"], error: "States.Runtime", caught: true },
])("$names catches $error: $caught", async ({ names, error, caught }) => {
  const states = {
    task: {
      Type: "Task",
      Resource: "f",
      Catch: [{ ErrorEquals: names, Next: "after", ResultPath: "$.fault" }],
      ...end,
    },
    after: { Type: "Pass", ...end },
  };
  const ended = await run(machine(states), {
    input: { kept: 1 },
    perform: () => {
      throw new StateFault(error, "why");
    },
  });
  const output = { kept: 1, fault: { Error: error, Cause: "why" } };
  expect(ended).toMatchObject(caught ? { output } : { error: { error } });
});

test("data goes through paths, parameters, selectors and results", async () => {
  const task = {
    Type: "Task",
    Resource: "f",
    InputPath: "$.order",
    Parameters: { "id.$": "$.id", "who.$": "$$.Execution.Name", fixed: [{ "n.$": "$.id" }] },
    ResultSelector: { "sum.$": "$.total" },
    ResultPath: "$.paid",
    OutputPath: "$.paid",
    ...end,
  };
  const asked: Json[] = [];
  const { output } = (await run(machine({ task }), {
    input: { order: { id: 7 } },
    perform: (input) => {
      asked.push(input);
      return { total: 3, other: 1 };
    },
  })) as { output: Json };
  expect(asked).toEqual([{ id: 7, who: "e", fixed: [{ n: 7 }] }]);
  expect(output).toEqual({ sum: 3 });
});

test.each<{
  title: string;
  states: Readonly<Record<string, object>>;
  input?: Json;
  output: Json;
  took?: number;
}>([
  {
    title: "Pass",
    states: { a: { Type: "Pass", Result: { x: 1 }, ResultPath: "$.r", ...end } },
    output: { r: { x: 1 } },
  },
  {
    title: "Pass to nowhere",
    states: { a: { Type: "Pass", ResultPath: null, Result: 1, ...end } },
    input: 5,
    output: 5,
  },
  {
    title: "OutputPath null",
    states: { a: { Type: "Pass", OutputPath: null, ...end } },
    input: 5,
    output: {},
  },
  { title: "Succeed", states: { a: { Type: "Succeed", InputPath: "$.b" } }, input: { b: 2 }, output: 2 },
  { title: "Wait", states: { a: { Type: "Wait", Seconds: 9, ...end } }, output: {}, took: 9000 },
  {
    title: "Wait by path",
    states: { a: { Type: "Wait", SecondsPath: "$.s", ...end } },
    input: { s: 2 },
    output: { s: 2 },
    took: 2000,
  },
  {
    title: "Wait for a time",
    states: { a: { Type: "Wait", Timestamp: "2026-01-01T01:00:00Z", ...end } },
    output: {},
    took: 3_600_000,
  },
  {
    title: "Wait for a time gone by",
    states: { a: { Type: "Wait", TimestampPath: "$.t", ...end } },
    input: { t: "2020-01-01T00:00:00Z" },
    output: { t: "2020-01-01T00:00:00Z" },
  },
])("$title gives $output", async ({ states, input = {}, output, took = 0 }) => {
  expect(await run(machine(states), { input })).toEqual({ output, took });
});

test.each<{ rule: object; input: Json; holds: boolean }>([
  { rule: { Variable: "$.a", NumericEquals: 1 }, input: { a: 1 }, holds: true },
  { rule: { Variable: "$.a", NumericEquals: 1 }, input: { a: "1" }, holds: false },
  { rule: { Variable: "$.a", NumericGreaterThanEquals: 2 }, input: { a: 2 }, holds: true },
  { rule: { Variable: "$.a", NumericLessThanPath: "$.b" }, input: { a: 1, b: 2 }, holds: true },
  { rule: { Variable: "$.a", StringEquals: "x" }, input: { a: "x" }, holds: true },
  { rule: { Variable: "$.a", StringLessThan: "b" }, input: { a: "b" }, holds: false },
  { rule: { Variable: "$.a", StringMatches: "log-*.txt" }, input: { a: "log-1.txt" }, holds: true },
  { rule: { Variable: "$.a", StringMatches: "a.c" }, input: { a: "abc" }, holds: false },
  { rule: { Variable: "$.a", StringMatches: "a\\*" }, input: { a: "a*" }, holds: true },
  { rule: { Variable: "$.a", BooleanEquals: false }, input: { a: false }, holds: true },
  {
    rule: { Variable: "$.a", TimestampLessThan: "2026-01-01T00:00:00Z" },
    input: { a: "2025-12-31T23:00:00+00:00" },
    holds: true,
  },
  { rule: { Variable: "$.a", IsPresent: false }, input: {}, holds: true },
  { rule: { Variable: "$.a", IsNull: true }, input: { a: null }, holds: true },
  { rule: { Variable: "$.a", IsNumeric: true }, input: { a: "1" }, holds: false },
  { rule: { Variable: "$.a", IsTimestamp: true }, input: { a: "2026-01-01T00:00:00Z" }, holds: true },
  { rule: { Not: { Variable: "$.a", IsString: true } }, input: { a: 1 }, holds: true },
  {
    rule: {
      And: [
        { Variable: "$.a", IsString: true },
        { Variable: "$.a", StringEquals: "x" },
      ],
    },
    input: { a: "y" },
    holds: false,
  },
  {
    rule: {
      Or: [
        { Variable: "$.a", StringEquals: "x" },
        { Variable: "$.a", StringEquals: "y" },
      ],
    },
    input: { a: "y" },
    holds: true,
  },
])("$rule on $input: $holds", async ({ rule, input, holds }) => {
  const states = {
    choose: { Type: "Choice", Choices: [{ ...rule, Next: "yes" }], Default: "no" },
    yes: { Type: "Pass", Result: true, ...end },
    no: { Type: "Pass", Result: false, ...end },
  };
  expect(await run(machine(states), { input })).toMatchObject({ output: holds });
});

test("a choice without a match and without a default fails", async () => {
  const choose = { Type: "Choice", Choices: [{ Variable: "$.a", NumericEquals: 1, Next: "choose" }] };
  expect(await run(machine({ choose }), { input: { a: 2 } })).toMatchObject({
    error: { error: "States.NoChoiceMatched" },
  });
});

test("Fail says why", async () => {
  const fail = { Type: "Fail", Error: "Custom", CausePath: "$.why" };
  expect(await run(machine({ fail }), { input: { why: "so" } })).toMatchObject({
    error: { error: "Custom", detail: "so" },
  });
});

test("branches run at once; the first that fails ends the others", async () => {
  const branch = (seconds: number, last: object) =>
    machine({ w: { Type: "Wait", Seconds: seconds, Next: "x" }, x: last });
  const both = {
    Type: "Parallel",
    Branches: [
      branch(5, { Type: "Pass", Result: 1, ...end }),
      branch(9, { Type: "Pass", Result: 2, ...end }),
    ],
    ...end,
  };
  expect(await run(machine({ both }))).toEqual({ output: [1, 2], took: 9000 });
  const failing = {
    Type: "Parallel",
    Branches: [branch(1, { Type: "Fail", Error: "E" }), branch(900, { Type: "Succeed" })],
    Catch: [{ ErrorEquals: ["E"], Next: "after" }],
    ...end,
  };
  expect(await run(machine({ failing, after: { Type: "Pass", Result: "caught", ...end } }))).toEqual({
    output: "caught",
    took: 1000,
  });
});

test("Map runs its processor for every item, so many at a time as it says", async () => {
  let [now, most] = [0, 0];
  const map = {
    Type: "Map",
    ItemsPath: "$.list",
    MaxConcurrency: 2,
    ItemSelector: { "v.$": "$$.Map.Item.Value", "i.$": "$$.Map.Item.Index", "all.$": "$.factor" },
    ItemProcessor: machine({ t: { Type: "Task", Resource: "f", ...end } }),
    ...end,
  };
  const ended = await run(machine({ map }), {
    input: { list: ["a", "b", "c"], factor: 2 },
    perform: async (input) => {
      most = Math.max(most, (now += 1));
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return input;
    },
  });
  expect(ended).toMatchObject({
    output: [
      { v: "a", i: 0, all: 2 },
      { v: "b", i: 1, all: 2 },
      { v: "c", i: 2, all: 2 },
    ],
  });
  expect(most).toBe(2);
});

test("a task and a machine end at their time limits", async () => {
  const never: Perform = () => new Promise(() => undefined);
  const task = {
    Type: "Task",
    Resource: "f",
    TimeoutSeconds: 3,
    Catch: [{ ErrorEquals: ["States.Timeout"], Next: "late" }],
    ...end,
  };
  const caught = await run(machine({ task, late: { Type: "Pass", Result: "late", ...end } }), {
    perform: never,
  });
  expect(caught).toEqual({ output: "late", took: 3000 });
  const whole = { StartAt: "w", TimeoutSeconds: 4, States: { w: { Type: "Wait", Seconds: 99, ...end } } };
  expect(await run(whole)).toMatchObject({ error: { error: "States.Timeout" }, took: 4000 });
});

test("an execution that starts again with its memory goes the same way, without doing things twice", async () => {
  const states = {
    id: { Type: "Pass", Parameters: { "id.$": "States.UUID()" }, Next: "task" },
    task: { Type: "Task", Resource: "f", ResultPath: "$.r", Next: "wait" },
    wait: { Type: "Wait", Seconds: 60, ...end },
  };
  const memory = new Map<string, Json>();
  let performed = 0;
  const perform = () => {
    performed += 1;
    return performed;
  };
  const first = await run(machine(states), { perform, memory });
  expect(await run(machine(states), { perform, memory })).toEqual({ ...first, took: 60_000 });
  expect(performed).toBe(1);
});

test.each<{ definition: unknown; fault: RegExp }>([
  { definition: {}, fault: /required fields are missing: \[States\] at \// },
  {
    definition: { StartAt: "b", States: { a: { Type: "Succeed" } } },
    fault: /MISSING_TRANSITION_TARGET.*b at \/StartAt/,
  },
  { definition: machine({ a: { Type: "Pass" } }), fault: /either Next or End at \/States\/a/ },
  { definition: machine({ a: { Type: "Pass", Next: "b" } }), fault: /'Next' target: b at \/States\/a\/Next/ },
  { definition: machine({ a: { Type: "Nap", ...end } }), fault: /Invalid state type: Nap/ },
  { definition: machine({ a: { Type: "Task", ...end } }), fault: /missing: \[Resource\]/ },
  {
    definition: machine({ a: { Type: "Choice", Choices: [{ Next: "z" }] } }),
    fault: /target: z at \/States\/a\/Choices\[0\]\/Next/,
  },
  {
    definition: machine({ a: { Type: "Parallel", Branches: [{ StartAt: "q", States: {} }], ...end } }),
    fault: /\/States\/a\/Branches\[0\]/,
  },
  { definition: machine({ a: { Type: "Map", ...end } }), fault: /\/States\/a\/Iterator/ },
  {
    definition: { QueryLanguage: "JSONata", StartAt: "a", States: { a: { Type: "Succeed" } } },
    fault: /JSONPath only/,
  },
])("$definition is refused", ({ definition, fault }) => {
  const parsed = parseDefinition(JSON.stringify(definition));
  expect(parsed.ok ? "it was taken" : parsed.faults.join("\n")).toMatch(fault);
});

test("a definition that is right is given back", () => {
  const group: StateGroup = { StartAt: "a", States: { a: { Type: "Succeed" } } };
  expect(parseDefinition(JSON.stringify(group))).toEqual({ ok: true, definition: group });
});
