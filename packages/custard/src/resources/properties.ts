/** Reads the properties of a resource; whatever has the wrong kind fails it in CloudFormation's words. */
import type { Json, JsonObject } from "@custard/provider/protocol";
import { ResourceFailure } from "./failure.ts";
import { type Subject, textProperty, toText } from "./subject.ts";

/** A property that is a number or the text of one (fact 106). */
export function numberProperty(subject: Subject, name: string): number | undefined {
  const text = textProperty(subject, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === "" || Number.isNaN(value)) throw mismatch(name, "Integer");
  return value;
}

/** The members of an object; a failure that names the property when it is none. */
export function membersOf(value: Json | undefined, name: string): JsonObject {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw mismatch(name, "Object");
  return Object.fromEntries(Object.entries(value));
}

/** A property that is a list of scalars, as texts; empty when it is absent. */
export function textListProperty({ properties }: Subject, name: string): readonly string[] {
  return textsOf(properties[name], name) ?? [];
}

/** A list of scalars as texts. */
export function textsOf(value: Json | undefined, name: string): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw mismatch(name, "List");
  return value.map((item: Json, index) => {
    const text = toText(item);
    if (text === undefined) throw mismatch(`${name}/${index}`, "String");
    return text;
  });
}

/** A list of `Key` and `Value`. */
export function tagsOf(value: Json | undefined): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  if (!Array.isArray(value)) throw mismatch("Tags", "List");
  return Object.fromEntries(
    value.map((tag: Json) => {
      const members = membersOf(tag, "Tags");
      return [toText(members["Key"]) ?? "", toText(members["Value"]) ?? ""];
    }),
  );
}

/** CloudFormation's words for a property of the wrong kind. */
export function mismatch(name: string, kind: string): ResourceFailure {
  return new ResourceFailure(
    `Property validation failure: [Value of property {/${name}} does not match type {${kind}}]`,
  );
}
