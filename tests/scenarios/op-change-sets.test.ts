/** Change sets: made, looked at, executed, dropped (facts 85, 97, 110b, 111, 112, 115, 126). */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "@custard/provider/protocol";
import type { StackId } from "../../packages/custard/src/engine/ids.ts";
import type { ChangeSetView } from "../../packages/custard/src/engine/views.ts";
import type { World } from "../../packages/custard/src/testing/world.ts";
import {
  custom,
  failure,
  lines,
  newest,
  plain,
  template,
  worldOf,
  type Answers,
} from "../support/op-world.ts";

let world: World;
let answers: Answers;
beforeEach(() => {
  answers = {};
  world = worldOf(answers);
});
afterEach(() => world.close());

const one = template({ A: custom({ V: "1" }), P: plain({ Name: "one", Value: "1" }) });

async function stackOf(input: {
  templateBody: string;
  parameters?: Record<string, string>;
}): Promise<StackId> {
  const id = await world.create(input);
  await world.settle(id);
  return id;
}

/** The changes that a change set would make, with or without values. */
async function changes(
  input: { templateBody: string; parameters?: Record<string, string> },
  includePropertyValues = false,
): Promise<ChangeSetView["changes"]> {
  const sets = world.engine.changeSets;
  const { changeSetId } = await sets.create({ stackName: "my-stack", changeSetName: "changes", ...input });
  const view = await sets.describe({ changeSet: changeSetId, includePropertyValues });
  return view.changes;
}

describe("creating a stack by a change set", () => {
  const input = { stackName: "my-stack", changeSetName: "first", changeSetType: "CREATE" as const, ...one };

  test("shows it in review, then as any other (fact 85)", async () => {
    const { changeSetId, stackId } = await world.engine.changeSets.create(input);
    expect((await world.engine.stack("my-stack")).status).toBe("REVIEW_IN_PROGRESS");
    await world.engine.changeSets.execute({ changeSet: changeSetId });
    const stack = await world.settle(stackId);
    expect((await lines(world, stackId)).filter((line) => line.startsWith("my-stack"))).toEqual([
      "my-stack REVIEW_IN_PROGRESS User Initiated",
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "my-stack CREATE_COMPLETE",
    ]);
    expect(stack.changeSetId).toBe(changeSetId);
    expect(await world.engine.changeSets.describe({ changeSet: changeSetId })).toMatchObject({
      executionStatus: "EXECUTE_COMPLETE",
    });
  });

  test("may be thought over: another change set, or none, then deletion", async () => {
    const { stackId } = await world.engine.changeSets.create(input);
    await world.engine.changeSets.create({ ...input, changeSetName: "second", ...template({ B: custom() }) });
    await expect(
      world.engine.changeSets.create({ ...input, changeSetName: "third", changeSetType: "UPDATE" }),
    ).rejects.toThrow(`Stack:${stackId} is in REVIEW_IN_PROGRESS state and can not be updated.`);
    await world.engine.changeSets.delete({ stack: "my-stack", changeSet: "first" });
    expect(
      (await world.engine.changeSets.list("my-stack")).map(({ changeSetName }) => changeSetName),
    ).toEqual(["second"]);
    await world.engine.deleteStack({ stack: "my-stack" });
    expect((await world.settle(stackId)).status).toBe("DELETE_COMPLETE");
    expect(world.requests).toEqual([]);
  });

  test("that fails does what OnStackFailure says", async () => {
    answers["Create A"] = failure("no");
    const { changeSetId, stackId } = await world.engine.changeSets.create({
      ...input,
      onStackFailure: "DELETE",
    });
    await world.engine.changeSets.execute({ changeSet: changeSetId });
    expect((await world.settle(stackId)).status).toBe("DELETE_COMPLETE");
  });

  test("that fails stays, when it is executed without rollback", async () => {
    answers["Create A"] = failure("no");
    const { changeSetId, stackId } = await world.engine.changeSets.create(input);
    await world.engine.changeSets.execute({ changeSet: changeSetId, disableRollback: true });
    expect((await world.settle(stackId)).status).toBe("CREATE_FAILED");
    const { executionStatus } = await world.engine.changeSets.describe({ changeSet: changeSetId });
    expect(executionStatus).toBe("EXECUTE_FAILED");
  });

  test("is refused when the stack is there (fact 115)", async () => {
    await stackOf(one);
    await expect(world.engine.changeSets.create(input)).rejects.toThrow(
      "Stack [my-stack] already exists and cannot be created again with the changeSet [first].",
    );
  });
});

