/**
 * The model of a template, as the engine sees it: what was declared, not yet evaluated.
 * `parse-template.ts` makes it, `evaluate.ts` evaluates its expressions.
 */
import type { Json } from "@custard/provider/protocol";
import type { Expression } from "./expression.ts";
import type { Position } from "./diagnostic.ts";

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
  readonly position: Position;
}

/** One entry of `Outputs`. */
export interface OutputDeclaration {
  readonly name: string;
  readonly description?: string;
  readonly condition?: string;
  readonly value: Expression;
  readonly exportName?: Expression;
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
}

/** A template that was parsed and validated. */
export interface Template {
  /** The text it came from, as given. */
  readonly body: string;
  readonly description?: string;
  readonly metadata?: Json;
  readonly parameters: ReadonlyMap<string, ParameterDeclaration>;
  readonly mappings: ReadonlyMap<string, Json>;
  readonly conditions: ReadonlyMap<string, Expression>;
  readonly resources: ReadonlyMap<string, ResourceDeclaration>;
  readonly outputs: ReadonlyMap<string, OutputDeclaration>;
}
