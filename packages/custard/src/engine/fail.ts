import type { Draft } from "./draft.ts";
import { sameProperties } from "./issue-request.ts";
import { creationCancelled, updateCancelled } from "./messages.ts";
import { declaredOf, toFormer, type Declared, type Former, type Resource } from "./resource.ts";
import { showResource } from "./shown.ts";
import type { Failure, Operation, Pending } from "./stack.ts";

/** Does the operation's forward phase have to be given up? Without rollback it goes on as far as it can (fact 84). */
export function mustRollBack(operation: Operation): boolean {
  return operation.failures.length > 0 && operation.onFailure !== "DO_NOTHING";
}

/** Notes that a resource failed; where the operation is given up, its siblings in flight are cancelled at once. */
export function failResource(draft: Draft, failure: Failure): void {
  draft.record({ kind: "resource-failed", failure });
  if (draft.operation.phase !== "forward" || mustRollBack(draft.operation)) cancelInFlight(draft);
}

/** Facts 64, 66 and 90: whatever is in flight fails now, and counts among what failed; its answer will be ignored. */
export function cancelInFlight(draft: Draft): void {
  for (const request of draft.stack.requests.values()) {
    const { requestId, logicalId } = request;
    // A wait asks nobody: it is there as soon as it was shown.
    const sent = draft.endRequest(requestId, "cancelled") || request.kind === "signals";
    const slot = draft.slot(logicalId);
    const current = slot?.current;
    const cancelled = cancel(current, { sent, request });
    if (cancelled === undefined) continue;
    const { resource, orphan } = cancelled;
    if (orphan !== undefined) draft.setFormer(logicalId, [...(slot?.former ?? []), orphan]);
    const declared = current === undefined ? resource.declared : declaredOf(current);
    draft.setCurrent(logicalId, resource, showResource({ ...resource, declared }));
    const verb = resource.status === "CREATE_FAILED" ? "create" : "update";
    draft.record({ kind: "resource-failed", failure: { logicalId, verb, cancelled: true } });
  }
}

interface Cancelled {
  readonly resource: Extract<Resource, { status: "CREATE_FAILED" | "UPDATE_FAILED" }>;
  /** The half-made new physical resource of a replacement. */
  readonly orphan?: Former;
}

function cancel(
  current: Resource | undefined,
  { sent, request }: { sent: boolean; request: Pending },
): Cancelled | undefined {
  if (current?.status === "CREATE_IN_PROGRESS") {
    const { declared, provisionalId } = current;
    const base = { status: "CREATE_FAILED", declared, reason: creationCancelled } as const;
    // Fact 65: the Delete that follows carries an id that the provider never returned.
    return {
      resource: sent
        ? { ...base, requested: true, physicalId: provisionalId, requestId: request.requestId }
        : { ...base, requested: false },
    };
  }
  if (current?.status !== "UPDATE_IN_PROGRESS") return undefined;
  const { good, physicalId, requestId } = current;
  return {
    resource: {
      status: "UPDATE_FAILED",
      ...lastSent(current, { sent: sent && current.replacementId === undefined, request }),
      good,
      physicalId,
      requestId,
      reason: updateCancelled,
    },
    ...(current.replacementId === undefined || !sent
      ? {}
      : { orphan: orphanOf(current, current.replacementId) }),
  };
}

/** What the provider was sent last: an update that never left may follow one that failed earlier. */
export function lastSent(
  { declared, good }: Extract<Resource, { status: "UPDATE_IN_PROGRESS" }>,
  { sent, request }: { sent: boolean; request: Pending },
): { requested: boolean; declared: Declared } {
  if (sent || request.action !== "update") return { requested: sent, declared };
  const before = request.oldProperties;
  if (sameProperties(before, good.declared.properties)) return { requested: false, declared };
  return { requested: true, declared: { ...good.declared, properties: before } };
}

/** What a replacement had begun to make, as something that awaits its deletion. */
export function orphanOf(updating: Resource, physicalId: Former["physicalId"] & string): Former {
  return { ...toFormer(updating, "replacement-undone"), physicalId, attributes: {} };
}
