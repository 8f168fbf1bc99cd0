import type { Json } from "@custard/provider/protocol";
import { isStructure, type Ref, type ServiceModel, type Structure } from "../model.ts";
import type { WireObject, WireValue } from "../wire.ts";

/**
 * What a record holds, as far as the model has a place for it: templates may say more of a thing than its API shows,
 * and give numbers as texts.
 */
export function fitMembers(model: ServiceModel, { members }: Structure, json: Json): WireObject {
  if (!isObject(json)) return {};
  const found = Object.entries(members).flatMap(([name, { ref }]) => {
    const value = Object.hasOwn(json, name) ? fit(model, ref, json[name] ?? null) : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

function fit(model: ServiceModel, ref: Ref, json: Json): WireValue {
  if (isStructure(ref)) return isObject(json) ? fitMembers(model, model.structure(ref), json) : undefined;
  if (typeof ref === "string") return isSimple(json) ? json : undefined;
  if ("list" in ref) {
    const items = Array.isArray(json) ? json : [json];
    return items.flatMap((item: Json) => fit(model, ref.list, item) ?? []);
  }
  if (!isObject(json)) return undefined;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, fit(model, ref.map, value)]));
}

function isSimple(json: Json): json is string | number | boolean {
  return typeof json === "string" || typeof json === "number" || typeof json === "boolean";
}

function isObject(json: Json): json is { readonly [name: string]: Json } {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
