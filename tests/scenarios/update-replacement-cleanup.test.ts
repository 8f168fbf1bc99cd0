import { expect, test } from "vitest";
import { custom, failure, parameter, scenario } from "../support/scenario.ts";

const newId = { answer: { PhysicalResourceId: "A-2" } };

test("another id in an Update's answer is a replacement: the old one goes in the clean-up (facts 6, 67, 87)", async () => {
  const s = scenario({ "Update A": newId });
  await s.create({ Resources: { A: custom({ V: 1 }) }, Outputs: { Id: { Value: { Ref: "A" } } } });
  await s.events();
  s.requests();
  const stack = await s.update({
    Resources: { A: custom({ V: 2 }) },
    Outputs: { Id: { Value: { Ref: "A" } } },
  });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "A UPDATE_IN_PROGRESS (A-1)",
      "A UPDATE_IN_PROGRESS (A-1) Requested update requires the creation of a new physical resource; hence creating one.",
      "A UPDATE_IN_PROGRESS (A-2) Resource creation Initiated",
      "A UPDATE_COMPLETE (A-2)",
      "my-stack UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
      "A DELETE_IN_PROGRESS (A-1)",
      "A DELETE_COMPLETE (A-1)",
      "my-stack UPDATE_COMPLETE",
    ]
  `);
  expect(s.requests()).toMatchInlineSnapshot(`
    [
      "Update A (A-1) {"V":"2"} was {"V":"1"}",
      "Delete A (A-1) {"V":"1"}",
    ]
  `);
  expect(stack.outputs).toEqual([{ name: "Id", value: "A-2" }]);
});

test("a built-in type's replacement makes the new one first (fact 87)", async () => {
  const s = scenario();
  await s.create({ Resources: { P: parameter({ Name: "one" }) } });
  await s.events();
  await s.update({ Resources: { P: parameter({ Name: "two" }) } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "P UPDATE_IN_PROGRESS (my-stack-P-<random>) Requested update requires the creation of a new physical resource; hence creating one.",
      "P UPDATE_IN_PROGRESS (my-stack-P-<random>) Resource creation Initiated",
      "P UPDATE_COMPLETE (my-stack-P-<random>)",
      "my-stack UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
      "P DELETE_IN_PROGRESS (my-stack-P-<random>)",
      "P DELETE_COMPLETE (my-stack-P-<random>)",
      "my-stack UPDATE_COMPLETE",
    ]
  `);
});

test("UpdateReplacePolicy Retain keeps the old one (fact 82)", async () => {
  const s = scenario({ "Update A": newId });
  const keep = { UpdateReplacePolicy: "Retain" };
  await s.create({ Resources: { A: custom({ V: 1 }, keep) } });
  await s.events();
  s.requests();
  await s.update({ Resources: { A: custom({ V: 2 }, keep) } });
  expect((await s.events()).slice(-3)).toEqual([
    "my-stack UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
    "A DELETE_SKIPPED (A-1)",
    "my-stack UPDATE_COMPLETE",
  ]);
  expect(s.requests()).toEqual(['Update A (A-1) {"V":"2"} was {"V":"1"}']);
});

test.each([
  { before: "Delete", after: "Retain", end: "A DELETE_SKIPPED (A-1)" },
  { before: "Retain", after: "Delete", end: "A DELETE_COMPLETE (A-1)" },
])("UpdateReplacePolicy is that of the update: $before, then $after", async ({ before, after, end }) => {
  const s = scenario({ "Update A": newId });
  await s.create({ Resources: { A: custom({ V: 1 }, { UpdateReplacePolicy: before }) } });
  await s.update({ Resources: { A: custom({ V: 2 }, { UpdateReplacePolicy: after }) } });
  expect(await s.events()).toContain(end);
});

