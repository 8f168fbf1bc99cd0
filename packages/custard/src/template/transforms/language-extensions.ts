/** `AWS::LanguageExtensions`: loops are written out, and what they and the parameters decide is put in its place. */
import type { Scope } from "../intrinsic.ts";
import {
  entryOf,
  fromJson,
  soleEntry,
  type MapEntry,
  type MapNode,
  type SourceNode,
} from "../source-node.ts";
import { expandLoops } from "./for-each.ts";
import { isSensitive, reveal } from "../value.ts";
import { computeNode, type Transforming } from "./transforming.ts";

/** The tree without loops, and without those of the transform's functions that can be computed before there are resources. */
export function applyLanguageExtensions(root: MapNode, work: Transforming): MapNode {
  const expanded = expandLoops(root, work);
  const entries = expanded.entries.map((entry) => {
    const scope = scopes.get(entry.key);
    return scope === undefined ? entry : { ...entry, value: collapse(entry.value, scope, work) };
  });
  return { ...expanded, entries };
}

const scopes: ReadonlyMap<string, Scope> = new Map<string, Scope>([
  ["Resources", "Resources"],
  ["Conditions", "Conditions"],
  ["Outputs", "Outputs"],
]);

/** Functions that are computed when all that they need is known; a secret is never written into the template. */
const computable: ReadonlySet<string> = new Set(["Fn::Length", "Fn::ToJsonString", "Fn::Sub"]);

/** Attributes of a resource where CloudFormation takes a text only, and this transform a function. */
const textKeys: ReadonlySet<string> = new Set(["DeletionPolicy", "UpdateReplacePolicy"]);

function collapse(node: SourceNode, scope: Scope, work: Transforming): SourceNode {
  switch (node.kind) {
    case "scalar":
      return node;
    case "list":
      return { ...node, items: node.items.map((item) => collapse(item, scope, work)) };
    case "map":
      return collapseMap(node, scope, work);
  }
}

function collapseMap(node: MapNode, scope: Scope, work: Transforming): SourceNode {
  const call = soleEntry(node);
  if (call !== undefined && isComputable(call)) {
    const whole = computed(node, scope, work);
    if (whole !== undefined) return whole;
  }
  return { ...node, entries: node.entries.map((entry) => collapseEntry(entry, scope, work)) };
}

function isComputable({ key, value }: MapEntry): boolean {
  if (key === "Fn::FindInMap") return value.kind === "list" && value.items.length === 4;
  return computable.has(key);
}

function collapseEntry(entry: MapEntry, scope: Scope, work: Transforming): MapEntry {
  if (entry.key === "Ref" || textKeys.has(entry.key))
    return { ...entry, value: nameIn(entry.value, scope, work) };
  if (entry.key === "Fn::GetAtt" && entry.value.kind === "list") {
    const items = entry.value.items.map((item) => nameIn(item, scope, work));
    return { ...entry, value: { ...entry.value, items } };
  }
  return { ...entry, value: collapse(entry.value, scope, work) };
}

/** What is a name for others may be computed. */
function nameIn(node: SourceNode, scope: Scope, work: Transforming): SourceNode {
  return node.kind === "map" ? (computed(node, scope, work) ?? node) : node;
}

function computed(node: MapNode, scope: Scope, work: Transforming): SourceNode | undefined {
  const result = computeNode(node, scope, work);
  return result === undefined || isSensitive(result) ? undefined : fromJson(reveal(result), node.offset);
}

/** Are there functions left that only this transform allows? */
export function needsLanguageExtensions(root: MapNode): boolean {
  return ["Resources", "Conditions", "Outputs"].some((key) => {
    const entry = entryOf(root, key);
    return entry !== undefined && hasExtension(entry.value);
  });
}

function hasExtension(node: SourceNode): boolean {
  switch (node.kind) {
    case "scalar":
      return false;
    case "list":
      return node.items.some(hasExtension);
    case "map":
      return node.entries.some(
        (entry) => (entry.key !== "Fn::Sub" && isComputable(entry)) || hasExtension(entry.value),
      );
  }
}
