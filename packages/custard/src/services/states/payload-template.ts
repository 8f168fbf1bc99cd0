import type { Json } from "@custard/provider/protocol";
import { callIntrinsic } from "./intrinsic-functions.ts";
import { isObject } from "./definition.ts";
import { selectPath } from "./json-path.ts";
import { runtimeFault } from "./state-fault.ts";

/** What paths may start at: `$` the input of a state, `$$` the context of the execution. */
export interface Data {
  readonly input: Json;
  readonly context: Json;
}

/** A template with every `"name.$"` member replaced by what its path or intrinsic function gives. */
export function fillTemplate(template: Json, data: Data): Json {
  if (Array.isArray(template)) return template.map((item: Json) => fillTemplate(item, data));
  if (!isObject(template)) return template;
  return Object.fromEntries(
    Object.entries(template).map(([name, value]) =>
      name.endsWith(".$")
        ? [name.slice(0, -2), dynamic(name, value, data)]
        : [name, fillTemplate(value, data)],
    ),
  );
}

/** A path into the input or, after `$$`, into the context. */
export function lookUp(path: string, { input, context }: Data): Json {
  return path.startsWith("$$") ? selectPath(context, path.slice(1)) : selectPath(input, path);
}

function dynamic(name: string, value: Json, data: Data): Json {
  if (typeof value !== "string")
    throw runtimeFault(`The value for the field '${name}' must be a valid JSONPath or intrinsic function`);
  return value.startsWith("$") ? lookUp(value, data) : callIntrinsic(value, (path) => lookUp(path, data));
}