test("a removed resource is deleted after everything else, what depends on another first (facts 75, 98)", async () => {
  const s = scenario();
  await s.create({
    Resources: {
      Stays: custom({ V: 1 }),
      A: custom(),
      B: custom({ Uses: { Ref: "A" } }),
      C: custom({}, { DependsOn: "B" }),
    },
  });
  await s.events();
  s.requests();
  const stack = await s.update({ Resources: { Stays: custom({ V: 2 }) } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "Stays UPDATE_IN_PROGRESS (Stays-1)",
      "Stays UPDATE_COMPLETE (Stays-1)",
      "my-stack UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
      "C DELETE_IN_PROGRESS (C-1)",
      "C DELETE_COMPLETE (C-1)",
      "B DELETE_IN_PROGRESS (B-1)",
      "B DELETE_COMPLETE (B-1)",
      "A DELETE_IN_PROGRESS (A-1)",
      "A DELETE_COMPLETE (A-1)",
      "my-stack UPDATE_COMPLETE",
    ]
  `);
  expect(s.requests()).toMatchInlineSnapshot(`
    [
      "Update Stays (Stays-1) {"V":"2"} was {"V":"1"}",
      "Delete C (C-1) {}",
      "Delete B (B-1) {"Uses":"A-1"}",
      "Delete A (A-1) {}",
    ]
  `);
  expect(stack.resources.map(({ logicalId }) => logicalId)).toEqual(["Stays"]);
});

test("a clean-up Delete is tried three times with fresh requests, then dropped (facts 76, 77)", async () => {
  const s = scenario({ "Delete Old": failure });
  await s.create({ Resources: { Old: custom(), A: custom({ V: 1 }) } });
  await s.events();
  s.requests();
  const stack = await s.update({ Resources: { A: custom({ V: 2 }) } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "A UPDATE_IN_PROGRESS (A-1)",
      "A UPDATE_COMPLETE (A-1)",
      "my-stack UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
      "Old DELETE_IN_PROGRESS (Old-1)",
      "Old DELETE_FAILED (Old-1) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "Old DELETE_IN_PROGRESS (Old-1)",
      "Old DELETE_FAILED (Old-1) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "Old DELETE_IN_PROGRESS (Old-1)",
      "Old DELETE_FAILED (Old-1) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "my-stack UPDATE_COMPLETE Update successful. One or more resources could not be deleted.",
    ]
  `);
  const tries = s.world.requests.filter(({ requestType }) => requestType === "Delete");
  expect(new Set(tries.map(({ requestId }) => requestId)).size).toBe(3);
  expect(stack.status).toBe("UPDATE_COMPLETE");
  expect(stack.resources.map(({ logicalId }) => logicalId)).toEqual(["A"]);
  // It is forgotten: the stack's deletion doesn't ask for it again.
  s.requests();
  await s.delete();
  expect(s.requests()).toEqual(['Delete A (A-1) {"V":"2"}']);
});

test("a clean-up Delete that succeeds at the second try is deleted (fact 76)", async () => {
  const s = scenario({ "Delete Old": [failure, { answer: {} }] });
  await s.create({ Resources: { Old: custom(), A: custom({ V: 1 }) } });
  await s.events();
  await s.update({ Resources: { A: custom({ V: 2 }) } });
  expect((await s.events()).slice(-3)).toEqual([
    "Old DELETE_IN_PROGRESS (Old-1)",
    "Old DELETE_COMPLETE (Old-1)",
    "my-stack UPDATE_COMPLETE",
  ]);
});

test("a default id from the log stream replaces at every update (fact 60)", async () => {
  let stream = 0;
  const s = scenario({
    Create: () => ({ answer: { PhysicalResourceId: `2026/01/01/[$LATEST]${(stream += 1)}` } }),
    Update: () => ({ answer: { PhysicalResourceId: `2026/01/01/[$LATEST]${(stream += 1)}` } }),
  });
  await s.create({ Resources: { A: custom({ V: 1 }) } });
  s.requests();
  await s.update({ Resources: { A: custom({ V: 2 }) } });
  expect(s.requests()).toEqual([
    'Update A (2026/01/01/[$LATEST]1) {"V":"2"} was {"V":"1"}',
    'Delete A (2026/01/01/[$LATEST]1) {"V":"1"}',
  ]);
});

test("a condition that is switched off removes its resource, switched on it creates one (fact 75)", async () => {
  const s = scenario();
  const template = {
    Parameters: { On: { Type: "String" } },
    Conditions: { IsOn: { "Fn::Equals": [{ Ref: "On" }, "yes"] } },
    Resources: { A: custom({}, { Condition: "IsOn" }), B: custom() },
  };
  await s.create(template, { parameters: { On: "yes" } });
  s.requests();
  await s.update(template, { parameters: { On: "no" } });
  expect(s.requests()).toEqual(["Delete A (A-1) {}"]);
  await s.update(template, { parameters: { On: "yes" } });
  expect(s.requests()).toEqual(["Create A {}"]);
});
