import { expect, test } from "vitest";
import { custom, scenario, token } from "../support/scenario.ts";

test("a changed ServiceToken fails the update before any provider is asked (fact 73)", async () => {
  const s = scenario();
  await s.create({ Resources: { A: custom({ V: 1 }) } });
  await s.events();
  s.requests();
  const stack = await s.update({ Resources: { A: custom({ V: 1, ServiceToken: `${token}-2` }) } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "A UPDATE_FAILED (A-1) Modifying service token is not allowed.",
      "my-stack UPDATE_ROLLBACK_IN_PROGRESS The following resource(s) failed to update: [A].",
      "A UPDATE_COMPLETE (A-1)",
      "my-stack UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
      "my-stack UPDATE_ROLLBACK_COMPLETE",
    ]
  `);
  expect(s.requests()).toEqual([]);
  expect(stack.resources[0]?.properties).toMatchObject({ ServiceToken: token });
});

test("a changed type is refused (facts 9, 74)", async () => {
  const s = scenario();
  await s.create({ Resources: { A: custom(), B: custom() } });
  await s.events();
  await expect(
    s.update({ Resources: { A: { ...custom(), Type: "Custom::Another" }, B: custom() } }),
  ).rejects.toThrow(
    "Update of resource type is not permitted. The new template modifies resource type of the following resources: [A]",
  );
  expect(await s.events()).toEqual([]);
});

test.each([`Custom::${"a".repeat(60)}`, "Custom::With_at@and-dash"])(
  "the type name %s is taken (fact 9)",
  async (type) => {
    const s = scenario();
    const stack = await s.create({ Resources: { A: { ...custom(), Type: type } } });
    expect(stack.status).toBe("CREATE_COMPLETE");
    expect(s.request().resourceType).toBe(type);
  },
);

test.each([`Custom::${"a".repeat(61)}`, "Custom::With.dot"])(
  "the type name %s is refused (fact 9)",
  async (type) => {
    const s = scenario();
    await expect(s.create({ Resources: { A: { ...custom(), Type: type } } })).rejects.toThrow(type);
  },
);

test("a template without ServiceToken is refused before anything starts", async () => {
  const s = scenario();
  await expect(s.create({ Resources: { A: { Type: "Custom::Thing", Properties: {} } } })).rejects.toThrow(
    "ServiceToken",
  );
});
