import type { ResourceTypes } from "../engine/ports.ts";
import type { StackEvent } from "../engine/views.ts";

/** Is an event about a resource that nothing real stands behind? Of deleted resources, too: the type tells. */
export function isSimulated(event: StackEvent, types: Pick<ResourceTypes, "facts">): boolean {
  return types.facts(event.resourceType)?.kind === "simulated";
}
