/**
 * JSONPath as state machines use it: names, indices, slices, wildcards and deep scans. Filters and functions of
 * expressions aren't evaluated: a path with one is refused by name.
 */
import type { Json, JsonObject } from "@custard/provider/protocol";
import { isObject } from "./definition.ts";
import { runtimeFault } from "./state-fault.ts";

type Segment =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "slice"; readonly from: number | undefined; readonly to: number | undefined }
  | { readonly kind: "all" }
  | { readonly kind: "deep"; readonly name: string };

/** What a path selects: one value, or a list of them when it may select several. `States.Runtime` when nothing. */
export function selectPath(value: Json, path: string): Json {
  const segments = parsePath(path);
  const found = segments.reduce<readonly Json[]>(
    (values, segment) => values.flatMap((each) => step(each, segment)),
    [value],
  );
  if (segments.some(isMany)) return [...found];
  const [only] = found;
  if (only === undefined)
    throw runtimeFault(
      `Invalid path '${path}': The JSONPath '${path}' specified for the field could not be found in the input '${JSON.stringify(value)}'`,
    );
  return only;
}

/** The same, or undefined when nothing is there. */
export function findPath(value: Json, path: string): Json | undefined {
  const segments = parsePath(path);
  const found = segments.reduce<readonly Json[]>(
    (values, segment) => values.flatMap((each) => step(each, segment)),
    [value],
  );
  return segments.some(isMany) ? [...found] : found[0];
}

/** A copy with another value at a reference path (names and indices only), made up where it isn't there. */
export function withPath(value: Json, path: string, put: Json): Json {
  return replaced(value, parsePath(path), { path, put });
}

function replaced(
  value: Json | undefined,
  segments: readonly Segment[],
  end: { readonly path: string; readonly put: Json },
): Json {
  const [segment, ...rest] = segments;
  if (segment === undefined) return end.put;
  if (segment.kind === "name") {
    const members: JsonObject = isObject(value) ? value : {};
    const before = Object.hasOwn(members, segment.name) ? members[segment.name] : undefined;
    return Object.fromEntries([...Object.entries(members), [segment.name, replaced(before, rest, end)]]);
  }
  if (segment.kind === "index" && Array.isArray(value) && segment.index < value.length) {
    const items: readonly Json[] = value;
    return items.map((item, index) => (index === segment.index ? replaced(item, rest, end) : item));
  }
  throw runtimeFault(`Unable to apply ReferencePath ${end.path} to the input`);
}

const token =
  /\.\.(?<deep>[\w$-]+)|\.(?<name>[\w$-]+|\*)|\[\s*(?:'(?<single>(?:[^'\\]|\\.)*)'|"(?<double>(?:[^"\\]|\\.)*)"|(?<star>\*)|(?<slice>-?\d*:-?\d*)|(?<index>-?\d+))\s*\]/y;

function parsePath(path: string): readonly Segment[] {
  const text = path.startsWith("$") ? path.slice(1) : undefined;
  if (text === undefined) throw refused(path);
  const segments: Segment[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const groups = token.exec(text)?.groups;
    if (groups === undefined) throw refused(path);
    segments.push(toSegment(groups));
  }
  return segments;
}

function refused(path: string): Error {
  return runtimeFault(
    `Custard can't evaluate the JSONPath '${path}': names, indices, slices and wildcards are known.`,
  );
}

function toSegment(groups: Readonly<Record<string, string | undefined>>): Segment {
  const { deep, star, slice, index, name } = groups;
  if (deep !== undefined) return { kind: "deep", name: deep };
  if (star !== undefined || name === "*") return { kind: "all" };
  if (index !== undefined) return { kind: "index", index: Number(index) };
  if (slice !== undefined) return toSlice(slice);
  return { kind: "name", name: name ?? unescaped(groups["single"] ?? groups["double"]) };
}

function toSlice(text: string): Segment {
  const [from = "", to = ""] = text.split(":");
  const bound = (each: string) => (each === "" ? undefined : Number(each));
  return { kind: "slice", from: bound(from), to: bound(to) };
}

function unescaped(text = ""): string {
  return text.replaceAll(/\\(.)/g, "$1");
}

function isMany({ kind }: Segment): boolean {
  return kind === "all" || kind === "slice" || kind === "deep";
}

function step(value: Json, segment: Segment): readonly Json[] {
  switch (segment.kind) {
    case "name":
      return memberOf(value, segment.name);
    case "index":
      return Array.isArray(value) ? value.slice(segment.index).slice(0, 1) : [];
    case "slice":
      return Array.isArray(value) ? value.slice(segment.from, segment.to) : [];
    case "all":
      return childrenOf(value);
    case "deep":
      return [
        ...memberOf(value, segment.name),
        ...childrenOf(value).flatMap((child) => step(child, segment)),
      ];
  }
}

function memberOf(value: Json, name: string): readonly Json[] {
  const member = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return member === undefined ? [] : [member];
}

function childrenOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}
