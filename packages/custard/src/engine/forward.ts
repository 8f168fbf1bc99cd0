/**
 * The forward phase of a create or an update: whatever has all its dependencies starts, all at once.
 *
 * F1: a resource starts when everything that it depends on is `done`.
 * F2: a failure starts nothing new that depends on it; without rollback, independent paths go on (fact 84).
 * F3: resolved properties that didn't change send no request (facts 21, 22).
 */
import { refusedSecureReferences } from "../template/dynamic-references.ts";
import { evaluateExpression, evaluateProperties } from "../template/evaluate.ts";
import type { Evaluation } from "../template/known.ts";
import { reveal, type ValueMap } from "../template/value.ts";
import type { ResourceDeclaration } from "../template/template.ts";
import type { Draft } from "./draft.ts";
import type { LogicalId, PhysicalId } from "./ids.ts";
import { changedProperties, faultOfCustomProperties, issueRequest, sameProperties } from "./issue-request.ts";
import { replacementNeeded, serviceTokenModified, waitConditionFixed } from "./messages.ts";
import { policyRefusal } from "./enforce-policy.ts";
import { failResource, mustRollBack } from "./fail.ts";
import {
  isCustom,
  isLive,
  isNestedStack,
  isWaitCondition,
  toFormer,
  unharmed,
  type Declared,
  type Good,
  type Resource,
} from "./resource.ts";
import { showInitiated, takeBack } from "./settle.ts";
import { awaitCondition, creationPolicyOf, forgetSignals, waitFault } from "./signals.ts";
import { knownForDisplay, knownOf } from "./scope.ts";
import { showResource } from "./shown.ts";
import { takesNewTags } from "./stack-tags.ts";

/** Starts all that can start. Returns whether anything was started or found unchanged. */
export function startReady(draft: Draft): boolean {
  const ready = readyOnes(draft);
  for (const logicalId of ready) {
    if (mustRollBack(draft.operation)) break;
    startResource(draft, logicalId);
  }
  return ready.length > 0;
}

function readyOnes(draft: Draft): LogicalId[] {
  const { done } = draft.operation;
  const { dependencies } = draft.stack.definition;
  const busy = new Set([...draft.stack.requests.values()].map((request) => request.logicalId));
  const failed = new Set(draft.operation.failures.map((failure) => failure.logicalId));
  return [...dependencies]
    .filter(([logicalId]) => !done.has(logicalId) && !busy.has(logicalId) && !failed.has(logicalId))
    .filter(([, needed]) => [...needed].every((name) => done.has(name) || !dependencies.has(name)))
    .map(([logicalId]) => logicalId);
}

function startResource(draft: Draft, logicalId: LogicalId): void {
  const declaration = draft.stack.definition.template.resources.get(logicalId);
  if (declaration === undefined) throw new Error(`${logicalId} is not in the template`);
  const properties = evaluateProperties(declaration, knownOf(draft.stack));
  const current = draft.slot(logicalId)?.current;
  if (properties.kind !== "value") {
    retireFailedCreate(draft, logicalId);
    refuse(draft, { logicalId, declared: declare(draft, declaration, {}), reason: reasonOf(properties) });
    return;
  }
  const declared = declare(draft, declaration, properties.value);
  if (current === undefined || current.status === "CREATE_FAILED") startCreate(draft, logicalId, declared);
  else startUpdate(draft, logicalId, declared);
}

function reasonOf(evaluation: Exclude<Evaluation<ValueMap>, { kind: "value" }>): string {
  if (evaluation.kind === "failed") return evaluation.message;
  const [need] = evaluation.needs;
  return need?.kind === "import"
    ? `No export named ${need.name} found.`
    : `Unresolved resource dependencies [${need?.logicalId}]`;
}

function declare(draft: Draft, declaration: ResourceDeclaration, properties: ValueMap): Declared {
  const dependsOn = draft.stack.definition.dependencies.get(declaration.logicalId as LogicalId) ?? new Set();
  const creationPolicy = creationPolicyOf(declaration, knownOf(draft.stack));
  const metadata =
    declaration.metadata === undefined
      ? undefined
      : evaluateExpression(declaration.metadata, knownForDisplay(draft.stack));
  return {
    type: declaration.type,
    properties,
    deletionPolicy: declaration.deletionPolicy,
    updateReplacePolicy: declaration.updateReplacePolicy,
    dependsOn: [...dependsOn],
    ...(creationPolicy === undefined ? {} : { creationPolicy }),
    // Fact 50: NoEcho doesn't hide what stands in Metadata.
    ...(metadata?.kind === "value" && metadata.value !== undefined
      ? { metadata: reveal(metadata.value) }
      : {}),
  };
}

