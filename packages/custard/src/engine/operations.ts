/**
 * What a user may ask of a stack, and when. Each throws `StackError` where CloudFormation refuses the call.
 *
 * U1: a call that is repeated with its client request token does nothing more; another call with it is refused.
 */
import { advance, beginRollback, failStack, setAllAside } from "./advance.ts";
import { stackClaim } from "./claims.ts";
import { readDefinition } from "./definition.ts";
import type { Draft } from "./draft.ts";
import { dropChangeSets } from "./drop-change-sets.ts";
import type { Happened, StackRequest } from "./event.ts";
import { askForImports, deletionFault } from "./exports.ts";
import { refuseRemovals } from "./enforce-policy.ts";
import { cancelInFlight } from "./fail.ts";
import type { LogicalId } from "./ids.ts";
import { answerParent, awaitByParent } from "./nested.ts";
import {
  alreadyExists,
  creationTimedOut,
  invalidPolicy,
  notCallable,
  notUpdatable,
  noUpdates,
  stackUpdateCancelled,
  terminationProtected,
  userInitiated,
} from "./messages.ts";
import { hasUpdates, refuseTypeChanges, refuseUnknownTypes } from "./plan.ts";
import { parsePolicy } from "./stack-policy.ts";
import { stackStatuses, type StackStatus } from "./stack-status.ts";
import { StackError } from "./stack-error.ts";
import type {
  Call,
  Definition,
  OperationStart,
  Parent,
  ParentLink,
  Stack,
  StackIdentity,
  Terms,
} from "./stack.ts";
import { skipRestoration } from "./update-rollback.ts";

// ---------------------------------------------------------------------------------------- create and update

/** CreateStack. */
export function createStack(draft: Draft, event: Happened<"create-stack">): void {
  const { identity, seed, terminationProtection, request, parent } = event;
  const { timeoutMinutes, policy } = request;
  refusePolicy(policy);
  refuseTakenName(draft, identity);
  const definition = readDefinition(identity, request);
  refuseUnknownTypes(definition, draft.knowledge);
  refuseUnprocessed(definition, request);
  draft.record({
    kind: "stack-created",
    identity,
    seed,
    terminationProtection,
    definition,
    ...(timeoutMinutes === undefined ? {} : { timeoutMinutes }),
    ...(parent === undefined ? {} : { parent: parentOf(parent) }),
  });
  draft.claim(stackClaim(identity), "take");
  noteCall(draft, "create", request.clientRequestToken);
  if (policy !== undefined) draft.record({ kind: "policy-set", policy });
  beginCreate(draft, nestedBy(request, parent), definition);
}

function parentOf({ stackId, rootId, logicalId }: Parent): Parent {
  return { stackId, rootId, logicalId };
}

/** Fact 109, when the name was taken while the call was on its way. */
export function refuseTakenName(draft: Draft, identity: StackIdentity): void {
  if (draft.knowledge.holder?.(stackClaim(identity)) !== undefined)
    throw new StackError("StackAlreadyExists", alreadyExists(identity.stackName));
}

/** The stack exists; its resources are created now. */
export function beginCreate(draft: Draft, request: Behaviour, definition: Definition): void {
  dropChangeSets(draft, request.changeSet);
  draft.record({ kind: "operation-started", operation: startOf("create", request), definition });
  draft.setStatus("CREATE_IN_PROGRESS", userInitiated);
  if (request.parent !== undefined) awaitByParent(draft, request.parent);
  if (request.timeoutMinutes !== undefined)
    draft.command({ kind: "creation-timeout", dueAt: draft.at + request.timeoutMinutes * 60_000 });
  if (request.transformed?.kind === "failed") failStack(draft, request.transformed.message);
  else askForImports(draft);
  advance(draft);
}

