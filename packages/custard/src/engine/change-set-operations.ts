/**
 * Change sets: made, dropped and executed.
 *
 * G1: making one changes nothing in the stack, and keeps nobody from anything.
 * G2: whatever changes the stack makes every other change set void; those are deleted.
 */
import { changeSetClaim, stackClaim } from "./claims.ts";
import type { ChangeSet } from "./change-set.ts";
import { readDefinition } from "./definition.ts";
import type { Draft } from "./draft.ts";
import type { Happened } from "./event.ts";
import {
  changeSetNotFound,
  nestedNotExecutable,
  noChanges,
  notCreatableAgain,
  notExecutable,
  userInitiated,
} from "./messages.ts";
import {
  beginCreate,
  beginUpdate,
  isRepeated,
  noteCall,
  readUpdate,
  refuseTakenName,
  refuseUpdating,
} from "./operations.ts";
import { dropChangeSet } from "./drop-change-sets.ts";
import { dropNested } from "./nested-change-sets.ts";
import { hasUpdates, refuseUnknownTypes } from "./plan.ts";
import { planChanges } from "./plan-changes.ts";
import { StackError } from "./stack-error.ts";
import type { Definition, Stack } from "./stack.ts";

/** CreateChangeSet of type CREATE, for a stack that isn't there: it comes to be, empty (fact 85). */
export function createReview(draft: Draft, event: Happened<"create-change-set">): void {
  const { identity, seed, request, parent } = event;
  refuseTakenName(draft, identity);
  const definition = readDefinition(identity, request);
  refuseUnknownTypes(definition, draft.knowledge);
  const { timeoutMinutes } = request;
  draft.record({
    kind: "stack-created",
    identity,
    seed,
    terminationProtection: false,
    definition,
    ...(timeoutMinutes === undefined ? {} : { timeoutMinutes }),
    ...(parent === undefined ? {} : { parent }),
  });
  draft.claim(stackClaim(identity), "take");
  draft.setStatus("REVIEW_IN_PROGRESS", userInitiated);
  addChangeSet(draft, event, definition);
}

/** CreateChangeSet for a stack that is there. */
export function createChangeSet(draft: Draft, event: Happened<"create-change-set">): void {
  const { changeSet, stackName } = event;
  const { stack } = draft;
  const review = stack.status === "REVIEW_IN_PROGRESS";
  if (changeSet.type === "CREATE" && !review)
    throw new StackError("InvalidOperation", notCreatableAgain(stackName, changeSet.name));
  if (changeSet.type === "UPDATE") refuseUpdating(stack);
  const namesake = stack.changeSets.get(changeSet.name);
  if (namesake !== undefined && isRepetition(namesake, changeSet)) return;
  if (namesake !== undefined)
    throw new StackError("ChangeSetAlreadyExists", `ChangeSet [${changeSet.name}] already exists`);
  const definition = readUpdate(draft, event.request);
  addChangeSet(draft, event, definition);
}

/** U1, for the token that a change set is made with. */
function isRepetition({ clientToken }: ChangeSet, given: { readonly clientToken?: string }): boolean {
  return clientToken !== undefined && clientToken === given.clientToken;
}

function addChangeSet(draft: Draft, event: Happened<"create-change-set">, definition: Definition): void {
  const { changeSet } = event;
  const { stack } = draft;
  const fresh = stack.status === "REVIEW_IN_PROGRESS";
  const { transformed } = event.request;
  const fault = transformed?.kind === "failed" ? transformed.message : undefined;
  const empty = fault === undefined && !fresh && !hasUpdates(stack, definition);
  const reason = fault ?? (empty ? noChanges : undefined);
  const made: ChangeSet = {
    ...changeSet,
    id: draft.newChangeSetId(changeSet.name),
    createdAt: draft.at,
    executed: false,
    definition,
    ...(event.request.terms === undefined ? {} : { terms: event.request.terms }),
    ...(reason !== undefined
      ? { status: "FAILED", reason, changes: [] }
      : { status: "CREATE_COMPLETE", changes: planChanges(stack, definition, draft.knowledge) }),
  };
  draft.record({ kind: "change-set-created", changeSet: made });
  draft.claim(changeSetClaim(made.id), "take");
}

/** DeleteChangeSet. Of one that isn't there it does nothing, as on AWS. */
export function deleteChangeSet(draft: Draft, event: Happened<"delete-change-set">): void {
  const changeSet = findChangeSet(draft.stack, event.changeSet);
  if (changeSet !== undefined) dropChangeSet(draft, changeSet);
}

/** ExecuteChangeSet. */
export function executeChangeSet(draft: Draft, event: Happened<"execute-change-set">): void {
  const { stack } = draft;
  if (isRepeated(stack, "execute", event.clientRequestToken)) return;
  const changeSet = findChangeSet(stack, event.changeSet);
  if (changeSet === undefined) throw new StackError("ChangeSetNotFound", changeSetNotFound(event.changeSet));
  if (changeSet.executed || changeSet.status === "FAILED") {
    const status = changeSet.executed ? "EXECUTE_COMPLETE" : "FAILED";
    throw new StackError("InvalidChangeSetStatus", notExecutable(changeSet.id, status));
  }
  if (changeSet.nestedIn !== undefined)
    throw new StackError("InvalidOperation", nestedNotExecutable(changeSet.id, changeSet.nestedIn.root));
  if (changeSet.type === "UPDATE") refuseUpdating(stack);
  noteCall(draft, "execute", event.clientRequestToken);
  draft.record({ kind: "change-set-executed", name: changeSet.name });
  // They have told what would come; the nested stacks are made and updated by their parents.
  dropNested(draft, changeSet);
  begin(draft, changeSet, event);
}

function begin(draft: Draft, changeSet: ChangeSet, event: Happened<"execute-change-set">): void {
  const { name, type, definition, terms, onFailure = "ROLLBACK" } = changeSet;
  const { disableRollback, retainExceptOnCreate, clientRequestToken } = event;
  const { timeoutMinutes } = draft.stack;
  const behaviour = {
    onFailure: disableRollback ? ("DO_NOTHING" as const) : onFailure,
    retainExceptOnCreate,
    changeSet: name,
    ...(terms === undefined ? {} : { terms }),
    ...(timeoutMinutes === undefined ? {} : { timeoutMinutes }),
    ...(clientRequestToken === undefined ? {} : { clientRequestToken }),
  };
  if (type === "CREATE") beginCreate(draft, behaviour, definition);
  else beginUpdate(draft, behaviour, definition);
}

/** A change set by name or id. */
export function findChangeSet({ changeSets }: Stack, nameOrId: string): ChangeSet | undefined {
  return changeSets.get(nameOrId) ?? [...changeSets.values()].find(({ id }) => id === nameOrId);
}
