/**
 * Filter policies of subscriptions: which messages a subscriber wants. Source: SNS's pages on subscription filter
 * policies. A policy that no message can be judged by is refused when it is set, so that matching never fails.
 */
import type { Json, JsonObject } from "@custard/provider/protocol";
import { invalidParameter } from "./topic-error.ts";

/** A message attribute. */
export interface MessageAttribute {
  /** `String`, `Number`, `Binary`, `String.Array`, or one of these with a label after a dot. */
  readonly type: string;
  readonly value: string;
}

/** What a policy is matched against. */
export interface Filtered {
  readonly message: string;
  readonly attributes: Readonly<Record<string, MessageAttribute>>;
}

/** A parsed policy. */
export interface FilterPolicy {
  readonly scope: "MessageAttributes" | "MessageBody";
  readonly rules: JsonObject;
}

/** Most combinations of values that a policy may ask for. */
const combinations = 150;

/** Reads a policy; undefined when it lets everything through. Throws `TopicError` in SNS's words. */
export function parseFilterPolicy(
  text: string | undefined,
  scope = "MessageAttributes",
): FilterPolicy | undefined {
  if (scope !== "MessageAttributes" && scope !== "MessageBody")
    throw invalidParameter(
      `Attributes Reason: FilterPolicyScope: Invalid value [${scope}]. Please use either MessageBody or MessageAttributes`,
    );
  if (text === undefined || text === "" || text === "{}") return undefined;
  const rules = parseObject(text);
  if (check(rules, scope) > combinations) throw faulty("Filter policy is too complex");
  return { scope, rules };
}

/** Does the policy let the message through? */
export function letsThrough(policy: FilterPolicy | undefined, filtered: Filtered): boolean {
  if (policy === undefined) return true;
  if (policy.scope === "MessageAttributes") return matchesObject(policy.rules, attributesOf(filtered));
  const body = parseBody(filtered.message);
  return body !== undefined && matchesObject(policy.rules, body);
}

// ------------------------------------------------------------------------------------------------- checks

function parseObject(text: string): JsonObject {
  try {
    const value: Json = JSON.parse(text);
    if (isObject(value)) return value;
  } catch (cause) {
    throw invalidParameter("Attributes Reason: FilterPolicy: failed to parse JSON.", { cause });
  }
  throw invalidParameter("Attributes Reason: FilterPolicy: failed to parse JSON. Filter is not an object");
}

/** Checks the rules, and counts how many combinations of values they ask for. */
function check(rules: JsonObject, scope: FilterPolicy["scope"]): number {
  const counts = Object.entries(rules).map(([name, rule]) =>
    Array.isArray(rule) ? checkList(name, rule, scope) : checkNested(name, rule, scope),
  );
  return counts.reduce((product, count) => product * count, 1);
}

function checkList(name: string, list: readonly Json[], scope: FilterPolicy["scope"]): number {
  if (name === "$or") {
    const counts = list.map((branch) => (isObject(branch) ? check(branch, scope) : 1));
    return counts.reduce((sum, count) => sum + count, 0);
  }
  for (const wanted of list) checkOperator(wanted);
  return Math.max(1, list.length);
}

function checkNested(name: string, rule: Json, scope: FilterPolicy["scope"]): number {
  if (!isObject(rule)) throw faulty(`"${name}" must be an object or an array`);
  if (scope === "MessageBody") return check(rule, scope);
  throw faulty("Filter policy scope MessageAttributes does not support nested filter policy");
}

const operators: Readonly<Record<string, (operand: Json) => boolean>> = {
  prefix: (operand) => typeof operand === "string" || isIgnoringCase(operand),
  suffix: (operand) => typeof operand === "string" || isIgnoringCase(operand),
  "equals-ignore-case": (operand) => typeof operand === "string",
  wildcard: (operand) => typeof operand === "string",
  cidr: (operand) => typeof operand === "string" && parseCidr(operand) !== undefined,
  exists: (operand) => typeof operand === "boolean",
  "anything-but": (operand) => operand !== null,
  numeric: (operand) =>
    Array.isArray(operand) && operand.length >= 2 && operand.length % 2 === 0 && operand.every(isNumericPart),
};

function checkOperator(wanted: Json): void {
  if (!isObject(wanted)) {
    if (Array.isArray(wanted)) throw faulty("Match value must be String, number, true, false, or null");
    return;
  }
  const [[name, operand] = ["", null], ...more] = Object.entries(wanted);
  if (more.length > 0) throw faulty("Only one key allowed in match expression");
  const accepts = Object.hasOwn(operators, name) ? operators[name] : undefined;
  if (accepts === undefined) throw faulty(`Unrecognized match type ${name}`);
  if (!accepts(operand)) throw faulty(`Value of ${name} must be of another kind`);
}

function isNumericPart(part: Json, index: number): boolean {
  return index % 2 === 0 ? typeof part === "string" && part in comparisons : typeof part === "number";
}

function isIgnoringCase(operand: Json): operand is JsonObject & { readonly "equals-ignore-case": string } {
  return isObject(operand) && typeof operand["equals-ignore-case"] === "string";
}

function faulty(reason: string): Error {
  return invalidParameter(`Attributes Reason: FilterPolicy: ${reason}`);
}