/** UpdateStack. */
export function updateStack(draft: Draft, { request, parent }: Happened<"update-stack">): void {
  if (isRepeated(draft.stack, "update", request.clientRequestToken)) return;
  if (parent !== undefined && draft.stack.lastParentRequest === parent.requestId) return;
  // The parent may go on from where its own update has stopped (N2).
  if (parent === undefined || draft.stack.operation?.held !== true) refuseUpdating(draft.stack);
  refusePolicy(request.policy);
  refusePolicy(request.policyDuringUpdate);
  const definition = readUpdate(draft, request);
  refuseUnprocessed(definition, request);
  const fails = request.transformed?.kind === "failed";
  if (!fails && !hasUpdates(draft.stack, definition)) throw new StackError("NoUpdates", noUpdates);
  noteCall(draft, "update", request.clientRequestToken);
  if (request.policy !== undefined) draft.record({ kind: "policy-set", policy: request.policy });
  beginUpdate(draft, nestedBy(request, parent), definition);
}

/** A template with transforms that nobody has run isn't one yet. */
function refuseUnprocessed({ template }: Definition, { transformed }: StackRequest): void {
  if (template.unprocessed && transformed === undefined)
    throw new Error("the transforms of a template have to run before it is decided on");
}

/** What an update would make of the stack. */
export function readUpdate(draft: Draft, request: StackRequest): Definition {
  const { stack } = draft;
  const definition = readDefinition(stack.identity, request, stack.definition);
  refuseUnknownTypes(definition, draft.knowledge);
  refuseTypeChanges(stack, definition);
  return definition;
}

/** The stack becomes what the definition says. */
export function beginUpdate(draft: Draft, request: Behaviour, definition: Definition): void {
  dropChangeSets(draft, request.changeSet);
  draft.record({ kind: "operation-started", operation: startOf("update", request), definition });
  if (request.parent !== undefined) awaitByParent(draft, request.parent);
  draft.setStatus("UPDATE_IN_PROGRESS", userInitiated);
  if (request.transformed?.kind !== "failed") refuseRemovals(draft);
  if (request.transformed?.kind === "failed") failStack(draft, request.transformed.message);
  else askForImports(draft);
  advance(draft);
}

/** Fact 114. */
export function refuseUpdating({ status, identity }: Stack): void {
  if (stackStatuses[status].update) return;
  throw new StackError("StackNotUpdatable", notUpdatable(identity.stackId, status));
}

/** How an operation goes about it; the part of a request that is no definition. */
export type Behaviour = Pick<
  StackRequest,
  | "onFailure"
  | "clientRequestToken"
  | "retainExceptOnCreate"
  | "timeoutMinutes"
  | "policyDuringUpdate"
  | "transformed"
  | "terms"
> & {
  /** The change set that is being executed. */
  readonly changeSet?: string;
  /** Of a nested stack: the request that the operation answers. */
  readonly parent?: ParentLink;
};

function nestedBy(request: Behaviour, parent: ParentLink | undefined): Behaviour {
  return parent === undefined ? request : { ...request, parent };
}

function startOf(kind: "create" | "update", request: Behaviour): OperationStart {
  const { onFailure, clientRequestToken, retainExceptOnCreate, policyDuringUpdate } = request;
  const { changeSet, terms } = request;
  return {
    kind,
    phase: "forward",
    onFailure,
    retain: new Set(),
    ...(clientRequestToken === undefined ? {} : { clientRequestToken }),
    ...(retainExceptOnCreate === undefined ? {} : { retainExceptOnCreate }),
    ...(request.parent === undefined ? {} : { nested: true as const }),
    ...(changeSet === undefined ? {} : { changeSet }),
    ...(policyDuringUpdate === undefined ? {} : { policy: policyDuringUpdate }),
    ...(terms === undefined ? {} : { terms }),
  };
}

/** `TimeoutInMinutes` has passed: what is in flight is cancelled, and the creation has failed. */
export function timeOutCreation(draft: Draft): void {
  if (draft.stack.status !== "CREATE_IN_PROGRESS") return;
  cancelInFlight(draft);
  failStack(draft, creationTimedOut);
  advance(draft);
}

// --------------------------------------------------------------------------------------------------- delete

