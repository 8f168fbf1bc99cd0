import { unresolved, walkCalls, type Expression, type Run } from "./expression.ts";
import type { Evaluation, Known, Need } from "./known.ts";
import { evaluate } from "./run.ts";
import type { ResourceDeclaration, Template } from "./template.ts";
import { isValueMap, Sensitive, type Value, type ValueMap } from "./value.ts";

/** The value of an expression; undefined for `AWS::NoValue`. All that is missing is told at once. */
export function evaluateExpression(expression: Expression, known: Known): Evaluation<Value | undefined> {
  if (expression.kind === "constant") return { kind: "value", value: expression.value };
  return withRun(known, (run) => evaluate(expression, run));
}

/** The properties of a resource; an empty map when it has none. */
export function evaluateProperties(resource: ResourceDeclaration, known: Known): Evaluation<ValueMap> {
  const evaluation = evaluateExpression(resource.properties, known);
  if (evaluation.kind !== "value") return evaluation;
  const { value } = evaluation;
  if (value === undefined) return { kind: "value", value: {} };
  if (isValueMap(value)) return { kind: "value", value };
  // Fn::FindInMap and the like can give a text where a map is wanted; that shows only now.
  const inner = value instanceof Sensitive ? value.reveal() : value;
  if (isValueMap(inner)) return { kind: "value", value: sensitiveMap(inner) };
  const path = `/Resources/${resource.logicalId}/Properties`;
  return {
    kind: "failed",
    path,
    message: "Template format error: Every Properties member must be an object.",
  };
}

function sensitiveMap(map: ValueMap): ValueMap {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, new Sensitive(value)]));
}

/**
 * The values of all conditions. A condition may refer to others in any order; circles were refused when the
 * template was parsed.
 */
export function evaluateConditions(
  template: Template,
  known: Omit<Known, "conditions">,
): Evaluation<ReadonlyMap<string, boolean>> {
  const conditions = new Map<string, boolean>();
  return withRun({ ...known, resource: (logicalId) => known.resource(logicalId), conditions }, (run) => {
    for (const name of template.conditions.keys()) settle(name, { template, conditions, run });
    return conditions;
  });
}

function settle(
  name: string,
  work: { template: Template; conditions: Map<string, boolean>; run: Run },
): void {
  const { template, conditions, run } = work;
  const expression = template.conditions.get(name);
  if (expression === undefined || conditions.has(name)) return;
  for (const other of conditionsIn(expression)) settle(other, work);
  const value = evaluate(expression, run);
  if (value !== unresolved) conditions.set(name, value === true);
}

/** Names of the conditions that an expression asks for. */
export function conditionsIn(expression: Expression): ReadonlySet<string> {
  const names = new Set<string>();
  walkCalls(expression, (call) => {
    for (const reference of call.references) if (reference.kind === "condition") names.add(reference.name);
  });
  return names;
}

function withRun<T>(known: Known, work: (run: Run) => T | typeof unresolved): Evaluation<T> {
  const needs = new Map<string, Need>();
  const failures: { message: string; path: string }[] = [];
  const value = work({
    known,
    need(need) {
      needs.set(JSON.stringify(need), need);
      return unresolved;
    },
    fail(path, message) {
      failures.push({ path, message });
      return unresolved;
    },
  });
  const [failure] = failures;
  if (failure !== undefined) return { kind: "failed", ...failure };
  if (value === unresolved || needs.size > 0) return { kind: "needs", needs: [...needs.values()] };
  return { kind: "value", value };
}
