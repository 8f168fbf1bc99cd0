import type { Json, JsonObject } from "./protocol/json.ts";
import { limits } from "./protocol/limits.ts";
import { workOn } from "./work-on.ts";
import type { FreeAttributes, Resource, ResourceDefinition } from "./resource.ts";

const typeForm = /^Custom::[\w@-]+$/u;

const handlers = ["create", "update", "delete", "poll", "read"] as const;
const settings = ["type", "properties", "attributes", "sensitive", "replaceOn", "immutable", "timeouts"];
const rules = ["migrations", "owns", "isNotFound", "overflow"];
/** Of a resource that is defined again, with changes: `defineResource({ ...Topic, timeouts })`. */
const made: readonly string[] = ["work", "describe"];
const members: readonly string[] = [...settings, ...rules, ...handlers];

/**
 * Declares a kind of custom resource. The types of `properties`, `old`, `state` and of what must be returned follow
 * from the schemas.
 *
 * Throws a TypeError on a type name that CloudFormation refuses (fact 9), without `create` or `delete`, and on what a
 * definition hasn't got.
 */
export function defineResource<P = JsonObject, A = FreeAttributes, S extends Json = never>(
  definition: ResourceDefinition<P, A, S>,
): Resource<P, A, S> {
  const { type } = definition;
  const isCustom =
    typeForm.test(type) && type.length - "Custom::".length <= limits.customTypeNameLength.value;
  if (!isCustom && type !== "AWS::CloudFormation::CustomResource") {
    throw new TypeError(`Not a type name: '${type}' (Custom:: and at most 60 of A-Z a-z 0-9 _ @ -)`);
  }
  requireMembers(definition);
  return {
    ...definition,
    work: (call, shared, continued) => workOn(definition, { call, shared }, continued),
    describe: () => ({
      type,
      sensitive: definition.sensitive ?? [],
      replaceOn: definition.replaceOn ?? [],
      immutable: Object.keys(definition.immutable ?? {}),
      timeouts: definition.timeouts ?? {},
      handlers: handlers.filter((name) => definition[name] !== undefined),
    }),
  };
}

/** Checks what types can't where there are none. */
function requireMembers<P, A, S>(definition: ResourceDefinition<P, A, S>): void {
  const { type } = definition;
  const stray = Object.keys(definition).find((name) => !members.includes(name) && !made.includes(name));
  if (stray !== undefined)
    throw new TypeError(`${type}: a definition has no '${stray}', only ${members.join(", ")}`);
  for (const name of handlers) {
    const handler: unknown = definition[name];
    if (handler === undefined && (name === "create" || name === "delete"))
      throw new TypeError(`${type} needs a ${name} handler`);
    if (handler !== undefined && typeof handler !== "function")
      throw new TypeError(`${type}: ${name} must be a function`);
  }
  for (const name of ["replaceOn", "sensitive"] as const)
    if (!Array.isArray(definition[name] ?? []))
      throw new TypeError(`${type}: ${name} must be a list of names`);
}
