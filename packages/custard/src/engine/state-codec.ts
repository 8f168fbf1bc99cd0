/**
 * Stacks and records as JSON for the journal, and back. The journal is ours: what it holds was written by this file,
 * so a wrong shape means a broken medium and is reported as one. Sensitive values are kept in clear; the journal's
 * files are readable by their owner alone.
 *
 * `{"!": v}` is a sensitive value, `{"!map": entries}` and `{"!set": items}` are collections, `{"!definition": …}` a
 * definition; a plain object's key that starts with `!` gets one `!` more.
 */
import type { Json } from "@custard/provider/protocol";
import { parseTemplate } from "../template/parse-template.ts";
import type { Template } from "../template/template.ts";
import { Sensitive, type Value } from "../template/value.ts";
import { makeDefinition, type DefinitionSource } from "./definition.ts";
import type { StackRecord } from "./record.ts";
import type { Definition, Stack, StackIdentity } from "./stack.ts";

const format = 1;

/** A record as JSON. */
export function encodeRecord(record: StackRecord): Json {
  return { format, record: encode(record) };
}

/** A stack as JSON. */
export function encodeStack(stack: Stack): Json {
  return { format, identity: encode(stack.identity), stack: encode(stack) };
}

/** Templates that were read already, by their text: whoever decodes many records reads each template once. */
export type KnownTemplates = Map<string, Template>;

/** Reads what `encodeRecord` wrote. Throws when it is something else. */
export function decodeRecord(
  json: Json,
  identity: StackIdentity | undefined,
  templates: KnownTemplates = new Map(),
): StackRecord {
  const content = member(checked(json), "record");
  return decode(content, { identity: identity ?? identityIn(content), templates }) as StackRecord;
}

/** Reads what `encodeStack` wrote. Throws when it is something else. */
export function decodeStack(json: Json, templates: KnownTemplates = new Map()): Stack {
  const identity = identityIn(checked(json));
  return decode(member(json, "stack"), { identity, templates }) as Stack;
}

function checked(json: Json): Json {
  if (member(json, "format") !== format) throw new Error("the journal holds a record of an unknown format");
  return json;
}

function identityIn(content: Json): StackIdentity {
  return decode(member(content, "identity"), { templates: new Map() }) as StackIdentity;
}

function member(json: Json, name: string): Json {
  const value = isObject(json) ? json[name] : undefined;
  if (value === undefined) throw new Error(`the journal holds a record without ${name}`);
  return value;
}

function isObject(json: Json): json is { readonly [key: string]: Json } {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

// ------------------------------------------------------------------------------------------------ encode

function encode(value: unknown): Json {
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return value;
  if (value instanceof Sensitive) return { "!": encode(value.reveal()) };
  if (value instanceof Map) return { "!map": [...value].map(([key, item]) => [encode(key), encode(item)]) };
  if (value instanceof Set) return { "!set": [...value].map(encode) };
  if (Array.isArray(value)) return value.map(encode);
  if (typeof value === "object")
    return isDefinition(value) ? { "!definition": encodeDefinition(value) } : encodeObject(value);
  throw new Error(`a ${typeof value} can't be kept in the journal`);
}

function encodeObject(value: object): Json {
  const encoded: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value))
    if (item !== undefined) set(encoded, key.startsWith("!") ? `!${key}` : key, encode(item));
  return encoded;
}

/** Much faster than `Object.fromEntries`; `__proto__` is a name like any other here, too. */
function set<T>(target: Record<string, T>, key: string, value: T): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** Conditions and dependencies follow from the rest. */
function encodeDefinition({ template, parameters, tags, notificationArns, directory }: Definition): Json {
  const { body, original, transforms } = template;
  // A processed template doesn't say what it came from.
  const origin = original === undefined ? {} : { original, transforms };
  return encodeObject({ body, ...origin, parameters, tags, notificationArns, directory });
}

/** Nothing else in a stack has a map of dependencies; values of templates and providers hold no `Map`. */
function isDefinition(value: object): value is Definition {
  return "dependencies" in value && value.dependencies instanceof Map;
}

// ------------------------------------------------------------------------------------------------ decode

/** What decoding goes by. */
interface Context {
  readonly identity?: StackIdentity;
  readonly templates: KnownTemplates;
}

function decode(json: Json, context: Context): unknown {
  if (Array.isArray(json)) return json.map((item) => decode(item, context));
  if (!isObject(json)) return json;
  const keys = Object.keys(json);
  const [marker] = keys;
  if (marker?.startsWith("!") === true && !marker.startsWith("!!"))
    return decodeMarked(marker, json, context);
  const decoded: Record<string, unknown> = {};
  for (const key of keys)
    set(decoded, key.startsWith("!!") ? key.slice(1) : key, decode(json[key] ?? null, context));
  return decoded;
}

function decodeMarked(marker: string, json: { readonly [key: string]: Json }, context: Context): unknown {
  const content = member(json, marker);
  switch (marker) {
    case "!":
      return new Sensitive(decode(content, context) as Value);
    case "!map":
      return new Map(decode(content, context) as readonly (readonly [unknown, unknown])[]);
    case "!set":
      return new Set(decode(content, context) as readonly unknown[]);
    case "!definition":
      return decodeDefinition(content, context);
  }
  throw new Error(`the journal holds an unknown mark ${marker}`);
}

function decodeDefinition(content: Json, context: Context): Definition {
  const { identity, templates } = context;
  if (identity === undefined) throw new Error("the journal holds a definition without a stack");
  const source = decode(content, context) as Omit<DefinitionSource, "template"> & Kept;
  const { body, original, transforms, ...rest } = source;
  const origin = original === undefined || transforms === undefined ? {} : { original, transforms };
  return lazily(rest, () => {
    const template = templates.get(body) ?? readTemplate(body, identity);
    templates.set(body, template);
    return makeDefinition(identity, { ...rest, template: { ...template, ...origin } });
  });
}

/** Its template is read when somebody asks: of a long history only the last definitions are ever looked at. */
function lazily(known: Omit<DefinitionSource, "template">, make: () => Definition): Definition {
  let made: Definition | undefined;
  const whole = () => (made ??= make());
  return {
    ...known,
    get template() {
      return whole().template;
    },
    get conditions() {
      return whole().conditions;
    },
    get dependencies() {
      return whole().dependencies;
    },
  };
}

function readTemplate(body: string, { stackName }: StackIdentity): Template {
  const parsed = parseTemplate(body);
  if (parsed.ok) return parsed.value;
  throw new Error(`the template of ${stackName} can't be read any more: ${parsed.diagnostics[0]?.message}`);
}

/** What is kept of a template. */
interface Kept {
  readonly body: string;
  readonly original?: string;
  readonly transforms?: readonly string[];
}
