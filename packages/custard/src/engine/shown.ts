import type { RequestId } from "./ids.ts";
import type { Shown } from "./record.ts";
import { declaredOf, physicalIdOf, type Former, type Resource } from "./resource.ts";

/** A resource as its stack event shows it. The status may be another than the state's: an event on the way to it. */
export function showResource(
  resource: Resource,
  event: { status?: string; reason?: string; physicalId?: string } = {},
): Shown {
  const declared = declaredOf(resource);
  const reason = event.reason ?? ("reason" in resource ? resource.reason : undefined);
  const requestId = requestIdOf(resource);
  return {
    status: event.status ?? resource.status,
    physicalId: event.physicalId ?? physicalIdOf(resource) ?? "",
    type: declared.type,
    properties: declared.properties,
    ...(reason === undefined ? {} : { reason }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

/** A deletion as its stack event shows it; a clean-up's has no properties (fact 93). */
export function showFormer(former: Former, cleanup: boolean): Shown {
  return {
    status: former.status,
    physicalId: former.physicalId ?? "",
    type: former.declared.type,
    ...(cleanup ? {} : { properties: former.declared.properties }),
    ...(former.reason === undefined ? {} : { reason: former.reason }),
    ...(former.requestId === undefined ? {} : { requestId: former.requestId }),
  };
}

function requestIdOf(resource: Resource): RequestId | undefined {
  if ("good" in resource && !("requestId" in resource)) return resource.good.requestId;
  return "requestId" in resource ? resource.requestId : undefined;
}
