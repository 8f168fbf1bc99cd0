import { expect, test } from "vitest";
import { custom, parameter, scenario } from "../support/scenario.ts";

const get = (name: string) => ({ "Fn::GetAtt": ["A", name] });

test("Data is looked up by one literal key; nested values are not walked (fact 52)", async () => {
  const s = scenario({ "Create A": { answer: { Data: { "foo.hoge": "dotted", foo: { hoge: "nested" } } } } });
  const stack = await s.create({ Resources: { A: custom() }, Outputs: { O: { Value: get("foo.hoge") } } });
  expect(stack.outputs).toEqual([{ name: "O", value: "dotted" }]);
});

test("a list or map reaches a property as it is (fact 53)", async () => {
  const s = scenario({ "Create A": { answer: { Data: { List: [1, "b"], Map: { k: true } } } } });
  await s.create({ Resources: { A: custom(), B: custom({ List: get("List"), Map: get("Map") }) } });
  expect(s.request("Create", "B").properties).toMatchObject({ List: ["1", "b"], Map: { k: "true" } });
});

test("a missing attribute fails the consumer, not the custom resource (facts 54 to 56)", async () => {
  const s = scenario({ "Create A": { answer: { Data: { a: { b: 1 } } } } });
  await s.create({ Resources: { A: custom(), B: parameter({ Value: get("a.b") }) } });
  const told = (await s.events()).map((line) => line.replaceAll("<RequestId>", "<id>"));
  expect(told).toMatchInlineSnapshot(`
    [
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "A CREATE_IN_PROGRESS",
      "A CREATE_IN_PROGRESS (A-1) Resource creation Initiated",
      "A CREATE_COMPLETE (A-1)",
      "B CREATE_FAILED CustomResource attribute error: Vendor response doesn't contain a.b attribute in object <StackId>|A|<id>",
      "my-stack ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [B]. Rollback requested by user.",
      "B DELETE_COMPLETE",
      "A DELETE_IN_PROGRESS (A-1)",
      "A DELETE_COMPLETE (A-1)",
      "my-stack ROLLBACK_COMPLETE",
    ]
  `);
  expect(s.requests()).toEqual(["Create A {}", "Delete A (A-1) {}"]);
});

test("a missing attribute of an output fails the stack itself, on create and on update (facts 56, 127)", async () => {
  const s = scenario();
  await s.create({ Resources: { A: custom() }, Outputs: { O: { Value: get("Out") } } });
  const create = (await s.events()).find((line) => line.includes("ROLLBACK_IN_PROGRESS"));
  const message =
    "CustomResource attribute error: Vendor response doesn't contain Out attribute in object <StackId>|A|<RequestId>";
  expect(create).toBe(`my-stack ROLLBACK_IN_PROGRESS ${message}. Rollback requested by user.`);

  const other = scenario({ Create: { answer: { Data: { Out: "x" } } } });
  await other.create({ Resources: { A: custom({ V: 1 }) }, Outputs: { O: { Value: get("Out") } } });
  await other.events();
  // Fact 57: an answer without Data takes what was there away.
  await other.update({ Resources: { A: custom({ V: 2 }) }, Outputs: { O: { Value: get("Out") } } });
  const update = (await other.events()).find((line) => line.includes("ROLLBACK_IN_PROGRESS"));
  expect(update).toBe(`my-stack UPDATE_ROLLBACK_IN_PROGRESS ${message}`);
});

test("an Update's answer without Data breaks a consumer that didn't change (fact 57)", async () => {
  const s = scenario({
    "Create A": { answer: { Data: { Id: "1" } } },
    "Update A": [{ answer: {} }, { answer: { Data: { Id: "1" } } }],
  });
  await s.create({ Resources: { A: custom({ V: 1 }), B: custom({ Uses: get("Id") }) } });
  await s.events();
  s.requests();
  await s.update({ Resources: { A: custom({ V: 2 }), B: custom({ Uses: get("Id") }) } });
  expect((await s.events()).find((line) => line.startsWith("B "))).toBe(
    "B UPDATE_FAILED (B-1) CustomResource attribute error: Vendor response doesn't contain Id attribute in object <StackId>|A|<RequestId>",
  );
  expect(s.requests()).toEqual([
    'Update A (A-1) {"V":"2"} was {"V":"1"}',
    'Update A (A-1) {"V":"1"} was {"V":"2"}',
  ]);
});

test("an output of a built-in type's unknown attribute fails with its path (fact 101)", async () => {
  const s = scenario();
  const stack = await s.create({
    Resources: { P: parameter() },
    Outputs: { InvalidOutput: { Value: { "Fn::GetAtt": ["P", "Invalid"] } } },
  });
  expect((await s.events()).find((line) => line.includes("ROLLBACK_IN_PROGRESS"))).toBe(
    "my-stack ROLLBACK_IN_PROGRESS [Error] /Outputs/InvalidOutput/Value/Fn::GetAtt: Resource type AWS::SSM::Parameter does not support attribute {Invalid}. Rollback requested by user.",
  );
  expect(stack.status).toBe("ROLLBACK_COMPLETE");
});

test("without NoEcho, Data shows where resolved properties show (fact 51)", async () => {
  const s = scenario({ "Create A": { answer: { Data: { Secret: "visible" } } } });
  await s.create({ Resources: { A: custom(), B: custom({ Uses: get("Secret") }) } });
  const shown = (await s.rawEvents()).findLast(({ logicalId }) => logicalId === "B");
  expect(shown?.properties).toMatchObject({ Uses: "visible" });
});
