/**
 * The engine's heart: what one event does to one stack. Pure: the same stack, event and knowledge give the same
 * decision. Throws `StackError` where CloudFormation refuses the call; never for what a provider does.
 *
 * E1: records and commands of a decision become durable together, or not at all.
 * E2: a repeated event is harmless.
 * E3: an answer for a request that isn't pending is recorded and changes nothing (design section 9).
 */
import { parseResponse } from "@custard/provider/protocol";
import { advance, beginRollback, setAllAside } from "./advance.ts";
import { stackClaim } from "./claims.ts";
import { readDefinition } from "./definition.ts";
import { Draft, type Decision, type Knowledge } from "./draft.ts";
import type { StackOccurrence } from "./event.ts";
import { cancelInFlight } from "./fail.ts";
import type { LogicalId, PhysicalId, RequestId } from "./ids.ts";
import {
  noResponse,
  notUpdatable,
  noUpdates,
  providerFailed,
  stackNotFound,
  stackUpdateCancelled,
  terminationProtected,
  userInitiated,
} from "./messages.ts";
import { hasUpdates, refuseTypeChanges, refuseUnknownTypes } from "./plan.ts";
import { settle, type Outcome } from "./settle.ts";
import { StackError } from "./stack-error.ts";
import { isSettled, stackStatuses } from "./stack-status.ts";
import type { Operation, Pending, Stack } from "./stack.ts";
import { isValueMap, Sensitive, type ValueMap } from "../template/value.ts";

type Happened<Kind extends StackOccurrence["kind"]> = Extract<StackOccurrence, { kind: Kind }>;

/** Decides on one event. */
export function decide(stack: Stack | undefined, event: StackOccurrence, knowledge: Knowledge): Decision {
  const draft = new Draft(stack, event.at, knowledge);
  if (event.kind === "create-stack") {
    // E2: a repeated create finds its own stack.
    if (stack === undefined) createStack(draft, event);
    return draft.finish();
  }
  if (stack === undefined) throw new StackError("StackNotFound", stackNotFound(event.stackId));
  handle(draft, event);
  return draft.finish();
}

function handle(draft: Draft, event: Exclude<StackOccurrence, { kind: "create-stack" }>): void {
  switch (event.kind) {
    case "update-stack":
      return updateStack(draft, event);
    case "delete-stack":
      return deleteStack(draft, event);
    case "cancel-update":
      return cancelUpdate(draft);
    case "answered":
      return takeAnswer(draft, event);
    case "deadline-passed":
      return endPending(draft, event.requestId, (request) => ({
        ending: "timed-out",
        outcome: failed(noResponse(request.requestId), true),
      }));
    case "delivery-refused":
      return endPending(draft, event.requestId, () => ({
        ending: "refused",
        outcome: failed(event.reason, false),
      }));
    case "provider-silent":
      return endPending(draft, event.requestId, () => ({
        ending: "silent",
        outcome: failed(event.advice, true),
      }));
    case "task-ended":
      return endPending(draft, event.requestId, () => ({ ending: "done", outcome: taskOutcome(event) }));
  }
}

// ---------------------------------------------------------------------------------------- users' requests

function createStack(draft: Draft, event: Happened<"create-stack">): void {
  const { identity, seed, terminationProtection, request } = event;
  const definition = readDefinition(identity, request);
  refuseUnknownTypes(definition, draft.knowledge);
  draft.record({ kind: "stack-created", identity, seed, terminationProtection, definition });
  draft.claim(stackClaim(identity), "take");
  draft.record({
    kind: "operation-started",
    operation: operationOf("create", "forward", request),
    definition,
  });
  draft.setStatus("CREATE_IN_PROGRESS", userInitiated);
  advance(draft);
}

function updateStack(draft: Draft, { request }: Happened<"update-stack">): void {
  const { stack } = draft;
  const { identity, status } = stack;
  if (!stackStatuses[status].update)
    throw new StackError("StackNotUpdatable", notUpdatable(identity.stackId, status));
  const definition = readDefinition(identity, request, stack.definition.parameters);
  refuseUnknownTypes(definition, draft.knowledge);
  refuseTypeChanges(stack, definition);
  if (!hasUpdates(stack, definition)) throw new StackError("NoUpdates", noUpdates);
  draft.record({
    kind: "operation-started",
    operation: operationOf("update", "forward", request),
    definition,
  });
  draft.setStatus("UPDATE_IN_PROGRESS", userInitiated);
  advance(draft);
}

