import type { DiagnosticCode } from "./diagnostic-codes.ts";
import { circlesIn, dependenciesOf, expressionsOf } from "./dependencies.ts";
import { conditionsIn } from "./evaluate.ts";
import { referencesOf, type Expression, type Reference } from "./expression.ts";
import type { Faults } from "./faults.ts";
import { entryOf, childOf, type MapNode } from "./source-node.ts";
import { isPseudoParameter } from "./pseudo-parameters.ts";
import type { Template } from "./template.ts";

/** Reports references to what the template doesn't have, and circles (facts 117, 119). */
export function checkReferences(template: Template, root: MapNode, faults: Faults): void {
  const checker: Checker = { template, root, faults, references: remember(referencesOf) };
  checkNames(checker);
  checkResources(checker);
  checkOutputs(checker);
  checkConditions(checker);
  checkRules(checker);
  checkConditionNames(checker);
  checkCircles(checker);
}

interface Checker {
  readonly template: Template;
  readonly root: MapNode;
  readonly faults: Faults;
  readonly references: (expression: Expression) => readonly Reference[];
}

/** Each expression is asked for what it refers to several times. */
function remember(find: (expression: Expression) => readonly Reference[]): Checker["references"] {
  const known = new Map<Expression, readonly Reference[]>();
  return (expression) => {
    const found = known.get(expression) ?? find(expression);
    known.set(expression, found);
    return found;
  };
}

function checkNames({ template, root, faults }: Checker): void {
  const common = [...template.resources.keys()].filter((name) => template.parameters.has(name));
  const message = `Template error: all resources and parameters must have unique names. Common name(s):[${common.join(", ")}]`;
  for (const name of common) {
    faults.report({
      code: "InvalidName",
      message,
      path: `/Resources/${name}`,
      offset: offsetAt(root, ["Resources", name]),
    });
  }
}

function checkResources(checker: Checker): void {
  const { template, references, root } = checker;
  const all = [...template.resources.values()].flatMap((resource) => {
    const { logicalId, dependsOn } = resource;
    const missing = dependsOn.filter((name) => !template.resources.has(name));
    const path = `/Resources/${logicalId}/DependsOn`;
    const explicit = missing.map((name): Reference => {
      return { kind: "attribute", name, path, offset: offsetAt(root, ["Resources", logicalId, "DependsOn"]) };
    });
    return [...explicit, ...expressionsOf(resource).flatMap(references)];
  });
  reportMissing(all, "Template format error: ", { block: "Resources", checker });
}

function checkOutputs(checker: Checker): void {
  const outputs = [...checker.template.outputs.values()];
  const references = outputs.flatMap((output) => [
    ...checker.references(output.value),
    ...namesOf(output.exportName, checker),
  ]);
  // Recorded without the prefix that the Resources block has (fact 118).
  reportMissing(references, "", { block: "Outputs", checker });
}

function namesOf(expression: Expression | undefined, { references }: Checker): readonly Reference[] {
  return expression === undefined ? [] : references(expression);
}

function reportMissing(
  references: readonly Reference[],
  prefix: string,
  { block, checker }: { block: string; checker: Checker },
): void {
  const { template, faults } = checker;
  const missing = references.filter((reference) => {
    if (reference.kind === "attribute") return !template.resources.has(reference.name);
    return reference.kind === "ref" && !isDeclared(reference.name, template);
  });
  const unnamed = missing.filter((reference) => reference.missing === undefined);
  const names = [...new Set(unnamed.map((reference) => reference.name))].join(", ");
  const message = `${prefix}Unresolved resource dependencies [${names}] in the ${block} block of the template`;
  for (const { path, offset, missing: own } of missing) {
    faults.report({ code: "UnresolvedReference", message: own ?? message, path, offset });
  }
}

function isDeclared(name: string, { parameters, resources }: Template): boolean {
  return isPseudoParameter(name) || parameters.has(name) || resources.has(name);
}

