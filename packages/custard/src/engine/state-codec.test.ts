import fc from "fast-check";
import { expect, test } from "vitest";
import { reveal, Sensitive, type Value, type ValueMap } from "../template/value.ts";
import type { LogicalId, StackId } from "./ids.ts";
import type { StackRecord } from "./record.ts";
import type { Declared } from "./resource.ts";
import { decodeRecord, encodeRecord } from "./state-codec.ts";

const identity = {
  stackId: "arn:aws:cloudformation:us-east-1:123456789012:stack/my-stack/1" as StackId,
  stackName: "my-stack",
  account: "123456789012",
  region: "us-east-1",
  partition: "aws",
};

/** Values as providers answer them: any keys, any depth, some of them secret. */
const values = fc.letrec<{ value: Value; map: ValueMap }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    tie("value").map((value) => new Sensitive(value)),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("map"),
  ),
  map: fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom("!", "!map", "!!", "!set", "!definition", "__proto__")),
    tie("value"),
    {
      maxKeys: 4,
    },
  ),
}));

function recordOf(properties: ValueMap): StackRecord {
  const declared: Declared = {
    type: "Custom::Thing",
    properties,
    deletionPolicy: "Delete",
    updateReplacePolicy: "Delete",
    dependsOn: [],
  };
  const current = { status: "CREATE_FAILED", declared, requested: false, reason: "" } as const;
  return { kind: "resource", logicalId: "A" as LogicalId, current, at: 1 };
}

/** What the record holds, secrets in clear and marked. */
function marked(value: Value): unknown {
  if (value instanceof Sensitive) return { secret: marked(value.reveal()) };
  if (Array.isArray(value)) return value.map((item: Value) => marked(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value).map(([key, item]) => [key, marked(item)]);
}

test("a record comes back as it was, secrets and odd keys with it", () => {
  fc.assert(
    fc.property(values.map, (properties) => {
      const stored: unknown = JSON.parse(JSON.stringify(encodeRecord(recordOf(properties))));
      const back = decodeRecord(stored as Parameters<typeof decodeRecord>[0], identity);
      const current = back.kind === "resource" ? back.current : undefined;
      const found = current?.status === "CREATE_FAILED" ? current.declared.properties : {};
      expect(marked(found)).toEqual(marked(properties));
      expect(reveal(found)).toEqual(reveal(properties));
    }),
  );
});

test.each([
  { name: "another format", json: { format: 2, record: {} }, complaint: "unknown format" },
  { name: "no record", json: { format: 1 }, complaint: "without record" },
  { name: "no object", json: "oops", complaint: "without format" },
  { name: "an unknown mark", json: { format: 1, record: { "!new": 1 } }, complaint: "unknown mark !new" },
])("$name is a broken journal, and said to be one", ({ json, complaint }) => {
  expect(() => decodeRecord(json, identity)).toThrow(complaint);
});
