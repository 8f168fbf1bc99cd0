/**
 * The engine's heart: what one event does to one stack. Pure: the same stack, event and knowledge give the same
 * decision. Throws `StackError` where CloudFormation refuses the call; never for what a provider does.
 *
 * E1: records and commands of a decision become durable together, or not at all.
 * E2: a repeated event is harmless.
 * E3: an answer for a request that isn't pending is recorded and changes nothing (design section 9).
 */
import { parseResponse } from "@custard/provider/protocol";
import { advance, failStack } from "./advance.ts";
import { createChangeSet, createReview, deleteChangeSet, executeChangeSet } from "./change-set-operations.ts";
import { Draft, type Decision, type Knowledge } from "./draft.ts";
import type { StackOccurrence } from "./event.ts";
import { admitImporter, dismissImporter, takeImport } from "./exports.ts";
import { cancelInFlight } from "./fail.ts";
import type { PhysicalId, RequestId } from "./ids.ts";
import { noExport, noResponse, providerFailed, stackNotFound } from "./messages.ts";
import {
  cancelUpdate,
  continueRollback,
  createStack,
  deleteStack,
  rollBack,
  setPolicy,
  setTerminationProtection,
  timeOutCreation,
  updateStack,
} from "./operations.ts";
import { settle, type Outcome } from "./settle.ts";
import { StackError } from "./stack-error.ts";
import { isSettled } from "./stack-status.ts";
import type { Pending, Stack } from "./stack.ts";
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
  if (stack === undefined && event.kind === "create-change-set" && event.changeSet.type === "CREATE") {
    createReview(draft, event);
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
    case "create-change-set":
      return createChangeSet(draft, event);
    case "delete-change-set":
      return deleteChangeSet(draft, event);
    case "execute-change-set":
      return executeChangeSet(draft, event);
    case "delete-stack":
      return deleteStack(draft, event);
    case "cancel-update":
      return cancelUpdate(draft, event);
    case "continue-rollback":
      return continueRollback(draft, event);
    case "roll-back":
      return rollBack(draft, event);
    case "set-termination-protection":
      return setTerminationProtection(draft, event);
    case "set-policy":
      return setPolicy(draft, event);
    case "creation-timed-out":
      return timeOutCreation(draft);
    case "import-answered":
      return answerImport(draft, event);
    case "import-wanted":
      return admitImporter(draft, event);
    case "import-released":
      return dismissImporter(draft, event);
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

// ------------------------------------------------------------------------------------ outcomes of requests

function answerImport(draft: Draft, event: Happened<"import-answered">): void {
  const { missing } = takeImport(draft, event);
  if (missing) {
    cancelInFlight(draft);
    failStack(draft, noExport(event.name));
  }
  advance(draft);
}

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
