import type { Json } from "@custard/provider/protocol";
import { onTestFinished, expect, test } from "vitest";
import { MemoryDocuments } from "../storage/memory-documents.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { FunctionError } from "./function-error.ts";
import type { InvokeFunction } from "./perform-task.ts";
import { StateMachines } from "./state-machines.ts";

const scope = { partition: "aws", account: "123456789012", region: "us-east-1" };
const functionArn = "arn:aws:lambda:us-east-1:123456789012:function:f";
const machineArn = "arn:aws:states:us-east-1:123456789012:stateMachine:m";

function definition(...states: readonly object[]): string {
  const named = states.map((state, index) => [
    `s${index}`,
    index === states.length - 1 ? { ...state, End: true } : { ...state, Next: `s${index + 1}` },
  ]);
  return JSON.stringify({ StartAt: "s0", States: Object.fromEntries(named) });
}

const task = { Type: "Task", Resource: functionArn };
const hour = { Type: "Wait", Seconds: 3600 };

/** Answers of a function, by its input. */
function functionOf(answer: (input: Json) => Json | Promise<Json>): InvokeFunction {
  return async ({ payload }) => {
    const result = await answer(JSON.parse(Buffer.from(payload).toString()) as Json);
    return { version: "$LATEST", requestId: "r", payload: Buffer.from(JSON.stringify(result)) };
  };
}

