import { checkReferences } from "./check-references.ts";
import type { Parsed } from "./diagnostic.ts";
import { collectFaults, parsed, type Faults } from "./faults.ts";
import { maxDescriptionBytes } from "./limits.ts";
import { lineIndex } from "./line-index.ts";
import { parseConditions, parseRules } from "./parse-conditions.ts";
import type { Parsing } from "./parse-expression.ts";
import { parseMappings } from "./parse-mappings.ts";
import { parseOutputs } from "./parse-outputs.ts";
import { parseParameters } from "./parse-parameters.ts";
import { parseResources } from "./parse-resources.ts";
import { valueOf } from "./parse-section.ts";
import { readTemplate } from "./read-source.ts";
import { entryOf, textOf, textsOf, toJson, type MapNode, type SourceNode } from "./source-node.ts";
import type { Template } from "./template.ts";

/** Parses a template, YAML or JSON. Never throws; finds as many faults as it can. */
export function parseTemplate(body: string): Parsed<Template> {
  const faults = collectFaults(body);
  const root = readTemplate(body, faults);
  return root === undefined
    ? { ok: false, diagnostics: faults.diagnostics() }
    : parseTree(root, body, faults);
}

/** Parses a template's tree. */
export function parseTree(root: MapNode, body: string, faults: Faults): Parsed<Template> {
  checkNulls(root, "", faults);
  checkSections(root, faults);
  const lines = lineIndex(body);
  const parameters = parseParameters(root, faults, lines);
  const transforms = readTransforms(root);
  const mappings = parseMappings(root, faults);
  const parsing: Parsing = {
    faults,
    mappings,
    parameters,
    lines,
    extensions: transforms.includes("AWS::LanguageExtensions"),
  };
  const description = readDescription(root, faults);
  const metadata = valueOf(root, "Metadata");
  const template: Template = {
    body,
    ...(description !== undefined && { description }),
    ...(metadata !== undefined && { metadata: toJson(metadata) }),
    transforms,
    parameters,
    mappings,
    rules: parseRules(root, parsing),
    conditions: parseConditions(root, parsing),
    resources: parseResources(root, parsing),
    outputs: parseOutputs(root, parsing),
  };
  checkReferences(template, root, faults);
  return parsed(template, faults);
}

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
  checkVersion(root, faults);
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
  const message = `Template format error: unsupported value for AWSTemplateFormatVersion, ${textOf(version) ?? "which must be a string"}.`;
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

/** The names of the transforms that `Transform` lists, in order. */
export function readTransforms(root: MapNode): readonly string[] {
  const node = valueOf(root, "Transform");
  if (node === undefined) return [];
  const items = node.kind === "list" ? node.items : [node];
  return (
    textsOf(node) ??
    items.flatMap((item) =>
      item.kind === "map" ? (textOf(valueOf(item, "Name")) ?? []) : (textOf(item) ?? []),
    )
  );
}

/** Fact 12. A template may have no null, wherever it stands. */
function checkNulls(node: SourceNode, path: string, faults: Faults): void {
  switch (node.kind) {
    case "scalar":
      if (node.value === null) {
        const message = `Template format error: [${path}] 'null' values are not allowed in templates`;
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
