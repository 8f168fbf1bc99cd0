import type { DiagnosticCode } from "./diagnostic-codes.ts";
import type { Expression, Operation } from "./expression.ts";
import type { Mappings } from "./template.ts";
import type { SourceNode } from "./source-node.ts";

/** The part of the template in which an expression stands. */
export type Scope = "Resources" | "Outputs" | "ExportName" | "Conditions" | "Rules";

/** One intrinsic function: all that is known of it. */
export interface Intrinsic {
  /** Where it may stand. */
  readonly scopes: readonly Scope[];
  /** Only where a condition is wanted, e.g. within `Fn::And`: its value is true or false. */
  readonly boolean?: true;
  /** Only with `Transform: AWS::LanguageExtensions`. */
  readonly extension?: true;
  /** Its value comes from outside the template: a name that exists before the stack may not be made of it. */
  readonly external?: true;
  /** Checks the argument's shape; undefined after reporting what is wrong with it. */
  parse(argument: SourceNode, site: Site): Operation | undefined;
}

/** The place of one call, and what its entry may ask of the parser. */
export interface Site {
  readonly scope: Scope;
  /** Ends with the function's name. */
  readonly path: string;
  readonly offset: number;
  readonly mappings: Mappings;
  /** Does the template use `AWS::LanguageExtensions`? */
  readonly extensions: boolean;
  /** The names of the template's parameters of a type. */
  parametersOfType(type: string): readonly string[];
  /** Does it depend on what only a deployment knows? */
  dependsOnDeployment(expression: Expression): boolean;
  /** Parses a part of the argument; `segment` is its place in the path, empty for the whole argument. */
  expression(node: SourceNode, segment: string | number): Expression;
  /** Parses a part that must be a condition; undefined after reporting, or when it is no condition. */
  condition(node: SourceNode, segment: string | number): Expression | undefined;
  /** Reports that this call is wrong. */
  refuse(message: string, code?: DiagnosticCode): undefined;
}
