import { expect, test } from "vitest";
import { custom, scenario } from "../support/scenario.ts";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test("event ids have CloudFormation's forms, and clean-up deletes show no properties (facts 93, 94)", async () => {
  const s = scenario();
  await s.create({ Resources: { A: custom({ Count: 3 }), B: custom() } });
  await s.update({ Resources: { A: custom({ Count: 4 }) } });
  const events = await s.rawEvents();
  const started = events.find(({ logicalId }) => logicalId === "A");
  expect(started?.eventId).toBe("A-CREATE_IN_PROGRESS-2026-01-01T00:00:00.000Z");
  expect(started?.properties).toEqual({ ServiceToken: started?.properties?.["ServiceToken"], Count: 3 });
  for (const event of events.filter(({ logicalId }) => logicalId === "my-stack"))
    expect(event.eventId).toMatch(uuid);
  const deleted = events.filter(({ logicalId, status }) => logicalId === "B" && status.startsWith("DELETE"));
  expect(deleted).toHaveLength(2);
  for (const { eventId, properties } of deleted) {
    expect(eventId.startsWith("B-")).toBe(true);
    expect(eventId.slice(2)).toMatch(uuid);
    expect(properties).toBeUndefined();
  }
});

test("events carry the call's token (fact 95)", async () => {
  const s = scenario();
  await s.create({ Resources: { A: custom() } }, { clientRequestToken: "once" });
  const events = await s.rawEvents();
  expect(new Set(events.map(({ clientRequestToken }) => clientRequestToken))).toEqual(new Set(["once"]));
});

test("a stack in ROLLBACK_COMPLETE has a time of deletion (fact 96)", async () => {
  const s = scenario({ Create: { answer: { Status: "FAILED" } } });
  expect(await s.create({ Resources: { A: custom() } })).toMatchObject({
    status: "ROLLBACK_COMPLETE",
    deletedAt: s.world.clock.now(),
  });
});

test("watching gives every event once, until the stack has settled", async () => {
  const s = scenario();
  await s.create({ Resources: { A: custom(), B: custom({}, { DependsOn: "A" }) } });
  const seen = [];
  for await (const event of s.world.engine.watch(s.stackId, { after: 0 })) seen.push(event);
  expect(seen).toEqual(await s.rawEvents());
});
