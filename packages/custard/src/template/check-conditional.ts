import { expressionsOf } from "./dependencies.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { walkTaken, type Expression } from "./expression.ts";
import { isCustomResource, missingServiceToken } from "./parse-resources.ts";
import type { Template } from "./template.ts";
import { isValueMap } from "./value.ts";

/**
 * What can be wrong with a template only once its conditions are known: references from resources and outputs that
 * there are to resources that a condition has switched off (fact 117), and custom resources without service token.
 * Branches of `Fn::If` that aren't taken don't count, and neither does `DependsOn`.
 */
export function checkConditional(
  template: Template,
  conditions: ReadonlyMap<string, boolean>,
): readonly Diagnostic[] {
  const isOn = (condition: string | undefined): boolean =>
    condition === undefined || conditions.get(condition) === true;
  return [...serviceTokens(template, isOn), ...danglingReferences(template, conditions, isOn)];
}

type IsOn = (condition: string | undefined) => boolean;

function serviceTokens(template: Template, isOn: IsOn): readonly Diagnostic[] {
  const without = [...template.resources.values()].filter(({ type, condition, properties }) => {
    return (
      isCustomResource(type) &&
      condition !== undefined &&
      isOn(condition) &&
      !mayHaveKey(properties, "ServiceToken")
    );
  });
  return without.map(({ logicalId, position }) => {
    const path = `/Resources/${logicalId}/Properties`;
    return {
      code: "InvalidCustomResource",
      severity: "error",
      message: missingServiceToken(logicalId),
      path,
      position,
    };
  });
}

function mayHaveKey(expression: Expression, key: string): boolean {
  switch (expression.kind) {
    case "constant":
      return isValueMap(expression.value) && Object.hasOwn(expression.value, key);
    case "map":
      return expression.entries.some(([name]) => name === key);
    case "list":
      return false;
    case "call":
      return true;
  }
}

function danglingReferences(
  template: Template,
  conditions: ReadonlyMap<string, boolean>,
  isOn: IsOn,
): readonly Diagnostic[] {
  const off = new Set(
    [...template.resources.values()]
      .filter(({ condition }) => !isOn(condition))
      .map(({ logicalId }) => logicalId),
  );
  if (off.size === 0) return [];
  const resources = [...template.resources.values()].filter(({ condition }) => isOn(condition));
  const outputs = [...template.outputs.values()].filter(({ condition }) => isOn(condition));
  return [
    ...report(
      "Template format error: ",
      "Resources",
      dangling(resources.flatMap(expressionsOf), off, conditions),
    ),
    ...report(
      "",
      "Outputs",
      dangling(
        outputs.flatMap(({ value, exportName }) => (exportName ? [value, exportName] : [value])),
        off,
        conditions,
      ),
    ),
  ];
}

interface Dangling {
  readonly name: string;
  readonly path: string;
}

function dangling(
  expressions: readonly Expression[],
  off: ReadonlySet<string>,
  conditions: ReadonlyMap<string, boolean>,
): readonly Dangling[] {
  const found: Dangling[] = [];
  for (const expression of expressions) {
    walkTaken(expression, conditions, ({ references }) => {
      for (const { kind, name, path } of references) {
        if ((kind === "ref" || kind === "attribute") && off.has(name)) found.push({ name, path });
      }
    });
  }
  return found;
}

function report(prefix: string, block: string, found: readonly Dangling[]): readonly Diagnostic[] {
  const names = [...new Set(found.map(({ name }) => name))].join(", ");
  const message = `${prefix}Unresolved resource dependencies [${names}] in the ${block} block of the template`;
  return found.map(({ path }) => ({ code: "UnresolvedReference", severity: "error", message, path }));
}
