/** Stack policies, in force on updates. */
import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject } from "@custard/provider/protocol";
import { askPolicy, parsePolicy } from "../../packages/custard/src/engine/stack-policy.ts";
import type { LogicalId } from "../../packages/custard/src/engine/ids.ts";
import type { World } from "../../packages/custard/src/testing/world.ts";
import {
  custom,
  failure,
  lines,
  newest,
  plain,
  requestLines,
  template,
  worldOf,
} from "../support/op-world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const anyone = { Principal: "*" };
const allowAll = { Effect: "Allow", Action: "Update:*", Resource: "*", ...anyone };
const policyOf = (...statements: JsonObject[]) => JSON.stringify({ Statement: statements });
const denial = (action: string, resource: string) => ({
  Effect: "Deny",
  Action: action,
  Resource: resource,
  ...anyone,
});

const first = template({ A: custom({ V: "1" }), P: plain({ Name: "one", Value: "1" }) });

test.each([
  {
    what: "modifying a custom resource",
    policy: policyOf(denial("Update:Modify", "LogicalResourceId/A"), allowAll),
    next: template({ A: custom({ V: "2" }), P: plain({ Name: "one", Value: "1" }) }),
    line: "A UPDATE_FAILED Action denied by stack policy: Statement [#1] does not allow [Update:Modify] for resource [LogicalResourceId/A]",
    failed: "A",
  },
  {
    what: "replacing a resource",
    policy: policyOf(allowAll, denial("Update:Replace", "LogicalResourceId/*")),
    next: template({ A: custom({ V: "1" }), P: plain({ Name: "two", Value: "1" }) }),
    line: "P UPDATE_FAILED Action denied by stack policy: Statement [#2] does not allow [Update:Replace] for resource [LogicalResourceId/P]",
    failed: "P",
  },
  {
    what: "removing a resource",
    policy: policyOf(allowAll, denial("Update:Delete", "*")),
    next: template({ A: custom({ V: "1" }) }),
    line: "P UPDATE_FAILED Action denied by stack policy: Statement [#2] does not allow [Update:Delete] for resource [LogicalResourceId/P]",
    failed: "P",
  },
  {
    what: "what no statement allows",
    policy: policyOf({ ...allowAll, Resource: "LogicalResourceId/P" }),
    next: template({ A: custom({ V: "2" }), P: plain({ Name: "one", Value: "1" }) }),
    line: "A UPDATE_FAILED Action not allowed by stack policy: No statement allows [Update:Modify] for resource [LogicalResourceId/A]",
    failed: "A",
  },
])("refuses $what: the update rolls back, and nobody is asked", async ({ policy, next, line, failed }) => {
  world = worldOf({});
  const id = await world.create({ ...first, stackPolicy: policy });
  await world.settle(id);
  const [seen, sent] = [await newest(world, id), world.requests.length];
  await world.engine.updateStack({ stackName: "my-stack", ...next });
  expect((await world.settle(id)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
  expect((await lines(world, id, seen)).slice(0, 3)).toEqual([
    "my-stack UPDATE_IN_PROGRESS User Initiated",
    line,
    `my-stack UPDATE_ROLLBACK_IN_PROGRESS The following resource(s) failed to update: [${failed}].`,
  ]);
  expect(requestLines(world, sent)).toEqual([]);
});

test("refuses a removal again when the failed update is tried again", async () => {
  world = worldOf({});
  const id = await world.create({
    ...first,
    stackPolicy: policyOf(denial("Update:Delete", "LogicalResourceId/A"), allowAll),
  });
  await world.settle(id);
  const next = template({ P: plain({ Name: "one", Value: "2" }) });
  await world.engine.updateStack({ stackName: "my-stack", ...next, onFailure: "DO_NOTHING" });
  expect((await world.settle(id)).status).toBe("UPDATE_FAILED");
  const [seen, sent] = [await newest(world, id), world.requests.length];
  await world.engine.updateStack({ stackName: "my-stack", ...next, onFailure: "DO_NOTHING" });
  expect((await world.settle(id)).status).toBe("UPDATE_FAILED");
  expect(await lines(world, id, seen)).toContain(
    "A UPDATE_FAILED Action denied by stack policy: Statement [#1] does not allow [Update:Delete] for resource [LogicalResourceId/A]",
  );
  expect(requestLines(world, sent)).toEqual([]);
  await world.engine.updateStack({
    stackName: "my-stack",
    ...next,
    stackPolicyDuringUpdate: policyOf(allowAll),
  });
  expect((await world.settle(id)).status).toBe("UPDATE_COMPLETE");
  expect(requestLines(world, sent)).toEqual([expect.stringMatching(/^Delete A /)]);
});

test("refuses to remove what a failed update has changed, and its own words for that stay with the resource", async () => {
  world = worldOf({ "Update A": failure("no luck") });
  const id = await world.create({
    ...first,
    stackPolicy: policyOf(denial("Update:Delete", "LogicalResourceId/A"), allowAll),
  });
  await world.settle(id);
  const changed = template({ A: custom({ V: "2" }), P: plain({ Name: "one", Value: "1" }) });
  await world.engine.updateStack({ stackName: "my-stack", ...changed, onFailure: "DO_NOTHING" });
  expect((await world.settle(id)).status).toBe("UPDATE_FAILED");
  const next = template({ P: plain({ Name: "one", Value: "1" }) });
  const sent = world.requests.length;
  await world.engine.updateStack({ stackName: "my-stack", ...next, onFailure: "DO_NOTHING" });
  expect((await world.settle(id)).status).toBe("UPDATE_FAILED");
  expect(requestLines(world, sent)).toEqual([]);
  // Going back still starts from what its provider was sent.
  await world.engine.rollbackStack({ stack: id });
  await world.settle(id);
  expect(world.requests.at(-1)).toMatchObject({
    requestType: "Update",
    logicalId: "A",
    oldProperties: { V: "2" },
    properties: { V: "1" },
  });
});

test("a policy for one update takes the place of the stack's own, once", async () => {
  world = worldOf({});
  const id = await world.create(first);
  await world.settle(id);
  await world.engine.setStackPolicy(id, policyOf(denial("Update:*", "*")));
  const second = template({ A: custom({ V: "2" }), P: plain({ Name: "one", Value: "1" }) });
  await world.engine.updateStack({
    stackName: "my-stack",
    ...second,
    stackPolicyDuringUpdate: policyOf(allowAll),
  });
  expect((await world.settle(id)).status).toBe("UPDATE_COMPLETE");
  await world.engine.updateStack({ stackName: "my-stack", ...first });
  expect((await world.settle(id)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
  expect(await world.engine.stackPolicy(id)).toBe(policyOf(denial("Update:*", "*")));
});

test("an update may bring the policy that it is measured by", async () => {
  world = worldOf({});
  const id = await world.create({ ...first, stackPolicy: policyOf(denial("Update:*", "*")) });
  await world.settle(id);
  const second = template({ A: custom({ V: "2" }), P: plain({ Name: "one", Value: "1" }) });
  await world.engine.updateStack({ stackName: "my-stack", ...second, stackPolicy: policyOf(allowAll) });
  expect((await world.settle(id)).status).toBe("UPDATE_COMPLETE");
});

describe("what is no policy is refused (fact 110b)", () => {
  test.each([
    { body: "no JSON" },
    { body: "[]" },
    { body: "{}" },
    { body: policyOf({ Effect: "Allow", Action: "Update:*", Resource: "*" }) },
    { body: policyOf({ ...allowAll, Principal: "me" }) },
    { body: policyOf({ ...allowAll, Action: "Update:Everything" }) },
    { body: policyOf({ ...allowAll, Effect: "Maybe" }) },
    { body: policyOf({ ...allowAll, Condition: { NumericEquals: { ResourceType: "1" } } }) },
  ])("$body", async ({ body }) => {
    world = worldOf({});
    const id = await world.create(first);
    await world.settle(id);
    await expect(world.engine.setStackPolicy(id, body)).rejects.toThrow(
      "Error validating stack policy: Invalid stack policy",
    );
  });
});

describe("a statement", () => {
  const question = {
    action: "Update:Modify",
    logicalId: "Db" as LogicalId,
    type: "AWS::RDS::DBInstance",
  } as const;
  test.each([
    { statement: { ...allowAll, Resource: "LogicalResourceId/D*" }, answer: "allowed" },
    { statement: { ...allowAll, Resource: "LogicalResourceId/X*" }, answer: {} },
    {
      statement: { Effect: "Allow", NotAction: "Update:Delete", Resource: "*", ...anyone },
      answer: "allowed",
    },
    {
      statement: { Effect: "Allow", Action: "Update:*", NotResource: "LogicalResourceId/Db", ...anyone },
      answer: {},
    },
    {
      statement: { ...allowAll, Condition: { StringEquals: { ResourceType: ["AWS::RDS::DBInstance"] } } },
      answer: "allowed",
    },
    { statement: { ...allowAll, Condition: { StringLike: { ResourceType: ["AWS::EC2::*"] } } }, answer: {} },
    { statement: denial("Update:*", "*"), answer: { statement: 1 } },
  ])("$statement", ({ statement, answer }) => {
    expect(askPolicy(parsePolicy(policyOf(statement)) ?? [], question)).toEqual(answer);
  });
});
