import { collectFaults, type Faults } from "./faults.ts";
import { maxBytes, maxInlineBytes } from "./limits.ts";
import { readJson } from "./read-json.ts";
import { readYaml, type Aliases } from "./read-yaml.ts";
import type { MapNode, SourceNode } from "./source-node.ts";

/** Reads a template's text, JSON or YAML; undefined after reporting what is wrong with it. */
export function readTemplate(body: string, faults: Faults): MapNode | undefined {
  const node = readSource(body, faults, "refused");
  if (node === undefined) return undefined;
  if (node.kind === "map") return node;
  faults.report({
    code: "UnsupportedStructure",
    message: "Template format error: unsupported structure.",
    path: "",
    offset: node.offset,
  });
  return undefined;
}

/**
 * Reads any text, JSON or YAML. What begins with a brace and is no JSON is read as YAML, with a warning: CloudFormation
 * takes trailing commas, comments, `---` and single quotes in such templates. When it is no YAML either, it is reported as
 * JSON, as CloudFormation does (fact 120).
 */
export function readSource(body: string, faults: Faults, aliases: Aliases): SourceNode | undefined {
  // A UTF-16 unit takes at least one byte, so that a text of more units is too large whatever it holds.
  if (body.length > maxBytes) {
    const message = `Template may not exceed ${maxBytes} bytes in size.`;
    faults.report({ code: "TooLarge", message, path: "", offset: 0 });
    return undefined;
  }
  const isJson = /^\uFEFF?\s*\{/.test(body);
  const node = isJson ? readBraces(body, faults, aliases) : readYaml(body, faults, aliases);
  return faults.failed() ? undefined : node;
}

function readBraces(body: string, faults: Faults, aliases: Aliases): SourceNode | undefined {
  const [json, yaml] = [collectFaults(body), collectFaults(body)];
  const node = readJson(body, json);
  const other = json.failed() ? readYaml(body, yaml, aliases) : undefined;
  if (other === undefined) {
    faults.adopt(json);
    return node;
  }
  const [first] = json.diagnostics().filter(({ severity }) => severity === "error");
  const message = `This is no JSON (${first?.hint ?? ""}): it is read as YAML, as CloudFormation reads it.`;
  const offset = first?.position?.offset;
  faults.report({ code: "JsonNotWellFormed", severity: "warning", message, path: "", offset });
  faults.adopt(yaml);
  return other;
}

/** Why a template may not be given inline in a call; undefined when it may (fact 121). */
export function inlineSizeFault(body: string): string | undefined {
  // Text is measured in characters here, as the service's own check of its input does.
  if (body.length <= maxInlineBytes) return undefined;
  return `1 validation error detected: Value '${body}' at 'templateBody' failed to satisfy constraint: Member must have length less than or equal to ${maxInlineBytes}`;
}