/** DeleteStack. */
export function deleteStack(draft: Draft, event: Happened<"delete-stack">): void {
  const { retain, force = false, clientRequestToken, parent } = event;
  const { identity, status, terminationProtection } = draft.stack;
  if (status === "DELETE_COMPLETE" || status === "DELETE_IN_PROGRESS") {
    joinDeletion(draft, parent);
    return;
  }
  if (isRepeated(draft.stack, "delete", clientRequestToken)) return;
  if (terminationProtection)
    throw new StackError("TerminationProtected", terminationProtected(identity.stackName));
  // A parent that goes takes its nested stacks with it, whatever they are at.
  if (!stackStatuses[status].delete && parent === undefined) {
    throw new StackError(
      "StackBusy",
      `Stack [${identity.stackName}] cannot be deleted while in status ${status}`,
    );
  }
  const fault = deletionFault(draft.stack);
  if (fault !== undefined) throw new StackError("ExportInUse", fault);
  refuseRetaining(draft.stack, retain);
  refuseForce(draft.stack, force);
  noteCall(draft, "delete", clientRequestToken);
  beginDelete(draft, { retain: new Set(retain), force, ...tokenOf(event), ...termsOf(event) }, parent);
}

/** A parent that deletes what is being deleted already, or is, hears of the end of that. */
function joinDeletion(draft: Draft, parent: ParentLink | undefined): void {
  if (parent === undefined || draft.stack.lastParentRequest === parent.requestId) return;
  awaitByParent(draft, parent);
  if (draft.stack.status === "DELETE_COMPLETE") answerParent(draft, parent);
}

/** In all others nothing but deletions can be in flight, and those go on. */
const changesInFlight: ReadonlySet<StackStatus> = new Set([
  "CREATE_IN_PROGRESS",
  "UPDATE_IN_PROGRESS",
  "UPDATE_ROLLBACK_IN_PROGRESS",
]);

function beginDelete(
  draft: Draft,
  how: Pick<OperationStart, "retain" | "force" | "clientRequestToken" | "terms">,
  parent: ParentLink | undefined,
): void {
  if (changesInFlight.has(draft.stack.status)) cancelInFlight(draft);
  dropChangeSets(draft);
  draft.record({
    kind: "operation-started",
    operation: { kind: "delete", phase: "delete", onFailure: "DO_NOTHING", ...how },
  });
  if (parent !== undefined) awaitByParent(draft, parent);
  draft.setStatus("DELETE_IN_PROGRESS", userInitiated);
  setAllAside(draft, "removed");
  advance(draft);
}

/** Fact 124. */
function refuseRetaining(stack: Stack, retain: readonly LogicalId[]): void {
  if (retain.length === 0) return;
  if (stack.status !== "DELETE_FAILED") {
    throw new StackError(
      "InvalidOperation",
      `Invalid operation on stack [${stack.identity.stackId}]. When you delete a stack, specify which resources to retain only when the stack is in the DELETE_FAILED state.`,
    );
  }
  const gone = retain.some(
    (id) => stack.resources.get(id)?.former.every((former) => former.status === "DELETE_COMPLETE") ?? true,
  );
  if (!gone) return;
  throw new StackError(
    "InvalidOperation",
    "The specified resources to retain must be in a valid state. Do not specify resources that are in the DELETE_COMPLETE state.",
  );
}

/** DeleteStack reference, DeletionMode: only for a stack that could not be deleted before. AWS's text is not recorded. */
function refuseForce({ status, identity }: Stack, force: boolean): void {
  if (!force || status === "DELETE_FAILED") return;
  throw new StackError(
    "InvalidOperation",
    `Invalid operation on stack [${identity.stackId}]. Use the deletion mode FORCE_DELETE_STACK only when the stack is in the DELETE_FAILED state.`,
  );
}

// ------------------------------------------------------------------------------------------------- rollback

/** CancelUpdateStack; facts 49 and 66. */
export function cancelUpdate(draft: Draft, event: Happened<"cancel-update">): void {
  if (isRepeated(draft.stack, "cancel", event.clientRequestToken)) return;
  if (draft.stack.status !== "UPDATE_IN_PROGRESS") refuseCall("CancelUpdateStack");
  noteCall(draft, "cancel", event.clientRequestToken);
  cancelInFlight(draft);
  draft.record({ kind: "rollback-chosen", ...retainedOf(draft), ...tokenOf(event) });
  beginRollback(draft, stackUpdateCancelled);
  advance(draft);
}

function retainedOf(draft: Draft): { retainExceptOnCreate: boolean } {
  return { retainExceptOnCreate: draft.operation.retainExceptOnCreate ?? false };
}

