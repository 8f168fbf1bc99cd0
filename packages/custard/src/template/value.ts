/**
 * Values as a template evaluates to them and as providers answer them.
 *
 * Invariants
 * V1: a sensitive value shows as `*****` however it is printed (JSON, text, inspection); `reveal` alone unwraps it.
 * V2: what is computed from a sensitive value is sensitive.
 * V3: values are immutable, and equal when their structure is equal.
 */
import type { Json, JsonObject } from "@custard/provider/protocol";

/** A resolved value. A number is kept as a number only when its text is canonical; else it is a string. */
export type Value = string | number | boolean | null | Sensitive | readonly Value[] | ValueMap;

/** A map of values by key. */
export interface ValueMap {
  readonly [key: string]: Value;
}

/** What is shown in place of a sensitive value. Source: the `NoEcho` row of the response reference. */
export const mask = "*****";

/** A value that whoever looks must not see: a NoEcho parameter, an attribute answered with NoEcho, a secret. */
export class Sensitive {
  readonly #value: Value;

  constructor(value: Value) {
    this.#value = value;
  }

  /** The value itself. Call it only where the value is used, never where it is shown. */
  reveal(): Value {
    return this.#value;
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return mask;
  }
}

/** Is this value a map (no scalar, list or sensitive value)? */
export function isValueMap(value: Value): value is ValueMap {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Sensitive)
  );
}

/** Is this value a list? */
export function isValueList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** The plain JSON of a value, secrets in clear: for those who use it. */
export function reveal(value: Value): Json {
  return transform(value, (secret) => reveal(secret.reveal()));
}

/** The plain JSON of a value, sensitive parts as `*****`: for those who look at it. */
export function show(value: Value): Json {
  return transform(value, () => mask);
}

/** `reveal` of a map. */
export function revealMap(map: ValueMap): JsonObject {
  return mapEntries(map, reveal);
}

/** `show` of a map. */
export function showMap(map: ValueMap): JsonObject {
  return mapEntries(map, show);
}

/** Is there a sensitive value in it, at any depth? */
export function isSensitive(value: Value): boolean {
  if (value instanceof Sensitive) return true;
  if (isValueList(value)) return value.some(isSensitive);
  return isValueMap(value) && Object.values(value).some(isSensitive);
}

/** Structural equality of the true values; the order of keys and the sensitive mark don't count. */
export function equalValues(a: Value, b: Value): boolean {
  const left = a instanceof Sensitive ? a.reveal() : a;
  const right = b instanceof Sensitive ? b.reveal() : b;
  if (left instanceof Sensitive || right instanceof Sensitive) return equalValues(left, right);
  if (isValueList(left)) {
    return (
      isValueList(right) &&
      left.length === right.length &&
      left.every((item, index) => equalItem(item, right[index]))
    );
  }
  if (!isValueMap(left)) return left === right;
  if (!isValueMap(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && equalItem(left[key], right[key]))
  );
}

function equalItem(a: Value | undefined, b: Value | undefined): boolean {
  return a !== undefined && b !== undefined && equalValues(a, b);
}

function transform(value: Value, secret: (value: Sensitive) => Json): Json {
  if (value instanceof Sensitive) return secret(value);
  if (isValueList(value)) return value.map((item) => transform(item, secret));
  if (isValueMap(value)) return mapEntries(value, (item) => transform(item, secret));
  return value;
}

function mapEntries(map: ValueMap, change: (value: Value) => Json): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
}