function checkConditions(checker: Checker): void {
  for (const expression of checker.template.conditions.values()) {
    for (const reference of checker.references(expression))
      checkParameterReference(reference, "Conditions", checker);
  }
}

function checkRules(checker: Checker): void {
  for (const rule of checker.template.rules.values()) {
    const expressions = [
      ...namesOf(rule.condition, checker),
      ...rule.assertions.flatMap((each) => checker.references(each.assert)),
    ];
    for (const reference of expressions) checkParameterReference(reference, "Rules", checker);
  }
}

// Only parameters are known when conditions and rules are judged.
function checkParameterReference(reference: Reference, block: string, { template, faults }: Checker): void {
  const { kind, name, path, offset } = reference;
  if (kind === "condition" || isPseudoParameter(name) || template.parameters.has(name)) return;
  const message = `Template format error: Unresolved dependencies [${name}]. Cannot reference resources in the ${block} block of the template`;
  faults.report({ code: "UnresolvedReference", message, path, offset });
}

function checkConditionNames(checker: Checker): void {
  const { template } = checker;
  for (const [name, expression] of template.conditions)
    checkUsed(checker.references(expression), `/Conditions/${name}`, checker);
  for (const resource of template.resources.values()) {
    const { logicalId, condition } = resource;
    expressionsOf(resource).forEach((each) => checkUsed(checker.references(each), "", checker));
    checkOwn(condition, { path: ["Resources", logicalId, "Condition"], checker });
  }
  for (const { name, condition, value, exportName } of template.outputs.values()) {
    checkUsed([...checker.references(value), ...namesOf(exportName, checker)], "", checker);
    checkOwn(condition, { path: ["Outputs", name, "Condition"], checker });
  }
}

function checkUsed(references: readonly Reference[], owner: string, { template, faults }: Checker): void {
  for (const { kind, name, path, offset } of references) {
    if (kind !== "condition" || template.conditions.has(name)) continue;
    const where = owner === "" || path.endsWith("/Fn::If") ? "Fn::If" : owner.slice("/Conditions/".length);
    faults.report({
      code: "UnresolvedCondition",
      message: `Template error: unresolved condition dependency ${name} in ${where}`,
      path,
      offset,
    });
  }
}

function checkOwn(
  name: string | undefined,
  { path, checker }: { path: readonly string[]; checker: Checker },
): void {
  const { template, faults, root } = checker;
  if (name === undefined || template.conditions.has(name)) return;
  const message = `Template format error: Condition ${name} is not defined.`;
  faults.report({
    code: "UnresolvedCondition",
    message,
    path: `/${path.join("/")}`,
    offset: offsetAt(root, path),
  });
}

function checkCircles(checker: Checker): void {
  const { template } = checker;
  for (const names of circlesIn(dependenciesOf(template, checker.references))) {
    reportCircle(
      names,
      { block: "Resources", message: `Circular dependency between resources: [${names.join(", ")}]` },
      checker,
    );
  }
  const conditions = new Map(
    [...template.conditions].map(([name, expression]) => [name, conditionsIn(expression)]),
  );
  for (const names of circlesIn(conditions)) {
    const message = `Template error: Found circular condition dependency: [${names.join(", ")}]`;
    reportCircle(names, { block: "Conditions", message }, checker);
  }
}

function reportCircle(
  names: readonly string[],
  { block, message }: { block: string; message: string },
  { faults, root }: Checker,
): void {
  const code: DiagnosticCode = "CircularDependency";
  const [first = ""] = names;
  faults.report({ code, message, path: `/${block}/${first}`, offset: offsetAt(root, [block, first]) });
}

/** Where the key at the end of a path stands. */
function offsetAt(root: MapNode, path: readonly string[]): number {
  let node: MapNode = root;
  let offset = root.offset;
  for (const key of path) {
    const entry = entryOf(node, key);
    if (entry === undefined) return offset;
    offset = entry.keyOffset;
    const child = childOf(node, key);
    if (child?.kind !== "map") return offset;
    node = child;
  }
  return offset;
}
