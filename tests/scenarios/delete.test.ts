import { expect, test } from "vitest";
import { bodyFor, custom, failure, scenario } from "../support/scenario.ts";

test("a stack is deleted in reverse order of its dependencies, with what is deployed (facts 6, 98)", async () => {
  const s = scenario();
  await s.create({
    Resources: { A: custom({ V: 1 }), B: custom({ Uses: { Ref: "A" } }), C: custom({}, { DependsOn: "B" }) },
  });
  await s.events();
  s.requests();
  await s.delete();
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack DELETE_IN_PROGRESS User Initiated",
      "C DELETE_IN_PROGRESS (C-1)",
      "C DELETE_COMPLETE (C-1)",
      "B DELETE_IN_PROGRESS (B-1)",
      "B DELETE_COMPLETE (B-1)",
      "A DELETE_IN_PROGRESS (A-1)",
      "A DELETE_COMPLETE (A-1)",
      "my-stack DELETE_COMPLETE",
    ]
  `);
  expect(s.requests()).toMatchInlineSnapshot(`
    [
      "Delete C (C-1) {}",
      "Delete B (B-1) {"Uses":"A-1"}",
      "Delete A (A-1) {"V":"1"}",
    ]
  `);
});

test("a deleted stack is found by its ARN alone, and its name is free (facts 109, 110)", async () => {
  const s = scenario();
  const template = { Resources: { A: custom() } };
  await s.create(template);
  await expect(s.world.create({ templateBody: JSON.stringify(template) })).rejects.toThrow(
    "Stack [my-stack] already exists",
  );
  const stack = await s.delete();
  expect(stack).toMatchObject({ status: "DELETE_COMPLETE", deletedAt: s.world.clock.now() });
  expect(stack.resources.map(({ logicalId, status }) => `${logicalId} ${status}`)).toEqual([
    "A DELETE_COMPLETE",
  ]);
  await expect(s.world.engine.stack("my-stack")).rejects.toThrow("Stack with id my-stack does not exist");
  await expect(s.update(template)).rejects.toThrow("Stack with id my-stack does not exist");
  await expect(
    s.world.engine.updateStack({ stackName: s.stackId, templateBody: JSON.stringify(template) }),
  ).rejects.toThrow(`Stack:${s.stackId} is in DELETE_COMPLETE state and can not be updated.`);
  const again = await s.world.create({ templateBody: JSON.stringify(template) });
  expect(again).not.toBe(stack.stackId);
});

test("deleting what is being deleted, or is deleted, does nothing more", async () => {
  const s = scenario({ Delete: "silence" });
  await s.create({ Resources: { A: custom() } });
  await s.world.engine.deleteStack({ stack: s.stackId });
  await s.world.quiet();
  s.requests();
  await s.events();
  await s.world.engine.deleteStack({ stack: s.stackId });
  await s.world.quiet();
  expect([await s.events(), s.requests()]).toEqual([[], []]);
  const deletion = s.request("Delete");
  await s.world.respond(deletion, bodyFor(deletion));
  await s.settle();
  await s.events();
  await s.world.engine.deleteStack({ stack: s.stackId });
  expect(await s.events()).toEqual([]);
});

test("a Delete that fails stops nothing else, and the stack is DELETE_FAILED (fact 78)", async () => {
  const s = scenario({ "Delete B": failure });
  await s.create({ Resources: { A: custom(), B: custom({ Uses: { Ref: "A" } }), Other: custom() } });
  await s.events();
  const stack = await s.delete();
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack DELETE_IN_PROGRESS User Initiated",
      "Other DELETE_IN_PROGRESS (Other-1)",
      "B DELETE_IN_PROGRESS (B-1)",
      "Other DELETE_COMPLETE (Other-1)",
      "B DELETE_FAILED (B-1) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "A DELETE_IN_PROGRESS (A-1)",
      "A DELETE_COMPLETE (A-1)",
      "my-stack DELETE_FAILED The following resource(s) failed to delete: [B]. ",
    ]
  `);
  expect(stack.reason).toBe("The following resource(s) failed to delete: [B]. ");
});

test("a second DeleteStack asks again for what failed, or retains it (fact 79)", async () => {
  const s = scenario({ "Delete A": failure, "Delete B": [failure, { answer: {} }] });
  await s.create({ Resources: { A: custom(), B: custom() } });
  await s.delete();
  await s.events();
  s.requests();
  await s.delete();
  expect(s.requests()).toEqual(["Delete A (A-1) {}", "Delete B (B-1) {}"]);
  await s.events();
  await s.delete({ retain: ["A"] });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack DELETE_IN_PROGRESS User Initiated",
      "A DELETE_SKIPPED (A-1)",
      "my-stack DELETE_COMPLETE",
    ]
  `);
  expect(s.requests()).toEqual([]);
});

test("the id in a Delete's answer counts for nothing, nor do Data and NoEcho (facts 38, 59)", async () => {
  const s = scenario({
    Delete: { answer: { PhysicalResourceId: "another", Data: ["no object"], NoEcho: "no boolean" } },
  });
  await s.create({ Resources: { A: custom() } });
  await s.events();
  expect((await s.delete()).status).toBe("DELETE_COMPLETE");
  expect(await s.events()).toContain("A DELETE_COMPLETE (A-1)");
});

test("a stack can be deleted during its creation; what is in flight is cancelled (fact 64)", async () => {
  const s = scenario({ "Create B": "silence" });
  await s.begin({ Resources: { A: custom(), B: custom() } });
  const create = s.request("Create", "B");
  await s.events();
  s.requests();
  await s.delete();
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "B CREATE_FAILED (my-stack-B-<random>) Resource creation cancelled",
      "my-stack DELETE_IN_PROGRESS User Initiated",
      "A DELETE_IN_PROGRESS (A-1)",
      "B DELETE_IN_PROGRESS (my-stack-B-<random>)",
      "A DELETE_COMPLETE (A-1)",
      "B DELETE_COMPLETE (my-stack-B-<random>)",
      "my-stack DELETE_COMPLETE",
    ]
  `);
  expect(s.requests()).toEqual(["Delete A (A-1) {}", "Delete B (my-stack-B-<random>) {}"]);
  await s.world.respond(create, bodyFor(create));
  expect((await s.view()).status).toBe("DELETE_COMPLETE");
});
