import type { Parsed } from "./diagnostic.ts";
import type { ParameterValue } from "./known.ts";
import { isSsmValue } from "./parameter-types.ts";
import { parameterValue } from "./parameters.ts";
import type { Template } from "./template.ts";
import { Sensitive, type Value } from "./value.ts";

/** Names of the SSM parameters that a template's parameters name and that aren't resolved yet, each once. */
export function ssmNames(
  template: Pick<Template, "parameters">,
  values: ReadonlyMap<string, ParameterValue>,
): readonly string[] {
  return [...new Set(named(template, values).map(({ ssmName }) => ssmName))];
}

/**
 * Puts what the SSM parameters hold in the place of their names. `found` has the values by name; a name that isn't in it
 * is refused. A value in force that was resolved before stays (`previous` in `resolveParameters` gives it so).
 */
export function resolveSsmParameters(
  template: Pick<Template, "parameters">,
  values: ReadonlyMap<string, ParameterValue>,
  found: ReadonlyMap<string, string>,
): Parsed<ReadonlyMap<string, ParameterValue>> {
  const open = named(template, values);
  const missing = [...new Set(open.flatMap(({ ssmName }) => (found.has(ssmName) ? [] : [ssmName])))];
  if (missing.length > 0) {
    const message = `Unable to fetch parameters [${missing.join(",")}] from parameter store for this account.`;
    return {
      ok: false,
      diagnostics: [{ code: "MissingParameterValue", severity: "error", message, path: "/Parameters" }],
    };
  }
  const resolved = new Map(values);
  for (const { name, ssmName, type, noEcho } of open) {
    const value = parameterValue(found.get(ssmName) ?? "", type);
    resolved.set(name, { value: noEcho ? new Sensitive(value) : value, noEcho, ssmName });
  }
  return { ok: true, value: resolved, diagnostics: [] };
}

interface Named {
  readonly name: string;
  readonly type: string;
  readonly noEcho: boolean;
  readonly ssmName: string;
}

function named(
  template: Pick<Template, "parameters">,
  values: ReadonlyMap<string, ParameterValue>,
): readonly Named[] {
  return [...template.parameters.values()].flatMap(({ name, type, noEcho }) => {
    const value = values.get(name);
    if (value === undefined || value.ssmName !== undefined || !isSsmValue(type)) return [];
    return [{ name, type, noEcho, ssmName: plainText(value.value) }];
  });
}

function plainText(value: Value): string {
  const plain = value instanceof Sensitive ? value.reveal() : value;
  return typeof plain === "string" ? plain : "";
}
