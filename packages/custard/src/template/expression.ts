/**
 * Expressions: what stands in a template where a value is wanted.
 *
 * Invariants
 * X1: an expression without an intrinsic function in it is one constant, however large.
 * X2: all that is known of one intrinsic function is its entry in the table of `intrinsics.ts`; a call carries
 *     what that entry made of it, and nothing else asks for its name.
 */
import type { Known, Need } from "./known.ts";
import type { SourceNode } from "./source-node.ts";
import type { Value } from "./value.ts";

/** A value that stands there as it is. */
interface Constant {
  readonly kind: "constant";
  readonly value: Value;
}

/** A list, of which at least one item isn't constant. */
interface ListExpression {
  readonly kind: "list";
  readonly items: readonly Expression[];
}

/** A map, of which at least one value isn't constant. Keys are unique and may be anything, `__proto__` too. */
interface MapExpression {
  readonly kind: "map";
  readonly entries: readonly (readonly [key: string, value: Expression])[];
}

/** A call of an intrinsic function. */
export interface Call extends Operation {
  readonly kind: "call";
  readonly name: string;
  /** The argument as written, to show the call where it can't be evaluated. */
  readonly argument: SourceNode;
  /** `/Resources/X/Properties/Y/Fn::GetAtt`. */
  readonly path: string;
  readonly offset: number;
}

export type Expression = Constant | ListExpression | MapExpression | Call;

/** What an intrinsic function's entry makes of its argument. */
export interface Operation {
  /** Expressions that it evaluates, or may evaluate. */
  readonly operands: readonly Expression[];
  /** What it refers to by itself, without its operands. */
  readonly references: readonly Reference[];
  /** Those of the operands that count when conditions have these values; all of them, without it. */
  readonly taken?: (conditions: ReadonlyMap<string, boolean>) => readonly Expression[];
  /** Its value. Does not throw; reports to `run`. */
  readonly evaluate: (run: Run) => Result;
}

/** Something of the template, by name. */
export interface Reference {
  /** `ref`: a parameter, pseudo parameter or resource. `attribute`: a resource. */
  readonly kind: "ref" | "attribute" | "condition" | "parameter";
  readonly name: string;
  readonly path: string;
  readonly offset: number;
  /** What CloudFormation says when there is no such thing, where it has a text of its own for that. */
  readonly missing?: string;
}

/** What evaluation gives instead of a value when something is missing or wrong. */
export const unresolved: unique symbol = Symbol("unresolved");

/** `undefined` is `AWS::NoValue`; `unresolved` comes after a need or a failure was reported. */
export type Result = Value | undefined | typeof unresolved;

/** One evaluation: what it may know, and where it reports. */
export interface Run {
  readonly known: Known;
  need(need: Need): typeof unresolved;
  /** `message` is complete, in AWS's words. */
  fail(path: string, message: string): typeof unresolved;
}

/** Calls `visit` for each call in the expression, outer ones first. */
export function walkCalls(expression: Expression, visit: (call: Call) => void): void {
  walk(expression, (call) => {
    visit(call);
    return call.operands;
  });
}

/** `walkCalls` without what conditions switch off. */
export function walkTaken(
  expression: Expression,
  conditions: ReadonlyMap<string, boolean>,
  visit: (call: Call) => void,
): void {
  walk(expression, (call) => {
    visit(call);
    return call.taken?.(conditions) ?? call.operands;
  });
}

function walk(expression: Expression, enter: (call: Call) => readonly Expression[]): void {
  switch (expression.kind) {
    case "constant":
      return;
    case "list":
      for (const item of expression.items) walk(item, enter);
      return;
    case "map":
      for (const [, value] of expression.entries) walk(value, enter);
      return;
    case "call":
      for (const operand of enter(expression)) walk(operand, enter);
  }
}

/** All that an expression refers to, in all branches. */
export function referencesOf(expression: Expression): readonly Reference[] {
  const found: Reference[] = [];
  walkCalls(expression, (call) => found.push(...call.references));
  return found;
}
