import type { Json, JsonObject } from "@custard/provider/protocol";
import { isObject } from "./definition.ts";
import { findPath } from "./json-path.ts";
import { type Data, lookUp } from "./payload-template.ts";
import { runtimeFault } from "./state-fault.ts";

/** Does a choice's rule hold? */
export function holds(rule: JsonObject, data: Data): boolean {
  if (Array.isArray(rule["And"])) return rule["And"].every((each: Json) => holds(ruleOf(each), data));
  if (Array.isArray(rule["Or"])) return rule["Or"].some((each: Json) => holds(ruleOf(each), data));
  if (rule["Not"] !== undefined) return !holds(ruleOf(rule["Not"]), data);
  return compares(rule, data);
}

function ruleOf(value: Json): JsonObject {
  if (isObject(value)) return value;
  throw runtimeFault("A choice's rule is no object");
}

function compares(rule: JsonObject, data: Data): boolean {
  const variable = rule["Variable"];
  const operator = Object.keys(rule).find((name) => !["Variable", "Next", "Comment"].includes(name));
  if (typeof variable !== "string" || operator === undefined)
    throw runtimeFault("A choice's rule compares nothing");
  const expected = operandOf(rule[operator] ?? null, operator, data);
  const found = variable.startsWith("$$")
    ? findPath(data.context, variable.slice(1))
    : findPath(data.input, variable);
  if (operator === "IsPresent") return (found !== undefined) === expected;
  if (found === undefined)
    throw runtimeFault(
      `Invalid path '${variable}': The choice state's condition path references an invalid value.`,
    );
  return compare({ operator: operator.replace(/Path$/, ""), found, expected });
}

/** `NumericEqualsPath` and its like name where the other value is. */
function operandOf(value: Json, operator: string, data: Data): Json {
  return operator.endsWith("Path") && typeof value === "string" ? lookUp(value, data) : value;
}

interface Comparison {
  readonly operator: string;
  readonly found: Json;
  readonly expected: Json;
}

function compare({ operator, found, expected }: Comparison): boolean {
  const kind = kindTests[operator];
  if (kind !== undefined) return kind(found) === expected;
  if (operator === "BooleanEquals") return typeof found === "boolean" && found === expected;
  if (operator === "StringMatches")
    return typeof found === "string" && typeof expected === "string" && matches(found, expected);
  const [, family, relation] =
    /^(String|Numeric|Timestamp)(Equals|LessThan|GreaterThan|LessThanEquals|GreaterThanEquals)$/.exec(
      operator,
    ) ?? [];
  if (family === undefined || relation === undefined)
    throw runtimeFault(`Custard doesn't know the comparison ${operator}`);
  const [left, right] = [ordered(found, family), ordered(expected, family)];
  return left !== undefined && right !== undefined && related(left, right, relation);
}

const kindTests: Readonly<Record<string, (value: Json) => boolean>> = {
  IsNull: (value) => value === null,
  IsString: (value) => typeof value === "string",
  IsNumeric: (value) => typeof value === "number",
  IsBoolean: (value) => typeof value === "boolean",
  IsTimestamp: (value) => ordered(value, "Timestamp") !== undefined,
};

function ordered(value: Json, family: string): string | number | undefined {
  if (family === "Numeric") return typeof value === "number" ? value : undefined;
  if (typeof value !== "string") return undefined;
  if (family === "String") return value;
  const time = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function related(left: string | number, right: string | number, relation: string): boolean {
  if (left === right) return relation.endsWith("Equals");
  return relation.startsWith("LessThan") ? left < right : relation.startsWith("GreaterThan") && left > right;
}

/** `*` stands for any characters; `\*` for itself. */
function matches(text: string, pattern: string): boolean {
  const form = pattern
    .split(/(\\\*|\\\\|\*)/)
    .map((part) =>
      part === "*" ? ".*" : part.replace(/^\\/, "").replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`),
    )
    .join("");
  return new RegExp(`^${form}$`, "s").test(text);
}
