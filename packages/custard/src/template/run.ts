/** How expressions are evaluated, whatever functions they call. */
import type { Json } from "@custard/provider/protocol";
import { unresolved, type Expression, type Operation, type Result, type Run } from "./expression.ts";
import { isSensitive, reveal, Sensitive, type Value } from "./value.ts";

/** The value of an expression; items and keys that are `AWS::NoValue` are left out (fact 13). */
export function evaluate(expression: Expression, run: Run): Result {
  switch (expression.kind) {
    case "constant":
      return expression.value;
    case "list":
      return evaluateList(expression.items, run);
    case "map":
      return evaluateMap(expression.entries, run);
    case "call":
      return expression.evaluate(run);
  }
}

// All parts are evaluated even when one can't be, so that all needs are known at once.
function evaluateList(items: readonly Expression[], run: Run): Result {
  const values: Value[] = [];
  let complete = true;
  for (const item of items) {
    const value = evaluate(item, run);
    if (value === unresolved) complete = false;
    else if (value !== undefined) values.push(value);
  }
  return complete ? values : unresolved;
}

function evaluateMap(entries: readonly (readonly [string, Expression])[], run: Run): Result {
  const values: [string, Value][] = [];
  let complete = true;
  for (const [key, expression] of entries) {
    const value = evaluate(expression, run);
    if (value === unresolved) complete = false;
    else if (value !== undefined) values.push([key, value]);
  }
  return complete ? Object.fromEntries(values) : unresolved;
}

/**
 * Computes from the plain values of operands; what comes out is sensitive when one of them is (V2).
 * `undefined` among them is `AWS::NoValue`.
 */
export function compute(
  run: Run,
  operands: readonly Expression[],
  work: (values: readonly (Json | undefined)[]) => Result,
): Result {
  const values = operands.map((operand) => evaluate(operand, run));
  if (values.includes(unresolved)) return unresolved;
  let sensitive = false;
  const plain = values.map((value) => {
    if (value === undefined || value === unresolved) return undefined;
    if (!isSensitive(value)) return reveal(value);
    sensitive = true;
    return reveal(value);
  });
  return marked(work(plain), sensitive);
}

/** What a decision is made of: the plain values of its operands. */
export type Decide = (values: readonly (Json | undefined)[]) => boolean;

/** An operation that gives true or false. That is no secret, even when it looks at one: it shows in what there is. */
export function decision(operands: readonly Expression[], decide: Decide): Operation {
  return {
    operands,
    references: [],
    evaluate: (run) => {
      const result = compute(run, operands, decide);
      return result instanceof Sensitive ? result.reveal() : result;
    },
  };
}

/** The result, with the sensitive mark when it must have it. */
export function marked(result: Result, sensitive: boolean): Result {
  if (!sensitive || result === undefined || result === unresolved || result instanceof Sensitive)
    return result;
  return new Sensitive(result);
}

/** The text of a scalar; undefined for anything else. */
export function text(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** The integer that a value is or writes; undefined for anything else. */
export function integer(value: Json | undefined): number | undefined {
  const written = text(value)?.trim();
  return written !== undefined && /^-?[0-9]{1,15}$/.test(written) ? Number(written) : undefined;
}

/** Is it a list? */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
