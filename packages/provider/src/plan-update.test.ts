import { describe, expect, test } from "vitest";
import { fingerprint, planUpdate, type UpdateFacts } from "./plan-update.ts";

const facts: UpdateFacts = {
  properties: { Name: "a", Size: "2" },
  oldProperties: { Name: "a", Size: "1" },
  physicalId: "topic-1",
  replaceOn: ["Name"],
  freshId: "Topic-aaaaaaaaaaaa",
  canUpdate: true,
  replaced: undefined,
  untouched: undefined,
};

describe("an Update is", () => {
  const renamed = { Name: "b", Size: "1" };
  test.each<{ name: string; change: Partial<UpdateFacts>; plan: ReturnType<typeof planUpdate> }>([
    { name: "in place", change: {}, plan: { kind: "in-place" } },
    { name: "a replacement", change: { properties: renamed }, plan: { kind: "replace" } },
    {
      name: "a replacement, where a type has no update",
      change: { canUpdate: false },
      plan: { kind: "replace" },
    },
    { name: "no change", change: { properties: facts.oldProperties }, plan: { kind: "unchanged" } },
    {
      name: "no change, whatever the service token and the order",
      change: { properties: { ServiceToken: "x", ServiceTimeout: "9", Size: "1", Name: "a" } },
      plan: { kind: "unchanged" },
    },
    {
      name: "no change, when what it undoes was refused",
      change: { untouched: fingerprint(facts.oldProperties) },
      plan: { kind: "unchanged" },
    },
    {
      name: "the way back of a replacement",
      change: { properties: renamed, replaced: { id: "topic-0", properties: fingerprint(renamed) } },
      plan: { kind: "back", id: "topic-0" },
    },
    {
      name: "another replacement, when it doesn't lead back",
      change: { properties: renamed, replaced: { id: "topic-0", properties: fingerprint({ Name: "z" }) } },
      plan: { kind: "replace" },
    },
    {
      name: "in place, when the generated id says that the new values are its own",
      change: { properties: renamed, physicalId: facts.freshId },
      plan: { kind: "in-place" },
    },
    {
      name: "a replacement, when a property of its identity is left out",
      change: { properties: { Size: "1" } },
      plan: { kind: "replace" },
    },
  ])("$name", ({ change, plan }) => {
    expect(planUpdate({ ...facts, ...change })).toEqual(plan);
  });
});
