import { parseDynamicReference, refusedSecurePlace } from "./dynamic-references.ts";
import type { Faults } from "./faults.ts";
import { childOf, textOf, type MapNode, type SourceNode } from "./source-node.ts";

/**
 * Reports dynamic references that are malformed, and `ssm-secure` where CloudFormation doesn't take it. What only
 * evaluation brings together is checked when it is delivered.
 */
export function checkDynamicReferences(root: MapNode, body: string, faults: Faults): void {
  // Most templates have none: they aren't searched.
  if (!body.includes("{{resolve:")) return;
  const resources = childOf(root, "Resources");
  if (resources?.kind !== "map") return;
  for (const { key, value } of resources.entries) {
    const properties = value.kind === "map" ? childOf(value, "Properties") : undefined;
    const type = value.kind === "map" ? (textOf(childOf(value, "Type")) ?? "") : "";
    if (properties !== undefined)
      check(properties, { path: `/Resources/${key}/Properties`, place: `${type}/Properties`, faults });
  }
}

interface Place {
  readonly path: string;
  /** As CloudFormation names it: the type, and properties without list indices and functions. */
  readonly place: string;
  readonly faults: Faults;
}

function check(node: SourceNode, at: Place): void {
  switch (node.kind) {
    case "scalar":
      if (typeof node.value === "string") checkText(node.value, node.offset, at);
      return;
    case "list":
      node.items.forEach((item, index) => check(item, { ...at, path: `${at.path}/${index}` }));
      return;
    case "map":
      for (const { key, value } of node.entries) {
        const place = key.startsWith("Fn::") ? at.place : `${at.place}/${key}`;
        check(value, { ...at, path: `${at.path}/${key}`, place });
      }
  }
}

function checkText(text: string, offset: number, { path, place, faults }: Place): void {
  const report = (message: string): void =>
    faults.report({ code: "InvalidDynamicReference", message, path, offset });
  for (const [whole] of text.matchAll(/\{\{resolve:[^{}$]*\}\}/g)) {
    const parsed = parseDynamicReference(whole);
    if (typeof parsed === "string") report(parsed);
  }
  if (refusedSecurePlace(text, place)) report(`SSM Secure reference is not supported in: [${place}]`);
}
