import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { coerce } from "./coerce.ts";
import type { Schema } from "./standard-schema.ts";

interface Wanted {
  Name: string;
  Size: number;
  On: boolean;
  List: number[];
  Nested: { Deep: boolean };
}

const schemas: readonly { library: string; schema: Schema<Wanted> }[] = [
  {
    library: "zod",
    schema: z.object({
      Name: z.string(),
      Size: z.number(),
      On: z.boolean(),
      List: z.array(z.number()),
      Nested: z.object({ Deep: z.boolean() }),
    }),
  },
  {
    library: "valibot",
    schema: v.object({
      Name: v.string(),
      Size: v.number(),
      On: v.boolean(),
      List: v.array(v.number()),
      Nested: v.object({ Deep: v.boolean() }),
    }),
  },
  {
    library: "arktype",
    schema: type({
      Name: "string",
      Size: "number",
      On: "boolean",
      List: "number[]",
      Nested: { Deep: "boolean" },
    }),
  },
];

describe.each(schemas)("$library", ({ schema }) => {
  test("strings become what the schema wants; what it takes as it is stays", async () => {
    const properties = {
      Name: "007",
      Size: "-1.5e3",
      On: "false",
      List: ["1", "2"],
      Nested: { Deep: "true" },
    };
    expect(await coerce(schema, properties)).toEqual({
      ok: true,
      value: { Name: "007", Size: -1500, On: false, List: [1, 2], Nested: { Deep: true } },
    });
    expect(properties.Size).toBe("-1.5e3");
  });

  test("a list that came as JSON text", async () => {
    const properties = { Name: "a", Size: "1", On: "true", List: "[1, 2]", Nested: '{"Deep":"false"}' };
    expect(await coerce(schema, properties)).toMatchObject({
      ok: true,
      value: { List: [1, 2], Nested: { Deep: false } },
    });
  });

  test("a complaint names the place", async () => {
    const result = await coerce(schema, { Name: "a", Size: "many", On: "yes", List: [], Nested: {} });
    expect(result).toMatchObject({ ok: false });
    for (const place of ["Size", "On", "Nested.Deep"]) expect(JSON.stringify(result)).toContain(place);
  });
});

test.each(["007", "0x10", "1_000", " 1", "1.", ".5", "Infinity", "9007199254740993", ""])(
  "%j is no number",
  async (text) => {
    expect(await coerce(z.object({ N: z.number() }), { N: text })).toMatchObject({ ok: false });
  },
);

test("nothing can reach a prototype", async () => {
  const properties = JSON.parse('{"__proto__":{"Polluted":"true"},"constructor":"1"}');
  const schema: Schema<unknown> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: () => ({
        issues: [
          { message: "no", path: ["__proto__", "Polluted"] },
          { message: "no", path: ["__proto__"] },
        ],
      }),
    },
  };
  await coerce(schema, properties);
  expect(Object.hasOwn(Object.prototype, "Polluted")).toBe(false);
});

test("a union of which no branch reports a place ends", async () => {
  const schema = z.union([z.object({ A: z.number() }), z.object({ B: z.boolean() })]);
  expect(await coerce(schema, { C: "1" })).toMatchObject({ ok: false });
});