// ------------------------------------------------------------------------------------------------- create

function startCreate(draft: Draft, logicalId: LogicalId, declared: Declared): void {
  retireFailedCreate(draft, logicalId);
  forgetSignals(draft, logicalId);
  const fault = faultOf(declared);
  const provisionalId = newId(draft, logicalId, declared.type);
  if (fault !== undefined) {
    showStart(draft, logicalId, { status: "CREATE_FAILED", declared, requested: false, reason: fault });
    refuse(draft, { logicalId, declared, reason: fault });
    return;
  }
  if (isWaitCondition(declared.type)) {
    startWait(draft, logicalId, declared);
    return;
  }
  const { type, properties } = declared;
  const requestId = issueRequest(draft, {
    action: "create",
    logicalId,
    type,
    properties,
    targetId: provisionalId,
  });
  const creating: Resource = { status: "CREATE_IN_PROGRESS", declared, requestId, provisionalId };
  draft.setCurrent(logicalId, creating, showResource(creating));
}

function faultOf(declared: Declared): string | undefined {
  const secure = refusedSecureReferences(declared.type, declared.properties);
  if (secure !== undefined) return secure;
  if (isWaitCondition(declared.type)) return waitFault(declared);
  return isCustom(declared.type) ? faultOfCustomProperties(declared.properties) : undefined;
}

function startWait(draft: Draft, logicalId: LogicalId, declared: Declared): void {
  const { requestId, targetId } = awaitCondition(draft, logicalId, declared);
  // One that failed before had the same id (O3).
  takeBack(draft, logicalId, targetId);
  const creating: Resource = { status: "CREATE_IN_PROGRESS", declared, requestId, provisionalId: targetId };
  draft.setCurrent(logicalId, creating, showResource(creating));
  showInitiated(draft, logicalId, targetId);
}

/** What a resource is called until its provider says otherwise; a nested stack's ARN stays. */
function newId(draft: Draft, logicalId: LogicalId, type: string): PhysicalId {
  return isNestedStack(type)
    ? (draft.newChildId(logicalId) as string as PhysicalId)
    : draft.newPhysicalId(logicalId);
}

/** A create that failed in an earlier operation and was kept: its remains go, a new one takes its place. */
function retireFailedCreate(draft: Draft, logicalId: LogicalId): void {
  const slot = draft.slot(logicalId);
  if (slot?.current?.status !== "CREATE_FAILED" || !slot.current.requested) return;
  draft.setFormer(logicalId, [...slot.former, toFormer(slot.current, "creation-undone")]);
}

function showStart(
  draft: Draft,
  logicalId: LogicalId,
  failed: Extract<Resource, { status: "CREATE_FAILED" }>,
): void {
  const shown = showResource(failed, { status: "CREATE_IN_PROGRESS" });
  const { reason: _later, ...started } = shown;
  draft.setCurrent(logicalId, failed, started);
}

// ------------------------------------------------------------------------------------------------- update

function startUpdate(draft: Draft, logicalId: LogicalId, declared: Declared): void {
  const current = unharmed(draft.slot(logicalId)?.current);
  if (current === undefined || !("good" in current)) throw new Error(`${logicalId} can't be updated`);
  const sent = isLive(current) ? current.good.declared : current.declared;
  const retagged = takesNewTags(draft.stack, declared.type, draft.knowledge);
  const same = isLive(current) && sameProperties(sent.properties, declared.properties) && !retagged;
  if (isNestedStack(declared.type)) {
    updateNested(draft, logicalId, { current, declared, sent });
  } else if (same) {
    keep(draft, logicalId, { status: current.status, good: { ...current.good, declared } });
  } else if (isWaitCondition(declared.type)) {
    refuse(draft, { logicalId, declared, reason: waitConditionFixed });
  } else if (isCustom(declared.type)) updateCustom(draft, logicalId, { current, declared, sent });
  else updateBuiltin(draft, logicalId, { current, declared, sent });
}