describe("a change set", () => {
  test("changes nothing until it is executed, and makes its siblings void", async () => {
    const id = await stackOf(one);
    const { changeSets } = world.engine;
    const seen = await newest(world, id);
    const next = template({ A: custom({ V: "2" }), P: plain({ Name: "one", Value: "1" }) });
    const { changeSetId } = await changeSets.create({ stackName: "my-stack", changeSetName: "a", ...next });
    await changeSets.create({ stackName: "my-stack", changeSetName: "b", ...template({ A: custom() }) });
    expect(await lines(world, id, seen)).toEqual([]);
    await changeSets.execute({ stack: "my-stack", changeSet: "a", clientRequestToken: "go" });
    await changeSets.execute({ stack: "my-stack", changeSet: "a", clientRequestToken: "go" });
    expect((await world.settle(id)).status).toBe("UPDATE_COMPLETE");
    expect(
      (await changeSets.list(id)).map(({ changeSetName, executionStatus }) => [
        changeSetName,
        executionStatus,
      ]),
    ).toEqual([["a", "EXECUTE_COMPLETE"]]);
    await expect(changeSets.execute({ changeSet: changeSetId })).rejects.toMatchObject({
      code: "InvalidChangeSetStatus",
    });
    await expect(changeSets.execute({ stack: "my-stack", changeSet: "b" })).rejects.toThrow(
      "ChangeSet [b] does not exist",
    );
  });

  test("is void after a direct update, which has none to show (fact 97)", async () => {
    const id = await stackOf(one);
    const { changeSets } = world.engine;
    await changeSets.create({ stackName: "my-stack", changeSetName: "a", ...template({ A: custom() }) });
    await world.engine.updateStack({ stackName: "my-stack", ...template({ A: custom({ V: "3" }) }) });
    const stack = await world.settle(id);
    expect(stack.changeSetId).toBeUndefined();
    expect(await changeSets.list("my-stack")).toEqual([]);
  });

  test("without changes has failed and can't be executed (fact 112)", async () => {
    await stackOf(one);
    const { changeSets } = world.engine;
    const { changeSetId } = await changeSets.create({
      stackName: "my-stack",
      changeSetName: "empty",
      ...one,
    });
    expect(await changeSets.describe({ changeSet: changeSetId })).toMatchObject({
      status: "FAILED",
      reason:
        "The submitted information didn't contain changes. Submit different information to create a change set.",
      executionStatus: "UNAVAILABLE",
      changes: [],
    });
    await expect(changeSets.execute({ changeSet: changeSetId })).rejects.toThrow(
      `ChangeSet [${changeSetId}] cannot be executed in its current status of [FAILED]`,
    );
  });

  test("has a name of its own, is found by it or by its ARN, and imports nothing", async () => {
    await stackOf(one);
    const { changeSets } = world.engine;
    const input = { stackName: "my-stack", changeSetName: "a", ...template({ A: custom() }) };
    await changeSets.create(input);
    await expect(changeSets.create(input)).rejects.toMatchObject({ code: "ChangeSetAlreadyExists" });
    await expect(changeSets.create({ ...input, changeSetName: "no name" })).rejects.toThrow(
      "'changeSetName'",
    );
    await expect(changeSets.describe({ changeSet: "a" })).rejects.toThrow(
      "StackName must be specified if ChangeSetName is not specified as an ARN.",
    );
    await expect(changeSets.describe({ stack: "nostack", changeSet: "a" })).rejects.toThrow(
      "Stack [nostack] does not exist",
    );
    await expect(changeSets.describe({ stack: "my-stack", changeSet: "x" })).rejects.toThrow(
      "ChangeSet [x] does not exist",
    );
    await expect(changeSets.create({ ...input, stackName: "nostack" })).rejects.toThrow(
      "Stack [nostack] does not exist",
    );
    await expect(
      changeSets.create({ ...input, changeSetName: "i", changeSetType: "IMPORT" }),
    ).rejects.toThrow("can't import");
  });
});

