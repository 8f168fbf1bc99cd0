import { simulate } from "custard/testing";
import { afterEach, expect, test } from "vitest";
import { Note } from "../src/note.ts";

const sim = simulate(Note, { properties: { Title: "Milk", Text: "buy some milk", Copies: 2 } });

afterEach(async () => {
  if (sim.id !== undefined) await sim.delete();
});

test("a life: created, updated, replaced, deleted", async () => {
  await sim.create();
  expect(sim.status).toBe("CREATE_COMPLETE");
  expect(sim.attributes).toEqual({ Url: `https://notes.example.com/${sim.id}`, Words: 6 });

  await sim.update({ Copies: 3 });
  expect(sim).toMatchObject({ status: "UPDATE_COMPLETE", replaced: false });
  expect(sim.attributes.Words).toBe(9);

  await sim.update({ Title: "Bread" });
  expect(sim.replaced).toBe(true);
  expect(sim.orphans).toEqual([]);
});

test("a failure leaves nothing behind", async () => {
  sim.failNext("create", new Error("no room"));
  await sim.create();
  expect(sim).toMatchObject({ status: "ROLLBACK_COMPLETE", orphans: [] });
  expect(sim.reason).toContain("no room");
});

test.each([1, 2, 3])("faults on the way, seed %i", async (seed) => {
  await sim.chaos({ seed, faults: ["duplicate", "put-500", "reset", "killed"], updates: [{ Text: "more" }] });
  expect(sim.orphans).toEqual([]);
});
