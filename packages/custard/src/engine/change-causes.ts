/** Why a property would change: what it refers to that changes itself (fact 126). */
import { walkCalls, type Call, type Expression } from "../template/expression.ts";
import { textOf } from "../template/source-node.ts";
import { equalValues } from "../template/value.ts";
import type { ChangeDetail } from "./change-set.ts";
import type { LogicalId } from "./ids.ts";
import type { Planning } from "./planning.ts";

type Cause = Pick<ChangeDetail, "source" | "evaluation" | "cause">;

/** The causes in an expression, each once, in the order of the text. */
export function causesOf(expression: Expression | undefined, planning: Planning): readonly Cause[] {
  const found = new Map<string, Cause>();
  if (expression === undefined) return [];
  walkCalls(expression, (call) => {
    for (const cause of causesIn(call, planning)) found.set(JSON.stringify(cause), cause);
  });
  return [...found.values()];
}

function causesIn(call: Call, planning: Planning): readonly Cause[] {
  return call.references.flatMap(({ kind, name }): readonly Cause[] => {
    switch (kind) {
      case "condition":
        return [];
      case "parameter":
      case "ref":
        return [...byParameter(name, planning), ...byReference(name, planning)];
      case "attribute":
        return byAttribute(call, name, planning);
    }
  });
}

function byParameter(name: string, { stack, next }: Planning): readonly Cause[] {
  const [before, after] = [stack.definition.parameters.get(name), next.parameters.get(name)];
  if (before === undefined || after === undefined || equalValues(before.value, after.value)) return [];
  return [{ source: "ParameterReference", evaluation: "Static", cause: name }];
}

function byReference(name: string, { changes }: Planning): readonly Cause[] {
  const change = changes.get(name as LogicalId);
  if (change?.action !== "Modify" || change.replacement === "False") return [];
  const evaluation = change.replacement === "True" ? "Static" : "Dynamic";
  return [{ source: "ResourceReference", evaluation, cause: name }];
}

function byAttribute(call: Call, name: string, { changes }: Planning): readonly Cause[] {
  const change = changes.get(name as LogicalId);
  if (change?.action !== "Modify") return [];
  const evaluation = change.replacement === "True" ? "Static" : "Dynamic";
  return attributesOf(call, name).map((attribute) => ({
    source: "ResourceAttribute",
    evaluation,
    cause: attribute === undefined ? name : `${name}.${attribute}`,
  }));
}

/** The attributes of a resource that a call names: Fn::GetAtt's second part, or `${Name.Attribute}` in a text. */
function attributesOf(call: Call, name: string): readonly (string | undefined)[] {
  const [operand] = call.operands;
  const text =
    textOf(call.argument) ?? (call.argument.kind === "list" ? textOf(call.argument.items[0]) : undefined);
  const inText = [...(text ?? "").matchAll(/\$\{([^.}!]+)\.([^}]+)\}/g)].filter(
    ([, first]) => first === name,
  );
  if (inText.length > 0) return inText.map(([, , attribute]) => attribute);
  return operand?.kind === "constant" && typeof operand.value === "string" ? [operand.value] : [undefined];
}
