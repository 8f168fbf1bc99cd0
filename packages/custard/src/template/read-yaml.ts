import { isAlias, isMap, isScalar, isSeq, type Node } from "yaml";
import { compose, composeIndented, type YamlFault } from "./compose-yaml.ts";
import type { Faults } from "./faults.ts";
import { maxNodes } from "./limits.ts";
import { lineIndex } from "./line-index.ts";
import { reportDuplicate } from "./read-json.ts";
import { scalarOf, type MapEntry, type Scalar, type SourceNode } from "./source-node.ts";

/** CloudFormation refuses aliases in a template; text that `AWS::Include` brings in may have them. */
export type Aliases = "refused" | "expanded";

/** Reads a YAML document as a tree with positions; undefined after reporting what is wrong with it. */
export function readYaml(body: string, faults: Faults, aliases: Aliases): SourceNode | undefined {
  const read = compose(body);
  const indented = read.faults.length === 0 ? undefined : composeIndented(body, read);
  const { document, faults: wrong } = indented?.composed ?? read;
  for (const fault of wrong) report(faults, body, fault);
  if (wrong.length > 0) return undefined;
  const reader = new YamlReader({ faults, aliases, placeOf: indented?.placeOf ?? ((offset) => offset) });
  const node = reader.node(document?.contents, "", 0);
  return faults.failed() ? undefined : node;
}

function report(faults: Faults, body: string, { offset, hint }: YamlFault): void {
  const { line, column } = lineIndex(body).position(offset);
  const message = `Template format error: YAML not well-formed. (line ${line}, column ${column})`;
  faults.report({ code: "YamlNotWellFormed", message, path: "", offset, hint });
}

const standardTag = "tag:yaml.org,2002:";
const plainTags: ReadonlySet<string> = new Set(["str", "int", "float", "bool", "null", "seq", "map"]);

/** `!Sub` → `Fn::Sub`. */
function functionName(tag: string): string {
  const name = tag.slice(1);
  return name === "Ref" || name === "Condition" ? name : `Fn::${name}`;
}

interface Anchored {
  readonly node: SourceNode;
  readonly size: number;
}

/** A class because it counts nodes and remembers anchors; it lives for one `readYaml`. */
class YamlReader {
  readonly #faults: Faults;
  readonly #aliases: Aliases;
  readonly #placeOf: (offset: number) => number;
  readonly #anchors = new Map<string, Anchored>();
  #size = 0;

  constructor(how: { faults: Faults; aliases: Aliases; placeOf: (offset: number) => number }) {
    this.#faults = how.faults;
    this.#aliases = how.aliases;
    this.#placeOf = how.placeOf;
  }

