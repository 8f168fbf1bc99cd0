import type { Json, JsonObject } from "@custard/provider/protocol";

/** A resource of a template as plain JSON, with its logical id. */
export type PlainResources = Readonly<Record<string, JsonObject>>;

/** One resource of the transform, with what `Globals` say of its type. */
export interface ServerlessResource {
  readonly logicalId: string;
  /** All that the resource says besides `Type` and `Properties`: its condition, metadata and so on. */
  readonly attributes: JsonObject;
  readonly properties: JsonObject;
}

/** Is it a map? */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
