import type { Diagnostic, Parsed } from "./diagnostic.ts";
import type { DiagnosticCode } from "./diagnostic-codes.ts";
import { matchesPattern } from "./java-pattern.ts";
import type { ParameterValue } from "./known.ts";
import { maxParameterBytes } from "./limits.ts";
import { isListType, isNumberType, isSsmValue } from "./parameter-types.ts";

import type { ParameterDeclaration, Template } from "./template.ts";
import { Sensitive, type Value } from "./value.ts";

/**
 * What a caller says of one parameter.
 * - `value`: its value as text; a list has commas.
 * - `previous`: the value in force (`UsePreviousValue`).
 * - `absent`: it is named without a value.
 */
export type ParameterInput =
  | { readonly kind: "value"; readonly value: string }
  | { readonly kind: "previous" }
  | { readonly kind: "absent" };

/**
 * The values of a template's parameters: given ones, else defaults. Checks them against their declarations
 * (fact 116). `previous` are the values in force, for an update.
 *
 * A parameter whose type is `AWS::SSM::Parameter::Value<…>` gets the name of the SSM parameter; what it names is
 * put in its place by `resolveSsmParameters`.
 */
export function resolveParameters(
  template: Pick<Template, "parameters">,
  given: ReadonlyMap<string, ParameterInput>,
  previous?: ReadonlyMap<string, ParameterValue>,
): Parsed<ReadonlyMap<string, ParameterValue>> {
  const found = [...template.parameters.values()].map((declaration) =>
    resolve(declaration, given.get(declaration.name), previous),
  );
  const diagnostics = [
    ...unknownParameters(template, given),
    ...missingParameters(template, found),
    ...found.flatMap((each) => (each.kind === "wrong" ? [each.diagnostic] : [])),
  ];
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  const values = found.flatMap((each): [string, ParameterValue][] =>
    each.kind === "value" ? [[each.name, each.value]] : [],
  );
  return { ok: true, value: new Map(values), diagnostics: [] };
}

type Found =
  | { readonly kind: "value"; readonly name: string; readonly value: ParameterValue }
  | { readonly kind: "missing"; readonly name: string }
  | { readonly kind: "wrong"; readonly name: string; readonly diagnostic: Diagnostic };

function resolve(
  declaration: ParameterDeclaration,
  input: ParameterInput | undefined,
  previous: ReadonlyMap<string, ParameterValue> | undefined,
): Found {
  const { name } = declaration;
  if (input?.kind === "previous") return fromPrevious(declaration, previous?.get(name));
  const text = input?.kind === "value" ? input.value : declaration.defaultValue;
  if (text === undefined) {
    if (input === undefined) return { kind: "missing", name };
    return wrong(
      declaration,
      "MissingParameterValue",
      `Parameter ${name} should either have input value or default value`,
    );
  }
  const fault = faultOf(text, declaration);
  if (fault !== undefined) return wrong(declaration, "InvalidParameterValue", fault);
  return { kind: "value", name, value: { value: valueOf(text, declaration), noEcho: declaration.noEcho } };
}

// A template may turn NoEcho on or off for a value that stays (fact 105). What an SSM parameter holds is asked again.
function fromPrevious(declaration: ParameterDeclaration, previous: ParameterValue | undefined): Found {
  const { name, noEcho } = declaration;
  if (previous === undefined) return { kind: "missing", name };
  const value = previous.ssmName ?? previous.value;
  const plain = value instanceof Sensitive ? value.reveal() : value;
  return { kind: "value", name, value: { value: noEcho ? new Sensitive(plain) : plain, noEcho } };
}

/** The value that a parameter's text stands for: itself, or its parts when the type is a list. */
export function parameterValue(text: string, type: string): Value {
  return isListType(type) ? text.split(",").map((part) => part.trim()) : text;
}

function valueOf(text: string, { type, noEcho }: ParameterDeclaration): Value {
  const value = isSsmValue(type) ? text : parameterValue(text, type);
  return noEcho ? new Sensitive(value) : value;
}

