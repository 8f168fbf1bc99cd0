import type { Json, JsonObject } from "./protocol/json.ts";

/**
 * Attributes as JSON. What has no place in an answer is left out (`undefined`, `null`); what can't be JSON at all
 * (a cycle, a function, a BigInt, NaN) is refused with its path.
 */
export function toData(attributes: unknown): JsonObject {
  const data = toJson(attributes ?? {}, "", []);
  if (typeof data === "object" && data !== null && !Array.isArray(data)) return data as JsonObject;
  throw new TypeError("The attributes must be an object");
}

function toJson(value: unknown, path: string, above: readonly unknown[]): Json | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "undefined":
      return undefined;
    case "number":
      return Number.isFinite(value) ? value : refuse(path, String(value));
    case "bigint":
    case "function":
    case "symbol":
      return refuse(path, `a ${typeof value}`);
    case "object":
      return value === null ? undefined : membersToJson(value, path, above);
  }
}

function membersToJson(value: object, path: string, above: readonly unknown[]): Json | undefined {
  if (above.includes(value)) return refuse(path, "a cycle");
  if ("toJSON" in value && typeof value.toJSON === "function")
    return toJson(value.toJSON(), path, [...above, value]);
  const inside = [...above, value];
  const member = ([key, item]: [string, unknown]) => [key, toJson(item, `${path}.${key}`, inside)] as const;
  const entries = Object.entries(value)
    .map(member)
    .filter(([, item]) => item !== undefined);
  return Array.isArray(value)
    ? entries.map(([, item]) => item ?? "")
    : (Object.fromEntries(entries) as JsonObject);
}

function refuse(path: string, what: string): never {
  throw new TypeError(`The attribute ${path.slice(1)} can't be sent: it is ${what}`);
}