/** Its template may have changed under the same URL: it is asked in any case. */
function updateNested(draft: Draft, logicalId: LogicalId, change: Change): void {
  const { declared, sent } = change;
  const same = sameProperties(sent.properties, declared.properties);
  const reason = same
    ? undefined
    : policyRefusal(draft, { action: "Update:Modify", logicalId, type: declared.type });
  if (reason === undefined) sendUpdate(draft, logicalId, change);
  else refuse(draft, { logicalId, declared, reason });
}

interface Change {
  readonly current: Extract<Resource, { good: Good }>;
  readonly declared: Declared;
  readonly sent: Declared;
}

function keep(draft: Draft, logicalId: LogicalId, live: Extract<Resource, { good: Good }>): void {
  draft.setCurrent(logicalId, live);
  draft.record({ kind: "resources-done", logicalIds: [logicalId] });
}

function updateCustom(draft: Draft, logicalId: LogicalId, change: Change): void {
  const { declared, sent } = change;
  const changed = changedProperties(sent.properties, declared.properties);
  const reason = changed.includes("ServiceToken")
    ? serviceTokenModified
    : (faultOf(declared) ??
      policyRefusal(draft, { action: "Update:Modify", logicalId, type: declared.type }));
  if (reason === undefined) sendUpdate(draft, logicalId, change);
  else refuse(draft, { logicalId, declared, reason });
}

function updateBuiltin(draft: Draft, logicalId: LogicalId, change: Change): void {
  const { declared, sent } = change;
  const facts = draft.knowledge.facts(declared.type);
  const changed = changedProperties(sent.properties, declared.properties);
  const replaces = changed.some((name) => facts?.createOnly.has(name));
  const action = replaces ? "Update:Replace" : "Update:Modify";
  const reason = policyRefusal(draft, { action, logicalId, type: declared.type });
  if (reason !== undefined) refuse(draft, { logicalId, declared, reason });
  else if (replaces) sendReplacement(draft, logicalId, change);
  else sendUpdate(draft, logicalId, change);
}

function sendUpdate(draft: Draft, logicalId: LogicalId, { current, declared, sent }: Change): void {
  const physicalId = isLive(current) ? current.good.physicalId : current.physicalId;
  const requestId = issueRequest(draft, {
    action: "update",
    logicalId,
    type: declared.type,
    properties: declared.properties,
    oldProperties: sent.properties,
    physicalId,
    targetId: physicalId,
  });
  const updating: Resource = {
    status: "UPDATE_IN_PROGRESS",
    declared,
    good: current.good,
    physicalId,
    requestId,
  };
  draft.setCurrent(logicalId, updating, showResource(updating));
}

/** Fact 87: the new physical resource is made first; the old one goes in the clean-up. */
function sendReplacement(draft: Draft, logicalId: LogicalId, { current, declared }: Change): void {
  const { good } = current;
  forgetSignals(draft, logicalId);
  const replacementId = draft.newPhysicalId(logicalId);
  const { type, properties } = declared;
  const requestId = issueRequest(draft, {
    action: "create",
    logicalId,
    type,
    properties,
    targetId: replacementId,
  });
  const updating: Resource = {
    status: "UPDATE_IN_PROGRESS",
    declared,
    good,
    physicalId: good.physicalId,
    requestId,
    replacementId,
  };
  draft.setCurrent(logicalId, updating, showResource(updating, { reason: replacementNeeded }));
}

/** The resource fails before anything is sent (R3). */
function refuse(draft: Draft, refused: { logicalId: LogicalId; declared: Declared; reason: string }): void {
  const { logicalId, declared, reason } = refused;
  const current = draft.slot(logicalId)?.current;
  const updated = current !== undefined && "good" in current;
  const failed: Extract<Resource, { reason: string }> = updated
    ? {
        status: "UPDATE_FAILED",
        declared,
        good: current.good,
        physicalId: isLive(current) ? current.good.physicalId : current.physicalId,
        requested: false,
        reason,
      }
    : { status: "CREATE_FAILED", declared, requested: false, reason };
  // What an earlier update has sent, and had refused, is still what was sent last.
  const sentBefore = current?.status === "UPDATE_FAILED" && current.requested;
  draft.setCurrent(logicalId, sentBefore ? { ...current, reason } : failed, showResource(failed));
  failResource(draft, { logicalId, verb: updated ? "update" : "create" });
}