function wrong(declaration: ParameterDeclaration, code: DiagnosticCode, message: string): Found {
  const { name } = declaration;
  return { kind: "wrong", name, diagnostic: diagnostic(code, message, declaration) };
}

function diagnostic(code: DiagnosticCode, message: string, declaration?: ParameterDeclaration): Diagnostic {
  if (declaration === undefined) return { code, severity: "error", message, path: "/Parameters" };
  const { name, position } = declaration;
  return { code, severity: "error", message, path: `/Parameters/${name}`, position };
}

function unknownParameters(
  template: Pick<Template, "parameters">,
  given: ReadonlyMap<string, ParameterInput>,
): readonly Diagnostic[] {
  const unknown = [...given.keys()].filter((name) => !template.parameters.has(name));
  if (unknown.length === 0) return [];
  return [diagnostic("UnknownParameter", `Parameters: [${unknown.join(", ")}] do not exist in the template`)];
}

function missingParameters(
  template: Pick<Template, "parameters">,
  found: readonly Found[],
): readonly Diagnostic[] {
  const missing = found.flatMap((each) => (each.kind === "missing" ? [each.name] : []));
  const [first] = missing;
  if (first === undefined) return [];
  const message = `Parameters: [${missing.join(", ")}] must have values`;
  return [diagnostic("MissingParameterValue", message, template.parameters.get(first))];
}

/** Why a text is no value for a parameter; undefined when it is one. */
function faultOf(text: string, declaration: ParameterDeclaration): string | undefined {
  const { name, type, constraintDescription } = declaration;
  if (new TextEncoder().encode(text).length > maxParameterBytes) {
    return `Parameter '${name}' must not be longer than ${maxParameterBytes} bytes`;
  }
  // What an SSM parameter holds is known only later; constraints are about the name.
  const parts = isListType(type) && !isSsmValue(type) ? text.split(",").map((part) => part.trim()) : [text];
  if (isNumberType(type) && !isSsmValue(type) && !parts.every(isNumber)) {
    return type === "Number"
      ? `Parameter '${name}' must be a number.`
      : `Parameter '${name}' must be a list of numbers.`;
  }
  const fault = parts.map((part) => constraintFault(part, declaration)).find((each) => each !== undefined);
  if (fault === undefined) return undefined;
  return constraintDescription === undefined
    ? `Parameter '${name}' ${fault}`
    : `Parameter '${name}' failed to satisfy constraint: ${constraintDescription}`;
}

function isNumber(text: string): boolean {
  return /^\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$/.test(text);
}

function constraintFault(text: string, declaration: ParameterDeclaration): string | undefined {
  const { allowedValues, allowedPattern, type } = declaration;
  if (allowedValues !== undefined && !allowedValues.includes(text)) return `must be one of AllowedValues`;
  if (allowedPattern !== undefined && matchesPattern(allowedPattern, text) === false)
    return `must match pattern ${allowedPattern}`;
  return isNumberType(type) ? rangeFault(Number(text), declaration) : lengthFault(text, declaration);
}

function rangeFault(value: number, { minValue, maxValue }: ParameterDeclaration): string | undefined {
  if (minValue !== undefined && value < minValue) return `must be a number not less than ${minValue}`;
  if (maxValue !== undefined && value > maxValue) return `must be a number not greater than ${maxValue}`;
  return undefined;
}

function lengthFault(text: string, { minLength, maxLength }: ParameterDeclaration): string | undefined {
  const length = Array.from(text).length;
  if (minLength !== undefined && length < minLength) return `must contain at least ${minLength} characters`;
  if (maxLength !== undefined && length > maxLength) return `must contain at most ${maxLength} characters`;
  return undefined;
}

/** Is a fault about a value that there is, rather than about one that is missing? */
export function isParameterFault({ code }: Diagnostic): boolean {
  return code === ("InvalidParameterValue" satisfies DiagnosticCode);
}
