/**
 * What an update would change, resource by resource, before it starts; the content of a change set.
 *
 * C1: it follows the same rules as the forward phase: what isn't listed here gets no request there.
 * C2: whether a provider answers an Update with a new id nobody can know, so a custom resource's replacement is
 *     conditional (fact 68).
 */
import {
  equalValues,
  isValueMap,
  isSensitive,
  reveal,
  type Value,
  type ValueMap,
} from "../template/value.ts";
import type { Attribute, Known, KnownResource } from "../template/known.ts";
import { evaluateExpression } from "../template/evaluate.ts";
import type { Expression } from "../template/expression.ts";
import type { ResourceDeclaration } from "../template/template.ts";
import { causesOf } from "./change-causes.ts";
import { knownAfterApply, type ChangeDetail, type Recreation, type ResourceChange } from "./change-set.ts";
import type { Knowledge } from "./draft.ts";
import type { LogicalId } from "./ids.ts";
import { sameProperties } from "./issue-request.ts";
import type { Planning } from "./planning.ts";
import {
  declaredOf,
  isCustom,
  isLive,
  isNestedStack,
  physicalIdOf,
  unharmed,
  type Declared,
  type Resource,
} from "./resource.ts";
import { knownForDisplay, knownOf } from "./scope.ts";
import { sameTags } from "./stack-tags.ts";
import type { Definition, Stack } from "./stack.ts";

/** All changes that a definition would bring, in the order in which they would begin. */
export function planChanges(stack: Stack, next: Definition, knowledge: Knowledge): readonly ResourceChange[] {
  const planning: Planning = { stack, next, knowledge, changes: new Map() };
  for (const logicalId of inOrder(next)) {
    const change = planResource(planning, logicalId);
    if (change !== undefined) planning.changes.set(logicalId, change);
  }
  return [...planning.changes.values(), ...removals(stack, next)];
}

function inOrder({ dependencies }: Definition): readonly LogicalId[] {
  const ordered = new Set<LogicalId>();
  const visit = (id: LogicalId) => {
    if (ordered.has(id) || !dependencies.has(id)) return;
    for (const needed of dependencies.get(id) ?? []) visit(needed);
    ordered.add(id);
  };
  for (const id of dependencies.keys()) visit(id);
  return [...ordered];
}

function removals(stack: Stack, next: Definition): readonly ResourceChange[] {
  return [...stack.resources].flatMap(([logicalId, { current }]) =>
    current === undefined || next.dependencies.has(logicalId) ? [] : [removal(logicalId, current)],
  );
}

function removal(logicalId: LogicalId, current: Resource): ResourceChange {
  const { type, properties, deletionPolicy } = declaredOf(current);
  const kept = deletionPolicy === "RetainExceptOnCreate" ? "Retain" : deletionPolicy;
  return {
    action: "Remove",
    logicalId,
    type,
    ...idOf(current),
    policyAction: kept,
    details: [],
    before: properties,
  };
}

function planResource(planning: Planning, logicalId: LogicalId): ResourceChange | undefined {
  const declaration = planning.next.template.resources.get(logicalId);
  if (declaration === undefined) return undefined;
  const current = unharmed(planning.stack.resources.get(logicalId)?.current);
  const after = foreseen(declaration.properties, planning);
  if (current === undefined || current.status === "CREATE_FAILED") return addition(declaration, after);
  const details = detailsOf(planning, { declaration, declared: declaredOf(current), after });
  if (details.length > 0) return modification({ declaration, current, after, details });
  if (isLive(current) || !("good" in current)) return undefined;
  // What has failed is sent again, as it differs from what was confirmed (C1).
  const { declared } = current.good;
  return modification({
    declaration,
    current,
    after,
    details: detailsOf(planning, { declaration, declared, after }),
  });
}

function addition({ logicalId, type }: ResourceDeclaration, after: ValueMap): ResourceChange {
  return { action: "Add", logicalId: logicalId as LogicalId, type, details: [], after };
}

function modification(of: {
  declaration: ResourceDeclaration;
  current: Resource;
  after: ValueMap;
  details: readonly ChangeDetail[];
}): ResourceChange {
  const { declaration, current, after, details } = of;
  const recreations = new Set(details.map(({ recreation }) => recreation));
  const always = recreations.has("Always");
  return {
    action: "Modify",
    logicalId: declaration.logicalId as LogicalId,
    type: declaration.type,
    ...idOf(current),
    replacement: always ? "True" : recreations.has("Conditionally") ? "Conditional" : "False",
    ...(always ? { policyAction: `ReplaceAnd${declaration.updateReplacePolicy}` } : {}),
    details,
    before: declaredOf(current).properties,
    after,
  };
}

function idOf(resource: Resource): Pick<ResourceChange, "physicalId"> {
  const physicalId = physicalIdOf(resource);
  return physicalId === undefined ? {} : { physicalId };
}

// -------------------------------------------------------------------------------------------------- details

interface Comparison {
  readonly declaration: ResourceDeclaration;
  readonly declared: Declared;
  readonly after: ValueMap;
}

