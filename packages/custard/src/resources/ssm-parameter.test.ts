import { expect, test } from "vitest";
import { createTask } from "../../../../tests/support/resource-task.ts";
import { resourceWorld } from "../../../../tests/support/resource-world.ts";
import type { LogicalId, PhysicalId } from "../engine/ids.ts";
import type { ResourceTask } from "../engine/ports.ts";
import { Sensitive, type ValueMap } from "../template/value.ts";

const scope = { partition: "aws", account: "123456789012", region: "us-east-1" };

function parameterTask(properties: ValueMap, more: Partial<ResourceTask> = {}): ResourceTask {
  return createTask("AWS::SSM::Parameter", {
    properties: { Type: "String", Value: "v", ...properties },
    ...more,
  });
}

const named = { Name: "/app/size" };
const physicalId = "/app/size" as PhysicalId;

test("a parameter can be read by its name, and tells its type and value", async () => {
  const { perform, parameters } = resourceWorld();
  const task = parameterTask(
    { ...named, Value: new Sensitive("s3cret"), Tags: { a: "own" } },
    { tags: { b: "stack" } },
  );
  const made = {
    kind: "done",
    physicalId,
    attributes: {
      Type: "String",
      Value: new Sensitive("s3cret"),
      Arn: "arn:aws:ssm:us-east-1:123456789012:parameter/app/size",
    },
  };
  const outcome = await perform(task);
  expect(outcome).toEqual(made);
  expect(JSON.stringify(outcome)).not.toContain("s3cret");
  expect(await perform(task)).toEqual(made);
  expect(await parameters.get(scope, "/app/size")).toMatchObject({ value: "s3cret", version: 1 });
  expect(await parameters.tags(scope, "/app/size")).toEqual({ a: "own", b: "stack" });
});

test("a parameter without a name gets the generated one", async () => {
  expect(await resourceWorld().perform(parameterTask({}))).toMatchObject({
    physicalId: "my-stack-Thing-Kdps7TfbhFx5",
  });
});

test("an update makes a new version; a delete may come twice", async () => {
  const { perform, parameters } = resourceWorld();
  await perform(parameterTask(named));
  const update = { action: "update", token: "update-1", physicalId } as const;
  expect(await perform(parameterTask({ ...named, Value: "w" }, update))).toMatchObject({
    attributes: { Value: "w" },
  });
  expect(await parameters.get(scope, "/app/size")).toMatchObject({ version: 2 });
  const deletion = parameterTask(named, { action: "delete", token: "delete-1", physicalId });
  expect(await perform(deletion)).toMatchObject({ kind: "done" });
  expect(await parameters.find(scope, "/app/size")).toBeUndefined();
  expect(await perform(deletion)).toMatchObject({ kind: "done" });
});

test("a name in use is refused: another resource's, and one put by hand", async () => {
  const { perform, parameters } = resourceWorld();
  const first = parameterTask(named);
  await perform(first);
  const other = { logicalId: "Other" as LogicalId, token: "create-2" };
  expect(await perform(parameterTask(named, other))).toEqual({
    kind: "failed",
    reason: `/app/size already exists in stack ${first.stackId}`,
  });
  await parameters.put(scope, { name: "by-hand", value: "1", type: "String" });
  expect(await perform(parameterTask({ Name: "by-hand" }))).toEqual({
    kind: "failed",
    reason: "by-hand already exists",
  });
  expect(await parameters.get(scope, "by-hand")).toMatchObject({ value: "1" });
});

test.each<{ properties: ValueMap; reason: RegExp }>([
  {
    properties: { Type: "SecureString" },
    reason: /"SSM Parameters of type SecureString cannot be created using CloudFormation" \(RequestToken/,
  },
  {
    properties: { Type: "Number" },
    reason: /Member must satisfy enum value set: \[SecureString, StringList, String\]/,
  },
  { properties: { Value: "" }, reason: /Member must have length greater than or equal to 1/ },
  { properties: { Tier: "Gold" }, reason: /\{\/Tier\}/ },
  {
    properties: { Name: "a b" },
    reason:
      /^Resource handler returned message: "Parameter name: can't be prefixed with .*\(Service: Ssm, Status Code: 400, /,
  },
])("$properties is refused", async ({ properties, reason }) => {
  expect(await resourceWorld().perform(parameterTask(properties))).toEqual({
    kind: "failed",
    reason: expect.stringMatching(reason),
  });
});
