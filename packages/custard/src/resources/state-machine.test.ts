import { expect, test } from "vitest";
import { createTask } from "../../../../tests/support/resource-task.ts";
import { resourceWorld } from "../../../../tests/support/resource-world.ts";
import type { LogicalId, PhysicalId } from "../engine/ids.ts";
import type { ResourceTask } from "../engine/ports.ts";
import type { ValueMap } from "../template/value.ts";

const arn = "arn:aws:states:us-east-1:123456789012:stateMachine:m";
const definition = { StartAt: "a", States: { a: { Type: "Pass", Result: "done", End: true } } };
const named = { StateMachineName: "m", RoleArn: "arn:aws:iam::123456789012:role/r" };

function machineTask(properties: ValueMap, more: Partial<ResourceTask> = {}): ResourceTask {
  return createTask("AWS::StepFunctions::StateMachine", { properties: { ...named, ...properties }, ...more });
}

async function outputOf({ stateMachines }: ReturnType<typeof resourceWorld>): Promise<unknown> {
  const started = await stateMachines.start(arn);
  const { state } = await stateMachines.settled(started.arn);
  return "output" in state ? JSON.parse(state.output) : state;
}

test.each<{ title: string; properties: ValueMap }>([
  { title: "a text", properties: { DefinitionString: JSON.stringify(definition) } },
  { title: "an object", properties: { Definition: definition } },
  {
    title: "a text with substitutions",
    properties: {
      DefinitionString: '{"StartAt":"${first}","States":{"a":{"Type":"Pass","Result":"${what}","End":true}}}',
      DefinitionSubstitutions: { first: "a", what: "done" },
    },
  },
  {
    title: "an object of the local S3",
    properties: { DefinitionS3Location: { Bucket: "b-1", Key: "k.json" } },
  },
])("a machine from $title can be run", async ({ properties }) => {
  const world = resourceWorld();
  await world.s3.buckets.create({ partition: "aws", bucket: "b-1", account: "1", region: "us-east-1" });
  const body = [Buffer.from(JSON.stringify(definition))];
  await world.s3.objects.put({ partition: "aws", bucket: "b-1", key: "k.json" }, { body });
  expect(await world.perform(machineTask(properties))).toMatchObject({
    kind: "done",
    physicalId: arn,
    attributes: { Arn: arn, Name: "m", StateMachineRevisionId: expect.any(String) as string },
  });
  expect(await outputOf(world)).toBe("done");
});

test("substitutions are escaped in the definition's JSON, and unknown names are left", async () => {
  const world = resourceWorld();
  await world.perform(
    machineTask({
      DefinitionString:
        '{"StartAt":"a","States":{"a":{"Type":"Pass","Result":"${text} ${other}","End":true}}}',
      DefinitionSubstitutions: { text: 'say "hi"\n' },
    }),
  );
  expect(await outputOf(world)).toBe('say "hi"\n ${other}');
});

test("an update changes the definition; a delete takes the machine away, twice if need be", async () => {
  const world = resourceWorld();
  await world.perform(machineTask({ Definition: definition }));
  const changed = { StartAt: "a", States: { a: { Type: "Pass", Result: "new", End: true } } };
  const existing = { physicalId: arn as PhysicalId, oldProperties: named };
  await world.perform(
    machineTask({ Definition: changed }, { ...existing, action: "update", token: "update-1" }),
  );
  expect(await outputOf(world)).toBe("new");
  const deletion = machineTask({}, { ...existing, action: "delete", token: "delete-1" });
  expect(await world.perform(deletion)).toMatchObject({ kind: "done" });
  expect(await world.stateMachines.find(arn)).toBeUndefined();
  expect(await world.perform(deletion)).toMatchObject({ kind: "done" });
});

test("a create that comes twice makes one machine; another one's name is refused", async () => {
  const { perform } = resourceWorld();
  const task = machineTask({ Definition: definition });
  expect(await perform(task)).toEqual(await perform(task));
  const other = { logicalId: "Other" as LogicalId, token: "create-2" };
  expect(await perform(machineTask({ Definition: definition }, other))).toEqual({
    kind: "failed",
    reason: `${arn} already exists in stack ${task.stackId}`,
  });
});

test.each<{ properties: ValueMap; reason: RegExp }>([
  { properties: {}, reason: /One of DefinitionString, Definition and DefinitionS3Location is required/ },
  {
    properties: { DefinitionString: "{" },
    reason: /"Invalid State Machine Definition: '.*\(Service: AWSStepFunctions, Status Code: 400/,
  },
  { properties: { Definition: definition, StateMachineType: "FAST" }, reason: /\{\/StateMachineType\}/ },
  {
    properties: { DefinitionS3Location: { Bucket: "none", Key: "k" } },
    reason: /The specified bucket does not exist/,
  },
])("$properties is refused", async ({ properties, reason }) => {
  expect(await resourceWorld().perform(machineTask(properties))).toEqual({
    kind: "failed",
    reason: expect.stringMatching(reason) as string,
  });
});