function detailsOf(planning: Planning, compared: Comparison): readonly ChangeDetail[] {
  const { declared, after } = compared;
  const names = new Set([...Object.keys(declared.properties), ...Object.keys(after)]);
  const properties = [...names].flatMap((name) => propertyDetails(planning, compared, name));
  return [...properties, ...automatic(compared, properties), ...attributeDetails(planning, compared)];
}

function propertyDetails(planning: Planning, compared: Comparison, name: string): readonly ChangeDetail[] {
  const { declaration, declared, after } = compared;
  const [from, to] = [declared.properties[name], after[name]];
  const causes = causesOf(propertyOf(declaration.properties, name), planning);
  const same = sameProperties(single(name, from), single(name, to));
  // An attribute of a resource that is merely modified may come out as it is.
  const reasons = same ? causes.filter(({ evaluation }) => evaluation === "Dynamic") : causes;
  if (same && reasons.length === 0) return [];
  const target = {
    part: "Properties",
    name,
    recreation: recreationOf(planning, declaration.type, name),
    ...(from === undefined ? {} : { before: from }),
    ...(to === undefined ? {} : { after: to }),
  } as const;
  if (reasons.length === 0) return [{ ...target, source: "DirectModification", evaluation: "Static" }];
  const direct: ChangeDetail = { ...target, source: "DirectModification", evaluation: "Dynamic" };
  const byParameter = reasons.some(({ source }) => source === "ParameterReference");
  return [
    ...reasons.map((reason) => ({ ...target, ...reason })),
    ...(same ? [] : [byParameter ? direct : { ...direct, withValuesOnly: true as const }]),
  ];
}

function single(name: string, value: Value | undefined): ValueMap {
  return value === undefined ? {} : { [name]: value };
}

function propertyOf(properties: Expression, name: string): Expression | undefined {
  if (properties.kind !== "map") return properties.kind === "call" ? properties : undefined;
  return properties.entries.find(([key]) => key === name)?.[1];
}

function recreationOf({ knowledge }: Planning, type: string, name: string): Recreation {
  if (isCustom(type)) return name === "ServiceTimeout" ? "Never" : "Conditionally";
  return knowledge.facts(type)?.createOnly.has(name) === true ? "Always" : "Never";
}

/** A nested stack's template may have changed under the same URL (change set reference, ChangeSource). */
function automatic(
  { declaration }: Comparison,
  properties: readonly ChangeDetail[],
): readonly ChangeDetail[] {
  if (!isNestedStack(declaration.type) || properties.length > 0) return [];
  return [{ part: "Properties", recreation: "Never", evaluation: "Dynamic", source: "Automatic" }];
}

function attributeDetails(planning: Planning, compared: Comparison): readonly ChangeDetail[] {
  const { declaration, declared } = compared;
  const { stack, next, knowledge } = planning;
  const metadata =
    declaration.metadata === undefined
      ? undefined
      : evaluateExpression(declaration.metadata, knownForDisplay(stack, next));
  const value = metadata?.kind === "value" ? metadata.value : undefined;
  const changed = {
    Metadata: !sameValue(value, declared.metadata),
    Tags:
      knowledge.facts(declaration.type)?.takesTags === true && !sameTags(stack.definition.tags, next.tags),
    DeletionPolicy: declaration.deletionPolicy !== declared.deletionPolicy,
    UpdateReplacePolicy: declaration.updateReplacePolicy !== declared.updateReplacePolicy,
  };
  return (["Metadata", "Tags", "DeletionPolicy", "UpdateReplacePolicy"] as const)
    .filter((part) => changed[part])
    .map((part) => ({ part, recreation: "Never", evaluation: "Static", source: "DirectModification" }));
}

function sameValue(a: Value | undefined, b: Value | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equalValues(a, b);
}

// --------------------------------------------------------------------------------------------- what will be

/** Properties as far as they can be foreseen, property by property; what can't be is said to be so. */
function foreseen(properties: Expression, planning: Planning): ValueMap {
  const known = foreseeable(planning);
  if (properties.kind !== "map") {
    const value = foresee(properties, known);
    return value !== undefined && isValueMap(value) ? value : {};
  }
  const entries = properties.entries.flatMap(([name, expression]) => {
    const value = foresee(expression, known);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

function foresee(expression: Expression, known: Known): Value | undefined {
  const evaluation = evaluateExpression(expression, known);
  if (evaluation.kind !== "value") return knownAfterApply;
  const { value } = evaluation;
  if (value === undefined || isSensitive(value)) return value;
  return JSON.stringify(reveal(value)).includes(knownAfterApply) ? knownAfterApply : value;
}

/** Resources that will be new have an id and attributes that nobody knows yet. */
function foreseeable(planning: Planning): Known {
  const { stack, next, changes } = planning;
  const known = knownOf(stack, next);
  return {
    ...known,
    resource: (name) => {
      const change = changes.get(name as LogicalId);
      const fresh = change?.action === "Add" || change?.replacement === "True";
      return fresh ? unknownYet : known.resource(name);
    },
  };
}

const unknownYet: KnownResource = {
  ref: knownAfterApply,
  attribute: (): Attribute => ({ kind: "value", value: knownAfterApply }),
};
