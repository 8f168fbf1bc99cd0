/**
 * What a stack does next, whenever something has happened: starts what can start, and goes from phase to phase.
 *
 * A1: it ends with a pending request, or with no operation in progress (S2).
 */
import { again, deletionsAreOver, failedDeletionsOf, startDeletions } from "./deletion.ts";
import type { Draft } from "./draft.ts";
import { mustRollBack } from "./fail.ts";
import { startReady } from "./forward.ts";
import {
  cleanupIncomplete,
  deleteRequested,
  failedDeletions,
  failedResources,
  rollbackCleanupIncomplete,
  rollbackRequested,
} from "./messages.ts";
import { stackClaim } from "./claims.ts";
import { evaluateOutputs } from "./outputs.ts";
import { toFormer } from "./resource.ts";
import { claimExports, exportFault, releaseExports, releaseImports } from "./exports.ts";
import { commitChildren, tellParent, tellParentOfFailure } from "./nested.ts";
import { isCleanup } from "./phase.ts";
import { settleWaits } from "./settle-waits.ts";
import type { Phase } from "./stack.ts";
import { isSettled, type StackStatus } from "./stack-status.ts";
import { isRestored, setAsideCreated, startRestorations } from "./update-rollback.ts";

/** Goes on until everything waits for the world, or the operation has ended. */
export function advance(draft: Draft): void {
  while (draft.stack.operation !== undefined && !isSettled(draft.stack.status) && step(draft));
}

function step(draft: Draft): boolean {
  if (draft.operation.held) return false;
  const { phase } = draft.operation;
  switch (phase) {
    case "forward":
      return stepForward(draft);
    case "rollback":
      return hasStableState(draft) ? stepRollback(draft) : stepDeletion(draft);
    case "cleanup":
    case "rollback-cleanup":
    case "delete":
      return stepDeletion(draft);
  }
}

// ------------------------------------------------------------------------------------------------ forward

function stepForward(draft: Draft): boolean {
  if (settleWaits(draft)) return true;
  if (mustRollBack(draft.operation)) {
    if (staysFailed(draft)) return stopFailed(draft, `${failedResources(draft.operation.failures)} `);
    return beginRollback(draft, failureReason(draft, failedResources(draft.operation.failures)));
  }
  if (draft.operation.asked.size > 0) return false;
  if (startReady(draft)) return true;
  if (draft.stack.requests.size > 0) return false;
  if (draft.operation.failures.length > 0) {
    return stopFailed(draft, `${failedResources(draft.operation.failures)} `);
  }
  return reachGoal(draft);
}

/** N3 */
function staysFailed({ operation }: Draft): boolean {
  return operation.onFailure === "DO_NOTHING" || (operation.nested === true && operation.kind === "create");
}

/** Is there a state to go back to? Without one, a rollback deletes all that the stack has. */
function hasStableState({ operation }: Pick<Draft, "operation">): boolean {
  return operation.before !== undefined;
}

/** Facts 89, 91 and 127: who asked for what follows is said only where nothing will be left. */
function failureReason(draft: Draft, reason: string): string {
  if (hasStableState(draft)) return reason;
  return draft.operation.onFailure === "DELETE" ? deleteRequested(reason) : rollbackRequested(reason);
}

/** Facts 89 and 91. Without a reason: because a parent stack goes back. */
export function beginRollback(draft: Draft, reason?: string): true {
  if (hasStableState(draft)) {
    draft.setStatus("UPDATE_ROLLBACK_IN_PROGRESS", reason);
    tellParentOfFailure(draft);
    draft.record({ kind: "phase-entered", phase: "rollback" });
    setAsideCreated(draft);
    return true;
  }
  const gone = draft.operation.onFailure === "DELETE";
  draft.setStatus(gone ? "DELETE_IN_PROGRESS" : "ROLLBACK_IN_PROGRESS", reason);
  draft.record({ kind: "phase-entered", phase: gone ? "delete" : "rollback" });
  setAllAside(draft, "creation-undone");
  return true;
}

/** Everything that the stack has awaits its deletion; what was deleted before is forgotten. */
export function setAllAside(draft: Draft, cause: "removed" | "creation-undone"): void {
  for (const [logicalId, slot] of draft.stack.resources) {
    const left = slot.former
      .filter((former) => former.status !== "DELETE_COMPLETE" && former.status !== "DELETE_SKIPPED")
      .map((former) => ({ ...again(former), attempts: 0 }));
    const former = slot.current === undefined ? left : [...left, toFormer(slot.current, cause)];
    if (former.length === 0) draft.record({ kind: "resource-forgotten", logicalId });
    else draft.record({ kind: "resource", logicalId, current: null, former });
  }
}

/** Fact 84: the operation stays, to be undone or finished by a later call. */
function stopFailed(draft: Draft, reason: string): false {
  draft.setStatus(draft.operation.kind === "create" ? "CREATE_FAILED" : "UPDATE_FAILED", reason);
  tellParentOfFailure(draft);
  return false;
}

