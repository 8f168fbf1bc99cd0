import { expect, test } from "vitest";
import { custom, failure, scenario } from "../support/scenario.ts";

test.each([
  { policy: "Retain", requests: [] },
  { policy: "RetainExceptOnCreate", requests: [] },
  { policy: "Delete", requests: ["Delete A (A-1) {}"] },
  // A type without snapshots is deleted.
  { policy: "Snapshot", requests: ["Delete A (A-1) {}"] },
])(
  "DeletionPolicy $policy when the stack is deleted, and when the resource is removed (facts 82, 83)",
  async ({ policy, requests }) => {
    const s = scenario();
    const resource = custom({}, { DeletionPolicy: policy });
    await s.create({ Resources: { A: resource } });
    s.requests();
    await s.events();
    await s.delete();
    const status = requests.length === 0 ? "DELETE_SKIPPED" : "DELETE_COMPLETE";
    expect(await s.events()).toContain(`A ${status} (A-1)`);
    expect(s.requests()).toEqual(requests);

    const other = scenario();
    await other.create({ Resources: { A: resource, B: custom() } });
    other.requests();
    await other.update({ Resources: { B: custom() } });
    expect(await other.events()).toContain(`A ${status} (A-1)`);
    expect(other.requests()).toEqual(requests);
  },
);

test.each([
  { policy: "Retain", status: "DELETE_SKIPPED" },
  { policy: "RetainExceptOnCreate", status: "DELETE_COMPLETE" },
])("DeletionPolicy $policy when the creation is rolled back (fact 83)", async ({ policy, status }) => {
  const s = scenario({ "Create B": failure });
  await s.create({
    Resources: { A: custom({}, { DeletionPolicy: policy }), B: custom({}, { DependsOn: "A" }) },
  });
  expect(await s.events()).toContain(`A ${status} (A-1)`);
});

test("the policy in force is that of the newest template, also when nothing else changed (fact 22)", async () => {
  const s = scenario();
  await s.create({ Resources: { A: custom() } });
  await s.update({ Resources: { A: custom({}, { DeletionPolicy: "Retain" }) } });
  s.requests();
  await s.delete();
  expect(s.requests()).toEqual([]);
});
