import type { MapEntry, MapNode, SourceNode } from "../source-node.ts";
import { childOf, soleEntry, textOf } from "../source-node.ts";

/** What SAM lets a template refer to besides a resource: the logical id of what it made, by `Function.Alias` and the like. */
export function madeNames(resources: MapNode): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { key, value } of resources.entries) {
    const owner = ownerOf(key, value);
    if (owner !== undefined) names.set(owner, key);
  }
  return names;
}

const suffixes: ReadonlyMap<string, { readonly pattern: RegExp; readonly property: string }> = new Map([
  ["AWS::Lambda::Alias", { pattern: /^(.+)Alias[A-Za-z0-9]*$/, property: "Alias" }],
  ["AWS::Lambda::Version", { pattern: /^(.+)Version$/, property: "Version" }],
  [
    "AWS::SNS::Topic",
    { pattern: /^(.+)EventInvokeConfigOn(?:Success|Failure)Topic$/, property: "DestinationTopic" },
  ],
  [
    "AWS::SQS::Queue",
    { pattern: /^(.+)EventInvokeConfigOn(?:Success|Failure)Queue$/, property: "DestinationQueue" },
  ],
]);

function ownerOf(key: string, resource: SourceNode): string | undefined {
  const type = resource.kind === "map" ? textOf(childOf(resource, "Type")) : undefined;
  if (type === "AWS::ApiGateway::Stage") return stageOwner(resource);
  const known = suffixes.get(type ?? "");
  const owner = known?.pattern.exec(key)?.[1];
  return known === undefined || owner === undefined ? undefined : `${owner}.${known.property}`;
}

/** A stage's name has the stage's own in it: its API says whose it is. */
function stageOwner(resource: SourceNode): string | undefined {
  const properties = resource.kind === "map" ? childOf(resource, "Properties") : undefined;
  const api = properties?.kind === "map" ? childOf(properties, "RestApiId") : undefined;
  const owner = api && soleEntry(api)?.key === "Ref" ? textOf(soleEntry(api)?.value) : undefined;
  return owner === undefined ? undefined : `${owner}.Stage`;
}

/** The tree with `!Ref Function.Alias` and `${Function.Alias}` written as references to what SAM made. */
export function renameReferences(node: SourceNode, names: ReadonlyMap<string, string>): SourceNode {
  switch (node.kind) {
    case "scalar":
      return node;
    case "list":
      return { ...node, items: node.items.map((item) => renameReferences(item, names)) };
    case "map":
      return { ...node, entries: node.entries.map((entry) => renameEntry(entry, names)) };
  }
}

function renameEntry(entry: MapEntry, names: ReadonlyMap<string, string>): MapEntry {
  const { key, value } = entry;
  if (key === "Ref" && value.kind === "scalar") {
    const made = names.get(String(value.value));
    return made === undefined ? entry : { ...entry, value: { ...value, value: made } };
  }
  if (key === "Fn::Sub") return { ...entry, value: renameInText(renameReferences(value, names), names) };
  return { ...entry, value: renameReferences(value, names) };
}

function renameInText(node: SourceNode, names: ReadonlyMap<string, string>): SourceNode {
  if (node.kind === "list") {
    const [first, ...rest] = node.items;
    return first === undefined ? node : { ...node, items: [renameInText(first, names), ...rest] };
  }
  if (node.kind !== "scalar" || typeof node.value !== "string") return node;
  const text = node.value.replace(/\$\{([A-Za-z0-9]+\.[A-Za-z]+)\}/g, (whole, name: string) => {
    const made = names.get(name);
    return made === undefined ? whole : `\${${made}}`;
  });
  return { ...node, value: text };
}
