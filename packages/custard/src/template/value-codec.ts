import type { Json } from "@custard/provider/protocol";
import { isValueList, isValueMap, Sensitive, type Value, type ValueMap } from "./value.ts";

/**
 * Values as JSON that keeps the sensitive mark, for journals only: the text holds secrets in clear.
 * A sensitive value is `{"!": value}`; a map's key that starts with `!` gets one `!` more.
 */
export function encodeValue(value: Value): Json {
  if (value instanceof Sensitive) return { "!": encodeValue(value.reveal()) };
  if (isValueList(value)) return value.map(encodeValue);
  if (isValueMap(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key.startsWith("!") ? `!${key}` : key, encodeValue(item)]),
    );
  }
  return value;
}

/** The inverse of `encodeValue`. */
export function decodeValue(json: Json): Value {
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) return json.map(decodeValue);
  const secret = Object.hasOwn(json, "!") ? Reflect.get(json, "!") : undefined;
  if (secret !== undefined) return new Sensitive(decodeValue(secret));
  return decodeMap(json);
}

function decodeMap(json: Json): ValueMap {
  if (typeof json !== "object" || json === null) return {};
  return Object.fromEntries(
    Object.entries(json).map(([key, item]) => [key.startsWith("!!") ? key.slice(1) : key, decodeValue(item)]),
  );
}
