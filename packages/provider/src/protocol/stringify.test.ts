import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "./json.ts";
import { stringifyScalars } from "./stringify.ts";

test.each([
  { fact: "10", given: true, sent: "true" },
  { fact: "10", given: 3, sent: "3" },
  { fact: "10", given: 1800.5, sent: "1800.5" },
  { fact: "10", given: { a: [false, { b: 0 }] }, sent: { a: ["false", { b: "0" }] } },
  { fact: "11", given: "", sent: "" },
  { fact: "11", given: [], sent: [] },
  { fact: "11", given: {}, sent: {} },
  { fact: "12", given: { a: null }, sent: { a: null } },
])("fact $fact: $given", ({ given, sent }) => {
  expect(stringifyScalars(given)).toEqual(sent);
});

test("a property called __proto__ stays a property", () => {
  const given: Json = JSON.parse('{"__proto__":{"a":1},"constructor":2}');
  expect(JSON.stringify(stringifyScalars(given))).toBe('{"__proto__":{"a":"1"},"constructor":"2"}');
});

test("stringifying twice is stringifying once", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const once = stringifyScalars(JSON.parse(JSON.stringify(value)));
      expect(stringifyScalars(once)).toEqual(once);
      expect(withoutStrings(once)).not.toMatch(/true|false|\d/u);
    }),
  );
});

/** The JSON text with the contents of its strings taken out. */
function withoutStrings(json: Json): string {
  return JSON.stringify(json).replaceAll(/"(?:[^"\\]|\\.)*"/gu, '""');
}
