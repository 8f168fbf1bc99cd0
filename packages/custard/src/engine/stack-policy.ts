/** Stack policies: which resources an update may touch. Source: the user guide's page on preventing updates. */
import type { Json } from "@custard/provider/protocol";
import type { LogicalId } from "./ids.ts";

/** What an update would do to a resource. */
export type PolicyAction = "Update:Modify" | "Update:Replace" | "Update:Delete";

/** What is asked of a policy. */
export interface PolicyQuestion {
  readonly action: PolicyAction;
  readonly logicalId: LogicalId;
  readonly type: string;
}

/** `statement`: the one that denies, from 1; absent when merely none allows. */
export type PolicyAnswer = "allowed" | { readonly statement?: number };

interface Statement {
  readonly effect: "Allow" | "Deny";
  readonly matches: (question: PolicyQuestion) => boolean;
}

/** A policy that was read. */
export type StackPolicy = readonly Statement[];

/** Reads a policy; undefined when it is none. */
export function parsePolicy(body: string): StackPolicy | undefined {
  const document = parseJson(body);
  if (!isObject(document)) return undefined;
  const listed = document["Statement"];
  if (listed === undefined) return undefined;
  const statements = (Array.isArray(listed) ? listed : [listed]).map(parseStatement);
  return statements.every((statement) => statement !== undefined) ? statements : undefined;
}

/** A denial wins over everything; what nothing allows is denied as well. */
export function askPolicy(policy: StackPolicy, question: PolicyQuestion): PolicyAnswer {
  const denying = policy.findIndex(({ effect, matches }) => effect === "Deny" && matches(question));
  if (denying >= 0) return { statement: denying + 1 };
  return policy.some(({ effect, matches }) => effect === "Allow" && matches(question)) ? "allowed" : {};
}

const actionNames: ReadonlySet<string> = new Set([
  "Update:*",
  "Update:Modify",
  "Update:Replace",
  "Update:Delete",
]);

function parseStatement(json: Json): Statement | undefined {
  if (!isObject(json)) return undefined;
  const effect = json["Effect"];
  const actions = membersOf(json, "Action", "NotAction");
  const resources = membersOf(json, "Resource", "NotResource");
  const condition = parseCondition(json["Condition"]);
  if (effect !== "Allow" && effect !== "Deny") return undefined;
  if (json["Principal"] !== "*" || actions === undefined || condition === undefined) return undefined;
  if (!actions.texts.every((action) => actionNames.has(action))) return undefined;
  return {
    effect,
    matches: ({ action, logicalId, type }) =>
      matchesAny(actions, action) &&
      (resources === undefined || matchesAny(resources, `LogicalResourceId/${logicalId}`)) &&
      condition(type),
  };
}

interface Members {
  readonly texts: readonly string[];
  readonly negated: boolean;
}

function membersOf(
  json: { readonly [key: string]: Json },
  key: string,
  negatedKey: string,
): Members | undefined {
  const texts = textsOf(json[key]);
  if (texts !== undefined) return { texts, negated: false };
  const negated = textsOf(json[negatedKey]);
  return negated === undefined ? undefined : { texts: negated, negated: true };
}

function matchesAny({ texts, negated }: Members, value: string): boolean {
  return texts.some((pattern) => like(pattern, value)) !== negated;
}

/** `{StringEquals|StringLike: {ResourceType: …}}`; undefined when it is something else. */
function parseCondition(json: Json | undefined): ((type: string) => boolean) | undefined {
  if (json === undefined) return () => true;
  if (!isObject(json)) return undefined;
  const tests: ((type: string) => boolean)[] = [];
  for (const [operator, operand] of Object.entries(json)) {
    const types = isObject(operand) ? textsOf(operand["ResourceType"]) : undefined;
    if (types === undefined) return undefined;
    if (operator === "StringEquals") tests.push((type) => types.includes(type));
    else if (operator === "StringLike") tests.push((type) => types.some((pattern) => like(pattern, type)));
    else return undefined;
  }
  return (type) => tests.every((matches) => matches(type));
}

/** `*` stands for anything. */
function like(pattern: string, value: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (!value.startsWith(first)) return false;
  const last = rest.pop();
  if (last === undefined) return value === first;
  let at = first.length;
  for (const part of rest) {
    const found = value.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return value.length - last.length >= at && value.endsWith(last);
}

function textsOf(json: Json | undefined): readonly string[] | undefined {
  if (typeof json === "string") return [json];
  if (!Array.isArray(json)) return undefined;
  const texts = json.filter((item) => typeof item === "string");
  return texts.length === json.length ? texts : undefined;
}

function parseJson(body: string): Json | undefined {
  try {
    return JSON.parse(body) as Json;
  } catch {
    return undefined;
  }
}

function isObject(json: Json | undefined): json is { readonly [key: string]: Json } {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
