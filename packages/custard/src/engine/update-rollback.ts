/**
 * The rollback of an update: every resource that it touched is brought back to what stood before.
 *
 * B1: what is sent are the properties from before, never evaluated anew; so the properties last sent for each
 *     surviving resource are the old ones.
 * B2: the order is that of the template from before; what it didn't have awaits the clean-up (fact 81).
 * B3: what the update never asked for, or replaced by a new physical resource, comes back without a request.
 */
import type { Draft } from "./draft.ts";
import type { LogicalId } from "./ids.ts";
import { issueRequest, sameProperties } from "./issue-request.ts";
import {
  isCustom,
  isLive,
  physicalIdOf,
  toFormer,
  unharmed,
  type Former,
  type Good,
  type Resource,
} from "./resource.ts";
import { showResource } from "./shown.ts";
import type { Before } from "./stack.ts";

/** Sets aside what the update created. */
export function setAsideCreated(draft: Draft): void {
  const before = beforeOf(draft);
  for (const [logicalId, slot] of draft.stack.resources) {
    if (slot.current === undefined || before.resources.get(logicalId)?.current !== undefined) continue;
    draft.setFormer(logicalId, [...slot.former, toFormer(slot.current, "creation-undone")]);
    draft.setCurrent(logicalId, null);
  }
}

/** Starts every restoration that can start. Returns whether anything changed. */
export function startRestorations(draft: Draft): boolean {
  const before = beforeOf(draft);
  const ready = readyOnes(draft, before);
  for (const logicalId of ready) {
    if (draft.operation.failures.length > 0) break;
    restore(draft, logicalId, before);
  }
  return ready.length > 0;
}

/**
 * A resource that could not be brought back is taken for restored, as it stands (ContinueUpdateRollback reference,
 * ResourcesToSkip): its id and attributes stay those in force, its declaration is the one from before.
 */
export function skipRestoration(draft: Draft, logicalId: LogicalId): void {
  const target = beforeOf(draft).resources.get(logicalId)?.current;
  const current = draft.slot(logicalId)?.current;
  if (current?.status !== "UPDATE_FAILED" || !isLive(target))
    throw new Error(`${logicalId} has not failed to roll back`);
  const { physicalId, good } = current;
  const skipped: Resource = {
    status: "UPDATE_COMPLETE",
    good: { ...good, physicalId, declared: target.good.declared },
  };
  draft.setCurrent(logicalId, skipped, showResource(skipped));
}

/** Is everything back? */
export function isRestored(draft: Draft): boolean {
  return [...beforeOf(draft).resources].every(
    ([id, slot]) => slot.current === undefined || draft.operation.done.has(id),
  );
}

function beforeOf(draft: Draft): Before {
  const { before } = draft.operation;
  if (before === undefined) throw new Error("S3: a rollback without a state before");
  return before;
}

function readyOnes(draft: Draft, before: Before): LogicalId[] {
  const { done, failures } = draft.operation;
  if (failures.length > 0) return [];
  const busy = new Set([...draft.stack.requests.values()].map((request) => request.logicalId));
  const exists = (id: LogicalId) => before.resources.get(id)?.current !== undefined;
  return [...before.resources]
    .filter(([id, slot]) => slot.current !== undefined && !done.has(id) && !busy.has(id))
    .filter(([id]) =>
      [...(before.definition.dependencies.get(id) ?? [])].every((name) => done.has(name) || !exists(name)),
    )
    .map(([id]) => id);
}

function restore(draft: Draft, logicalId: LogicalId, before: Before): void {
  const old = before.resources.get(logicalId)?.current;
  const current = unharmed(draft.slot(logicalId)?.current);
  if (old === undefined) throw new Error(`${logicalId} wasn't there before`);
  if (!draft.operation.touched.has(logicalId) || current === undefined || !isLive(old)) {
    putBack(draft, logicalId, { old, visible: false });
  } else if (needsRequest(current, old.good)) {
    sendBack(draft, logicalId, { current, target: old.good });
  } else {
    undoReplacement(draft, logicalId, { current, target: old.good });
    putBack(draft, logicalId, { old: { ...old, status: "UPDATE_COMPLETE" }, visible: true });
  }
}

/** Fact 70: a failed update is undone by another one, unless nobody was asked since the state before (B3). */
function needsRequest(current: Resource, target: Good): boolean {
  if (isLive(current) && isSame(current.good, target)) return false;
  const replacedBuiltin = !isCustom(target.declared.type) && physicalIdOf(current) !== target.physicalId;
  return !replacedBuiltin;
}

/** Going back may have been refused before it left: then the answer is the old one, and what was sent is not. */
function isSame(good: Good, target: Good): boolean {
  return (
    good.requestId === target.requestId &&
    good.physicalId === target.physicalId &&
    sameProperties(good.declared.properties, target.declared.properties)
  );
}

/** Facts 69 to 71: new and old properties swapped, with the id that is in force now. */
function sendBack(draft: Draft, logicalId: LogicalId, back: { current: Resource; target: Good }): void {
  const { current, target } = back;
  if (!("good" in current)) throw new Error(`${logicalId} has nothing to go back from`);
  const physicalId = isLive(current) ? current.good.physicalId : current.physicalId;
  const sent = sentBefore(current, target);
  const requestId = issueRequest(draft, {
    action: "update",
    logicalId,
    type: target.declared.type,
    properties: target.declared.properties,
    oldProperties: sent.properties,
    physicalId,
    targetId: physicalId,
  });
  const updating: Resource = {
    status: "UPDATE_IN_PROGRESS",
    declared: target.declared,
    good: { ...current.good, declared: sent },
    physicalId,
    requestId,
  };
  draft.setCurrent(logicalId, updating, showResource(updating));
}

/** What the update had sent, also where going back from it failed once already. */
function sentBefore(current: Extract<Resource, { good: Good }>, target: Good): Good["declared"] {
  if (isLive(current)) return current.good.declared;
  const goingBack = sameProperties(current.declared.properties, target.declared.properties);
  return goingBack ? current.good.declared : current.declared;
}

/** The old physical resource comes back, the one that replaced it awaits its deletion. */
function undoReplacement(
  draft: Draft,
  logicalId: LogicalId,
  back: { current: Resource; target: Good },
): void {
  const { current, target } = back;
  if (physicalIdOf(current) === target.physicalId) return;
  const kept = (draft.slot(logicalId)?.former ?? []).filter(
    (former) => former.physicalId !== target.physicalId,
  );
  const undone: Former = toFormer(current, "replacement-undone");
  draft.setFormer(logicalId, [...kept, undone]);
}

function putBack(draft: Draft, logicalId: LogicalId, back: { old: Resource; visible: boolean }): void {
  draft.setCurrent(logicalId, back.old, back.visible ? showResource(back.old) : undefined);
  draft.record({ kind: "resources-done", logicalIds: [logicalId] });
}
