/**
 * What was recorded on AWS by others, replayed here: sequences stated anew, built-in types stand for SSM parameters and
 * SNS topics. A recording shows each resource's statuses without repetitions; so do these.
 */
import { expect, test } from "vitest";
import { custom, failure, parameter, scenario, type Scenario } from "../support/scenario.ts";

/** `LogicalId: STATUS STATUS …`, a status that comes twice in a row told once. */
async function perResource(s: Scenario): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const { logicalId, status } of await s.rawEvents()) {
    const statuses = (found[logicalId] ??= []);
    if (statuses.at(-1) !== status && status !== "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS") statuses.push(status);
  }
  return found;
}

const whole = ["CREATE_IN_PROGRESS", "CREATE_COMPLETE", "DELETE_IN_PROGRESS", "DELETE_COMPLETE"];

test("test_blocked_stack_deletion: a create that can't be undone, deleted twice, retained (facts 78 to 80)", async () => {
  const s = scenario({ Create: failure, Delete: failure });
  await s.create({ Resources: { BrokenPolicy: custom() } });
  await s.delete();
  await s.delete({ retain: ["BrokenPolicy"] });
  const told = (await s.rawEvents()).map(({ logicalId, status, physicalId, resourceType }) =>
    resourceType === "AWS::CloudFormation::Stack"
      ? `stack ${status}`
      : `${logicalId} ${status} [${physicalId}]`,
  );
  expect(told).toEqual([
    "stack CREATE_IN_PROGRESS",
    "BrokenPolicy CREATE_IN_PROGRESS []",
    "BrokenPolicy CREATE_IN_PROGRESS [BrokenPolicy-1]",
    "BrokenPolicy CREATE_FAILED [BrokenPolicy-1]",
    "stack ROLLBACK_IN_PROGRESS",
    "BrokenPolicy DELETE_IN_PROGRESS [BrokenPolicy-1]",
    "BrokenPolicy DELETE_FAILED [BrokenPolicy-1]",
    "stack ROLLBACK_FAILED",
    "stack DELETE_IN_PROGRESS",
    "BrokenPolicy DELETE_IN_PROGRESS [BrokenPolicy-1]",
    "BrokenPolicy DELETE_FAILED [BrokenPolicy-1]",
    "stack DELETE_FAILED",
    "stack DELETE_IN_PROGRESS",
    "BrokenPolicy DELETE_SKIPPED [BrokenPolicy-1]",
    "stack DELETE_COMPLETE",
  ]);
});

test("test_list_events_after_deployment: all events of a create (facts 61, 85, 93, 94)", async () => {
  const s = scenario();
  await s.create({ Resources: { topic123: parameter({ Name: "topic" }) } });
  expect(await s.events()).toEqual([
    "my-stack CREATE_IN_PROGRESS User Initiated",
    "topic123 CREATE_IN_PROGRESS",
    "topic123 CREATE_IN_PROGRESS (my-stack-topic123-<random>) Resource creation Initiated",
    "topic123 CREATE_COMPLETE (my-stack-topic123-<random>)",
    "my-stack CREATE_COMPLETE",
  ]);
  const [, ...resource] = await s.rawEvents();
  expect(resource.slice(0, 3).map(({ properties }) => properties)).toEqual(Array(3).fill({ Name: "topic" }));
});

const chain = {
  A: parameter({ Value: "a" }),
  B: parameter({ Value: { Ref: "A" } }),
  C: parameter({ Value: { Ref: "B" } }),
};

test.each([{ removed: ["C"] }, { removed: ["B", "C"] }, { removed: ["A", "B", "C"] }])(
  "test_stack_deletion_order: an update without $removed (facts 75, 98)",
  async ({ removed }) => {
    const s = scenario();
    const Dummy = parameter({ Value: "dummy" });
    await s.create({ Resources: { Dummy, ...chain } });
    const left = Object.entries(chain).filter(([name]) => !removed.some((gone) => gone === name));
    await s.events();
    await s.update({ Resources: { Dummy, ...(Object.fromEntries(left) as object) } });
    const deleted = (await s.events()).filter((line) => line.includes("DELETE_COMPLETE"));
    expect(deleted.map((line) => line.slice(0, 1))).toEqual(removed.toReversed());
    await s.delete();
    const { ["my-stack"]: stack, ...resources } = await perResource(s);
    expect(resources).toEqual({ A: whole, B: whole, C: whole, Dummy: whole });
    expect(stack).toEqual([
      "CREATE_IN_PROGRESS",
      "CREATE_COMPLETE",
      "UPDATE_IN_PROGRESS",
      "UPDATE_COMPLETE",
      "DELETE_IN_PROGRESS",
      "DELETE_COMPLETE",
    ]);
  },
);