function deleteStack(draft: Draft, { retain, clientRequestToken }: Happened<"delete-stack">): void {
  const { identity, status, terminationProtection } = draft.stack;
  if (status === "DELETE_COMPLETE" || status === "DELETE_IN_PROGRESS") return;
  if (terminationProtection)
    throw new StackError("TerminationProtected", terminationProtected(identity.stackName));
  if (!stackStatuses[status].delete) {
    throw new StackError(
      "StackBusy",
      `Stack [${identity.stackName}] cannot be deleted while in status ${status}`,
    );
  }
  refuseRetaining(draft.stack, retain);
  cancelCreation(draft);
  const token = clientRequestToken === undefined ? {} : { clientRequestToken };
  draft.record({
    kind: "operation-started",
    operation: {
      kind: "delete",
      phase: "delete",
      onFailure: "DO_NOTHING",
      retain: new Set(retain),
      ...token,
    },
  });
  draft.setStatus("DELETE_IN_PROGRESS", userInitiated);
  setAllAside(draft, "removed");
  advance(draft);
}

function cancelCreation(draft: Draft): void {
  if (draft.stack.status === "CREATE_IN_PROGRESS") cancelInFlight(draft);
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

/** Facts 49 and 66. */
function cancelUpdate(draft: Draft): void {
  const { status } = draft.stack;
  if (status !== "UPDATE_IN_PROGRESS") {
    throw new StackError("InvalidOperation", `CancelUpdateStack cannot be called from current stack status`);
  }
  cancelInFlight(draft);
  beginRollback(draft, stackUpdateCancelled);
  advance(draft);
}

function operationOf(
  kind: "create" | "update",
  phase: "forward",
  request: Happened<"update-stack">["request"],
): Pick<Operation, "kind" | "phase" | "onFailure" | "retain" | "clientRequestToken"> {
  const { onFailure, clientRequestToken } = request;
  return {
    kind,
    phase,
    onFailure,
    retain: new Set(),
    ...(clientRequestToken === undefined ? {} : { clientRequestToken }),
  };
}

// ------------------------------------------------------------------------------------ outcomes of requests

function endPending(
  draft: Draft,
  requestId: RequestId,
  end: (request: Pending) => Parameters<typeof settle>[2],
): void {
  const request = draft.stack.requests.get(requestId);
  if (request === undefined || isSettled(draft.stack.status)) return;
  settle(draft, request, end(request));
  advance(draft);
}

function takeAnswer(draft: Draft, event: Happened<"answered">): void {
  const { requestId } = event;
  const request = draft.stack.requests.get(requestId);
  if (request?.kind !== "provider") {
    draft.record({
      kind: "answer-ignored",
      requestId,
      why: "The request isn't waiting for an answer (any more).",
    });
    return;
  }
  const { stackId } = draft.stack.identity;
  const { logicalId } = request;
  const requestType = ({ create: "Create", update: "Update", delete: "Delete" } as const)[request.action];
  const verdict = parseResponse(event.body, event.length, { stackId, requestId, logicalId, requestType });
  if (verdict.kind === "foreign") {
    draft.record({ kind: "answer-ignored", requestId, why: verdict.reason });
    return;
  }
  const outcome =
    verdict.kind === "malformed" ? failed(verdict.reason, true) : answerOutcome(request, verdict.response);
  settle(draft, request, { ending: "answered", outcome });
  advance(draft);
}

function answerOutcome(
  request: Pending,
  response: Extract<ReturnType<typeof parseResponse>, { kind: "answer" }>["response"],
): Outcome {
  const physicalId = response.physicalId as PhysicalId;
  switch (response.status) {
    case "FAILED":
      return {
        kind: "failed",
        reason: providerFailed(response.reason, request.requestId),
        physicalId,
        reached: true,
      };
    case "SUCCESS":
      return { kind: "success", physicalId, attributes: attributesOf(response.data, response.noEcho) };
  }
}

/** NoEcho marks every attribute (fact 50). */
function attributesOf(data: ValueMap, noEcho: boolean): ValueMap {
  if (!noEcho) return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, new Sensitive(value)]));
}

function taskOutcome({ outcome }: Happened<"task-ended">): Outcome {
  switch (outcome.kind) {
    case "done": {
      const { physicalId, attributes } = outcome;
      return { kind: "success", physicalId, attributes: isValueMap(attributes) ? attributes : {} };
    }
    case "failed":
      return outcome.physicalId === undefined
        ? failed(outcome.reason, false)
        : { kind: "failed", reason: outcome.reason, physicalId: outcome.physicalId, reached: true };
  }
}

function failed(reason: string, reached: boolean): Outcome {
  return { kind: "failed", reason, reached };
}
