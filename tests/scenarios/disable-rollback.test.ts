import { expect, test } from "vitest";
import { custom, failure, scenario, token } from "../support/scenario.ts";

const succeed = { answer: {} };

test("without rollback a failed create stays, and no Delete is sent (fact 84)", async () => {
  const s = scenario({ "Create Bad": failure });
  const stack = await s.create(
    {
      Resources: {
        Bad: custom(),
        Needs: custom({ Uses: { Ref: "Bad" } }),
        Other: custom(),
        Later: custom({}, { DependsOn: "Other" }),
      },
    },
    { disableRollback: true },
  );
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "Bad CREATE_IN_PROGRESS",
      "Other CREATE_IN_PROGRESS",
      "Bad CREATE_IN_PROGRESS (Bad-1) Resource creation Initiated",
      "Bad CREATE_FAILED (Bad-1) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "Other CREATE_IN_PROGRESS (Other-1) Resource creation Initiated",
      "Other CREATE_COMPLETE (Other-1)",
      "Later CREATE_IN_PROGRESS",
      "Later CREATE_IN_PROGRESS (Later-1) Resource creation Initiated",
      "Later CREATE_COMPLETE (Later-1)",
      "my-stack CREATE_FAILED The following resource(s) failed to create: [Bad]. ",
    ]
  `);
  expect(s.requests()).toEqual(["Create Bad {}", "Create Other {}", "Create Later {}"]);
  expect(stack.status).toBe("CREATE_FAILED");
});

test("the next update makes what failed anew and deletes its remains (fact 84)", async () => {
  const s = scenario({
    "Create A": [
      { answer: { Status: "FAILED", Reason: "no luck", PhysicalResourceId: "remains" } },
      { answer: { PhysicalResourceId: "A-2" } },
    ],
  });
  await s.create(
    { Resources: { A: custom({ V: 1 }), B: custom({ Uses: { Ref: "A" } }) } },
    { disableRollback: true },
  );
  await s.events();
  s.requests();
  const stack = await s.update({ Resources: { A: custom({ V: 2 }), B: custom({ Uses: { Ref: "A" } }) } });
  expect(stack.status).toBe("UPDATE_COMPLETE");
  expect(s.requests()).toEqual([
    'Create A {"V":"2"}',
    'Create B {"Uses":"A-2"}',
    'Delete A (remains) {"V":"1"}',
  ]);
});

test("a resource that failed before it was asked for leaves nothing to delete (fact 99)", async () => {
  const s = scenario();
  await s.create({ Resources: { A: custom({ ServiceTimeout: 0 }) } }, { disableRollback: true });
  await s.events();
  await s.update({ Resources: { A: custom({ ServiceTimeout: 5 }) } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "A CREATE_IN_PROGRESS",
      "A CREATE_IN_PROGRESS (A-1) Resource creation Initiated",
      "A CREATE_COMPLETE (A-1)",
      "my-stack UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
      "my-stack UPDATE_COMPLETE",
    ]
  `);
});

test("without rollback a failed update stays, and can be tried again (fact 84)", async () => {
  const s = scenario({ "Update A": [failure, succeed] });
  await s.create({ Resources: { A: custom({ V: 1 }), B: custom({ V: 1 }) } });
  await s.events();
  s.requests();
  const failed = await s.update(
    { Resources: { A: custom({ V: 2 }), B: custom({ V: 2 }) } },
    { disableRollback: true },
  );
  expect(failed).toMatchObject({
    status: "UPDATE_FAILED",
    reason: "The following resource(s) failed to update: [A]. ",
  });
  const stack = await s.update({ Resources: { A: custom({ V: 2 }), B: custom({ V: 2 }) } });
  expect(stack.status).toBe("UPDATE_COMPLETE");
  expect(s.requests()).toEqual([
    'Update A (A-1) {"V":"2"} was {"V":"1"}',
    'Update B (B-1) {"V":"2"} was {"V":"1"}',
    'Update A (A-1) {"V":"2"} was {"V":"2"}',
  ]);
});

test("an update that was refused before it was sent leaves the resource as it was (fact 73)", async () => {
  const s = scenario();
  const another = "arn:aws:lambda:us-east-1:123456789012:function:another";
  await s.create({ Resources: { A: custom({ V: 1 }) } });
  const failed = await s.update(
    { Resources: { A: custom({ V: 1, ServiceToken: another }) } },
    { disableRollback: true },
  );
  expect(failed.status).toBe("UPDATE_FAILED");
  s.requests();
  // The old token is still the one in force.
  await s.update({ Resources: { A: custom({ V: 2 }) } });
  expect(s.requests()).toEqual(['Update A (A-1) {"V":"2"} was {"V":"1"}']);
});

test("a refused update doesn't change whom a Delete goes to (facts 6, 73)", async () => {
  const s = scenario();
  const another = "arn:aws:lambda:us-east-1:123456789012:function:another";
  await s.create({ Resources: { A: custom({ V: 1 }) } });
  await s.update({ Resources: { A: custom({ ServiceToken: another }) } }, { disableRollback: true });
  await s.delete();
  expect(s.request("Delete")).toMatchObject({ serviceToken: token, properties: { V: "1" } });
});

test("what an update had sent is undone, also when a later update was refused (facts 70, 84)", async () => {
  const s = scenario({ "Create B": failure });
  const A = (V: number) => custom({ V });
  await s.create({ Resources: { A: A(1) } });
  await s.update({ Resources: { A: A(2), B: custom() } }, { disableRollback: true });
  s.requests();
  await s.update({ Resources: { A: custom({ V: 3, ServiceTimeout: 0 }), B: custom() } });
  expect(s.requests()).toEqual(['Update A (A-1) {"V":"1"} was {"V":"2"}', "Delete B (B-1) {}"]);
});
