import type { Json, JsonObject } from "./protocol/json.ts";
import type { Schema, SchemaIssue } from "./standard-schema.ts";

/** What a schema makes of some input: its value, or a complaint that names the places. */
export type Validated<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly complaint: string };

/** Each round coerces at least one string, so this bounds how deep a union can hide its faults. */
const maxRounds = 8;

/**
 * Validates properties that arrive with every scalar as a string (fact 10): where the schema complains about a
 * string, that string becomes the boolean, number, list or map that it spells, and the schema is asked again.
 * What is valid as it came is never touched, so `z.string()` keeps `"007"`.
 */
export async function coerce<T>(schema: Schema<T>, properties: JsonObject): Promise<Validated<T>> {
  const draft: Json = JSON.parse(JSON.stringify(properties));
  for (let round = 0; ; round++) {
    const result = await schema["~standard"].validate(draft);
    if (result.issues === undefined) return { ok: true, value: result.value };
    const coerced = round < maxRounds ? result.issues.filter((issue) => coerceAt(draft, pathOf(issue))) : [];
    if (coerced.length === 0) return { ok: false, complaint: describeIssues(result.issues) };
  }
}

/** Validates what the author's own code returned: nothing is coerced. */
export async function check<T>(schema: Schema<T>, value: unknown): Promise<Validated<T>> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, complaint: describeIssues(result.issues) };
}

function coerceAt(draft: Json, path: readonly PropertyKey[]): boolean {
  let holder: unknown = draft;
  for (const key of path.slice(0, -1)) holder = memberOf(holder, key);
  const key = path.at(-1);
  if (key === undefined || key === "__proto__") return false;
  const found = memberOf(holder, key);
  if (typeof found !== "string" || typeof holder !== "object" || holder === null) return false;
  const spelled = spelledValue(found);
  return spelled !== undefined && Reflect.set(holder, key, spelled);
}

function memberOf(holder: unknown, key: PropertyKey): unknown {
  return typeof holder === "object" && holder !== null && Object.hasOwn(holder, key)
    ? Reflect.get(holder, key)
    : undefined;
}

const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u;

/** The boolean, number, list or map that a string spells, if any. Integers too large to be exact stay strings. */
function spelledValue(text: string): Json | undefined {
  if (text === "true" || text === "false") return text === "true";
  if (numberForm.test(text)) {
    const number = Number(text);
    return Number.isSafeInteger(number) || !Number.isInteger(number) ? number : undefined;
  }
  if (!/^\s*[[{]/u.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function pathOf(issue: SchemaIssue): PropertyKey[] {
  return (issue.path ?? []).map((part) => (typeof part === "object" ? part.key : part));
}

function describeIssues(issues: readonly SchemaIssue[]): string {
  return issues.slice(0, 5).map(describeIssue).join("; ");
}

/** Some libraries name the place in the message already. */
function describeIssue(issue: SchemaIssue): string {
  const place = pathOf(issue).map(String).join(".");
  return place === "" || issue.message.startsWith(place) ? issue.message : `${place}: ${issue.message}`;
}
