import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeValue, encodeValue } from "./value-codec.ts";
import { equalValues, isSensitive, isValueMap, mask, reveal, Sensitive, show, type Value } from "./value.ts";

const keys = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "!", "!!", "!a", "toString"));

const { value: values } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc
      .array(fc.tuple(keys, tie("value")), { maxLength: 4 })
      .map((entries): Value => Object.fromEntries(entries)),
    tie("value").map((value) => new Sensitive(value)),
  ),
}));

const secretText = "hunter2";

/** Values in which every text is the secret, all of it under the mark. */
const secrets = values.map((value) => new Sensitive(replaceTexts(value)));

function replaceTexts(value: Value): Value {
  if (value instanceof Sensitive) return new Sensitive(replaceTexts(value.reveal()));
  if (Array.isArray(value)) return [...value.map((item: Value) => replaceTexts(item)), secretText];
  return isValueMap(value)
    ? {
        ...Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaceTexts(item)])),
        pw: secretText,
      }
    : secretText;
}

test("a value and its code are inverse, with the marks and every key", () => {
  fc.assert(
    fc.property(values, (value) => {
      const decoded = decodeValue(JSON.parse(JSON.stringify(encodeValue(value))));
      expect(JSON.stringify(encodeValue(decoded))).toBe(JSON.stringify(encodeValue(value)));
      expect(equalValues(decoded, value)).toBe(true);
      expect(isSensitive(decoded)).toBe(isSensitive(value));
    }),
  );
});

test("a secret shows nowhere", () => {
  fc.assert(
    fc.property(secrets, (secret) => {
      const shown = [
        JSON.stringify(secret),
        JSON.stringify({ a: [secret] }),
        String(secret),
        `${inspect(secret, { depth: 9 })}`,
        JSON.stringify(show(secret)),
        inspect({ secret }),
      ];
      for (const text of shown) expect(text).not.toContain(secretText);
      expect(JSON.stringify(reveal(secret))).toContain(secretText);
    }),
  );
});

test("equality looks at true values, not at marks or the order of keys", () => {
  fc.assert(
    fc.property(values, (value) => {
      expect(equalValues(value, value)).toBe(true);
      expect(equalValues(new Sensitive(value), value)).toBe(true);
      expect(equalValues([value], value)).toBe(false);
    }),
  );
  expect(equalValues({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true);
  expect(equalValues({ a: 1 }, { a: 1, b: 2 })).toBe(false);
  expect(equalValues({ a: 1, b: 2 }, { a: 1 })).toBe(false);
  expect(equalValues("1", 1)).toBe(false);
  expect(equalValues([1, 2], [2, 1])).toBe(false);
});

describe("keys of hostile input", () => {
  const hostile = decodeValue(JSON.parse('{"__proto__": {"polluted": 1}, "constructor": "c"}'));

  test("are kept, and change nothing else", () => {
    expect(JSON.stringify(encodeValue(hostile))).toBe('{"__proto__":{"polluted":1},"constructor":"c"}');
    expect(JSON.stringify(show(hostile))).toBe('{"__proto__":{"polluted":1},"constructor":"c"}');
    expect(JSON.stringify(reveal(new Sensitive(hostile)))).toBe(
      '{"__proto__":{"polluted":1},"constructor":"c"}',
    );
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("make maps differ", () => {
    expect(equalValues(hostile, { constructor: "c" })).toBe(false);
    expect(
      equalValues(decodeValue(JSON.parse('{"__proto__": 1}')), decodeValue(JSON.parse('{"toString": 1}'))),
    ).toBe(false);
  });
});

test("the mask is what AWS shows", () => {
  expect(mask).toBe("*****");
  expect(show({ a: new Sensitive("x"), b: ["y", new Sensitive({ c: 1 })] })).toEqual({
    a: "*****",
    b: ["y", "*****"],
  });
});
