/** Members that stand in path, query, headers and status. Reading throws `ApiError`. */
import { malformed } from "../api-error.ts";
import type { ListRef, Member, Operation, Ref, Structure } from "../model.ts";
import { isStructure } from "../model.ts";
import type { WireObject, WireRequest, WireValue } from "../wire.ts";
import { headerText } from "./aws-json.ts";
import { formatText, parseText } from "./simple-value.ts";
import { isWireObject } from "./xml-writer.ts";

/** The members of an input that don't stand in the body. */
export function readBindings(
  input: Structure,
  request: WireRequest,
  labels: Readonly<Record<string, string>>,
): WireObject {
  const found: Record<string, WireValue> = {};
  for (const [name, member] of Object.entries(input.members)) {
    const value = readBinding(member, request, labels[name]);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** The name and form of the member that is the whole body, if there is one. */
export function payloadOf(
  structure: Structure,
): { readonly name: string; readonly member: Member } | undefined {
  const found = Object.entries(structure.members).find(([, { payload }]) => payload === true);
  return found === undefined ? undefined : { name: found[0], member: found[1] };
}

/** Status and headers of an output. */
export function writeBindings(
  operation: Operation,
  output: WireObject,
): { readonly status: number; readonly headers: Record<string, string> } {
  let status = operation.status ?? 200;
  const headers: Record<string, string> = {};
  for (const [name, member] of Object.entries(operation.output?.members ?? {})) {
    const value = output[name];
    if (value === undefined) continue;
    if (member.status === true && typeof value === "number") status = value;
    if (member.header !== undefined) headers[member.header.toLowerCase()] = formatHeader(member.ref, value);
    if (member.headers !== undefined && isWireObject(value)) {
      for (const [key, text] of Object.entries(value))
        headers[`${member.headers}${key}`.toLowerCase()] = formatHeader("string", text);
    }
  }
  return { status, headers };
}

function readBinding(member: Member, request: WireRequest, label: string | undefined): WireValue {
  if (member.label === true) return label === undefined ? undefined : parseSimple(member.ref, [label]);
  if (member.header !== undefined) {
    const text = request.headers[member.header.toLowerCase()];
    return text === undefined ? undefined : readHeader(member.ref, text);
  }
  if (member.headers !== undefined) return readPrefixed(member.headers, request);
  if (member.queries === true) return Object.fromEntries(request.query);
  if (member.query === undefined) return undefined;
  const texts = request.query.filter(([name]) => name === member.query).map(([, text]) => text);
  return texts.length === 0 ? undefined : parseSimple(member.ref, texts);
}

function readHeader(ref: Ref, text: string): WireValue {
  if (typeof ref === "object" && "list" in ref)
    return parseSimple(
      ref,
      text.split(",").map((part) => part.trim()),
    );
  return parseSimple(ref, [text]);
}

function readPrefixed(prefix: string, { headers }: WireRequest): WireValue {
  const start = prefix.toLowerCase();
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, text]) =>
      name.startsWith(start) ? [[name.slice(start.length), text]] : [],
    ),
  );
}

function parseSimple(ref: Ref, texts: readonly string[]): WireValue {
  if (isListRef(ref)) return texts.map((text) => parseSimple(ref.list, [text]));
  if (typeof ref !== "string" || isStructure(ref)) throw malformed("A value stands where none is taken.");
  return parseText(ref, texts[0] ?? "");
}

function formatHeader(ref: Ref, value: WireValue): string {
  if (isListRef(ref) && Array.isArray(value))
    return value.map((each: WireValue) => formatHeader(ref.list, each)).join(",");
  if (typeof ref !== "string" || isStructure(ref)) throw new Error("A header can hold no structure.");
  // Times in headers are HTTP dates unless the model says otherwise.
  return headerText(formatText(ref === "timestamp" ? "http-date" : ref, value));
}

function isListRef(ref: Ref): ref is ListRef {
  return typeof ref === "object" && "list" in ref;
}