test.each(["ABC", "ACB", "BAC", "BCA", "CAB", "CBA"])(
  "test_stack_deploy_order: the template's order %s doesn't count (fact 98)",
  async (order) => {
    const s = scenario();
    const resources = order.split("").map((name) => [name, chain[name as keyof typeof chain]]);
    await s.create({ Resources: Object.fromEntries(resources) as object });
    await s.delete();
    const complete = (await s.events()).filter((line) => /^[ABC] \w+_COMPLETE/.test(line));
    expect(complete.map((line) => line.split(" (")[0])).toEqual([
      "A CREATE_COMPLETE",
      "B CREATE_COMPLETE",
      "C CREATE_COMPLETE",
      "C DELETE_COMPLETE",
      "B DELETE_COMPLETE",
      "A DELETE_COMPLETE",
    ]);
  },
);

test("test_name_conflicts: a name is taken until its stack is deleted (facts 109, 110)", async () => {
  const s = scenario();
  const template = { Resources: { P: parameter() } };
  await s.create(template);
  await expect(s.world.create({ templateBody: JSON.stringify(template) })).rejects.toThrow(
    "Stack [my-stack] already exists",
  );
  await s.delete();
  await expect(s.world.engine.stack("my-stack")).rejects.toThrow("Stack with id my-stack does not exist");
  expect((await s.world.engine.stack(s.stackId)).status).toBe("DELETE_COMPLETE");
});

test("test_update_stack_with_same_template_withoutchange, test_diff_after_update (fact 113)", async () => {
  const s = scenario();
  await s.create({ Resources: { P: parameter({ Value: "before" }) } });
  await s.update({ Resources: { P: parameter({ Value: "after" }) } });
  const again = s.update({ Resources: { P: parameter({ Value: "after" }) } });
  await expect(again).rejects.toThrow("No updates are to be performed.");
});

test("test_no_parameters_given, test_non_existing_stack_message (facts 110, 116)", async () => {
  const s = scenario();
  const created = s.create({ Parameters: { Input: { Type: "String" } }, Resources: { P: parameter() } });
  await expect(created).rejects.toThrow("Parameters: [Input] must have values");
  await expect(s.world.engine.stack("none")).rejects.toThrow("Stack with id none does not exist");
});

test("test_describe_failed_resource, test_describe_deleted_resource_on_update (fact 99)", async () => {
  const failed = scenario();
  const stack = await failed.create({ Resources: { Wrong: custom({ ServiceTimeout: 0 }) } });
  expect(stack.resources).toEqual([]);
  const s = scenario();
  await s.create({ Resources: { P: parameter(), Stays: parameter({ Value: 1 }) } });
  const { resources } = await s.update({ Resources: { Stays: parameter({ Value: 2 }) } });
  expect(resources.map(({ logicalId }) => logicalId)).toEqual(["Stays"]);
});

test("test_update_deleted_stack (fact 114)", async () => {
  const s = scenario();
  await s.create({ Resources: { P: parameter() } });
  await s.delete();
  const update = s.update({ Resources: { P: parameter({ Value: 2 }) } }, { stackName: s.stackId });
  await expect(update).rejects.toThrow(
    `Stack:${s.stackId} is in DELETE_COMPLETE state and can not be updated.`,
  );
});

test("test_requires_replacement, test_immutable_property_update_causes_resource_replacement (fact 87)", async () => {
  const s = scenario();
  const resources = (name: string) => ({
    Topic1: parameter({ Name: name }),
    Topic2: parameter({ Value: { Ref: "Topic1" } }),
  });
  await s.create({ Resources: resources("one") });
  const old = (await s.view()).resources[0]?.physicalId;
  await s.update({ Resources: resources("two") });
  const fresh = (await s.view()).resources[0]?.physicalId;
  const told = (await s.rawEvents()).map(({ logicalId, status, physicalId, reason = "", properties }) =>
    [
      logicalId,
      status,
      { [`${old}`]: "old", [`${fresh}`]: "new" }[physicalId] ?? "",
      reason,
      properties ? "P" : "-",
    ].join("|"),
  );
  expect(told.filter((line) => line.startsWith("Topic1"))).toEqual([
    "Topic1|CREATE_IN_PROGRESS|||P",
    "Topic1|CREATE_IN_PROGRESS|old|Resource creation Initiated|P",
    "Topic1|CREATE_COMPLETE|old||P",
    "Topic1|UPDATE_IN_PROGRESS|old|Requested update requires the creation of a new physical resource; hence creating one.|P",
    "Topic1|UPDATE_IN_PROGRESS|new|Resource creation Initiated|P",
    "Topic1|UPDATE_COMPLETE|new||P",
    "Topic1|DELETE_IN_PROGRESS|old||-",
    "Topic1|DELETE_COMPLETE|old||-",
  ]);
  expect((await perResource(s))["Topic2"]).toEqual([
    "CREATE_IN_PROGRESS",
    "CREATE_COMPLETE",
    "UPDATE_IN_PROGRESS",
    "UPDATE_COMPLETE",
  ]);
});

