/**
 * Dynamic references, written out at the last moment: what a request carries in the journal still names the secret,
 * what is handed over holds it.
 */
import {
  dynamicReferencesIn,
  resolveDynamicReferences,
  type DynamicValue,
} from "../template/dynamic-references.ts";
import { isValueMap, type ValueMap } from "../template/value.ts";
import type { LookupPlace, Lookups } from "./ports.ts";
import type { Pending } from "./stack.ts";

type Carrier = Extract<Pending, { kind: "provider" | "task" }>;

/** A request with every reference in its properties written out, or why that can't be. */
export type Resolved<P extends Carrier> =
  | { readonly kind: "resolved"; readonly pending: P }
  | { readonly kind: "failed"; readonly reason: string };

/**
 * Looks up what a request's properties refer to. A deletion doesn't fail for a reference that leads nowhere any more:
 * it carries it as it is. The same holds for an update's old properties.
 */
export async function resolveReferences<P extends Carrier>(
  lookups: Lookups | undefined,
  place: LookupPlace,
  pending: P,
): Promise<Resolved<P>> {
  const found = lookups === undefined ? undefined : await lookUp(lookups, place, pending);
  if (found === undefined) return { kind: "resolved", pending };
  const properties = write(pending.properties, found);
  if (typeof properties === "string" && pending.action !== "delete")
    return { kind: "failed", reason: properties };
  const resolved = {
    ...pending,
    properties: typeof properties === "string" ? pending.properties : properties,
  };
  if (pending.action !== "update") return { kind: "resolved", pending: resolved };
  const old = write(pending.oldProperties, found);
  return {
    kind: "resolved",
    pending: typeof old === "string" ? resolved : { ...resolved, oldProperties: old },
  };
}

/** Values by the references' texts; undefined when there are none. */
async function lookUp(
  lookups: Lookups,
  place: LookupPlace,
  pending: Carrier,
): Promise<ReadonlyMap<string, DynamicValue> | undefined> {
  const all =
    pending.action === "update" ? [pending.properties, pending.oldProperties] : [pending.properties];
  const { references } = dynamicReferencesIn(all);
  if (references.length === 0) return undefined;
  const values = await Promise.all(
    references.map(
      async (reference) => [reference.text, await lookups.dynamicValue(reference, place)] as const,
    ),
  );
  return new Map(values);
}

/** The properties, or the message of what can't be written out. */
function write(properties: ValueMap, found: ReadonlyMap<string, DynamicValue>): ValueMap | string {
  const result = resolveDynamicReferences(
    properties,
    ({ text }) => found.get(text) ?? { kind: "failed", message: `${text} was not looked up` },
  );
  if (result.kind === "failed") return result.message;
  return isValueMap(result.value) ? result.value : {};
}
