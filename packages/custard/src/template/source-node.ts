/**
 * A template's text as a tree, before anything is known of its meaning. YAML and JSON give the same tree:
 * a short tag (`!Ref X`) stands as the map that it abbreviates (`{Ref: X}`).
 */
import type { Json, JsonObject } from "@custard/provider/protocol";

/** A value without parts. A number is one only when its text is canonical; else it is a string. */
export type Scalar = string | number | boolean | null;

interface ScalarNode {
  readonly kind: "scalar";
  readonly value: Scalar;
  /** Where it begins in the text. */
  readonly offset: number;
}

interface ListNode {
  readonly kind: "list";
  readonly items: readonly SourceNode[];
  readonly offset: number;
}

export interface MapEntry {
  readonly key: string;
  readonly keyOffset: number;
  readonly value: SourceNode;
}

export interface MapNode {
  readonly kind: "map";
  /** In the order of the text; keys are unique. */
  readonly entries: readonly MapEntry[];
  readonly offset: number;
}

export type SourceNode = ScalarNode | ListNode | MapNode;

/** The entry of that key. */
export function entryOf(node: MapNode, key: string): MapEntry | undefined {
  return node.entries.find((entry) => entry.key === key);
}

/** The value of that key. */
export function childOf(node: MapNode, key: string): SourceNode | undefined {
  return entryOf(node, key)?.value;
}

/** The text of a scalar; undefined for `null`, lists and maps. */
export function textOf(node: SourceNode | undefined): string | undefined {
  if (node?.kind !== "scalar" || node.value === null) return undefined;
  return String(node.value);
}

/** The texts of a list of scalars; undefined when it is anything else. */
export function textsOf(node: SourceNode | undefined): readonly string[] | undefined {
  if (node?.kind !== "list") return undefined;
  const texts = node.items.map(textOf);
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

/** The only entry of a map that has one. */
export function soleEntry(node: SourceNode): MapEntry | undefined {
  return node.kind === "map" && node.entries.length === 1 ? node.entries[0] : undefined;
}

/** The tree as plain JSON. */
export function toJson(node: SourceNode): Json {
  switch (node.kind) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map(toJson);
    case "map":
      return mapToJson(node);
  }
}

/** A map as plain JSON. */
export function mapToJson(node: MapNode): JsonObject {
  return Object.fromEntries(node.entries.map((entry) => [entry.key, toJson(entry.value)]));
}

/** A tree of plain JSON that all stands at one place: what a macro or an include puts there. */
export function fromJson(json: Json, offset: number): SourceNode {
  if (typeof json !== "object" || json === null) return { kind: "scalar", value: json, offset };
  if (Array.isArray(json))
    return { kind: "list", items: json.map((item: Json) => fromJson(item, offset)), offset };
  const entries = Object.entries(json).map(([key, value]) => ({
    key,
    keyOffset: offset,
    value: fromJson(value, offset),
  }));
  return { kind: "map", entries, offset };
}

/** The scalar that a plain text stands for: `true` and `false`, canonical numbers; any other text is itself. */
export function scalarOf(text: string): string | number | boolean {
  if (text === "true") return true;
  if (text === "false") return false;
  return canonicalNumber(text) ?? text;
}

/** The number that a text is, when it is written the way JavaScript writes it: `007`, `1.0` and `1e3` are none. */
export function canonicalNumber(text: string): number | undefined {
  const first = text.charCodeAt(0);
  const mayBegin = first === 0x2d || (first >= 0x30 && first <= 0x39);
  if (!mayBegin || text.length > 25) return undefined;
  const number = Number(text);
  return String(number) === text && Number.isFinite(number) ? number : undefined;
}
