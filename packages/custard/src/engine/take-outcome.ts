/** What requests come to: answers, passed deadlines, failed deliveries, ended tasks. */
import { parseResponse } from "@custard/provider/protocol";
import { isValueMap, Sensitive, type ValueMap } from "../template/value.ts";
import { advance } from "./advance.ts";
import type { Draft } from "./draft.ts";
import type { Answer, Feedback, Happened } from "./event.ts";
import type { PhysicalId, RequestId } from "./ids.ts";
import { noResponse, providerFailed } from "./messages.ts";
import { settle, showInitiated, type Outcome } from "./settle.ts";
import { waitedInVain } from "./settle-waits.ts";
import { isSettled } from "./stack-status.ts";
import type { Pending } from "./stack.ts";

/** Takes what came of a request. Of one that isn't pending any more it changes nothing (E2, E3). */
export function takeOutcome(draft: Draft, event: Answer | Feedback): void {
  const { requestId } = event;
  switch (event.kind) {
    case "answered":
      return takeAnswer(draft, event);
    case "child-started":
      return showChild(draft, requestId);
    case "deadline-passed":
      return passDeadline(draft, requestId);
    case "delivery-refused":
      return endPending(draft, requestId, {
        ending: "refused",
        outcome: failed(event.reason, event.repeated),
      });
    case "provider-silent":
      return endPending(draft, requestId, { ending: "silent", outcome: failed(event.advice, true) });
    case "task-ended":
      return endPending(draft, requestId, { ending: "done", outcome: taskOutcome(event) });
  }
}

function passDeadline(draft: Draft, requestId: RequestId): void {
  const request = draft.stack.requests.get(requestId);
  const outcome =
    request?.kind === "signals" ? waitedInVain(draft, request) : failed(noResponse(requestId), true);
  endPending(draft, requestId, { ending: "timed-out", outcome });
}

function endPending(draft: Draft, requestId: RequestId, result: Parameters<typeof settle>[2]): void {
  const request = draft.stack.requests.get(requestId);
  if (request === undefined || isSettled(draft.stack.status)) return;
  settle(draft, request, result);
  advance(draft);
}

function takeAnswer(draft: Draft, event: Answer): void {
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

function showChild(draft: Draft, requestId: RequestId): void {
  const request = draft.stack.requests.get(requestId);
  if (request?.kind !== "child") return;
  const { logicalId, childId } = request;
  const creating = draft.slot(logicalId)?.current;
  // E2: after a crash it is told again.
  if (creating?.status === "CREATE_IN_PROGRESS" && creating.initiated === true) return;
  showInitiated(draft, logicalId, childId as string as PhysicalId);
}