describe("the changes in it (fact 126)", () => {
  test("are additions, modifications and removals", async () => {
    await stackOf(one);
    expect(await changes(template({ B: custom(), A: custom({ V: "2" }) }))).toEqual([
      { action: "Add", logicalId: "B", resourceType: "Custom::Thing", scope: [], details: [] },
      {
        action: "Modify",
        logicalId: "A",
        physicalId: "A-1",
        resourceType: "Custom::Thing",
        replacement: "Conditional",
        scope: ["Properties"],
        details: [
          {
            target: { attribute: "Properties", name: "V", requiresRecreation: "Conditionally" },
            evaluation: "Static",
            changeSource: "DirectModification",
          },
        ],
      },
      {
        action: "Remove",
        logicalId: "P",
        physicalId: expect.stringMatching(/^my-stack-P-/),
        resourceType: "AWS::SSM::Parameter",
        policyAction: "Delete",
        scope: [],
        details: [],
      },
    ]);
  });

  test("show values when asked to", async () => {
    await stackOf(one);
    const [added, modified] = await changes(
      template({ B: plain({ Value: "b" }), P: plain({ Name: "one", Value: "2", More: [1] }) }),
      true,
    );
    expect(added).toMatchObject({
      action: "Add",
      replacement: "True",
      after: { Properties: { Value: "b" } },
    });
    expect(modified).toMatchObject({
      replacement: "False",
      before: { Properties: { Name: "one", Value: "1" } },
      after: { Properties: { Name: "one", Value: "2", More: [1] } },
      details: [
        {
          target: {
            name: "Value",
            path: "/Properties/Value",
            attributeChangeType: "Modify",
            beforeValue: "1",
            afterValue: "2",
            requiresRecreation: "Never",
          },
        },
        { target: { name: "More", path: "/Properties/More", attributeChangeType: "Add", afterValue: "[1]" } },
      ],
    });
  });

  const dependents = (name: string, value: string): { templateBody: string } =>
    template({
      P: plain({ Name: name, Value: value }, { UpdateReplacePolicy: "Retain" }),
      ByRef: plain({ Value: { Ref: "P" } }),
      ByAttribute: plain({ Value: { "Fn::GetAtt": ["P", "Arn"] } }),
      InText: plain({ Value: { "Fn::Sub": "about ${P.Arn}" } }),
    });

  test("go on to what refers to a replaced resource, and are then unknown", async () => {
    await stackOf(dependents("one", "1"));
    const found = await changes(dependents("two", "1"), true);
    expect(found[0]).toMatchObject({ logicalId: "P", replacement: "True", policyAction: "ReplaceAndRetain" });
    expect(
      found
        .slice(1)
        .map(({ logicalId, details }) => [
          logicalId,
          ...details.map(({ changeSource, evaluation, causingEntity, target }) => [
            changeSource,
            evaluation,
            causingEntity,
            target.afterValue,
          ]),
        ]),
    ).toEqual([
      [
        "ByRef",
        ["ResourceReference", "Static", "P", "{{changeSet:KNOWN_AFTER_APPLY}}"],
        ["DirectModification", "Dynamic", undefined, "{{changeSet:KNOWN_AFTER_APPLY}}"],
      ],
      [
        "ByAttribute",
        ["ResourceAttribute", "Static", "P.Arn", "{{changeSet:KNOWN_AFTER_APPLY}}"],
        ["DirectModification", "Dynamic", undefined, "{{changeSet:KNOWN_AFTER_APPLY}}"],
      ],
      [
        "InText",
        ["ResourceAttribute", "Static", "P.Arn", "{{changeSet:KNOWN_AFTER_APPLY}}"],
        ["DirectModification", "Dynamic", undefined, "{{changeSet:KNOWN_AFTER_APPLY}}"],
      ],
    ]);
  });

  test("are dynamic where an attribute of a modified resource may change", async () => {
    await stackOf(dependents("one", "1"));
    const found = await changes(dependents("one", "2"));
    expect(
      found.map(({ logicalId, details }) => [
        logicalId,
        ...details.map(({ changeSource, evaluation }) => `${changeSource} ${evaluation}`),
      ]),
    ).toEqual([
      ["P", "DirectModification Static"],
      ["ByAttribute", "ResourceAttribute Dynamic"],
      ["InText", "ResourceAttribute Dynamic"],
    ]);
  });

  test("name the parameter that causes them", async () => {
    const body = template(
      { A: custom({ V: { Ref: "V" } }) },
      { Parameters: { V: { Type: "String", Default: "1" } } },
    );
    await stackOf(body);
    const [change] = await changes({ ...body, parameters: { V: "2" } });
    expect(change?.details).toMatchObject([
      { changeSource: "ParameterReference", evaluation: "Static", causingEntity: "V" },
      { changeSource: "DirectModification", evaluation: "Dynamic" },
    ]);
  });

  test.each<{ part: string; more: JsonObject }>([
    { part: "Metadata", more: { Metadata: { Note: "new" } } },
    { part: "DeletionPolicy", more: { DeletionPolicy: "Retain" } },
    { part: "UpdateReplacePolicy", more: { UpdateReplacePolicy: "Retain" } },
  ])("may be about $part alone", async ({ part, more }) => {
    await stackOf(template({ A: custom() }));
    expect(await changes(template({ A: custom({}, more) }))).toMatchObject([
      { logicalId: "A", scope: [part], replacement: "False", details: [{ target: { attribute: part } }] },
    ]);
  });

  test("hide what is not to be seen", async () => {
    const body = template(
      { A: custom({ Secret: { Ref: "S" } }) },
      { Parameters: { S: { Type: "String", NoEcho: true } } },
    );
    await stackOf({ ...body, parameters: { S: "old secret" } });
    const found = await changes({ ...body, parameters: { S: "new secret" } }, true);
    expect(JSON.stringify(found)).not.toContain("secret");
    expect(found[0]?.details[0]?.target).toMatchObject({ beforeValue: "*****", afterValue: "*****" });
  });
});

test("what an update has left failed is changed by the next one, and the change set says so", async () => {
  const id = await stackOf(template({ A: custom({ V: "1" }), B: custom({ V: "1" }) }));
  answers["Update A"] = failure("no");
  const two = template({ A: custom({ V: "2" }), B: custom({ V: "1" }) });
  await world.engine.updateStack({ stackName: "my-stack", ...two, disableRollback: true });
  expect((await world.settle(id)).status).toBe("UPDATE_FAILED");
  const again = await changes(two);
  expect(again.map(({ action, logicalId, details }) => [action, logicalId, details[0]?.target.name])).toEqual(
    [["Modify", "A", "V"]],
  );
  delete answers["Update A"];
  await world.engine.changeSets.execute({ stack: "my-stack", changeSet: "changes" });
  expect((await world.settle(id)).status).toBe("UPDATE_COMPLETE");
});
