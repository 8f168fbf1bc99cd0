/**
 * What the outcome of a request does to its resource.
 *
 * O1: the newest successful answer alone gives id and attributes (fact 57).
 * O2: another id in an Update's answer, failed or not, is adopted; the id before it awaits its deletion (67, 69, 71).
 * O3: an id that comes back is taken out of what awaits deletion (R1).
 */
import type { ValueMap } from "../template/value.ts";
import type { Draft } from "./draft.ts";
import { failResource, lastSent, orphanOf } from "./fail.ts";
import type { LogicalId, PhysicalId } from "./ids.ts";
import { creationInitiated, replacementNeeded } from "./messages.ts";
import { isCleanup } from "./phase.ts";
import type { Ending } from "./record.ts";
import { physicalIdOf, type Declared, type Former, type Good, type Resource } from "./resource.ts";
import { showFormer, showResource } from "./shown.ts";
import { awaitPolicy } from "./signals.ts";
import type { Pending } from "./stack.ts";

/** What a request came to. */
export type Outcome =
  | { readonly kind: "success"; readonly physicalId: PhysicalId; readonly attributes: ValueMap }
  | {
      readonly kind: "failed";
      readonly reason: string;
      /** The id of a valid FAILED answer. */
      readonly physicalId?: PhysicalId;
      /** False: the request certainly never reached anybody. */
      readonly reached: boolean;
    };

/** Ends a pending request with its outcome. */
export function settle(draft: Draft, request: Pending, result: { ending: Ending; outcome: Outcome }): void {
  draft.endRequest(request.requestId, result.ending);
  const { outcome } = result;
  // The nested stack has cleaned up; nothing of it can fail any more (facts 76, 77).
  if (request.action === "commit") return;
  if (request.action === "delete") {
    settleDelete(draft, request, outcome);
    return;
  }
  const current = draft.slot(request.logicalId)?.current;
  if (current?.status === "CREATE_IN_PROGRESS") settleCreate(draft, current, { request, outcome });
  else if (current?.status === "UPDATE_IN_PROGRESS") settleUpdate(draft, current, { request, outcome });
  else throw new Error(`S1: request ${request.requestId} is pending for a resource that awaits nothing`);
}

interface Settled {
  readonly request: Pending;
  readonly outcome: Outcome;
}

// ------------------------------------------------------------------------------------------------- create

type Creating = Extract<Resource, { status: "CREATE_IN_PROGRESS" }>;

function settleCreate(draft: Draft, creating: Creating, { request, outcome }: Settled): void {
  const { logicalId, requestId } = request;
  const { declared } = creating;
  if (outcome.physicalId !== undefined) {
    takeBack(draft, logicalId, outcome.physicalId);
    // Fact 61; design section 9: on the first accepted answer, with its id.
    if (creating.initiated !== true) showInitiated(draft, logicalId, outcome.physicalId);
  }
  if (outcome.kind === "success" && declared.creationPolicy !== undefined && request.kind === "task") {
    waitForSignals(draft, { logicalId, declared, ...outcome });
    return;
  }
  if (outcome.kind === "success") {
    const { physicalId, attributes } = outcome;
    finish(draft, logicalId, {
      status: "CREATE_COMPLETE",
      good: { declared, physicalId, attributes, requestId },
    });
    return;
  }
  // Facts 39, 62, 63: the Delete to come names the answered id, or else one that is made up.
  const physicalId = outcome.physicalId ?? creating.provisionalId;
  const base = { status: "CREATE_FAILED", declared, reason: outcome.reason } as const;
  const failed: Resource = outcome.reached
    ? { ...base, requested: true, physicalId, requestId }
    : { ...base, requested: false };
  draft.setCurrent(logicalId, failed, showResource(failed));
  failResource(draft, { logicalId, verb: "create" });
}

/** The resource is there, and complete when its creation policy is met. */
function waitForSignals(draft: Draft, waiting: Parameters<typeof awaitPolicy>[1]): void {
  const { logicalId, declared, physicalId } = waiting;
  const requestId = awaitPolicy(draft, waiting);
  const status = "CREATE_IN_PROGRESS";
  draft.setCurrent(logicalId, { status, declared, requestId, provisionalId: physicalId, initiated: true });
}

/** Shows that a resource has come to be, though it isn't complete (fact 61). */
export function showInitiated(draft: Draft, logicalId: LogicalId, physicalId: PhysicalId): void {
  const creating = draft.slot(logicalId)?.current;
  if (creating?.status !== "CREATE_IN_PROGRESS") return;
  const shown = showResource(creating, { reason: creationInitiated, physicalId });
  draft.setCurrent(logicalId, { ...creating, initiated: true }, shown);
}

function finish(draft: Draft, logicalId: LogicalId, live: Resource): void {
  draft.setCurrent(logicalId, live, showResource(live));
  draft.record({ kind: "resources-done", logicalIds: [logicalId] });
}

// ------------------------------------------------------------------------------------------------- update

type Updating = Extract<Resource, { status: "UPDATE_IN_PROGRESS" }>;

