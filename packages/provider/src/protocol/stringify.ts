import type { Json } from "./json.ts";

/**
 * Properties as CloudFormation sends them: every number and boolean is a string, at any depth (fact 10);
 * empty strings, lists and maps stay as they are (fact 11). `null` passes as is: templates can't hold one (fact 12).
 */
export function stringifyScalars(json: Json): Json {
  if (json === null || typeof json === "string") return json;
  if (typeof json !== "object") return String(json);
  if (isList(json)) return json.map(stringifyScalars);
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, stringifyScalars(value)]));
}

function isList(json: Json): json is readonly Json[] {
  return Array.isArray(json);
}
