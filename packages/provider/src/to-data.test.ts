import { expect, test } from "vitest";
import { toData } from "./to-data.ts";

test("nothing and null are left out, dates become texts, structure stays", () => {
  const attributes = { A: "x", B: undefined, C: null, D: new Date(0), E: { f: [1, null, true] } };
  expect(toData(attributes)).toEqual({ A: "x", D: "1970-01-01T00:00:00.000Z", E: { f: [1, true] } });
  expect(toData(undefined)).toEqual({});
});

const cycle: Record<string, unknown> = {};
cycle["self"] = { again: cycle };

test.each([
  { attributes: { A: { b: [1n] } }, complaint: "The attribute A.b.0 can't be sent: it is a bigint" },
  { attributes: { A: () => 1 }, complaint: "The attribute A can't be sent: it is a function" },
  { attributes: { A: NaN }, complaint: "The attribute A can't be sent: it is NaN" },
  { attributes: cycle, complaint: "The attribute self.again can't be sent: it is a cycle" },
  { attributes: ["x"], complaint: "The attributes must be an object" },
])("$complaint", ({ attributes, complaint }) => {
  expect(() => toData(attributes)).toThrow(complaint);
});

test("one value in two places is no cycle", () => {
  const shared = { x: "1" };
  expect(toData({ A: shared, B: shared })).toEqual({ A: { x: "1" }, B: { x: "1" } });
});
