/** Whether and what an update would change, before it starts. */
import { evaluateExpression, evaluateProperties } from "../template/evaluate.ts";
import type { Known } from "../template/known.ts";
import type { Expression } from "../template/expression.ts";
import { equalValues, type Value } from "../template/value.ts";
import { sameProperties } from "./issue-request.ts";
import type { LogicalId } from "./ids.ts";
import type { Knowledge } from "./draft.ts";
import { declaredOf, isCustom, isLive, isNestedStack, isOwnType } from "./resource.ts";
import { knownForDisplay, knownOf } from "./scope.ts";
import { StackError } from "./stack-error.ts";
import { sameTags } from "./stack-tags.ts";
import type { Definition, Stack } from "./stack.ts";

/** A type that is neither custom nor in CloudFormation's registry: its own words for it. */
export function refuseUnknownTypes(definition: Definition, knowledge: Knowledge): void {
  const types = [...definition.dependencies.keys()].flatMap(
    (id) => definition.template.resources.get(id)?.type ?? [],
  );
  const unknown = [...new Set(types)].filter(
    (type) => !isCustom(type) && !isOwnType(type) && knowledge.facts(type) === undefined,
  );
  if (unknown.length === 0) return;
  throw new StackError(
    "InvalidTemplate",
    `Template format error: Unrecognized resource types: [${unknown.join(", ")}]`,
  );
}

/** Fact 74. */
export function refuseTypeChanges(stack: Stack, definition: Definition): void {
  const changed = [...definition.dependencies.keys()].filter((id) => {
    const current = stack.resources.get(id)?.current;
    return current !== undefined && declaredOf(current).type !== definition.template.resources.get(id)?.type;
  });
  if (changed.length === 0) return;
  throw new StackError(
    "InvalidOperation",
    `Update of resource type is not permitted. The new template modifies resource type of the following resources: [${changed.join(", ")}]`,
  );
}

/**
 * Would an update with this definition change anything? Compares what the two evaluate to, so a reworded template
 * with the same meaning has no updates. A stack whose last operation failed always has (it can be tried again).
 */
export function hasUpdates(stack: Stack, next: Definition): boolean {
  const now = stack.definition;
  // What an earlier update couldn't remove stands in no template any more.
  const left = [...stack.resources].flatMap(([id, { current }]) => (current === undefined ? [] : [id]));
  const ids = new Set([...now.dependencies.keys(), ...next.dependencies.keys(), ...left]);
  return (
    [...ids].some((id) => resourceChanges(stack, next, id)) ||
    outputsChange(stack, next) ||
    !sameTags(now.tags, next.tags) ||
    JSON.stringify(now.notificationArns) !== JSON.stringify(next.notificationArns)
  );
}

function resourceChanges(stack: Stack, next: Definition, id: LogicalId): boolean {
  const current = stack.resources.get(id)?.current;
  const declaration = next.template.resources.get(id);
  if (!isLive(current) || declaration === undefined || !next.dependencies.has(id)) return true;
  // The template of a nested stack may have changed under its URL.
  if (isNestedStack(declaration.type)) return true;
  const { declared } = current.good;
  const known = knownOf(stack, next);
  const properties = evaluateProperties(declaration, known);
  if (properties.kind !== "value" || !sameProperties(properties.value, declared.properties)) return true;
  return (
    declaration.deletionPolicy !== declared.deletionPolicy ||
    declaration.updateReplacePolicy !== declared.updateReplacePolicy ||
    !sameText(valueOf(declaration.metadata, knownForDisplay(stack, next)), declared.metadata)
  );
}

function outputsChange(stack: Stack, next: Definition): boolean {
  const describe = (definition: Definition) => {
    const known = knownForDisplay(stack, definition);
    return [...definition.template.outputs.values()]
      .filter(({ condition }) => condition === undefined || definition.conditions.get(condition) === true)
      .map(({ name, description, value, exportName }) => [
        name,
        description ?? "",
        valueOf(value, known) ?? null,
        valueOf(exportName, known) ?? null,
      ]);
  };
  return !sameText(describe(stack.definition), describe(next));
}

function valueOf(expression: Expression | undefined, known: Known): Value | undefined {
  if (expression === undefined) return undefined;
  const evaluation = evaluateExpression(expression, known);
  return evaluation.kind === "value" ? evaluation.value : undefined;
}

function sameText(a: Value | undefined, b: Value | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equalValues(a, b);
}
