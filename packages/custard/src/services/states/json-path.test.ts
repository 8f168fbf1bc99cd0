import type { Json } from "@custard/provider/protocol";
import { expect, test } from "vitest";
import { callIntrinsic } from "./intrinsic-functions.ts";
import { findPath, selectPath, withPath } from "./json-path.ts";

const data: Json = { a: { b: [1, 2, { c: 3 }] }, "x y": 4, list: [{ n: 1 }, { n: 2 }], empty: null };

test.each<{ path: string; value: Json }>([
  { path: "$", value: data },
  { path: "$.a.b[0]", value: 1 },
  { path: "$.a.b[-1].c", value: 3 },
  { path: "$['x y']", value: 4 },
  { path: '$["a"]["b"][1]', value: 2 },
  { path: "$.list[*].n", value: [1, 2] },
  { path: "$.a.b[0:2]", value: [1, 2] },
  { path: "$.a.b[1:]", value: [2, { c: 3 }] },
  { path: "$..n", value: [1, 2] },
  { path: "$.a.*", value: [[1, 2, { c: 3 }]] },
  { path: "$.list[*].none", value: [] },
  { path: "$.empty", value: null },
])("$path is $value", ({ path, value }) => expect(selectPath(data, path)).toEqual(value));

test.each(["$.none", "$.a.b[9]", "$.a.b.c", "a.b", "$.list[?(@.n > 1)]", "$.a."])("%s fails", (path) =>
  expect(() => selectPath(data, path)).toThrow(/^States\.Runtime: /),
);

test("a path that leads nowhere can be asked about", () => {
  expect(findPath(data, "$.none")).toBeUndefined();
  expect(findPath(data, "$.constructor")).toBeUndefined();
});

test.each<{ path: string; before: Json; after: Json }>([
  { path: "$", before: 1, after: "new" },
  { path: "$.a", before: { b: 1 }, after: { b: 1, a: "new" } },
  { path: "$.a.b", before: { a: { c: 1 } }, after: { a: { c: 1, b: "new" } } },
  { path: "$.a.b", before: {}, after: { a: { b: "new" } } },
  { path: "$.a[1]", before: { a: [1, 2] }, after: { a: [1, "new"] } },
  { path: "$.__proto__", before: {}, after: JSON.parse('{"__proto__":"new"}') as Json },
])("putting at $path of $before", ({ path, before, after }) => {
  const copy = structuredClone(before);
  expect(withPath(before, path, "new")).toEqual(after);
  expect(before).toEqual(copy);
});

test.each<{ expression: string; value: Json }>([
  { expression: "States.Format('Hello, {}!', $.name)", value: "Hello, you!" },
  { expression: String.raw`States.Format('it\'s \{{}\}', 5)`, value: "it's {5}" },
  { expression: "States.Format('{} {}', true, $.list)", value: "true [1,2,2]" },
  { expression: "States.StringToJson('{\"a\":1}')", value: { a: 1 } },
  { expression: "States.JsonToString($.list)", value: "[1,2,2]" },
  { expression: "States.Array(1, 'a', null)", value: [1, "a", null] },
  { expression: "States.Array()", value: [] },
  { expression: "States.ArrayPartition($.list, 2)", value: [[1, 2], [2]] },
  { expression: "States.ArrayContains($.list, 2)", value: true },
  { expression: "States.ArrayRange(1, 9, 4)", value: [1, 5, 9] },
  { expression: "States.ArrayGetItem($.list, 1)", value: 2 },
  { expression: "States.ArrayLength($.list)", value: 3 },
  { expression: "States.ArrayUnique($.list)", value: [1, 2] },
  { expression: "States.Base64Encode('ab')", value: "YWI=" },
  { expression: "States.Base64Decode('YWI=')", value: "ab" },
  {
    expression: "States.Hash('a', 'SHA-256')",
    value: "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
  },
  { expression: "States.JsonMerge($.one, $.two, false)", value: { a: 2, b: 3 } },
  { expression: "States.MathAdd(1, -3)", value: -2 },
  { expression: "States.MathRandom(4, 5)", value: 4 },
  { expression: "States.StringSplit('a.b-c', '.-')", value: ["a", "b", "c"] },
  { expression: "States.ArrayLength(States.StringSplit('a,b', ','))", value: 2 },
  { expression: "States.UUID()", value: expect.stringMatching(/^[0-9a-f-]{36}$/) as string },
])("$expression is $value", ({ expression, value }) => {
  const input: Json = { name: "you", list: [1, 2, 2], one: { a: 1 }, two: { a: 2, b: 3 } };
  expect(callIntrinsic(expression, (path) => selectPath(input, path))).toEqual(value);
});

test.each([
  "States.Nothing()",
  "States.Format('{}')",
  "States.Format('', 1)",
  "States.MathAdd('1', 2)",
  "States.ArrayRange(1, 5000, 1)",
  "States.ArrayRange(1, 5, 0)",
  "States.ArrayPartition('a', 1)",
  "States.StringToJson('{')",
  "States.Array(1",
  "States.Array(1) x",
  "States.constructor()",
])("%s fails", (expression) =>
  expect(() => callIntrinsic(expression, () => null)).toThrow(/^States\.IntrinsicFailure: /),
);
