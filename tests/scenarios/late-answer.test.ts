import { expect, test } from "vitest";
import { bodyFor, custom, scenario } from "../support/scenario.ts";

test("an answer after the deadline changes nothing (fact 63, question 3)", async () => {
  const s = scenario({ Create: "silence", Delete: "silence" });
  await s.begin({ Resources: { A: custom({ ServiceTimeout: 10 }) } });
  const create = s.request("Create");
  s.world.clock.advance(10_000);
  await s.world.quiet();
  await s.events();
  await s.world.respond(create, bodyFor(create));
  expect(await s.events()).toEqual([]);
  expect((await s.view()).status).toBe("ROLLBACK_IN_PROGRESS");
});

test("a second answer changes nothing, whatever it says (question 3)", async () => {
  const s = scenario({ Create: { answer: { Data: { Out: "first" } } } });
  await s.create({ Resources: { A: custom() }, Outputs: { O: { Value: { "Fn::GetAtt": "A.Out" } } } });
  const before = await s.view();
  await s.events();
  await s.world.respond(
    s.request(),
    bodyFor(s.request(), { Data: { Out: "second" }, PhysicalResourceId: "another" }),
  );
  await s.world.respond(s.request(), bodyFor(s.request(), { Status: "FAILED", Reason: "after all" }));
  expect(await s.events()).toEqual([]);
  expect(await s.view()).toEqual(before);
});

test("an answer to a deleted stack, or to one that never was, is taken and forgotten (question 3)", async () => {
  const s = scenario();
  await s.create({ Resources: { A: custom() } });
  const create = s.request();
  await s.delete();
  await s.events();
  await s.world.respond(create, bodyFor(create));
  await s.world.respond(
    { ...create, stackId: "arn:aws:cloudformation:us-east-1:123456789012:stack/none/1" },
    bodyFor(create),
  );
  expect(await s.events()).toEqual([]);
});

test("a function that fails after it has answered is asked again by Lambda, and what it says then is too late (fact 19)", async () => {
  const s = scenario();
  await s.create({ Resources: { A: custom() } });
  await s.events();
  await s.world.respond(s.request(), bodyFor(s.request(), { PhysicalResourceId: "made-twice" }));
  expect((await s.view()).resources[0]?.physicalId).toBe("A-1");
});
