import type { Json } from "@custard/provider/protocol";
import { describe, expect, test } from "vitest";
import { letsThrough, type MessageAttribute, parseFilterPolicy } from "./filter-policy.ts";

const attributes: Record<string, MessageAttribute> = {
  store: { type: "String", value: "example_corp" },
  price: { type: "Number", value: "210.75" },
  interests: { type: "String.Array", value: '["soccer","rugby"]' },
  source: { type: "String", value: "10.0.3.4" },
};

const rows: readonly { policy: Json; passes: boolean }[] = [
  { policy: {}, passes: true },
  { policy: { store: ["example_corp"] }, passes: true },
  { policy: { store: ["other"] }, passes: false },
  { policy: { store: ["other", "example_corp"], price: [210.75] }, passes: true },
  { policy: { store: ["example_corp"], absent: ["x"] }, passes: false },
  { policy: { absent: [{ exists: false }] }, passes: true },
  { policy: { store: [{ exists: false }] }, passes: false },
  { policy: { store: [{ exists: true }] }, passes: true },
  { policy: { store: [{ prefix: "example" }] }, passes: true },
  { policy: { store: [{ suffix: "corp" }] }, passes: true },
  { policy: { store: [{ prefix: { "equals-ignore-case": "EXAMPLE" } }] }, passes: true },
  { policy: { store: [{ "equals-ignore-case": "Example_Corp" }] }, passes: true },
  { policy: { store: [{ wildcard: "ex*_c*p" }] }, passes: true },
  { policy: { store: [{ wildcard: "ex*_d*p" }] }, passes: false },
  { policy: { store: [{ "anything-but": ["example_corp"] }] }, passes: false },
  { policy: { store: [{ "anything-but": { prefix: "other" } }] }, passes: true },
  { policy: { absent: [{ "anything-but": ["x"] }] }, passes: false },
  { policy: { price: [{ numeric: [">", 200, "<=", 210.75] }] }, passes: true },
  { policy: { price: [{ numeric: ["<", 200] }] }, passes: false },
  { policy: { store: [{ numeric: ["=", 1] }] }, passes: false },
  { policy: { interests: ["rugby"] }, passes: true },
  { policy: { interests: ["hockey"] }, passes: false },
  { policy: { source: [{ cidr: "10.0.0.0/16" }] }, passes: true },
  { policy: { source: [{ cidr: "10.1.0.0/16" }] }, passes: false },
  { policy: { $or: [{ store: ["other"] }, { price: [{ numeric: [">=", 100] }] }] }, passes: true },
  { policy: { $or: [{ store: ["other"] }, { absent: ["x"] }] }, passes: false },
];

test.each(rows)("by attributes: $policy lets through: $passes", ({ policy, passes }) => {
  expect(letsThrough(parseFilterPolicy(JSON.stringify(policy)), { message: "", attributes })).toBe(passes);
});

const bodies: readonly { policy: Json; body: Json; passes: boolean }[] = [
  { policy: { RequestType: ["Create"] }, body: { RequestType: "Create" }, passes: true },
  { policy: { RequestType: ["Create"] }, body: { RequestType: "Delete" }, passes: false },
  { policy: { a: { b: [{ prefix: "x" }] } }, body: { a: { b: "xy" } }, passes: true },
  { policy: { a: { b: ["x"] } }, body: { a: [{ b: "y" }, { b: "x" }] }, passes: true },
  { policy: { a: { b: ["x"] } }, body: { a: "text" }, passes: false },
  { policy: { a: [null] }, body: { a: null }, passes: true },
];

test.each(bodies)("by body: $policy, $body: $passes", ({ policy, body, passes }) => {
  const parsed = parseFilterPolicy(JSON.stringify(policy), "MessageBody");
  expect(letsThrough(parsed, { message: JSON.stringify(body), attributes: {} })).toBe(passes);
});

test("a body that is no JSON passes no policy", () => {
  const policy = parseFilterPolicy('{"a":["b"]}', "MessageBody");
  expect(letsThrough(policy, { message: "hello", attributes })).toBe(false);
});

describe("a policy is refused", () => {
  test.each([
    { text: "{", says: "failed to parse JSON" },
    { text: "[]", says: "not an object" },
    { text: '{"a":"b"}', says: '"a" must be an object or an array' },
    { text: '{"a":{"b":["c"]}}', says: "does not support nested" },
    { text: '{"a":[{"frob":"b"}]}', says: "Unrecognized match type frob" },
    { text: '{"a":[{"numeric":["~",1]}]}', says: "numeric" },
    { text: '{"a":[{"prefix":"b","suffix":"c"}]}', says: "Only one key" },
    { text: '{"a":[["b"]]}', says: "Match value" },
    { text: JSON.stringify({ a: Array(13).fill("x"), b: Array(13).fill("y") }), says: "too complex" },
  ])("$text", ({ text, says }) => {
    expect(() => parseFilterPolicy(text)).toThrow(says);
  });

  test("with a scope that is none", () => {
    expect(() => parseFilterPolicy("{}", "Header")).toThrow("FilterPolicyScope: Invalid value [Header]");
  });
});
