/** Tags in the form of most services: a list of `Key` and `Value`. */
import type { Input } from "./input.ts";
import type { WireObject } from "./wire.ts";

/** Those of a call. */
export function tagsOf(input: Input, member = "Tags"): Readonly<Record<string, string>> {
  const tags = input.objects(member);
  return Object.fromEntries(tags.map((tag) => [tag.text("Key") ?? "", tag.text("Value") ?? ""]));
}

/** The list of them. */
export function toTags(tags: Readonly<Record<string, string>>): readonly WireObject[] {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}