function reachGoal(draft: Draft): boolean {
  const outputs = evaluateOutputs(draft.stack);
  if (outputs.kind === "failed") return failStack(draft, outputs.message);
  const fault = exportFault(draft, outputs.value);
  if (fault !== undefined) return failStack(draft, fault);
  claimExports(draft, outputs.value);
  draft.record({ kind: "outputs-changed", outputs: outputs.value });
  if (draft.operation.kind === "create") {
    draft.setStatus("CREATE_COMPLETE");
    return endOperation(draft);
  }
  draft.setStatus("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS");
  return enterCleanup(draft, "cleanup");
}

/** A nested stack waits here for its parent (N2). */
function enterCleanup(draft: Draft, phase: "cleanup" | "rollback-cleanup"): true {
  const held = draft.operation.nested === true;
  draft.record({ kind: "phase-entered", phase, held });
  if (held) tellParent(draft);
  else beginCleanup(draft);
  return true;
}

/** Nothing can be rolled back any more. */
export function beginCleanup(draft: Draft): void {
  if (draft.operation.phase === "cleanup") setAsideRemoved(draft);
  commitChildren(draft);
}

/** Facts 56, 101 and 127: the stack itself fails, for a reason that is no resource's. */
export function failStack(draft: Draft, message: string): boolean {
  if (staysFailed(draft)) return stopFailed(draft, message);
  return beginRollback(draft, hasStableState(draft) ? message : failureReason(draft, `${message}.`));
}

/** Fact 75: what the template no longer has. */
function setAsideRemoved(draft: Draft): void {
  const { dependencies } = draft.stack.definition;
  for (const [logicalId, slot] of draft.stack.resources) {
    if (slot.current === undefined || dependencies.has(logicalId)) continue;
    const former = [...slot.former, toFormer(slot.current, "removed")];
    draft.record({ kind: "resource", logicalId, current: null, former });
  }
}

// ----------------------------------------------------------------------------------------------- rollback

function stepRollback(draft: Draft): boolean {
  const { failures } = draft.operation;
  if (failures.length > 0) {
    draft.setStatus("UPDATE_ROLLBACK_FAILED", failedResources(failures));
    tellParentOfFailure(draft);
    return false;
  }
  if (startRestorations(draft)) return true;
  if (draft.stack.requests.size > 0 || !isRestored(draft)) return false;
  const { before } = draft.operation;
  if (before === undefined) throw new Error("S3: a rollback without a state before");
  draft.record({ kind: "definition-restored", definition: before.definition });
  draft.record({ kind: "outputs-changed", outputs: before.outputs });
  draft.setStatus("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS");
  return enterCleanup(draft, "rollback-cleanup");
}

// ----------------------------------------------------------------------------------------------- deletion

function stepDeletion(draft: Draft): boolean {
  if (startDeletions(draft)) return true;
  if (!deletionsAreOver(draft)) return false;
  endDeletions(draft, failedDeletionsOf(draft));
  return endOperation(draft);
}

/** What other stacks were kept from is theirs again. */
function endOperation(draft: Draft): false {
  if (draft.stack.status === "DELETE_FAILED") tellParentOfFailure(draft);
  else tellParent(draft);
  releaseImports(draft);
  releaseExports(draft);
  draft.record({ kind: "operation-ended" });
  return false;
}

function endDeletions(draft: Draft, failed: readonly string[]): void {
  const { phase } = draft.operation;
  if (phase === "forward") throw new Error("A1: the forward phase doesn't end with deletions");
  const [deleted, incomplete, reason] = endings[phase];
  if (isCleanup(phase)) forgetDeleted(draft);
  if (failed.length === 0 || draft.operation.force === true) draft.setStatus(deleted);
  else draft.setStatus(incomplete, reason ?? failedDeletions(failed));
  if (draft.stack.status === "DELETE_COMPLETE") draft.claim(stackClaim(draft.stack.identity), "release");
}

/** By phase: the status when everything was deleted, the one when not, and what it says then. */
const endings = {
  rollback: ["ROLLBACK_COMPLETE", "ROLLBACK_FAILED", undefined],
  delete: ["DELETE_COMPLETE", "DELETE_FAILED", undefined],
  cleanup: ["UPDATE_COMPLETE", "UPDATE_COMPLETE", cleanupIncomplete],
  "rollback-cleanup": ["UPDATE_ROLLBACK_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", rollbackCleanupIncomplete],
} as const satisfies Record<
  Exclude<Phase, "forward">,
  readonly [StackStatus, StackStatus, string | undefined]
>;

/** Facts 76 and 99: what a clean-up was to remove is gone from the stack, whether or not it could be deleted. */
function forgetDeleted(draft: Draft): void {
  for (const [logicalId, slot] of draft.stack.resources) {
    if (slot.current === undefined) draft.record({ kind: "resource-forgotten", logicalId });
    else if (slot.former.length > 0) draft.setFormer(logicalId, []);
  }
}
