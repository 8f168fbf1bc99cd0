import { evaluateExpression } from "../template/evaluate.ts";
import type { Evaluation, Known } from "../template/known.ts";
import type { OutputDeclaration } from "../template/template.ts";
import { isSensitive, reveal, Sensitive, type Value } from "../template/value.ts";
import { knownForDisplay } from "./scope.ts";
import type { Output, Stack } from "./stack.ts";

type Outputs =
  | { readonly kind: "value"; readonly value: ReadonlyMap<string, Output> }
  | { readonly kind: "failed"; readonly message: string };

/** The outputs of a stack as it stands; or why they can't be had, as the stack's event says it (facts 56, 101). */
export function evaluateOutputs(stack: Stack): Outputs {
  const { template, conditions } = stack.definition;
  const known = knownForDisplay(stack);
  const outputs = new Map<string, Output>();
  for (const [name, declared] of template.outputs) {
    if (declared.condition !== undefined && conditions.get(declared.condition) !== true) continue;
    const output = evaluateOutput(declared, known);
    if (output.kind === "failed") return { kind: "failed", message: withPath(output) };
    if (output.kind === "needs")
      return { kind: "failed", message: `Unresolved dependencies in output ${name}` };
    if (output.value !== undefined) outputs.set(name, output.value);
  }
  return { kind: "value", value: outputs };
}

function evaluateOutput(declared: OutputDeclaration, known: Known): Evaluation<Output | undefined> {
  const value = evaluateExpression(declared.value, known);
  if (value.kind !== "value" || value.value === undefined) return value.kind === "value" ? nothing : value;
  const exportName =
    declared.exportName === undefined ? nothing : evaluateExpression(declared.exportName, known);
  if (exportName.kind !== "value") return exportName;
  return {
    kind: "value",
    value: {
      value: asText(value.value),
      ...(declared.description === undefined ? {} : { description: declared.description }),
      ...(exportName.value === undefined ? {} : { exportName: plainText(exportName.value) }),
    },
  };
}

const nothing = { kind: "value", value: undefined } as const;

/** Fact 101: the attribute of a native resource is named with its path; fact 56: a provider's is not. */
function withPath({ message, path }: { message: string; path: string }): string {
  return message.startsWith("Resource type ") ? `[Error] ${path}: ${message}` : message;
}

/** An output is a string; a list or map shows as JSON. */
function asText(value: Value): Value {
  const text = plainText(value);
  return isSensitive(value) ? new Sensitive(text) : text;
}

function plainText(value: Value): string {
  const plain = reveal(value);
  return typeof plain === "object" ? JSON.stringify(plain) : String(plain);
}
