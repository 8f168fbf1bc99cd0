import { expect, test } from "vitest";
import { bodyFor, custom, failure, scenario } from "../support/scenario.ts";

test("a create in flight is cancelled at once, and deleted by an id that its provider never gave (facts 64, 65, 90)", async () => {
  const s = scenario({ "Create Slow": "silence", "Create Bad": failure });
  await s.begin({ Resources: { Slow: custom(), Bad: custom() } });
  const stack = await s.settle();
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "Slow CREATE_IN_PROGRESS",
      "Bad CREATE_IN_PROGRESS",
      "Bad CREATE_IN_PROGRESS (Bad-1) Resource creation Initiated",
      "Bad CREATE_FAILED (Bad-1) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "Slow CREATE_FAILED (my-stack-Slow-<random>) Resource creation cancelled",
      "my-stack ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [Bad, Slow]. Rollback requested by user.",
      "Slow DELETE_IN_PROGRESS (my-stack-Slow-<random>)",
      "Bad DELETE_IN_PROGRESS (Bad-1)",
      "Slow DELETE_COMPLETE (my-stack-Slow-<random>)",
      "Bad DELETE_COMPLETE (Bad-1)",
      "my-stack ROLLBACK_COMPLETE",
    ]
  `);
  expect(s.requests()).toMatchInlineSnapshot(`
    [
      "Create Slow {}",
      "Create Bad {}",
      "Delete Slow (my-stack-Slow-<random>) {}",
      "Delete Bad (Bad-1) {}",
    ]
  `);
  expect(stack.status).toBe("ROLLBACK_COMPLETE");
});

test("the late answer of a cancelled create changes nothing (facts 64, 65)", async () => {
  const s = scenario({ "Create Slow": "silence", "Create Bad": failure, "Delete Slow": "silence" });
  await s.begin({ Resources: { Slow: custom(), Bad: custom() } });
  const create = s.request("Create", "Slow");
  const deletion = s.request("Delete", "Slow");
  await s.events();
  await s.world.respond(create, bodyFor(create));
  expect(await s.events()).toEqual([]);
  await s.world.respond(deletion, bodyFor(deletion));
  await s.settle();
  expect(await s.events()).toEqual([
    "Slow DELETE_COMPLETE (my-stack-Slow-<random>)",
    "my-stack ROLLBACK_COMPLETE",
  ]);
});

test("an update in flight is cancelled, and undone by another Update (facts 66, 70, 91)", async () => {
  const s = scenario({ "Update Slow": ["silence", { answer: {} }], "Update Bad": [failure, { answer: {} }] });
  await s.create({ Resources: { Slow: custom({ V: 1 }), Bad: custom({ V: 1 }) } });
  await s.events();
  s.requests();
  await s.update({ Resources: { Slow: custom({ V: 2 }), Bad: custom({ V: 2 }) } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "Slow UPDATE_IN_PROGRESS (Slow-1)",
      "Bad UPDATE_IN_PROGRESS (Bad-1)",
      "Bad UPDATE_FAILED (Bad-1) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "Slow UPDATE_FAILED (Slow-1) Resource update cancelled",
      "my-stack UPDATE_ROLLBACK_IN_PROGRESS The following resource(s) failed to update: [Bad, Slow].",
      "Slow UPDATE_IN_PROGRESS (Slow-1)",
      "Bad UPDATE_IN_PROGRESS (Bad-1)",
      "Slow UPDATE_COMPLETE (Slow-1)",
      "Bad UPDATE_COMPLETE (Bad-1)",
      "my-stack UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
      "my-stack UPDATE_ROLLBACK_COMPLETE",
    ]
  `);
  expect(s.requests()).toMatchInlineSnapshot(`
    [
      "Update Slow (Slow-1) {"V":"2"} was {"V":"1"}",
      "Update Bad (Bad-1) {"V":"2"} was {"V":"1"}",
      "Update Slow (Slow-1) {"V":"1"} was {"V":"2"}",
      "Update Bad (Bad-1) {"V":"1"} was {"V":"2"}",
    ]
  `);
});

test("what was never asked for is neither deleted nor undone (fact 99)", async () => {
  const s = scenario();
  // Both start in one decision: nothing has left yet when the second one is refused.
  await s.create({ Resources: { First: custom(), Wrong: custom({ ServiceTimeout: 0 }) } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "First CREATE_IN_PROGRESS",
      "Wrong CREATE_IN_PROGRESS",
      "Wrong CREATE_FAILED Property validation failure: [ServiceTimeout must be an integer from 1 to 3600 (seconds), but is 0]",
      "First CREATE_FAILED Resource creation cancelled",
      "my-stack ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [Wrong, First]. Rollback requested by user.",
      "First DELETE_COMPLETE",
      "Wrong DELETE_COMPLETE",
      "my-stack ROLLBACK_COMPLETE",
    ]
  `);
  expect(s.requests()).toEqual([]);
});
