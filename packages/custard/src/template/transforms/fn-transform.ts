/** `Fn::Transform`: a macro or an include within the template. The innermost run first. */
import type { Json, JsonObject } from "@custard/provider/protocol";
import { collectFaults } from "../faults.ts";
import { maxDepth } from "../limits.ts";
import { isValueMap, reveal, type ValueMap } from "../value.ts";
import { isList } from "../run.ts";
import { readSource } from "../read-source.ts";
import {
  entryOf,
  fromJson,
  mapToJson,
  toJson,
  textOf,
  childOf,
  type MapEntry,
  type MapNode,
  type SourceNode,
} from "../source-node.ts";
import { computeNode, type Transforming } from "./transforming.ts";

/** Something that a transform must be told. `key` is the same each time, and other than that of all others. */
export type TransformNeed =
  | {
      readonly kind: "macro";
      readonly key: string;
      readonly name: string;
      /** What the macro works on: the map that it stands in, or the whole template. */
      readonly fragment: JsonObject;
      /** With the marks of NoEcho parameters: macros get them in clear, whoever looks doesn't. */
      readonly parameters: ValueMap;
    }
  | { readonly kind: "include"; readonly key: string; readonly location: string };

/** What was found out for a need. */
export type TransformAnswer =
  /** A macro's fragment. */
  | { readonly kind: "fragment"; readonly value: Json }
  /** An included file. */
  | { readonly kind: "text"; readonly text: string }
  /** The whole message, e.g. `Transform 123456789012::Name failed with: …` (fact 108). */
  | { readonly kind: "failed"; readonly message: string };

/** One run of the transforms: what is asked for, and what has been answered. */
export interface Asking {
  readonly work: Transforming;
  readonly answers: ReadonlyMap<string, TransformAnswer>;
  readonly needs: TransformNeed[];
}

/** Where a transform stands, and what it is. */
export interface TransformCall {
  readonly key: string;
  readonly path: string;
  readonly offset: number;
  readonly name: string;
  readonly parameters: MapNode | undefined;
}

export const include = "AWS::Include";

/** Is there a `Fn::Transform` anywhere in the tree? */
export function hasFnTransform(node: SourceNode): boolean {
  switch (node.kind) {
    case "scalar":
      return false;
    case "list":
      return node.items.some(hasFnTransform);
    case "map":
      return node.entries.some((entry) => entry.key === "Fn::Transform" || hasFnTransform(entry.value));
  }
}

/** The tree with all `Fn::Transform` done whose answers are there; those that aren't are asked for, and stay. */
export function applyFnTransforms(node: SourceNode, path: string, asking: Asking): SourceNode {
  switch (node.kind) {
    case "scalar":
      return node;
    case "list":
      return {
        ...node,
        items: node.items.map((item, index) => applyFnTransforms(item, `${path}/${index}`, asking)),
      };
    case "map":
      return applyInMap(node, path, asking);
  }
}

function applyInMap(node: MapNode, path: string, asking: Asking): SourceNode {
  const before = asking.needs.length;
  const entries = node.entries.map((entry): MapEntry => {
    return entry.key === "Fn::Transform"
      ? entry
      : { ...entry, value: applyFnTransforms(entry.value, `${path}/${entry.key}`, asking) };
  });
  const own = entryOf(node, "Fn::Transform");
  // What stands within goes first: this one waits for it.
  if (own === undefined || asking.needs.length > before) return { ...node, entries };
  const around: MapNode = { ...node, entries: entries.filter((entry) => entry.key !== "Fn::Transform") };
  return runInOrder(own, { path: `${path}/Fn::Transform`, around }, asking) ?? { ...node, entries };
}

/** One transform, or a list of them: each works on what the one before has made. */
function runInOrder(
  own: MapEntry,
  { path, around }: { path: string; around: MapNode },
  asking: Asking,
): SourceNode | undefined {
  const items = own.value.kind === "list" ? own.value.items : [own.value];
  let made: SourceNode = around;
  for (const [index, item] of items.entries()) {
    const call = readCall(
      item,
      { path: items.length === 1 ? path : `${path}/${index}`, offset: own.keyOffset },
      asking.work,
    );
    const next: SourceNode | undefined =
      call && made.kind === "map" ? runTransform(call, made, asking) : undefined;
    if (next === undefined) return undefined;
    made = next;
  }
  return made;
}

function readCall(
  node: SourceNode,
  { path, offset }: { path: string; offset: number },
  work: Transforming,
): TransformCall | undefined {
  const name = node.kind === "map" ? textOf(childOf(node, "Name")) : undefined;
  const parameters = node.kind === "map" ? childOf(node, "Parameters") : undefined;
  if (name === undefined) {
    const message = "Key Name of transform definition must be a string.";
    work.faults.report({ code: "TransformFailed", message, path, offset });
    return undefined;
  }
  return { key: path, path, offset, name, parameters: parameters?.kind === "map" ? parameters : undefined };
}

