import type { ParameterInput } from "./parameters.ts";
import { isListType, isNumberType } from "./parameter-types.ts";
import type { ParameterDeclaration, Template } from "./template.ts";

/** Inputs for parameters that have no default, so that a template can be looked at without its user. */
export function exampleParameters(
  template: Pick<Template, "parameters">,
): ReadonlyMap<string, ParameterInput> {
  const missing = [...template.parameters.values()].filter(({ defaultValue }) => defaultValue === undefined);
  return new Map(
    missing.map((declaration) => [declaration.name, { kind: "value", value: exampleOf(declaration) }]),
  );
}

function exampleOf({ type, allowedValues, minValue, minLength }: ParameterDeclaration): string {
  const [allowed] = allowedValues ?? [];
  if (allowed !== undefined) return allowed;
  if (isNumberType(type)) return String(minValue ?? 1);
  return isListType(type) ? "ExampleA,ExampleB" : "Example".padEnd(minLength ?? 0, "e");
}
