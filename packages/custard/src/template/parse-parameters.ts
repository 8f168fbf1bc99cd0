import type { Faults } from "./faults.ts";
import { isPattern } from "./java-pattern.ts";
import { maxParameters } from "./limits.ts";
import type { LineIndex } from "./line-index.ts";
import { isParameterType } from "./parameter-types.ts";
import { checkKeys, membersOf, valueOf, type Member, type Section } from "./parse-section.ts";
import { textOf, textsOf, type MapNode, type SourceNode } from "./source-node.ts";
import type { ParameterDeclaration } from "./template.ts";

const section: Section = {
  key: "Parameters",
  noun: "Parameter",
  code: "InvalidParameter",
  most: maxParameters,
};

const keys: ReadonlySet<string> = new Set([
  "Type",
  "Default",
  "NoEcho",
  "Description",
  "AllowedValues",
  "AllowedPattern",
  "ConstraintDescription",
  "MinLength",
  "MaxLength",
  "MinValue",
  "MaxValue",
]);

/** The declarations of `Parameters`. */
export function parseParameters(
  root: MapNode,
  faults: Faults,
  lines: LineIndex,
): ReadonlyMap<string, ParameterDeclaration> {
  const declarations = membersOf(root, section, faults).map((member) => {
    checkKeys(member, keys, { faults, noun: "parameter", code: section.code });
    checkBounds(member, { faults, lines });
    return parseParameter(member, { faults, lines });
  });
  return new Map(declarations.map((declaration) => [declaration.name, declaration]));
}

const bounds = [
  { least: "MinLength", most: "MaxLength" },
  { least: "MinValue", most: "MaxValue" },
] as const;

function checkBounds({ name, node, path, offset }: Member, { faults }: Reader): void {
  for (const { least, most } of bounds) {
    const from = Number(textOf(valueOf(node, least)) ?? "-Infinity");
    const to = Number(textOf(valueOf(node, most)) ?? "Infinity");
    if (!(from > to)) continue;
    const message = `Template error: Parameter '${name}' ${least} must be less than ${most}.`;
    faults.report({ code: section.code, message, path, offset });
  }
}

interface Reader {
  readonly faults: Faults;
  readonly lines: LineIndex;
}

function parseParameter(member: Member, reader: Reader): ParameterDeclaration {
  const text = (key: string): string | undefined => readText(member, key, reader);
  const number = (key: string): number | undefined => readNumber(member, key, reader);
  return {
    name: member.name,
    type: readType(member, reader),
    noEcho: text("NoEcho")?.toLowerCase() === "true",
    position: reader.lines.position(member.offset),
    ...defined({
      defaultValue: text("Default"),
      description: text("Description"),
      allowedValues: readTexts(member, reader),
      allowedPattern: readPattern(member, reader),
      constraintDescription: text("ConstraintDescription"),
      minLength: number("MinLength"),
      maxLength: number("MaxLength"),
      minValue: number("MinValue"),
      maxValue: number("MaxValue"),
    }),
  };
}

/** Leaves out what is undefined. */
function defined<T extends object>(all: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function readType(member: Member, { faults }: Reader): string {
  const node = valueOf(member.node, "Type");
  const type = textOf(node);
  if (type !== undefined && isParameterType(type)) return type;
  const message =
    type === undefined
      ? "Template format error: Every Parameters object must contain a Type member."
      : `Template format error: Unrecognized parameter type: ${type}`;
  const place =
    node === undefined
      ? { path: member.path, offset: member.offset }
      : { path: `${member.path}/Type`, offset: node.offset };
  faults.report({ code: section.code, message, ...place });
  return "String";
}

function readText(member: Member, key: string, reader: Reader): string | undefined {
  const node = valueOf(member.node, key);
  const text = textOf(node);
  if (node !== undefined && text === undefined) refuse(member, { key, node, wanted: "a string" }, reader);
  return text;
}

function readNumber(member: Member, key: string, reader: Reader): number | undefined {
  const node = valueOf(member.node, key);
  if (node === undefined) return undefined;
  const text = textOf(node)?.trim();
  if (text === undefined || text === "" || !Number.isFinite(Number(text))) {
    refuse(member, { key, node, wanted: "a number" }, reader);
    return undefined;
  }
  return Number(text);
}

function readTexts(member: Member, reader: Reader): readonly string[] | undefined {
  const node = valueOf(member.node, "AllowedValues");
  const texts = textsOf(node);
  if (node !== undefined && texts === undefined) {
    refuse(member, { key: "AllowedValues", node, wanted: "a list" }, reader);
  }
  return texts;
}

function readPattern(member: Member, reader: Reader): string | undefined {
  const pattern = readText(member, "AllowedPattern", reader);
  const node = valueOf(member.node, "AllowedPattern");
  if (pattern === undefined || node === undefined) return undefined;
  if (!isPattern(pattern)) {
    const message = `Template error: Parameter '${member.name}' AllowedPattern must be a valid regular expression.`;
    reader.faults.report({
      code: section.code,
      message,
      path: `${member.path}/AllowedPattern`,
      offset: node.offset,
    });
  }
  return pattern;
}

function refuse(
  member: Member,
  { key, node, wanted }: { key: string; node: SourceNode; wanted: string },
  { faults }: Reader,
): void {
  const message = `Template format error: Every ${key} member must be ${wanted}.`;
  faults.report({ code: section.code, message, path: `${member.path}/${key}`, offset: node.offset });
}