test("test_deletion_policy_with_retain, test_update_replace_policy_retain (fact 82)", async () => {
  const s = scenario();
  await s.create({ Resources: { MyParameter: parameter({}, { DeletionPolicy: "Retain" }) } });
  await s.delete();
  expect(await perResource(s)).toEqual({
    "my-stack": whole,
    MyParameter: ["CREATE_IN_PROGRESS", "CREATE_COMPLETE", "DELETE_SKIPPED"],
  });
  const replaced = scenario();
  const keep = { UpdateReplacePolicy: "Retain" };
  await replaced.create({ Resources: { MyParameter: parameter({ Name: "one" }, keep) } });
  await replaced.update({ Resources: { MyParameter: parameter({ Name: "two" }, keep) } });
  expect((await perResource(replaced))["MyParameter"]).toEqual([
    "CREATE_IN_PROGRESS",
    "CREATE_COMPLETE",
    "UPDATE_IN_PROGRESS",
    "UPDATE_COMPLETE",
    "DELETE_SKIPPED",
  ]);
});

test("test_invalid_getatt_fails (facts 101, 127)", async () => {
  const s = scenario();
  await s.create({
    Resources: { P: parameter() },
    Outputs: { InvalidOutput: { Value: { "Fn::GetAtt": ["P", "Invalid"] } } },
  });
  expect((await s.events()).filter((line) => line.startsWith("my-stack"))).toEqual([
    "my-stack CREATE_IN_PROGRESS User Initiated",
    "my-stack ROLLBACK_IN_PROGRESS [Error] /Outputs/InvalidOutput/Value/Fn::GetAtt: Resource type AWS::SSM::Parameter does not support attribute {Invalid}. Rollback requested by user.",
    "my-stack ROLLBACK_COMPLETE",
  ]);
});

test("test_fn_sub_cases, test_non_string_parameter_in_sub, test_useful_error_when_invalid_ref (facts 106, 117)", async () => {
  const s = scenario({ Create: { answer: { PhysicalResourceId: "id", Data: { Value: "attribute" } } } });
  const sub = (...value: readonly unknown[]) => ({
    Value: { "Fn::Sub": value.length === 1 ? value[0] : value },
  });
  const { outputs } = await s.create(
    {
      Parameters: { Param1: { Type: "String" }, Count: { Type: "Number" } },
      Resources: { A: custom() },
      Outputs: {
        Static: sub("this is a static string"),
        Parameter: sub("${Param1}"),
        Twice: sub("${Param1} - ${Param1}"),
        Pseudo: sub("${AWS::Region}"),
        Resource: sub("${A}"),
        GetAtt: sub("${A.Value}"),
        Suffix: sub("${AWS::URLSuffix}"),
        Mapped: sub("${X}-${AWS::Region}-${Param1}", { X: { Ref: "A" } }),
        MappedGetAtt: sub("${X}", { X: { "Fn::GetAtt": ["A", "Value"] } }),
        Number: sub("my number is ${Count}"),
      },
    },
    { parameters: { Param1: "Param1Value", Count: "3" } },
  );
  expect(Object.fromEntries(outputs.map(({ name, value }) => [name, value]))).toEqual({
    Static: "this is a static string",
    Parameter: "Param1Value",
    Twice: "Param1Value - Param1Value",
    Pseudo: "us-east-1",
    Resource: "id",
    GetAtt: "attribute",
    Suffix: "amazonaws.com",
    Mapped: "id-us-east-1-Param1Value",
    MappedGetAtt: "attribute",
    Number: "my number is 3",
  });
  await expect(
    s.create({ Resources: { P: parameter({ Value: { Ref: "InvalidRef" } }) } }, { stackName: "other" }),
  ).rejects.toThrow(
    "Template format error: Unresolved resource dependencies [InvalidRef] in the Resources block of the template",
  );
});
