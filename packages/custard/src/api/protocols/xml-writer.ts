/** Values as XML, as the model says. Throws a plain `Error` when a value isn't what the model says: that is a bug. */
import {
  isStructure,
  type ListRef,
  type MapRef,
  type Member,
  type Ref,
  type ServiceModel,
} from "../model.ts";
import type { WireObject, WireValue } from "../wire.ts";
import { formatText } from "./simple-value.ts";

/** An element of that name with what a value holds. */
export function writeElement(
  model: ServiceModel,
  element: string,
  member: Member & { readonly value: WireValue },
): string {
  const { ref, value } = member;
  if (value === undefined) return "";
  if (isStructure(ref)) {
    const object = objectOf(value, element);
    return `<${element}${writeAttributes(model, ref, object)}>${writeMembers(model, ref, object)}</${element}>`;
  }
  if (typeof ref === "string") return `<${element}>${escapeXml(formatText(ref, value))}</${element}>`;
  if ("list" in ref) return writeList(model, element, { ...member, ref, value });
  return writeMap(model, element, { ...member, ref, value });
}

/** The elements of a structure's members, in the model's order. Those that go elsewhere than the body are left out. */
function writeMembers(model: ServiceModel, ref: `#${string}`, object: WireObject): string {
  return writeBody(model, model.structure(ref).members, object);
}

/** The same for members that are at hand. */
export function writeBody(
  model: ServiceModel,
  members: Readonly<Record<string, Member>>,
  object: WireObject,
): string {
  let written = "";
  for (const [name, value] of Object.entries(object)) {
    if (value !== undefined && !Object.hasOwn(members, name))
      throw new Error(`The model has no member ${name}.`);
  }
  for (const [name, member] of Object.entries(members)) {
    const value = object[name];
    if (value !== undefined && isInBody(member))
      written += writeElement(model, member.name ?? name, { ...member, value });
  }
  return written;
}

/** Does a member stand in the body's XML? */
export function isInBody(member: Member): boolean {
  const { header, headers, query, queries, label, payload, status, attribute } = member;
  return [header, headers, query, queries, label, payload, status, attribute].every(
    (place) => place === undefined,
  );
}

/** Text within XML 1.0: what it can't hold is replaced, and carriage returns stay what they are. */
export function escapeXml(text: string): string {
  return text
    .replace(/(?![\t\n\r\x7f-\x9f])[\p{Cc}\p{Surrogate}\ufffe\uffff]/gu, "\ufffd")
    .replace(/[&<>"\r]/g, (character) => escapes[character] ?? character);
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\r": "&#xD;",
};

function writeList(
  model: ServiceModel,
  element: string,
  member: Member & { ref: ListRef; value: WireValue },
): string {
  const { ref, flat, value } = member;
  if (!Array.isArray(value)) throw new Error(`${element} is to be a list.`);
  const item = flat === true ? element : (ref.name ?? "member");
  const items = value
    .map((each: WireValue) => writeElement(model, item, { ref: ref.list, value: each }))
    .join("");
  return flat === true ? items : `<${element}>${items}</${element}>`;
}

function writeMap(
  model: ServiceModel,
  element: string,
  member: Member & { ref: MapRef; value: WireValue },
): string {
  const { ref, flat, value } = member;
  const item = flat === true ? element : "entry";
  const entries = Object.entries(objectOf(value, element)).map(([key, each]) => {
    const name = writeElement(model, ref.key ?? "key", { ref: "string", value: key });
    return `<${item}>${name}${writeElement(model, ref.value ?? "value", { ref: ref.map, value: each })}</${item}>`;
  });
  return flat === true ? entries.join("") : `<${element}>${entries.join("")}</${element}>`;
}

function writeAttributes(model: ServiceModel, ref: Ref & `#${string}`, object: WireObject): string {
  let written = "";
  for (const [name, { attribute, name: wireName = name }] of Object.entries(model.structure(ref).members)) {
    const value = object[name];
    if (attribute !== true || value === undefined) continue;
    const prefix = wireName.split(":")[0];
    if (prefix === "xsi") written += ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
    written += ` ${wireName}="${escapeXml(formatText("string", value))}"`;
  }
  return written;
}

function objectOf(value: WireValue, name: string): WireObject {
  if (isWireObject(value)) return value;
  throw new Error(`${name} is to be a structure.`);
}

/** Is it a structure or map, not bytes, a stream or a list? */
export function isWireObject(value: WireValue): value is WireObject {
  return typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype;
}