function start(invoke: InvokeFunction = functionOf((input) => input), documents = new MemoryDocuments()) {
  const clock = new VirtualClock();
  const troubles: unknown[] = [];
  const machines = new StateMachines({
    documents,
    clock,
    invoke,
    trouble: (error) => troubles.push(error),
  });
  onTestFinished(() => machines.close());
  return { machines, clock, documents, troubles };
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

const made = { name: "m", roleArn: "arn:aws:iam::123456789012:role/r" };

test("an execution runs its machine's functions and ends with their result", async () => {
  const { machines, documents } = start(functionOf((input) => ({ got: input })));
  await machines.create(scope, { ...made, definition: definition(task) });
  const { arn } = await machines.start(machineArn, { name: "e", input: '{"a":1}' });
  expect(arn).toBe("arn:aws:states:us-east-1:123456789012:execution:m:e");
  expect((await machines.settled(arn)).state).toMatchObject({
    status: "SUCCEEDED",
    output: '{"got":{"a":1}}',
  });
  expect(await documents.list("execution-memory/")).toEqual([]);
});

test("lambda:invoke takes and gives what Lambda's API does", async () => {
  const { machines } = start(functionOf((input) => [input]));
  const invoke = {
    Type: "Task",
    Resource: "arn:aws:states:::lambda:invoke",
    Parameters: { FunctionName: "f", "Payload.$": "$" },
  };
  await machines.create(scope, { ...made, definition: definition(invoke) });
  const { arn } = await machines.start(machineArn, { input: "7" });
  const { state } = await machines.settled(arn);
  expect(JSON.parse("output" in state ? state.output : "{}")).toMatchObject({
    StatusCode: 200,
    ExecutedVersion: "$LATEST",
    Payload: [7],
  });
});

test("what a function throws is the execution's error", async () => {
  const failing: InvokeFunction = async () => ({
    version: "$LATEST",
    requestId: "r",
    payload: Buffer.from('{"errorType":"Broken","errorMessage":"why"}'),
    functionError: "Unhandled",
  });
  const { machines } = start(failing);
  await machines.create(scope, { ...made, definition: definition(task) });
  const { arn } = await machines.start(machineArn);
  expect((await machines.settled(arn)).state).toMatchObject({
    status: "FAILED",
    error: "Broken",
    cause: '{"errorType":"Broken","errorMessage":"why"}',
  });
});

test.each([
  {
    resource: functionArn,
    error: "Lambda.ResourceNotFoundException",
    cause: "Function not found: f",
  },
  {
    resource: "arn:aws:states:::sns:publish",
    error: "States.TaskFailed",
    cause: "run Lambda functions only",
  },
])("a task on $resource that can't be fails with $error", async ({ resource, error, cause }) => {
  const { machines } = start(async () => {
    throw new FunctionError("NotFound", "Function not found: f");
  });
  await machines.create(scope, { ...made, definition: definition({ ...task, Resource: resource }) });
  const { arn } = await machines.start(machineArn);
  expect((await machines.settled(arn)).state).toMatchObject({
    status: "FAILED",
    error,
    cause: expect.stringContaining(cause),
  });
});

test("a running execution goes on after a restart, where it was", async () => {
  let calls = 0;
  const invoke = functionOf(() => (calls += 1));
  const documents = new MemoryDocuments();
  const first = start(invoke, documents);
  await first.machines.create(scope, { ...made, definition: definition(task, hour, task) });
  const { arn } = await first.machines.start(machineArn);
  await turn();
  await first.machines.close();
  expect(calls).toBe(1);
  const second = start(invoke, documents);
  await second.machines.resume();
  await turn();
  expect((await second.machines.execution(arn)).state.status).toBe("RUNNING");
  second.clock.advance(3_600_000);
  expect((await second.machines.settled(arn)).state).toMatchObject({ status: "SUCCEEDED", output: "2" });
  expect(calls).toBe(2);
});

test("a task that was under way at a restart is performed again", async () => {
  const documents = new MemoryDocuments();
  const first = start(() => new Promise(() => undefined), documents);
  await first.machines.create(scope, { ...made, definition: definition(task) });
  const { arn } = await first.machines.start(machineArn);
  await turn();
  await first.machines.close();
  const second = start(
    functionOf(() => "again"),
    documents,
  );
  await second.machines.resume();
  expect((await second.machines.settled(arn)).state).toMatchObject({ output: '"again"' });
});

test("an execution runs the definition that it was started with", async () => {
  const { machines, clock } = start();
  await machines.create(scope, { ...made, definition: definition(hour, { Type: "Pass", Result: "old" }) });
  const { arn } = await machines.start(machineArn);
  await machines.update(machineArn, { definition: definition({ Type: "Pass", Result: "new" }) });
  await turn();
  clock.advance(3_600_000);
  expect((await machines.settled(arn)).state).toMatchObject({ output: '"old"' });
  const next = await machines.start(machineArn);
  expect((await machines.settled(next.arn)).state).toMatchObject({ output: '"new"' });
  expect(await machines.executions(machineArn)).toHaveLength(2);
});

test("a name belongs to one execution; the same start twice is one", async () => {
  const { machines } = start();
  await machines.create(scope, { ...made, definition: definition(hour) });
  const first = await machines.start(machineArn, { name: "e", input: "1" });
  expect(await machines.start(machineArn, { name: "e", input: "1" })).toEqual(first);
  await expect(machines.start(machineArn, { name: "e", input: "2" })).rejects.toMatchObject({
    code: "ExecutionAlreadyExists",
    message: `Execution Already Exists: '${first.arn}'`,
  });
  await machines.stop(first.arn, { error: "Enough", cause: "so" });
  expect((await machines.execution(first.arn)).state).toMatchObject({
    status: "ABORTED",
    error: "Enough",
    cause: "so",
  });
});

test("a machine goes with its executions", async () => {
  const { machines } = start();
  await machines.create(scope, { ...made, definition: definition(hour) });
  const { arn } = await machines.start(machineArn);
  await machines.delete(machineArn);
  await machines.delete(machineArn);
  expect((await machines.execution(arn)).state.status).toBe("ABORTED");
  expect(await machines.list(scope)).toEqual([]);
});

test("trouble outside leaves an execution for the next start", async () => {
  const { machines, troubles } = start(async () => {
    throw new Error("no disk");
  });
  await machines.create(scope, { ...made, definition: definition(task) });
  const { arn } = await machines.start(machineArn);
  expect((await machines.settled(arn)).state.status).toBe("RUNNING");
  expect(troubles).toEqual([new Error("no disk")]);
});

test("what can't be is refused in Step Functions' words", async () => {
  const { machines } = start();
  await expect(machines.create(scope, { ...made, definition: "{" })).rejects.toMatchObject({
    code: "InvalidDefinition",
    message: expect.stringMatching(/^Invalid State Machine Definition: '/) as string,
  });
  await expect(
    machines.create(scope, { ...made, name: "a b", definition: definition(task) }),
  ).rejects.toMatchObject({ code: "InvalidName", message: "Invalid Name: 'a b'" });
  await expect(machines.start(machineArn)).rejects.toMatchObject({
    code: "StateMachineDoesNotExist",
    message: `State Machine Does Not Exist: '${machineArn}'`,
  });
  await machines.create(scope, { ...made, definition: definition(task), token: "t" });
  await machines.create(scope, { ...made, definition: definition(task), token: "t" });
  await expect(machines.create(scope, { ...made, definition: definition(task) })).rejects.toMatchObject({
    code: "StateMachineAlreadyExists",
  });
  await expect(machines.start(machineArn, { input: "{" })).rejects.toMatchObject({
    code: "InvalidExecutionInput",
  });
  await expect(machines.execution("arn:none")).rejects.toMatchObject({ code: "ExecutionDoesNotExist" });
});