/** What a transform makes of the map around it; undefined when it must be asked for, or has failed. */
export function runTransform(call: TransformCall, around: MapNode, asking: Asking): SourceNode | undefined {
  const parameters = readParameters(call, asking);
  if (parameters === undefined) return undefined;
  const answer = asking.answers.get(call.key);
  if (answer === undefined) {
    askFor(call, { parameters, around }, asking);
    return undefined;
  }
  switch (answer.kind) {
    case "failed":
      return refuse(call, asking, answer.message);
    case "fragment":
      if (isDeep(answer.value))
        return refuse(call, asking, `Transform ${call.name} failed with: nested more than ${maxDepth} deep`);
      return graft(answer.value, around, call.offset);
    case "text":
      return included(answer.text, around, { call, asking });
  }
}

/** Without recursion: what a macro answers may be nested deeper than a call stack bears. */
function isDeep(json: Json): boolean {
  let level: readonly Json[] = [json];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true;
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
  }
  return false;
}

function readParameters(call: TransformCall, asking: Asking): ValueMap | undefined {
  if (call.parameters === undefined) return {};
  const computed = computeNode(call.parameters, "Resources", asking.work);
  if (computed !== undefined && isValueMap(computed)) return computed;
  return refuse(
    call,
    asking,
    `Transform ${call.name} failed with: its Parameters can't be resolved before there are resources`,
  );
}

function askFor(
  call: TransformCall,
  { parameters, around }: { parameters: ValueMap; around: MapNode },
  asking: Asking,
): void {
  const { key, name } = call;
  if (name !== include) {
    asking.needs.push({ kind: "macro", key, name, fragment: mapToJson(around), parameters });
    return;
  }
  const given = parameters["Location"];
  const location = given === undefined ? undefined : reveal(given);
  if (typeof location === "string" && location !== "") asking.needs.push({ kind: "include", key, location });
  else refuse(call, asking, `Transform ${include} failed with: Missing required parameter Location`);
}

function included(
  text: string,
  around: MapNode,
  { call, asking }: { call: TransformCall; asking: Asking },
): SourceNode | undefined {
  const found = readInclude(text);
  if (found === undefined)
    return refuse(
      call,
      asking,
      `Transform ${include} failed with: The specified S3 object's content should be valid Yaml/JSON`,
    );
  const content = fromJson(found, call.offset);
  if (content.kind !== "map")
    return around.entries.length === 0
      ? content
      : refuse(call, asking, `Transform ${include} failed with: the content is no map`);
  return mergeMaps(content, around);
}

function readInclude(text: string): Json | undefined {
  const faults = collectFaults(text);
  const node = readSource(text, faults, "expanded");
  return node === undefined ? undefined : toJson(node);
}

/** Entries of both; what the template itself says goes before. */
export function mergeMaps(base: MapNode, over: MapNode): MapNode {
  const entries = new Map(base.entries.map((entry) => [entry.key, entry]));
  for (const entry of over.entries) entries.set(entry.key, entry);
  return { ...over, entries: [...entries.values()] };
}

/** A macro's result as a tree; what it left as it was keeps its place in the text. */
function graft(json: Json, original: SourceNode | undefined, offset: number): SourceNode {
  if (isList(json)) return graftList(json, original, offset);
  if (typeof json === "object" && json !== null) return graftMap(json, original, offset);
  const isSame = original?.kind === "scalar" && original.value === json;
  return { kind: "scalar", value: json, offset: isSame ? original.offset : offset };
}

function graftList(json: readonly Json[], original: SourceNode | undefined, offset: number): SourceNode {
  const items = original?.kind === "list" ? original.items : [];
  const at = original?.offset ?? offset;
  return { kind: "list", offset: at, items: json.map((item, index) => graft(item, items[index], at)) };
}

function graftMap(json: JsonObject, original: SourceNode | undefined, offset: number): SourceNode {
  const known = new Map(original?.kind === "map" ? original.entries.map((entry) => [entry.key, entry]) : []);
  const at = original?.offset ?? offset;
  const entries = Object.entries(json).map(([key, value]): MapEntry => {
    const entry = known.get(key);
    const keyOffset = entry?.keyOffset ?? at;
    return { key, keyOffset, value: graft(value, entry?.value, keyOffset) };
  });
  return { kind: "map", offset: at, entries };
}

function refuse(call: TransformCall, { work }: Asking, message: string): undefined {
  work.faults.report({ code: "TransformFailed", message, path: call.path, offset: call.offset });
  return undefined;
}
