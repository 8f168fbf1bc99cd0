/**
 * The model of a template, as the engine sees it: what was declared, not yet evaluated.
 * `parse-template.ts` makes it, `evaluate.ts` evaluates its expressions.
 */
import type { Json } from "@custard/provider/protocol";
import type { Expression } from "./expression.ts";
import type { Position } from "./diagnostic.ts";
import type { Value } from "./value.ts";

/** What happens to a resource when it leaves its stack. Source: DeletionPolicy attribute reference, facts 82 and 83. */
export type DeletionPolicy = "Delete" | "Retain" | "RetainExceptOnCreate" | "Snapshot";

/** What happens to the old physical resource of a replacement. */
export type UpdateReplacePolicy = "Delete" | "Retain" | "Snapshot";

/** One entry of `Resources`. */
export interface ResourceDeclaration {
  readonly logicalId: string;
  readonly type: string;
  /** Name of the condition that decides whether it exists. */
  readonly condition?: string;
  readonly dependsOn: readonly string[];
  readonly properties: Expression;
  readonly deletionPolicy: DeletionPolicy;
  readonly updateReplacePolicy: UpdateReplacePolicy;
  readonly metadata?: Expression;
  readonly creationPolicy?: Expression;
  readonly updatePolicy?: Expression;
  readonly position: Position;
}

/** One assertion of a rule. */
export interface Assertion {
  readonly assert: Expression;
  readonly description?: string;
}

/** One entry of `Rules`. */
export interface RuleDeclaration {
  readonly name: string;
  /** When the rule applies; always, without it. */
  readonly condition?: Expression;
  readonly assertions: readonly Assertion[];
  readonly position: Position;
}

/** One entry of `Outputs`. */
export interface OutputDeclaration {
  readonly name: string;
  readonly description?: string;
  readonly condition?: string;
  readonly value: Expression;
  readonly exportName?: Expression;
  readonly position: Position;
}

/** One entry of `Parameters`. */
export interface ParameterDeclaration {
  readonly name: string;
  readonly type: string;
  readonly defaultValue?: string;
  readonly description?: string;
  readonly noEcho: boolean;
  readonly allowedValues?: readonly string[];
  readonly allowedPattern?: string;
  readonly constraintDescription?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minValue?: number;
  readonly maxValue?: number;
  readonly position: Position;
}

/** A mapping's values: text or list of texts by attribute, by key. */
export type Mapping = ReadonlyMap<string, ReadonlyMap<string, Value>>;

/** The mappings of a template by name. */
export type Mappings = ReadonlyMap<string, Mapping>;

/** A template that was parsed and validated. */
export interface Template {
  /** The text it came from. After transforms, the processed template as JSON; `parseTemplate` reads it to the same template. */
  readonly body: string;
  /** The text as given, when transforms have changed it. */
  readonly original?: string;
  /**
   * It has transforms that must run first (`processTemplate`): only its description, metadata, transforms and
   * parameters are told here.
   */
  readonly unprocessed: boolean;
  readonly description?: string;
  readonly metadata?: Json;
  /** Names of the transforms that it declares, in order. */
  readonly transforms: readonly string[];
  readonly parameters: ReadonlyMap<string, ParameterDeclaration>;
  readonly mappings: Mappings;
  readonly rules: ReadonlyMap<string, RuleDeclaration>;
  readonly conditions: ReadonlyMap<string, Expression>;
  readonly resources: ReadonlyMap<string, ResourceDeclaration>;
  readonly outputs: ReadonlyMap<string, OutputDeclaration>;
}
