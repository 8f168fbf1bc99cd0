import type { Json, JsonObject } from "./protocol/json.ts";
import { limits } from "./protocol/limits.ts";
import { workOn } from "./work-on.ts";
import type { FreeAttributes, Resource, ResourceDefinition } from "./resource.ts";

const typeForm = /^Custom::[\w@-]+$/u;

/**
 * Declares a kind of custom resource. The types of `properties`, `old`, `state` and of what must be returned follow
 * from the schemas.
 *
 * Throws a TypeError on a type name that CloudFormation refuses (fact 9).
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
  return {
    ...definition,
    work: (call, shared, continued) => workOn(definition, { call, shared }, continued),
    describe: () => ({
      type,
      sensitive: definition.sensitive ?? [],
      replaceOn: definition.replaceOn ?? [],
      immutable: Object.keys(definition.immutable ?? {}),
      timeouts: definition.timeouts ?? {},
      handlers: (["create", "update", "delete", "poll", "read"] as const).filter(
        (name) => name in definition,
      ),
    }),
  };
}
