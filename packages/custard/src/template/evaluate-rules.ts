import type { Diagnostic } from "./diagnostic.ts";
import { evaluateExpression } from "./evaluate.ts";
import type { Expression } from "./expression.ts";
import type { Known } from "./known.ts";
import type { Assertion, RuleDeclaration, Template } from "./template.ts";

/**
 * Judges the assertions of `Rules`, once parameters have values. An assertion that asks for what only AWS knows
 * (`Fn::ValueOf`) can't be judged: it gives a warning.
 */
export function evaluateRules(template: Template, known: Omit<Known, "conditions">): readonly Diagnostic[] {
  const all: Known = { ...known, resource: () => undefined, conditions: new Map() };
  return [...template.rules.values()].flatMap((rule) => judge(rule, all));
}

function judge(rule: RuleDeclaration, known: Known): readonly Diagnostic[] {
  const applies = rule.condition === undefined ? true : truth(rule.condition, known);
  if (applies === undefined) return [unjudged(rule)];
  if (!applies) return [];
  return rule.assertions.flatMap((assertion, index) => {
    const holds = truth(assertion.assert, known);
    if (holds === undefined) return [unjudged(rule)];
    return holds ? [] : [failed(rule, assertion, index)];
  });
}

/** Undefined when nobody can tell. */
function truth(expression: Expression, known: Known): boolean | undefined {
  const evaluation = evaluateExpression(expression, known);
  return evaluation.kind === "value" ? evaluation.value === true : undefined;
}

function failed({ name, position }: RuleDeclaration, { description }: Assertion, index: number): Diagnostic {
  const message = `Template error: Rule ${name} failed: ${description ?? `assertion ${index + 1} doesn't hold`}`;
  return {
    code: "RuleFailed",
    severity: "error",
    message,
    path: `/Rules/${name}/Assertions/${index}`,
    position,
  };
}

function unjudged({ name, position }: RuleDeclaration): Diagnostic {
  const message = `The rule ${name} is not checked: it asks for what only AWS knows.`;
  return { code: "IgnoredSection", severity: "warning", message, path: `/Rules/${name}`, position };
}
