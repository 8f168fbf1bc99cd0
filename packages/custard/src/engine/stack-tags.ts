/** The tags of a stack: CloudFormation gives them to every resource whose type takes tags. */
import type { Knowledge } from "./draft.ts";
import type { Definition, Stack } from "./stack.ts";

/** Are the tags the same, whatever their order? */
export function sameTags(a: Definition["tags"], b: Definition["tags"]): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/** In an update: has a resource of this type to be given other tags than it has? */
export function takesNewTags({ operation, definition }: Stack, type: string, knowledge: Knowledge): boolean {
  const before = operation?.before?.definition;
  if (before === undefined || sameTags(before.tags, definition.tags)) return false;
  return knowledge.facts(type)?.takesTags === true;
}

/** The definition by which resources are made and changed now: in a rollback, the one from before. */
export function definitionInForce({ operation, definition }: Stack): Definition {
  return operation?.phase === "rollback" ? (operation.before?.definition ?? definition) : definition;
}
