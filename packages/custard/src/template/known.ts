import type { Value } from "./value.ts";

/** A parameter's value in force; NoEcho values are `Sensitive`. */
export interface ParameterValue {
  readonly value: Value;
  readonly noEcho: boolean;
  /** The SSM parameter whose value this is (`AWS::SSM::Parameter::Value<…>`); shown as the parameter's value. */
  readonly ssmName?: string;
}

/** The stack's identity, as the pseudo parameters show it. */
export interface Pseudo {
  readonly accountId: string;
  readonly region: string;
  readonly partition: string;
  readonly urlSuffix: string;
  readonly stackId: string;
  readonly stackName: string;
  readonly notificationArns: readonly string[];
}

/** What an attribute look-up finds. A failure's message is complete, in AWS's words. */
export type Attribute =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "failed"; readonly message: string };

/** A resource as references see it. */
export interface KnownResource {
  readonly ref: Value;
  attribute(name: string): Attribute;
}

/** Everything that evaluation may know. It asks for nothing else and does no I/O. */
export interface Known {
  readonly pseudo: Pseudo;
  readonly parameters: ReadonlyMap<string, ParameterValue>;
  /** Values of conditions, from `evaluateConditions`. */
  readonly conditions: ReadonlyMap<string, boolean>;
  /** Exported values of the account and region that are known so far, by export name. */
  readonly imports: ReadonlyMap<string, Value>;
  /** Undefined while a resource isn't there (yet). */
  resource(logicalId: string): KnownResource | undefined;
}

/** Something that evaluation needs to be told before it can give a value. */
export type Need =
  | { readonly kind: "resource"; readonly logicalId: string }
  | { readonly kind: "import"; readonly name: string };

/** What evaluating an expression gives. */
export type Evaluation<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "failed"; readonly message: string; readonly path: string }
  | { readonly kind: "needs"; readonly needs: readonly Need[] };
