/** Functions that decide: conditions, and `Fn::If`. */
import type { Expression, Operation, Result, Run } from "../expression.ts";
import { unresolved } from "../expression.ts";
import type { Intrinsic, Scope, Site } from "../intrinsic.ts";
import { decision, evaluate, text } from "../run.ts";
import { textOf, type SourceNode } from "../source-node.ts";
import { equalValues } from "../value.ts";
import type { Json } from "@custard/provider/protocol";

const deciding: readonly Scope[] = ["Conditions", "Rules"];

function conditionValue(name: string, run: Run): Result {
  // Its own evaluation has reported why it has no value.
  return run.known.conditions.get(name) ?? unresolved;
}

/** `Condition`, within conditions. */
export const condition: Intrinsic = {
  scopes: ["Conditions"],
  boolean: true,
  parse(argument, site) {
    const { path, offset } = site;
    const name = textOf(argument);
    if (name === undefined || name === "")
      return site.refuse("Template format error: Every Condition member must be a string.");
    return {
      operands: [],
      references: [{ kind: "condition", name, path, offset }],
      evaluate: (run) => conditionValue(name, run),
    };
  },
};

/** `Fn::If`. Only the branch that is taken is evaluated. */
export const ifElse: Intrinsic = {
  scopes: ["Resources", "Outputs", "ExportName", "Conditions", "Rules"],
  parse(argument, site) {
    if (argument.kind !== "list" || argument.items.length !== 3) {
      return site.refuse("Template error: Fn::If requires a list argument with three elements");
    }
    const [test, then, otherwise] = argument.items;
    const name = textOf(test);
    if (name === undefined || then === undefined || otherwise === undefined) {
      return site.refuse(
        "Template error: Fn::If requires a list argument with the first element being a condition",
      );
    }
    const branches = [site.expression(then, 1), site.expression(otherwise, 2)] as const;
    return {
      operands: branches,
      taken: (conditions) => [branches[conditions.get(name) === true ? 0 : 1]],
      references: [{ kind: "condition", name, path: site.path, offset: site.offset }],
      evaluate: (run) => {
        const holds = conditionValue(name, run);
        if (holds === unresolved) return unresolved;
        return evaluate(branches[holds === true ? 0 : 1], run);
      },
    };
  },
};

/** `Fn::Equals`: two texts, compared with case. */
export const equals: Intrinsic = {
  scopes: deciding,
  boolean: true,
  parse(argument, site) {
    const bad = "Template error: every Fn::Equals object requires a list of 2 string parameters.";
    if (argument.kind !== "list" || argument.items.length !== 2) return site.refuse(bad);
    const operands = argument.items.map((item, index) => site.expression(item, index));
    return decision(operands, ([left, right]) => equalTexts(left, right));
  },
};

function equalTexts(left: Json | undefined, right: Json | undefined): boolean {
  const leftText = text(left);
  const rightText = text(right);
  if (leftText !== undefined || rightText !== undefined) return leftText === rightText;
  return equalValues(left ?? null, right ?? null);
}

/** `Fn::Not`. */
export const not: Intrinsic = {
  scopes: deciding,
  boolean: true,
  parse(argument, site) {
    const bad = "Template error: every Fn::Not object requires one boolean parameter.";
    const operands = conditions(argument, site, { least: 1, most: 1 });
    if (operands === undefined) return site.refuse(bad);
    return decide(operands, ([value]) => !value);
  },
};

/** `Fn::And`. */
export const and: Intrinsic = {
  scopes: deciding,
  boolean: true,
  parse(argument, site) {
    const operands = conditions(argument, site, { least: 2, most: 10 });
    return operands === undefined
      ? refuseList("Fn::And", site)
      : decide(operands, (values) => values.every(Boolean));
  },
};

/** `Fn::Or`. */
export const or: Intrinsic = {
  scopes: deciding,
  boolean: true,
  parse(argument, site) {
    const operands = conditions(argument, site, { least: 2, most: 10 });
    return operands === undefined
      ? refuseList("Fn::Or", site)
      : decide(operands, (values) => values.some(Boolean));
  },
};

function refuseList(name: string, site: Site): undefined {
  return site.refuse(
    `Template error: every ${name} object requires a list of at least 2 and at most 10 boolean parameters.`,
  );
}

function conditions(
  argument: SourceNode,
  site: Site,
  count: { least: number; most: number },
): readonly Expression[] | undefined {
  if (argument.kind !== "list" || argument.items.length < count.least || argument.items.length > count.most)
    return undefined;
  const parsed = argument.items.map((item, index) => site.condition(item, index));
  return parsed.every((item) => item !== undefined) ? parsed : undefined;
}

function decide(operands: readonly Expression[], rule: (values: readonly boolean[]) => boolean): Operation {
  return {
    operands,
    references: [],
    evaluate: (run) => {
      const values = operands.map((operand) => evaluate(operand, run));
      return values.includes(unresolved) ? unresolved : rule(values.map((value) => value === true));
    },
  };
}