/** RollbackStack: an operation that stopped at a failure is undone (fact 84). */
export function rollBack(draft: Draft, event: Happened<"roll-back">): void {
  const { status } = draft.stack;
  if (isRepeated(draft.stack, "rollback", event.clientRequestToken)) return;
  if (status !== "CREATE_FAILED" && status !== "UPDATE_FAILED") refuseCall("RollbackStack");
  noteCall(draft, "rollback", event.clientRequestToken);
  const { retainExceptOnCreate } = event;
  draft.record({ kind: "rollback-chosen", retainExceptOnCreate, ...tokenOf(event), ...termsOf(event) });
  beginRollback(draft, userInitiated);
  advance(draft);
}

/** ContinueUpdateRollback; fact 72. */
export function continueRollback(draft: Draft, event: Happened<"continue-rollback">): void {
  if (isRepeated(draft.stack, "continue", event.clientRequestToken)) return;
  if (draft.stack.status !== "UPDATE_ROLLBACK_FAILED") refuseCall("RollbackUpdatedStack");
  const skipNested = event.skip.filter((name) => name.includes("."));
  const skipped = event.skip.filter((name) => !name.includes(".")).map((name) => name as LogicalId);
  refuseSkipping(draft, skipped);
  noteCall(draft, "continue", event.clientRequestToken);
  draft.record({ kind: "rollback-continued", skipped, skipNested, ...tokenOf(event), ...termsOf(event) });
  draft.setStatus("UPDATE_ROLLBACK_IN_PROGRESS", userInitiated);
  for (const logicalId of skipped) skipRestoration(draft, logicalId);
  advance(draft);
}

/** ContinueUpdateRollback reference, ResourcesToSkip: only what failed to roll back. AWS's text is not recorded. */
function refuseSkipping(draft: Draft, skip: readonly LogicalId[]): void {
  const failed = draft.operation.failures.filter(({ cancelled }) => cancelled !== true);
  const wrong = skip.filter((id) => failed.every(({ logicalId }) => logicalId !== id));
  if (wrong.length === 0) return;
  throw new StackError(
    "InvalidInput",
    `Only resources that failed to roll back can be skipped, and these did not: [${wrong.join(", ")}]`,
  );
}

function refuseCall(call: string): never {
  throw new StackError("InvalidOperation", notCallable(call));
}

// ------------------------------------------------------------------------------------------------- settings

/** UpdateTerminationProtection. */
export function setTerminationProtection(
  draft: Draft,
  { enabled }: Happened<"set-termination-protection">,
): void {
  const { terminationProtection, status } = draft.stack;
  if (status === "DELETE_IN_PROGRESS" || status === "DELETE_COMPLETE")
    refuseCall("UpdateTerminationProtection");
  if (terminationProtection !== enabled) draft.record({ kind: "termination-protection-set", enabled });
}

/** SetStackPolicy. */
export function setPolicy(draft: Draft, { policy }: Happened<"set-policy">): void {
  if (draft.stack.status === "DELETE_COMPLETE") refuseUpdating(draft.stack);
  refusePolicy(policy);
  draft.record({ kind: "policy-set", policy });
}

/** Fact 110b. */
function refusePolicy(policy: string | undefined): void {
  if (policy !== undefined && parsePolicy(policy) === undefined)
    throw new StackError("InvalidInput", invalidPolicy);
}

// ---------------------------------------------------------------------------------------------------- calls

/** U1. AWS's text is not recorded; this is what its reference says of the error. */
export function isRepeated(stack: Stack, action: Call["action"], token: string | undefined): boolean {
  const { lastCall } = stack;
  if (token === undefined || lastCall?.token !== token) return false;
  if (lastCall.action === action) return true;
  throw new StackError("TokenAlreadyExists", `A client request token already exists: ${token}`);
}

/** Remembers a call that could be repeated. */
export function noteCall(draft: Draft, action: Call["action"], token: string | undefined): void {
  if (token !== undefined) draft.record({ kind: "called", call: { action, token } });
}

function termsOf({ terms }: { readonly terms?: Terms }): { terms?: Terms } {
  return terms === undefined ? {} : { terms };
}

function tokenOf({ clientRequestToken }: { readonly clientRequestToken?: string }): {
  clientRequestToken?: string;
} {
  return clientRequestToken === undefined ? {} : { clientRequestToken };
}
