/**
 * Deletions: of a whole stack, of a failed creation, and of what a clean-up removes.
 *
 * D1: what depends on a resource goes before it (fact 98); of one logical id one deletion runs at a time.
 * D2: a deletion that fails stops no other, not even of what it depends on.
 * D3: a clean-up goes over what failed up to three times, each time with a fresh request (fact 76); others once.
 * D4: nothing is sent for what was never requested, or is retained (facts 82, 83).
 */
import type { Draft } from "./draft.ts";
import type { LogicalId } from "./ids.ts";
import { issueRequest } from "./issue-request.ts";
import { isCleanup } from "./phase.ts";
import type { Former } from "./resource.ts";
import { showFormer } from "./shown.ts";
import type { Phase } from "./stack.ts";

const cleanupPasses = 3;

/** Starts every deletion that can start. Returns whether anything changed. */
export function startDeletions(draft: Draft): boolean {
  const ready = readyOnes(draft);
  for (const waiting of ready) startDeletion(draft, waiting);
  return ready.length > 0 || startNextPass(draft);
}

/** What could not be deleted in the passes that were made, in the order of the stack's resources. */
export function failedDeletionsOf(draft: Draft): LogicalId[] {
  return [...draft.stack.resources]
    .filter(([, slot]) => slot.former.some((former) => former.status === "DELETE_FAILED"))
    .map(([logicalId]) => logicalId);
}

/** Is every deletion of the phase over, well or not? */
export function deletionsAreOver(draft: Draft): boolean {
  return draft.stack.requests.size === 0 && waitingOnes(draft).length === 0;
}

interface Waiting {
  readonly logicalId: LogicalId;
  readonly former: Former;
}

function waitingOnes(draft: Draft): Waiting[] {
  return [...draft.stack.resources].flatMap(([logicalId, slot]) =>
    slot.former.filter((former) => former.status === "WAITING").map((former) => ({ logicalId, former })),
  );
}

function readyOnes(draft: Draft): Waiting[] {
  const waiting = waitingOnes(draft);
  const busy = new Set([...draft.stack.requests.values()].map((request) => request.logicalId));
  const needed = neededBy(draft);
  const seen = new Set<LogicalId>(busy);
  const ready = waiting.filter(({ logicalId }) => {
    if (seen.has(logicalId) || needed.has(logicalId)) return false;
    seen.add(logicalId);
    return true;
  });
  // Resources of two template versions can depend on each other in a circle; one of them has to be first.
  if (ready.length === 0 && busy.size === 0) return waiting.slice(0, 1);
  return ready;
}

/** Every logical id on which something depends that is still to be deleted. */
function neededBy(draft: Draft): ReadonlySet<LogicalId> {
  const needs = [...draft.stack.resources].flatMap(([logicalId, slot]) =>
    slot.former
      .filter((former) => former.status === "WAITING" || former.status === "DELETE_IN_PROGRESS")
      .flatMap((former) => former.declared.dependsOn)
      .filter((name) => name !== logicalId),
  );
  return new Set(needs);
}

function startDeletion(draft: Draft, { logicalId, former }: Waiting): void {
  const { physicalId, reason: _before, ...rest } = former;
  const kept = physicalId === undefined ? rest : { ...rest, physicalId };
  if (isRetained(draft, logicalId, former)) {
    replace(draft, logicalId, { from: former, to: { ...kept, status: "DELETE_SKIPPED" } });
    return;
  }
  if (physicalId === undefined) {
    replace(draft, logicalId, { from: former, to: { ...kept, status: "DELETE_COMPLETE" } });
    return;
  }
  const { type, properties } = former.declared;
  const requestId = issueRequest(draft, {
    action: "delete",
    logicalId,
    type,
    properties,
    physicalId,
    targetId: physicalId,
  });
  const to: Former = { ...kept, status: "DELETE_IN_PROGRESS", requestId, attempts: former.attempts + 1 };
  replace(draft, logicalId, { from: former, to });
}

function replace(draft: Draft, logicalId: LogicalId, change: { from: Former; to: Former }): void {
  const formers = draft.slot(logicalId)?.former ?? [];
  draft.setFormer(
    logicalId,
    formers.map((former) => (former === change.from ? change.to : former)),
    showFormer(change.to, isCleanup(draft.operation.phase)),
  );
}

function isRetained(draft: Draft, logicalId: LogicalId, { cause, declared }: Former): boolean {
  const { deletionPolicy, updateReplacePolicy } = declared;
  const { retain, retainExceptOnCreate } = draft.operation;
  if (retain.has(logicalId)) return true;
  switch (cause) {
    case "removed":
      return deletionPolicy === "Retain" || deletionPolicy === "RetainExceptOnCreate";
    case "replaced":
      return updateReplacePolicy === "Retain";
    case "creation-undone":
      // Fact 83, of one resource or by the call's parameter of that name.
      return deletionPolicy === "Retain" && retainExceptOnCreate !== true;
    case "replacement-undone":
      return false;
  }
}

function startNextPass(draft: Draft): boolean {
  const { phase, pass } = draft.operation;
  if (!deletionsAreOver(draft) || pass >= passesOf(phase)) return false;
  const failed = failedDeletionsOf(draft);
  if (failed.length === 0) return false;
  draft.record({ kind: "pass-started" });
  for (const logicalId of failed)
    draft.setFormer(logicalId, (draft.slot(logicalId)?.former ?? []).map(again));
  return true;
}

function passesOf(phase: Phase): number {
  return isCleanup(phase) ? cleanupPasses : 1;
}

/** A failed deletion that is to be tried again. */
export function again(former: Former): Former {
  return former.status === "DELETE_FAILED" ? { ...former, status: "WAITING" } : former;
}
