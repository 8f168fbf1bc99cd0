/**
 * `Fn::ForEach`: a loop in a map, written out as the entries that it makes. Part of `AWS::LanguageExtensions`.
 *
 * ```yaml
 * Fn::ForEach::Topics: [Name, [A, B], { "Topic${Name}": { Type: AWS::SNS::Topic } }]
 * ```
 */
import { maxNodes } from "../limits.ts";
import { isList, text } from "../run.ts";
import { soleEntry, textOf, type MapEntry, type MapNode, type SourceNode } from "../source-node.ts";
import { reveal } from "../value.ts";
import { computeNode, type Transforming } from "./transforming.ts";

const prefix = "Fn::ForEach::";

/** Is this the key of a loop? */
export function isForEach(key: string): boolean {
  return key.startsWith(prefix);
}

/** The tree with all loops written out. What is wrong with a loop is reported, and the loop left out. */
export function expandLoops(root: MapNode, work: Transforming): MapNode {
  const expansion: Expansion = { work, variables: new Map(), path: "", budget: { left: maxNodes } };
  return expandMap(root, expansion);
}

interface Expansion {
  readonly work: Transforming;
  /** Values of the loops around, by identifier. */
  readonly variables: ReadonlyMap<string, string>;
  readonly path: string;
  /** Shared by the whole expansion: loops within loops grow fast. */
  readonly budget: { left: number };
}

function expand(node: SourceNode, expansion: Expansion): SourceNode {
  expansion.budget.left--;
  switch (node.kind) {
    case "scalar":
      return node;
    case "list":
      return { ...node, items: node.items.map((item, index) => expand(item, below(expansion, index))) };
    case "map":
      return loopVariable(node, expansion) ?? loopText(node, expansion) ?? expandMap(node, expansion);
  }
}

function below(expansion: Expansion, segment: string | number): Expansion {
  return { ...expansion, path: `${expansion.path}/${segment}` };
}

/** `{Ref: Identifier}` within the loop. */
function loopVariable(node: MapNode, { variables }: Expansion): SourceNode | undefined {
  const entry = soleEntry(node);
  const value = entry?.key === "Ref" ? variables.get(textOf(entry.value) ?? "") : undefined;
  return value === undefined ? undefined : { kind: "scalar", value, offset: node.offset };
}

/** `${Identifier}` in the text of a `Fn::Sub`, unless the function has a variable of that name. */
function loopText(node: MapNode, expansion: Expansion): SourceNode | undefined {
  const entry = soleEntry(node);
  if (entry?.key !== "Fn::Sub") return undefined;
  const [source, own] = entry.value.kind === "list" ? entry.value.items : [entry.value];
  if (source?.kind !== "scalar" || typeof source.value !== "string") return undefined;
  const names = own?.kind === "map" ? own.entries.map((each) => each.key) : [];
  const variables = new Map([...expansion.variables].filter(([name]) => !names.includes(name)));
  const written: SourceNode = { ...source, value: substitute(source.value, variables, "$") };
  const value: SourceNode =
    entry.value.kind === "list"
      ? {
          ...entry.value,
          items: [written, ...entry.value.items.slice(1).map((item) => expand(item, expansion))],
        }
      : written;
  return { ...node, entries: [{ ...entry, value }] };
}

function expandMap(node: MapNode, expansion: Expansion): MapNode {
  return mergeEntries(node, expansion, (entry) => {
    return isForEach(entry.key)
      ? expandLoop(entry, expansion)
      : [{ ...entry, value: expand(entry.value, below(expansion, entry.key)) }];
  });
}

/** The map that a loop repeats: here alone do keys have the identifier in them. */
function expandFragment(node: MapNode, expansion: Expansion): MapNode {
  return mergeEntries(node, expansion, (entry) => {
    if (isForEach(entry.key)) return expandLoop(entry, expansion);
    const key = substitute(entry.key, expansion.variables, "$&");
    return [{ key, keyOffset: entry.keyOffset, value: expand(entry.value, below(expansion, key)) }];
  });
}

function mergeEntries(
  node: MapNode,
  expansion: Expansion,
  make: (entry: MapEntry) => readonly MapEntry[],
): MapNode {
  const entries = new Map<string, MapEntry>();
  for (const entry of node.entries) {
    if (expansion.budget.left < 0) break;
    for (const made of make(entry)) {
      if (entries.has(made.key))
        refuse(
          made,
          expansion,
          `Duplicate key '${made.key}' when merging keys to parent object in Fn::ForEach`,
        );
      else entries.set(made.key, made);
    }
  }
  return { ...node, entries: [...entries.values()] };
}

function expandLoop(entry: MapEntry, expansion: Expansion): readonly MapEntry[] {
  const loop = readLoop(entry, expansion);
  if (loop === undefined) return [];
  return loop.values.flatMap((value) => {
    const variables = new Map(expansion.variables).set(loop.identifier, value);
    if (expansion.budget.left < 0) return [];
    const made = expandFragment(loop.body, { ...expansion, variables });
    if (expansion.budget.left < 0) refuse(entry, expansion, "its loops make too much");
    return made.entries;
  });
}

interface Loop {
  readonly identifier: string;
  readonly values: readonly string[];
  readonly body: MapNode;
}

function readLoop(entry: MapEntry, expansion: Expansion): Loop | undefined {
  const [first, collection, body] = entry.value.kind === "list" ? entry.value.items : [];
  const identifier = textOf(first);
  const wellFormed =
    entry.value.kind === "list" && entry.value.items.length === 3 && collection !== undefined;
  if (!wellFormed || identifier === undefined || body?.kind !== "map") {
    return refuse(entry, expansion, "Fn::ForEach layout is incorrect");
  }
  if (!/^[A-Za-z0-9]+$/.test(identifier) || !/^[A-Za-z0-9]+$/.test(entry.key.slice(prefix.length))) {
    return refuse(
      entry,
      expansion,
      "the names of a Fn::ForEach loop and of its identifier must be alphanumeric",
    );
  }
  const values = readCollection(collection, expansion);
  if (values === undefined)
    return refuse(entry, expansion, "Fn::ForEach could not resolve its collection to a list of strings");
  return { identifier, values, body };
}

function readCollection(node: SourceNode, expansion: Expansion): readonly string[] | undefined {
  const computed = computeNode(expand(node, expansion), "Resources", expansion.work);
  const list = computed === undefined ? undefined : reveal(computed);
  if (!isList(list)) return undefined;
  const values = list.flatMap((item) => (isList(item) ? item.map(text) : [text(item)]));
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** `${Name}` gives the value, `&{Name}` its letters and digits: keys of resources may have no others. */
function substitute(source: string, variables: ReadonlyMap<string, string>, signs: "$" | "$&"): string {
  if (variables.size === 0 || !source.includes("{")) return source;
  return source.replace(/([$&])\{([A-Za-z0-9]+)\}/g, (whole, sign: string, name: string) => {
    const value = variables.get(name);
    if (value === undefined || !signs.includes(sign)) return whole;
    return sign === "$" ? value : value.replace(/[^A-Za-z0-9]/g, "");
  });
}

function refuse(entry: MapEntry, { work, path }: Expansion, why: string): undefined {
  const message = `Transform AWS::LanguageExtensions failed with: ${why}`;
  work.faults.report({
    code: "TransformFailed",
    message,
    path: `${path}/${entry.key}`,
    offset: entry.keyOffset,
  });
  return undefined;
}
