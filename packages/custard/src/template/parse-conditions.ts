import type { Expression } from "./expression.ts";
import { parseCondition, parseExpression, type Parsing, type ScopedParsing } from "./parse-expression.ts";
import { membersOf, sectionEntries, valueOf, isNull, type Member, type Section } from "./parse-section.ts";
import { textOf, type MapNode, type SourceNode } from "./source-node.ts";
import type { Assertion, RuleDeclaration } from "./template.ts";

const conditions: Section = { key: "Conditions", noun: "Condition", code: "InvalidCondition" };
const rules: Section = { key: "Rules", noun: "Rule", code: "InvalidRule" };

/** The expressions of `Conditions`, each of which gives true or false. */
export function parseConditions(root: MapNode, parsing: Parsing): ReadonlyMap<string, Expression> {
  const parsed = new Map<string, Expression>();
  for (const entry of sectionEntries(root, conditions, parsing.faults)) {
    const path = `/Conditions/${entry.key}`;
    if (isNull(entry.value)) continue;
    const scoped = { ...parsing, scope: "Conditions" as const };
    const before = parsing.faults.count();
    const expression = parseCondition(entry.value, path, scoped);
    if (expression !== undefined) parsed.set(entry.key, expression);
    else if (parsing.faults.count() === before) refuseCondition(entry.value, path, scoped);
  }
  return parsed;
}

// A function that gives no boolean has its own faults to tell; what is no function at all is told as such.
function refuseCondition(node: SourceNode, path: string, parsing: ScopedParsing): void {
  const { faults } = parsing;
  const before = faults.count();
  parseExpression(node, path, parsing);
  if (faults.count() > before) return;
  const message =
    "Template format error: Every Conditions member must be a condition function: Fn::And, Fn::Equals, Fn::Not, Fn::Or or Condition.";
  faults.report({ code: conditions.code, message, path, offset: node.offset });
}

/** The declarations of `Rules`. Keys that a rule doesn't know are left alone, as CloudFormation leaves them. */
export function parseRules(root: MapNode, parsing: Parsing): ReadonlyMap<string, RuleDeclaration> {
  const { faults } = parsing;
  return new Map(
    membersOf(root, rules, faults).map((member) => {
      return [member.name, parseRule(member, parsing)];
    }),
  );
}

function parseRule(member: Member, parsing: Parsing): RuleDeclaration {
  const node = valueOf(member.node, "RuleCondition");
  const path = `${member.path}/RuleCondition`;
  const condition = node && parseDecision(node, path, parsing);
  return {
    name: member.name,
    ...(condition !== undefined && { condition }),
    assertions: parseAssertions(member, parsing),
    position: parsing.lines.position(member.offset),
  };
}

function parseAssertions(member: Member, parsing: Parsing): readonly Assertion[] {
  const node = valueOf(member.node, "Assertions");
  const path = `${member.path}/Assertions`;
  if (node?.kind !== "list") {
    const message = `Template format error: Rule ${member.name} must have a list of Assertions.`;
    parsing.faults.report({ code: rules.code, message, path, offset: node?.offset ?? member.offset });
    return [];
  }
  return node.items.flatMap((item, index) => parseAssertion(item, `${path}/${index}`, parsing) ?? []);
}

function parseAssertion(node: SourceNode, path: string, parsing: Parsing): Assertion | undefined {
  const assert = node.kind === "map" ? valueOf(node, "Assert") : undefined;
  if (node.kind !== "map" || assert === undefined) {
    const message = "Template format error: Every Assertions member must contain an Assert member.";
    parsing.faults.report({ code: rules.code, message, path, offset: node.offset });
    return undefined;
  }
  const expression = parseDecision(assert, `${path}/Assert`, parsing);
  const description = textOf(valueOf(node, "AssertDescription"));
  return expression && { assert: expression, ...(description !== undefined && { description }) };
}

function parseDecision(node: SourceNode, path: string, parsing: Parsing): Expression | undefined {
  const before = parsing.faults.count();
  const expression = parseCondition(node, path, { ...parsing, scope: "Rules" });
  if (expression === undefined && parsing.faults.count() === before) {
    const message = "Template format error: Rules must be made of functions that give true or false.";
    parsing.faults.report({ code: rules.code, message, path, offset: node.offset });
  }
  return expression;
}
