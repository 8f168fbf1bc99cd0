import { checkDynamicReferences } from "./check-dynamic-references.ts";
import { checkReferences } from "./check-references.ts";
import type { Parsed } from "./diagnostic.ts";
import { collectFaults, parsed, type Faults } from "./faults.ts";
import { maxDescriptionBytes } from "./limits.ts";
import { lineIndex, type LineIndex } from "./line-index.ts";
import { parseConditions, parseRules } from "./parse-conditions.ts";
import type { Parsing } from "./parse-expression.ts";
import { parseMappings } from "./parse-mappings.ts";
import { parseOutputs } from "./parse-outputs.ts";
import { parseParameters } from "./parse-parameters.ts";
import { parseResources } from "./parse-resources.ts";
import { valueOf } from "./parse-section.ts";
import { readTemplate } from "./read-source.ts";
import { declaredTransforms, isUnprocessed } from "./transforms/declared.ts";
import { entryOf, textOf, toJson, type MapNode, type SourceNode } from "./source-node.ts";
import type { Template } from "./template.ts";

/**
 * Parses a template, YAML or JSON. Never throws; finds as many faults as it can. Of a template whose transforms must
 * run first it tells the head only (`unprocessed`).
 */
export function parseTemplate(body: string): Parsed<Template> {
  const faults = collectFaults(body);
  const root = readTemplate(body, faults);
  if (root === undefined) return { ok: false, diagnostics: faults.diagnostics() };
  if (!isUnprocessed(root)) return parseTree(root, body, faults);
  if (hasNull(root)) checkNulls(root, "", faults);
  const head = parseHead(root, body, { faults, lines: lineIndex(body) });
  // Nothing can be said of resources that a transform will write.
  return parsed({ ...head, unprocessed: true, ...noContent }, faults);
}

/** Parses a template's tree, after its transforms. */
export function parseTree(root: MapNode, body: string, faults: Faults): Parsed<Template> {
  if (hasNull(root)) checkNulls(root, "", faults);
  checkSections(root, faults);
  const lines = lineIndex(body);
  const head = parseHead(root, body, { faults, lines });
  const mappings = parseMappings(root, faults);
  const extensions = head.transforms.includes("AWS::LanguageExtensions");
  const parsing: Parsing = { faults, mappings, parameters: head.parameters, lines, extensions };
  const template: Template = {
    ...head,
    unprocessed: false,
    mappings,
    rules: parseRules(root, parsing),
    conditions: parseConditions(root, parsing),
    resources: parseResources(root, parsing),
    outputs: parseOutputs(root, parsing),
  };
  checkReferences(template, root, faults);
  checkDynamicReferences(root, body, faults);
  return parsed(template, faults);
}

type Head = Pick<Template, "body" | "description" | "metadata" | "transforms" | "parameters">;

function parseHead(
  root: MapNode,
  body: string,
  { faults, lines }: { faults: Faults; lines: LineIndex },
): Head {
  checkVersion(root, faults);
  const description = readDescription(root, faults);
  const metadata = valueOf(root, "Metadata");
  return {
    body,
    ...(description !== undefined && { description }),
    ...(metadata !== undefined && { metadata: toJson(metadata) }),
    transforms: readTransforms(root, faults),
    parameters: parseParameters(root, faults, lines),
  };
}

const noContent: Pick<Template, "mappings" | "rules" | "conditions" | "resources" | "outputs"> = {
  mappings: new Map(),
  rules: new Map(),
  conditions: new Map(),
  resources: new Map(),
  outputs: new Map(),
};

const sections: ReadonlySet<string> = new Set([
  "AWSTemplateFormatVersion",
  "Description",
  "Metadata",
  "Parameters",
  "Rules",
  "Mappings",
  "Conditions",
  "Transform",
  "Resources",
  "Outputs",
  "Hooks",
]);

function checkSections(root: MapNode, faults: Faults): void {
  const unknown = root.entries.filter((entry) => !sections.has(entry.key));
  const names = unknown.map((entry) => entry.key).join(", ");
  for (const { key, keyOffset } of unknown) {
    const message = `Invalid template property or properties [${names}]`;
    faults.report({ code: "UnknownSection", message, path: `/${key}`, offset: keyOffset });
  }
  const hooks = entryOf(root, "Hooks");
  if (hooks !== undefined) {
    const message = "The Hooks section has no effect here: blue/green deployments are not simulated.";
    faults.report({
      code: "IgnoredSection",
      severity: "warning",
      message,
      path: "/Hooks",
      offset: hooks.keyOffset,
    });
  }
}

function checkVersion(root: MapNode, faults: Faults): void {
  const version = valueOf(root, "AWSTemplateFormatVersion");
  if (version === undefined || textOf(version) === "2010-09-09") return;
  const message = "Template format error: unsupported value for AWSTemplateFormatVersion.";
  faults.report({
    code: "InvalidSection",
    message,
    path: "/AWSTemplateFormatVersion",
    offset: version.offset,
    hint: 'the only version is "2010-09-09"',
  });
}

function readDescription(root: MapNode, faults: Faults): string | undefined {
  const node = valueOf(root, "Description");
  if (node === undefined) return undefined;
  const text = textOf(node);
  const report = (message: string): void =>
    faults.report({ code: "InvalidSection", message, path: "/Description", offset: node.offset });
  if (text === undefined) report("Template format error: Every Description member must be a string.");
  else if (new TextEncoder().encode(text).length > maxDescriptionBytes) {
    report(`Template format error: 'Description' length is greater than ${maxDescriptionBytes}.`);
  }
  return text;
}

function readTransforms(root: MapNode, faults: Faults): readonly string[] {
  const { calls, malformed } = declaredTransforms(root);
  for (const { offset } of malformed) {
    const message = "Key Name of transform definition must be a string.";
    faults.report({ code: "InvalidSection", message, path: "/Transform", offset });
  }
  return calls.map((call) => call.name);
}

// Nearly no template has one, so that the paths are made only for those that have.
function hasNull(node: SourceNode): boolean {
  switch (node.kind) {
    case "scalar":
      return node.value === null;
    case "list":
      return node.items.some(hasNull);
    case "map":
      return node.entries.some(({ value }) => hasNull(value));
  }
}

/** Fact 12. A template may have no null, wherever it stands. */
function checkNulls(node: SourceNode, path: string, faults: Faults): void {
  switch (node.kind) {
    case "scalar":
      if (node.value === null) {
        // Facts 12 and 118: Outputs have their texts without the prefix.
        const prefix = path.startsWith("/Outputs/") ? "" : "Template format error: ";
        const message = `${prefix}[${path}] 'null' values are not allowed in templates`;
        faults.report({ code: "NullValue", message, path, offset: node.offset });
      }
      return;
    case "list":
      node.items.forEach((item, index) => checkNulls(item, `${path}/${index}`, faults));
      return;
    case "map":
      for (const { key, value } of node.entries) checkNulls(value, `${path}/${key}`, faults);
  }
}
