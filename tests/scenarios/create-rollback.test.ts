import { expect, test } from "vitest";
import { custom, failure, scenario } from "../support/scenario.ts";

test("a failed create is rolled back with the id of the FAILED answer (facts 41, 62, 89, 127)", async () => {
  const s = scenario({
    "Create B": { answer: { Status: "FAILED", Reason: "no luck", PhysicalResourceId: "half-made" } },
  });
  const stack = await s.create({ Resources: { A: custom(), B: custom({ Uses: { Ref: "A" } }) } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "A CREATE_IN_PROGRESS",
      "A CREATE_IN_PROGRESS (A-1) Resource creation Initiated",
      "A CREATE_COMPLETE (A-1)",
      "B CREATE_IN_PROGRESS",
      "B CREATE_IN_PROGRESS (half-made) Resource creation Initiated",
      "B CREATE_FAILED (half-made) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "my-stack ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [B]. Rollback requested by user.",
      "B DELETE_IN_PROGRESS (half-made)",
      "B DELETE_COMPLETE (half-made)",
      "A DELETE_IN_PROGRESS (A-1)",
      "A DELETE_COMPLETE (A-1)",
      "my-stack ROLLBACK_COMPLETE",
    ]
  `);
  expect(s.requests()).toMatchInlineSnapshot(`
    [
      "Create A {}",
      "Create B {"Uses":"A-1"}",
      "Delete B (half-made) {"Uses":"A-1"}",
      "Delete A (A-1) {}",
    ]
  `);
  expect(stack.outputs).toEqual([]);
});

test("a rollback that can't delete fails (facts 78, 80)", async () => {
  const s = scenario({ "Create A": failure, "Delete A": failure });
  const stack = await s.create({ Resources: { A: custom() } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "A CREATE_IN_PROGRESS",
      "A CREATE_IN_PROGRESS (A-1) Resource creation Initiated",
      "A CREATE_FAILED (A-1) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "my-stack ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [A]. Rollback requested by user.",
      "A DELETE_IN_PROGRESS (A-1)",
      "A DELETE_FAILED (A-1) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "my-stack ROLLBACK_FAILED The following resource(s) failed to delete: [A]. ",
    ]
  `);
  expect(stack.status).toBe("ROLLBACK_FAILED");
});

test("OnFailure DELETE deletes the stack (fact 89)", async () => {
  const s = scenario({ Create: failure });
  const stack = await s.create({ Resources: { A: custom() } }, { onFailure: "DELETE" });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "A CREATE_IN_PROGRESS",
      "A CREATE_IN_PROGRESS (A-1) Resource creation Initiated",
      "A CREATE_FAILED (A-1) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "my-stack DELETE_IN_PROGRESS The following resource(s) failed to create: [A]. Delete requested by user.",
      "A DELETE_IN_PROGRESS (A-1)",
      "A DELETE_COMPLETE (A-1)",
      "my-stack DELETE_COMPLETE",
    ]
  `);
  expect(stack.status).toBe("DELETE_COMPLETE");
});

test("a stack whose creation was rolled back can only be deleted (facts 114, 128)", async () => {
  const s = scenario({ Create: failure });
  await s.create({ Resources: { A: custom() } });
  await expect(s.update({ Resources: { A: custom({ Size: 2 }) } })).rejects.toThrow(
    `Stack:${s.stackId} is in ROLLBACK_COMPLETE state and can not be updated.`,
  );
  await s.events();
  expect((await s.delete()).status).toBe("DELETE_COMPLETE");
  expect(await s.events()).toEqual([
    "my-stack DELETE_IN_PROGRESS User Initiated",
    "my-stack DELETE_COMPLETE",
  ]);
});

test("a resource whose turn never came is not in the rolled back stack (fact 99)", async () => {
  const s = scenario({ "Create A": failure });
  const stack = await s.create({ Resources: { A: custom(), B: custom({ Uses: { Ref: "A" } }) } });
  expect(stack.resources.map(({ logicalId, status }) => `${logicalId} ${status}`)).toEqual([
    "A DELETE_COMPLETE",
  ]);
});
