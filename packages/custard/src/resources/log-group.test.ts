import { expect, test } from "vitest";
import { createTask } from "../../../../tests/support/resource-task.ts";
import { resourceWorld } from "../../../../tests/support/resource-world.ts";
import type { LogicalId, PhysicalId } from "../engine/ids.ts";
import type { ResourceTask } from "../engine/ports.ts";
import type { ValueMap } from "../template/value.ts";

const scope = { partition: "aws", account: "123456789012", region: "us-east-1" };
const named = { LogGroupName: "/app" };
const physicalId = "/app" as PhysicalId;

function groupTask(properties: ValueMap, more: Partial<ResourceTask> = {}): ResourceTask {
  return createTask("AWS::Logs::LogGroup", { properties, ...more });
}

test("a log group is made, changed and deleted", async () => {
  const { perform, logGroups } = resourceWorld();
  const task = groupTask({ ...named, RetentionInDays: "7" });
  const made = {
    kind: "done",
    physicalId,
    attributes: { Arn: "arn:aws:logs:us-east-1:123456789012:log-group:/app:*" },
  };
  expect(await perform(task)).toEqual(made);
  expect(await perform(task)).toEqual(made);
  expect(await logGroups.get(scope, "/app")).toMatchObject({ retentionDays: 7 });
  await perform(groupTask(named, { action: "update", physicalId, token: "update-1" }));
  expect(await logGroups.get(scope, "/app")).not.toHaveProperty("retentionDays");
  const deletion = groupTask(named, { action: "delete", physicalId, token: "delete-1" });
  await perform(deletion);
  expect(await logGroups.find(scope, "/app")).toBeUndefined();
  expect(await perform(deletion)).toMatchObject({ kind: "done" });
});

test("a taken name and a period that doesn't exist are refused", async () => {
  const { perform } = resourceWorld();
  const task = groupTask(named);
  await perform(task);
  const other = { logicalId: "Other" as LogicalId, token: "create-2" };
  expect(await perform(groupTask(named, other))).toMatchObject({
    reason: `/app already exists in stack ${task.stackId}`,
  });
  expect(await perform(groupTask({ RetentionInDays: 2 }))).toMatchObject({
    reason: expect.stringContaining("'retentionInDays' failed to satisfy constraint") as string,
  });
});