function settleUpdate(draft: Draft, updating: Updating, settled: Settled): void {
  const { request, outcome } = settled;
  const { logicalId, requestId } = request;
  if (outcome.kind === "failed") {
    failUpdate(draft, updating, { request, outcome });
    return;
  }
  const { physicalId, attributes } = outcome;
  const { declared, replacementId } = updating;
  if (replacementId !== undefined && declared.creationPolicy !== undefined && request.kind === "task") {
    awaitReplacement(draft, updating, { logicalId, declared, physicalId, attributes });
    return;
  }
  const good: Good = { declared, physicalId, attributes, requestId };
  if (physicalId !== updating.physicalId) showReplacement(draft, updating, { logicalId, physicalId });
  adoptId(draft, updating, { request, physicalId });
  finish(draft, logicalId, { status: "UPDATE_COMPLETE", good });
}

/** A creation policy holds for whatever is created, also in place of something else. */
function awaitReplacement(
  draft: Draft,
  updating: Updating,
  waiting: Parameters<typeof awaitPolicy>[1],
): void {
  const { logicalId, physicalId } = waiting;
  showReplacement(draft, updating, { logicalId, physicalId });
  const requestId = awaitPolicy(draft, waiting);
  draft.setCurrent(logicalId, { ...updating, requestId, replacementId: physicalId, initiated: true });
}

/** Fact 87; a built-in type's replacement has shown its first event when it began. */
function showReplacement(
  draft: Draft,
  updating: Updating,
  to: { logicalId: LogicalId; physicalId: PhysicalId },
): void {
  if (updating.initiated === true) return;
  if (updating.replacementId === undefined) {
    draft.setCurrent(to.logicalId, updating, showResource(updating, { reason: replacementNeeded }));
  }
  const initiated = { reason: creationInitiated, physicalId: to.physicalId };
  draft.setCurrent(to.logicalId, updating, showResource(updating, initiated));
}

function failUpdate(
  draft: Draft,
  updating: Updating,
  { request, outcome }: Settled & { outcome: { kind: "failed" } },
): void {
  const { logicalId, requestId } = request;
  const { declared, good } = updating;
  const replacing = updating.replacementId !== undefined;
  const physicalId = replacing ? updating.physicalId : (outcome.physicalId ?? updating.physicalId);
  if (replacing && outcome.reached) {
    const orphan = orphanOf(updating, outcome.physicalId ?? updating.replacementId);
    draft.setFormer(logicalId, [...(draft.slot(logicalId)?.former ?? []), orphan]);
  }
  adoptId(draft, updating, { request, physicalId });
  const failed: Resource = {
    status: "UPDATE_FAILED",
    ...lastSent(updating, { sent: outcome.reached && !replacing, request }),
    good,
    physicalId,
    requestId,
    reason: outcome.reason,
  };
  draft.setCurrent(logicalId, failed, showResource({ ...failed, declared }));
  failResource(draft, { logicalId, verb: "update" });
}

/** O2 and O3. */
function adoptId(draft: Draft, updating: Updating, to: { request: Pending; physicalId: PhysicalId }): void {
  const { request, physicalId } = to;
  if (physicalId === updating.physicalId) return;
  const { attributes } = updating.good;
  const replaced: Former = {
    declared: declaredOfReplaced(draft, updating, request),
    physicalId: updating.physicalId,
    attributes,
    // The resource from before the update is nothing that was undone: its UpdateReplacePolicy holds (fact 82).
    cause: isFromUpdate(draft, request.logicalId, updating.physicalId) ? "replacement-undone" : "replaced",
    status: "WAITING",
    attempts: 0,
  };
  takeBack(draft, request.logicalId, physicalId);
  draft.setFormer(request.logicalId, [...(draft.slot(request.logicalId)?.former ?? []), replaced]);
}

/**
 * Fact 6: the clean-up names the old id with the properties that were last sent to it. Whether it is kept, the template of
 * the update says, as a change set's PolicyAction does: so a policy can come with the change that replaces.
 */
function declaredOfReplaced(draft: Draft, updating: Updating, request: Pending): Declared {
  const { declared } = updating.good;
  const { updateReplacePolicy } = draft.operation.phase === "rollback" ? declared : updating.declared;
  const properties = request.action === "update" ? request.oldProperties : declared.properties;
  return { ...declared, properties, updateReplacePolicy };
}

/** O3 */
export function takeBack(draft: Draft, logicalId: LogicalId, physicalId: PhysicalId): void {
  const formers = draft.slot(logicalId)?.former ?? [];
  const kept = formers.filter((former) => former.physicalId !== physicalId);
  if (kept.length < formers.length) draft.setFormer(logicalId, kept);
}

/** In a rollback: has the update that is undone brought this physical resource? */
function isFromUpdate(draft: Draft, logicalId: LogicalId, physicalId: PhysicalId): boolean {
  const { phase, before } = draft.operation;
  const old = before?.resources.get(logicalId)?.current;
  return phase === "rollback" && (old === undefined || physicalIdOf(old) !== physicalId);
}

// ------------------------------------------------------------------------------------------------- delete

function settleDelete(draft: Draft, request: Pending, outcome: Outcome): void {
  const { logicalId, requestId } = request;
  const formers = draft.slot(logicalId)?.former ?? [];
  const deleting = formers.find((former) => former.requestId === requestId);
  if (deleting === undefined) throw new Error(`S1: nothing awaits the deletion ${requestId}`);
  const { reason: _before, ...rest } = deleting;
  const ended: Former =
    outcome.kind === "success"
      ? { ...rest, status: "DELETE_COMPLETE" }
      : { ...rest, status: "DELETE_FAILED", reason: outcome.reason };
  draft.setFormer(
    logicalId,
    formers.map((former) => (former === deleting ? ended : former)),
    showFormer(ended, isCleanup(draft.operation.phase)),
  );
}
