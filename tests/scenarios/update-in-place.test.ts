import { expect, test } from "vitest";
import { custom, scenario } from "../support/scenario.ts";

test("an update in place sends new and old properties to the same id (facts 5, 67, 68, 86, 88)", async () => {
  const s = scenario({ Update: { answer: { Data: { Out: "new" } } } });
  await s.create({ Resources: { A: custom({ V: 1 }), B: custom() } });
  await s.events();
  s.requests();
  const stack = await s.update({
    Resources: { A: custom({ V: 2 }), B: custom() },
    Outputs: { O: { Value: { "Fn::GetAtt": "A.Out" } } },
  });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "A UPDATE_IN_PROGRESS (A-1)",
      "A UPDATE_COMPLETE (A-1)",
      "my-stack UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
      "my-stack UPDATE_COMPLETE",
    ]
  `);
  expect(s.requests()).toEqual(['Update A (A-1) {"V":"2"} was {"V":"1"}']);
  expect(s.request().requestType === "Update" && s.request()).toMatchObject({
    oldProperties: { ServiceToken: s.request().serviceToken, V: "1" },
  });
  expect(stack.outputs).toEqual([{ name: "O", value: "new" }]);
});

test("nothing to update is refused (facts 21, 113)", async () => {
  const s = scenario();
  const template = { Resources: { A: custom({ Flag: true }) } };
  await s.create(template);
  await expect(s.update(template)).rejects.toThrow("No updates are to be performed.");
  // To a provider "true" and true are the same (fact 10).
  await expect(s.update({ Resources: { A: custom({ Flag: "true" }) } })).rejects.toThrow(
    "No updates are to be performed.",
  );
  expect(s.requests()).toEqual(['Create A {"Flag":"true"}']);
});

test.each([
  { name: "DependsOn", more: { DependsOn: "B" } },
  { name: "DeletionPolicy", more: { DeletionPolicy: "Retain" } },
  { name: "UpdateReplacePolicy", more: { UpdateReplacePolicy: "Retain" } },
  { name: "Metadata", more: { Metadata: { Note: "new" } } },
  { name: "Condition", more: { Condition: "Yes" } },
])("a change of $name alone sends no request (fact 22)", async ({ more }) => {
  const s = scenario();
  const Conditions = { Yes: { "Fn::Equals": ["a", "a"] } };
  await s.create({ Conditions, Resources: { A: custom({ V: 1 }), B: custom({ V: 1 }) } });
  s.requests();
  // B changes as well, so that there is something to update.
  const stack = await s.update({ Conditions, Resources: { A: custom({ V: 1 }, more), B: custom({ V: 2 }) } });
  expect(stack.status).toBe("UPDATE_COMPLETE");
  expect(s.requests()).toEqual(['Update B (B-1) {"V":"2"} was {"V":"1"}']);
});

test("ServiceTimeout changes without interruption, and is sent (fact 47)", async () => {
  const s = scenario();
  await s.create({ Resources: { A: custom({ ServiceTimeout: 60 }) } });
  s.requests();
  const stack = await s.update({ Resources: { A: custom({ ServiceTimeout: 90 }) } });
  expect(stack.status).toBe("UPDATE_COMPLETE");
  expect(s.requests()).toEqual(['Update A (A-1) {"ServiceTimeout":"90"} was {"ServiceTimeout":"60"}']);
});

test("what refers to a replaced resource is updated too (fact 58)", async () => {
  const s = scenario({ "Update A": { answer: { PhysicalResourceId: "A-2" } } });
  await s.create({ Resources: { A: custom({ V: 1 }), B: custom({ Uses: { Ref: "A" } }) } });
  s.requests();
  await s.update({ Resources: { A: custom({ V: 2 }), B: custom({ Uses: { Ref: "A" } }) } });
  expect(s.requests()).toEqual([
    'Update A (A-1) {"V":"2"} was {"V":"1"}',
    'Update B (B-1) {"Uses":"A-2"} was {"Uses":"A-1"}',
    'Delete A (A-1) {"V":"1"}',
  ]);
});

test("nothing else can be done with a stack meanwhile (facts 49, 114)", async () => {
  const s = scenario({ Update: "silence" });
  await s.create({ Resources: { A: custom({ V: 1 }) } });
  await s.beginUpdate({ Resources: { A: custom({ V: 2 }) } });
  await expect(s.update({ Resources: { A: custom({ V: 3 }) } })).rejects.toThrow(
    `Stack:${s.stackId} is in UPDATE_IN_PROGRESS state and can not be updated.`,
  );
});
