/** The stack policy, put to work on an update. */
import type { Draft } from "./draft.ts";
import { failResource, mustRollBack } from "./fail.ts";
import { deniedByPolicy } from "./messages.ts";
import { isLive, type Resource } from "./resource.ts";
import { showResource } from "./shown.ts";
import { askPolicy, parsePolicy, type PolicyQuestion } from "./stack-policy.ts";

/** Why the policy in force forbids this, or undefined. Creations and rollbacks ask nobody. */
export function policyRefusal(draft: Draft, question: PolicyQuestion): string | undefined {
  const body = draft.operation.policy ?? draft.stack.policy;
  const policy = body === undefined ? undefined : parsePolicy(body);
  const answer = policy === undefined ? "allowed" : askPolicy(policy, question);
  if (answer === "allowed") return undefined;
  return deniedByPolicy({ ...answer, action: question.action, logicalId: question.logicalId });
}

/** Resources that the update would remove and may not: each fails, also one that has failed before. */
export function refuseRemovals(draft: Draft): void {
  const { dependencies } = draft.stack.definition;
  for (const [logicalId, { current }] of draft.stack.resources) {
    if (dependencies.has(logicalId) || mustRollBack(draft.operation)) continue;
    // What never came to be is nobody's loss.
    if (!isLive(current) && current?.status !== "UPDATE_FAILED") continue;
    const { type } = current.good.declared;
    const reason = policyRefusal(draft, { action: "Update:Delete", logicalId, type });
    if (reason === undefined) continue;
    const failed = refusedRemoval(current, reason);
    draft.setCurrent(logicalId, failed, showResource(failed));
    failResource(draft, { logicalId, verb: "update" });
  }
}

/** An update that failed earlier has left its traces: what its provider was sent last, and the id that it gave. */
function refusedRemoval(
  current: Extract<Resource, { status: "CREATE_COMPLETE" | "UPDATE_COMPLETE" | "UPDATE_FAILED" }>,
  reason: string,
): Resource {
  if (current.status === "UPDATE_FAILED") return { ...current, reason };
  const { good } = current;
  const { declared, physicalId } = good;
  return { status: "UPDATE_FAILED", declared, good, physicalId, requested: false, reason };
}