  #place(offset: number | undefined): number | undefined {
    return offset === undefined ? undefined : this.#placeOf(offset);
  }

  /** `offset` is where a node without text would stand. */
  node(node: Node | null | undefined, path: string, offset: number): SourceNode {
    const before = this.#size++;
    if (!node) return { kind: "scalar", value: null, offset };
    const at = this.#place(node.range?.[0]) ?? offset;
    if (isAlias(node)) return this.#alias(node.source, path, at);
    const tag = tagOf(node);
    const read = tag === undefined ? this.#untagged(node, path, at) : this.#tagged(node, { tag, path, at });
    if ("anchor" in node && typeof node.anchor === "string") {
      this.#anchors.set(node.anchor, { node: read, size: this.#size - before });
    }
    return read;
  }

  #tagged(node: Node, { tag, path, at }: { tag: string; path: string; at: number }): SourceNode {
    if (tag.startsWith(standardTag)) {
      const name = tag.slice(standardTag.length);
      if (plainTags.has(name)) return this.#untagged(node, path, at);
      this.#refuse(path, at, `the tag !!${name} is not supported`);
      return this.#untagged(node, path, at);
    }
    const key = functionName(tag);
    const value = this.#untagged(node, `${path}/${key}`, at);
    return { kind: "map", offset: at, entries: [{ key, keyOffset: at, value }] };
  }

  #untagged(node: Node, path: string, at: number): SourceNode {
    if (isScalar(node)) return { kind: "scalar", value: this.#scalar(node), offset: at };
    if (isSeq(node)) {
      const items = node.items.map((item, index) => this.node(asNode(item), `${path}/${index}`, at));
      return { kind: "list", items, offset: at };
    }
    if (isMap(node)) return { kind: "map", entries: this.#entries(node.items, path, at), offset: at };
    return { kind: "scalar", value: null, offset: at };
  }

  #scalar(node: {
    readonly source?: string;
    readonly type?: string;
    readonly tag?: string;
    readonly value: unknown;
  }): Scalar {
    const text = node.source ?? String(node.value);
    if (node.type !== "PLAIN" || node.tag !== undefined) return text;
    if (text === "" || text === "~" || text === "null" || text === "Null" || text === "NULL") return null;
    return scalarOf(text);
  }

  #entries(
    pairs: readonly { key: unknown; value: unknown }[],
    path: string,
    at: number,
  ): readonly MapEntry[] {
    const entries = new Map<string, MapEntry>();
    for (const pair of pairs) {
      const keyNode = asNode(pair.key);
      const keyOffset = this.#place(keyNode?.range?.[0]) ?? at;
      const key = this.#key(keyNode, path, keyOffset);
      if (key === undefined) continue;
      const keyPath = `${path}/${key}`;
      const value = this.node(asNode(pair.value), keyPath, this.#place(keyNode?.range?.[2]) ?? keyOffset);
      if (entries.has(key)) reportDuplicate(this.#faults, keyPath, keyOffset);
      entries.set(key, { key, keyOffset, value });
    }
    return this.#aliases === "expanded" ? merged([...entries.values()]) : [...entries.values()];
  }

  #key(node: Node | undefined, path: string, offset: number): string | undefined {
    if (node === undefined) return "";
    if (isScalar(node)) return node.source ?? String(node.value);
    this.#refuse(path, offset, "a key is a text");
    return undefined;
  }

  #alias(name: string, path: string, offset: number): SourceNode {
    const target = this.#anchors.get(name);
    if (this.#aliases === "refused") {
      const message = "Template error: YAML aliases are not allowed in CloudFormation templates";
      this.#faults.report({ code: "AliasNotAllowed", message, path, offset });
    } else if (target === undefined) {
      this.#refuse(path, offset, `there is no anchor &${name} before this`);
    } else {
      this.#size += target.size;
      if (this.#size <= maxNodes) return target.node;
      this.#faults.report({
        code: "TooLarge",
        message: `Template format error: YAML aliases make more than ${maxNodes} nodes`,
        path,
        offset,
      });
    }
    return { kind: "scalar", value: null, offset };
  }

  #refuse(path: string, offset: number, hint: string): void {
    this.#faults.report({
      code: "YamlNotWellFormed",
      message: "Template format error: YAML not well-formed.",
      path,
      offset,
      hint,
    });
  }
}

function asNode(item: unknown): Node | undefined {
  return isScalar(item) || isMap(item) || isSeq(item) || isAlias(item) ? item : undefined;
}

function tagOf(node: Node): string | undefined {
  const tag = "tag" in node && typeof node.tag === "string" ? node.tag : undefined;
  return tag === "!" ? undefined : tag;
}

/** Writes `<<` out: keys of the map itself go before merged ones, and the first merged map before the later. */
function merged(entries: readonly MapEntry[]): readonly MapEntry[] {
  const merge = entries.find((entry) => entry.key === "<<");
  if (merge === undefined) return entries;
  const sources = merge.value.kind === "list" ? merge.value.items : [merge.value];
  const all = new Map<string, MapEntry>();
  for (const entry of entries) if (entry !== merge) all.set(entry.key, entry);
  for (const source of sources) {
    if (source.kind !== "map") continue;
    for (const entry of source.entries) if (!all.has(entry.key)) all.set(entry.key, entry);
  }
  return [...all.values()];
}
