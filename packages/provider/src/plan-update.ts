import type { Json, JsonObject } from "./protocol/json.ts";

/** What an Update amounts to. */
export type UpdatePlan =
  | { readonly kind: "in-place" }
  /** Nothing to do: nothing was declared differently, or what was had never been done. */
  | { readonly kind: "unchanged" }
  /** The way back of a replacement: the old one is still there. */
  | { readonly kind: "back"; readonly id: string }
  | { readonly kind: "replace" };

/** What the plan depends on. */
export interface UpdateFacts {
  readonly properties: JsonObject;
  readonly oldProperties: JsonObject;
  readonly physicalId: string;
  readonly replaceOn: readonly string[];
  /** The generated id that goes with the new values of `replaceOn`. */
  readonly freshId: string;
  /** A type without `update` replaces on every change. */
  readonly canUpdate: boolean;
  /** What this id replaced: its id, and the fingerprint of its properties. */
  readonly replaced: Json | undefined;
  /** Fingerprint of properties that were refused before anything was done. */
  readonly untouched: Json | undefined;
}

/**
 * Decides what an Update is. A roll back is an Update with old and new properties swapped (facts 69, 70) and looks
 * like any other, so what can be told by what is remembered, or by a generated id, comes first.
 */
export function planUpdate(facts: UpdateFacts): UpdatePlan {
  const now = fingerprint(facts.properties);
  const back = facts.replaced;
  if (isRecord(back) && back["properties"] === now && typeof back["id"] === "string") {
    return { kind: "back", id: back["id"] };
  }
  const before = fingerprint(facts.oldProperties);
  if (now === before || facts.untouched === before) return { kind: "unchanged" };
  if (facts.physicalId === facts.freshId) return { kind: "in-place" };
  const replaces = !facts.canUpdate || facts.replaceOn.some((name) => isChanged(facts, name));
  return { kind: replaces ? "replace" : "in-place" };
}

/** Has this property changed, as declared? */
export function isChanged(facts: Pick<UpdateFacts, "properties" | "oldProperties">, name: string): boolean {
  return canonical(member(facts.properties, name)) !== canonical(member(facts.oldProperties, name));
}

/** A text that is the same for properties that mean the same: without what CloudFormation itself adds (fact 3). */
export function fingerprint(properties: JsonObject): string {
  return canonical(withoutService(properties));
}

/** The properties that are the author's. */
export function withoutService(properties: JsonObject): JsonObject {
  const { ServiceToken: _token, ServiceTimeout: _timeout, ...own } = properties;
  return own;
}

function member(properties: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function canonical(value: Json | undefined): string {
  return (
    JSON.stringify(value, (_key, item: unknown) =>
      isRecord(item)
        ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : item,
    ) ?? ""
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
