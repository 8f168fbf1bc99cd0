/** Values as JSON, as the model says. Reading throws `ApiError`, writing a plain `Error`: that is a bug. */
import { ApiError } from "../api-error.ts";
import {
  isStructure,
  type Member,
  type Ref,
  type ServiceModel,
  type SimpleRef,
  type Structure,
} from "../model.ts";
import type { WireObject, WireValue } from "../wire.ts";
import { bytesOf, numberOf, parseTime } from "./simple-value.ts";
import { isInBody, isWireObject } from "./xml-writer.ts";

type Json = null | string | number | boolean | readonly Json[] | { readonly [name: string]: Json };

/** Models are recursive in places; requests need not follow them for ever. */
const deepest = 100;

/** A body as JSON; an empty one is an empty structure. */
export function parseJson(body: Uint8Array): Json {
  if (body.length === 0) return {};
  try {
    return JSON.parse(Buffer.from(body).toString("utf8")) as Json;
  } catch {
    throw new ApiError("SerializationException", "The request body is no JSON.");
  }
}

/** The members of a structure that stand in the body; unknown ones are ignored. */
export function readMembers(model: ServiceModel, { members }: Structure, json: Json): WireObject {
  return readStructure(model, members, { json, depth: 0 });
}

/** The body with a structure's members. */
export function writeJson(model: ServiceModel, structure: Structure | undefined, output: WireObject): string {
  return JSON.stringify(writeStructure(model, structure?.members ?? {}, output));
}

interface At {
  readonly json: Json;
  readonly depth: number;
}

function readStructure(
  model: ServiceModel,
  members: Readonly<Record<string, Member>>,
  { json, depth }: At,
): WireObject {
  if (!isObject(json) || depth > deepest) throw unexpected(json, "a structure");
  const found = Object.entries(members).flatMap(([name, member]) => {
    const value = Object.hasOwn(json, name) ? json[name] : undefined;
    if (value === undefined || value === null || !isInBody(member)) return [];
    return [[name, readJson(model, member.ref, { json: value, depth: depth + 1 })] as const];
  });
  return Object.fromEntries(found);
}

function readJson(model: ServiceModel, ref: Ref, at: At): WireValue {
  const { json, depth } = at;
  if (isStructure(ref)) return readStructure(model, model.structure(ref).members, at);
  if (typeof ref === "string") return readSimple(ref, json);
  if ("list" in ref) {
    if (!Array.isArray(json)) throw unexpected(json, "a list");
    return json.map((each: Json) => readJson(model, ref.list, { json: each, depth: depth + 1 }));
  }
  if (!isObject(json)) throw unexpected(json, "a map");
  return Object.fromEntries(
    Object.entries(json).map(([key, each]) => [
      key,
      readJson(model, ref.map, { json: each, depth: depth + 1 }),
    ]),
  );
}

function readSimple(ref: SimpleRef, json: Json): WireValue {
  switch (ref) {
    case "string":
      return typeof json === "string" ? json : refuse(json, "a string");
    case "number":
      return typeof json === "number" ? json : refuse(json, "a number");
    case "boolean":
      return typeof json === "boolean" ? json : refuse(json, "true or false");
    case "timestamp":
    case "date-time":
    case "http-date":
    case "epoch-seconds":
      if (typeof json === "number") return parseTime(String(json));
      return typeof json === "string" ? parseTime(json) : refuse(json, "a time");
    case "blob":
    case "stream":
      return typeof json === "string" ? Buffer.from(json, "base64") : refuse(json, "bytes in base64");
    case "document":
    case "events":
    case "unit":
      return refuse(json, "nothing");
  }
}

function writeStructure(
  model: ServiceModel,
  members: Readonly<Record<string, Member>>,
  object: WireObject,
): Json {
  const entries = Object.entries(object).flatMap(([name, value]) => {
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (member === undefined && value !== undefined) throw new Error(`The model has no member ${name}.`);
    if (member === undefined || value === undefined || !isInBody(member)) return [];
    return [[name, writeValue(model, member.ref, value)] as const];
  });
  return Object.fromEntries(entries);
}

function writeValue(model: ServiceModel, ref: Ref, value: WireValue): Json {
  if (typeof ref === "string" && !isStructure(ref)) return writeSimple(ref, value);
  if (typeof ref === "object" && "list" in ref) {
    if (!Array.isArray(value)) throw new Error("A list was to be written, and something else came.");
    return value.map((each: WireValue) => writeValue(model, ref.list, each));
  }
  if (!isWireObject(value)) throw new Error("A structure was to be written, and something else came.");
  if (isStructure(ref)) return writeStructure(model, model.structure(ref).members, value);
  const { map } = ref;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) =>
      each === undefined ? [] : [[key, writeValue(model, map, each)]],
    ),
  );
}

function writeSimple(ref: SimpleRef, value: WireValue): Json {
  switch (ref) {
    case "string":
    case "number":
    case "boolean":
      return plainOf(value);
    case "timestamp":
    case "epoch-seconds":
      return numberOf(value) / 1000;
    case "date-time":
      return new Date(numberOf(value)).toISOString();
    case "http-date":
      return new Date(numberOf(value)).toUTCString();
    case "blob":
    case "stream":
      return Buffer.from(bytesOf(value)).toString("base64");
    case "document":
    case "events":
    case "unit":
      throw new Error(`A value of kind ${ref} can't be written.`);
  }
}

function plainOf(value: WireValue): Json {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  throw new Error("A simple value was to be written, and something else came.");
}

function isObject(json: Json): json is { readonly [name: string]: Json } {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function refuse(json: Json, wanted: string): never {
  throw unexpected(json, wanted);
}

function unexpected(json: Json, wanted: string): ApiError {
  const kind = json === null ? "null" : Array.isArray(json) ? "a list" : `a ${typeof json}`;
  return new ApiError("SerializationException", `The request has ${kind} where ${wanted} is wanted.`);
}