// ----------------------------------------------------------------------------------------------- matching

function attributesOf({ attributes }: Filtered): JsonObject {
  const entries = Object.entries(attributes).map(([name, { type, value }]): [string, Json] => [
    name,
    valueOf(type, value),
  ]);
  return Object.fromEntries(entries);
}

function valueOf(type: string, value: string): Json {
  if (type === "Number" || type.startsWith("Number.")) return Number(value);
  return type === "String.Array" ? (parseJson(value) ?? value) : value;
}

function parseBody(message: string): JsonObject | undefined {
  const value = parseJson(message);
  return value !== undefined && isObject(value) ? value : undefined;
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function matchesObject(rules: JsonObject, found: JsonObject): boolean {
  return Object.entries(rules).every(([name, rule]) => {
    if (name === "$or" && Array.isArray(rule))
      return rule.some((branch: Json) => isObject(branch) && matchesObject(branch, found));
    const value = Object.hasOwn(found, name) ? found[name] : undefined;
    if (Array.isArray(rule)) return rule.some((wanted: Json) => matchesValue(wanted, value));
    return isObject(rule) && matchesNested(rule, value);
  });
}

/** Objects in a list: one of them must match. */
function matchesNested(rule: JsonObject, value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.some((item: Json) => matchesNested(rule, item));
  return matchesObject(rule, value !== undefined && isObject(value) ? value : {});
}

function matchesValue(wanted: Json, value: Json | undefined): boolean {
  if (isObject(wanted)) return matchesOperator(wanted, value);
  if (Array.isArray(value)) return value.some((item: Json) => item === wanted);
  return value === wanted;
}

function matchesOperator(wanted: JsonObject, value: Json | undefined): boolean {
  if (typeof wanted["exists"] === "boolean") return wanted["exists"] === (value !== undefined);
  if (value === undefined) return false;
  const values: readonly Json[] = Array.isArray(value) ? value : [value];
  const anythingBut = wanted["anything-but"];
  if (anythingBut !== undefined) return values.every((item) => !isExcluded(anythingBut, item));
  return values.some((item) => matchesScalar(wanted, item));
}

function isExcluded(excluded: Json, item: Json): boolean {
  if (Array.isArray(excluded)) return excluded.some((one: Json) => isExcluded(one, item));
  return isObject(excluded) ? matchesScalar(excluded, item) : excluded === item;
}

function matchesScalar(wanted: JsonObject, item: Json): boolean {
  const [[name, operand] = ["", null]] = Object.entries(wanted);
  if (name === "numeric")
    return typeof item === "number" && Array.isArray(operand) && isWithin(operand, item);
  if (typeof item !== "string") return false;
  const { pattern, text } = isIgnoringCase(operand)
    ? { pattern: operand["equals-ignore-case"].toLowerCase(), text: item.toLowerCase() }
    : { pattern: typeof operand === "string" ? operand : "", text: item };
  switch (name) {
    case "prefix":
      return text.startsWith(pattern);
    case "suffix":
      return text.endsWith(pattern);
    case "equals-ignore-case":
      return text.toLowerCase() === pattern.toLowerCase();
    case "wildcard":
      return matchesWildcard(pattern, text);
    case "cidr":
      return isInNetwork(pattern, text);
  }
  return false;
}

const comparisons: Readonly<Record<string, (one: number, other: number) => boolean>> = {
  "=": (one, other) => one === other,
  "<": (one, other) => one < other,
  "<=": (one, other) => one <= other,
  ">": (one, other) => one > other,
  ">=": (one, other) => one >= other,
};

function isWithin(parts: readonly Json[], item: number): boolean {
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [name, limit] = parts.slice(at, at + 2);
    const compare = typeof name === "string" ? comparisons[name] : undefined;
    if (compare === undefined || typeof limit !== "number" || !compare(item, limit)) return false;
  }
  return true;
}

function matchesWildcard(pattern: string, text: string): boolean {
  const [start = "", ...rest] = pattern.split("*");
  if (!text.startsWith(start)) return false;
  let at = start.length;
  for (const [index, part] of rest.entries()) {
    const found = index === rest.length - 1 ? text.length - part.length : text.indexOf(part, at);
    if (found < at || !text.startsWith(part, found)) return false;
    at = found + part.length;
  }
  return at === text.length;
}

function parseCidr(text: string): { readonly address: number; readonly bits: number } | undefined {
  const [address = "", bits = "32"] = text.split("/");
  const number = parseAddress(address);
  return number === undefined || !/^(?:\d|[12]\d|3[0-2])$/u.test(bits)
    ? undefined
    : { address: number, bits: Number(bits) };
}

function parseAddress(text: string): number | undefined {
  const parts = text.split(".").map(Number);
  const isAddress =
    parts.length === 4 && parts.every((part) => Number.isInteger(part) && part >= 0 && part <= 255);
  return isAddress ? parts.reduce((number, part) => number * 256 + part, 0) : undefined;
}

function isInNetwork(cidr: string, text: string): boolean {
  const network = parseCidr(cidr);
  const address = parseAddress(text);
  if (network === undefined || address === undefined) return false;
  const size = 2 ** (32 - network.bits);
  return Math.floor(network.address / size) === Math.floor(address / size);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
