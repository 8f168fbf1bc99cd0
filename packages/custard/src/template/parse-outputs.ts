import { maxOutputs } from "./limits.ts";
import { dependsOnDeployment, parseExpression, type Parsing } from "./parse-expression.ts";
import { checkKeys, membersOf, valueOf, type Member, type Section } from "./parse-section.ts";
import type { Expression } from "./expression.ts";
import { entryOf, textOf, type MapNode } from "./source-node.ts";
import type { OutputDeclaration } from "./template.ts";
import { isValueList } from "./value.ts";

const section: Section = { key: "Outputs", noun: "Output", code: "InvalidOutput", most: maxOutputs };

const keys: ReadonlySet<string> = new Set(["Value", "Description", "Condition", "Export"]);

/** The declarations of `Outputs`. */
export function parseOutputs(root: MapNode, parsing: Parsing): ReadonlyMap<string, OutputDeclaration> {
  const { faults } = parsing;
  const outputs = new Map<string, OutputDeclaration>();
  for (const member of membersOf(root, section, faults)) {
    checkKeys(member, keys, { faults, noun: "output", code: section.code });
    outputs.set(member.name, parseOutput(member, parsing));
  }
  return outputs;
}

function parseOutput(member: Member, parsing: Parsing): OutputDeclaration {
  const description = readText(member, "Description", parsing);
  const condition = readText(member, "Condition", parsing);
  const exportName = readExport(member, parsing);
  return {
    name: member.name,
    value: readValue(member, parsing),
    ...(description !== undefined && { description }),
    ...(condition !== undefined && { condition }),
    ...(exportName !== undefined && { exportName }),
    position: parsing.lines.position(member.offset),
  };
}

function readValue(member: Member, parsing: Parsing): Expression {
  const entry = entryOf(member.node, "Value");
  if (entry === undefined) {
    refuse(member, "Template format error: Every Outputs member must contain a Value object", parsing);
    return { kind: "constant", value: "" };
  }
  const value = parseExpression(entry.value, `${member.path}/Value`, { ...parsing, scope: "Outputs" });
  const shape = shapeOf(value);
  if (shape !== undefined) {
    const message = `Template format error: Output ${member.name} is malformed. The Value field of every Outputs member must evaluate to a String and not a ${shape}.`;
    refuse(member, message, parsing);
  }
  return value;
}

function shapeOf(value: Expression): "List" | "Map" | undefined {
  if (value.kind === "list") return "List";
  if (value.kind === "map") return "Map";
  if (value.kind !== "constant" || typeof value.value !== "object" || value.value === null) return undefined;
  return isValueList(value.value) ? "List" : "Map";
}

function readText(member: Member, key: string, parsing: Parsing): string | undefined {
  const node = valueOf(member.node, key);
  const text = textOf(node);
  if (node !== undefined && text === undefined)
    refuse(member, `Template format error: Every ${key} member must be a string.`, parsing);
  return text;
}

function readExport(member: Member, parsing: Parsing): Expression | undefined {
  const node = valueOf(member.node, "Export");
  if (node === undefined) return undefined;
  const name = node.kind === "map" ? valueOf(node, "Name") : undefined;
  if (name !== undefined) {
    const expression = parseExpression(name, `${member.path}/Export/Name`, {
      ...parsing,
      scope: "ExportName",
    });
    if (dependsOnDeployment(expression, parsing)) {
      const message = `Template format error: Output ${member.name} is malformed. The Name field of Export must not depend on any resources, imported values, or Fn::GetAZs.`;
      refuse(member, message, parsing);
    }
    return expression;
  }
  refuse(
    member,
    "Template format error: The Name field of every Export member must be specified and consist only of alphanumeric characters, colons, or hyphens.",
    parsing,
  );
  return undefined;
}

function refuse(member: Member, message: string, { faults }: Parsing): void {
  faults.report({ code: section.code, message, path: member.path, offset: member.offset });
}
