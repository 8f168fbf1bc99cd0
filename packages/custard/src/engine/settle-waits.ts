/** When waits for signals are over, and what they come to (W1, W2). */
import type { ValueMap } from "../template/value.ts";
import type { Draft } from "./draft.ts";
import { signalReceived, signalsMissing, unreadableSignal, waitFailed, waitTimedOut } from "./messages.ts";
import { isWaitCondition } from "./resource.ts";
import { settle, type Outcome } from "./settle.ts";
import type { Signal, SignalsPending } from "./stack.ts";

/** Ends every wait that is over. Called when anything may have changed. */
export function settleWaits(draft: Draft): boolean {
  let any = false;
  for (const request of draft.stack.requests.values()) {
    if (request.kind !== "signals" || !draft.stack.requests.has(request.requestId)) continue;
    const outcome = outcomeOf(request, draft.stack.signals.get(request.source) ?? []);
    if (outcome === undefined) continue;
    settle(draft, request, { ending: "done", outcome });
    any = true;
  }
  return any;
}

function outcomeOf(request: SignalsPending, signals: readonly Signal[]): Outcome | undefined {
  const condition = isWaitCondition(request.type) && request.source !== request.logicalId;
  const bad = signals.find(({ status }) => status !== "SUCCESS");
  if (bad !== undefined)
    return failed(request, condition ? conditionFault(bad) : signalReceived(bad.status, bad.uniqueId));
  if (signals.length < request.count) return undefined;
  const { targetId, attributes } = request;
  return {
    kind: "success",
    physicalId: targetId,
    attributes: { ...attributes, ...(condition ? dataOf(signals) : {}) },
  };
}

function failed({ targetId }: SignalsPending, reason: string): Outcome {
  return { kind: "failed", reason, physicalId: targetId, reached: true };
}

function conditionFault({ status, reason = "", uniqueId }: Signal): string {
  return status === "INVALID" ? unreadableSignal : waitFailed(reason, uniqueId);
}

function dataOf(signals: readonly Signal[]): ValueMap {
  return {
    Data: JSON.stringify(Object.fromEntries(signals.map(({ uniqueId, data = "" }) => [uniqueId, data]))),
  };
}

/** What a wait comes to whose time has passed. */
export function waitedInVain(draft: Draft, request: SignalsPending): Outcome {
  const received = draft.stack.signals.get(request.source)?.length ?? 0;
  const condition = isWaitCondition(request.type) && request.source !== request.logicalId;
  return failed(
    request,
    condition ? waitTimedOut(received, request.count) : signalsMissing(request.count - received),
  );
}
