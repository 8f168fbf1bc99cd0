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

/** Resources that the update would remove and may not: each fails. */
export function refuseRemovals(draft: Draft): void {
  const { dependencies } = draft.stack.definition;
  for (const [logicalId, { current }] of draft.stack.resources) {
    if (!isLive(current) || dependencies.has(logicalId) || mustRollBack(draft.operation)) continue;
    const { good } = current;
    const { declared, physicalId } = good;
    const reason = policyRefusal(draft, { action: "Update:Delete", logicalId, type: declared.type });
    if (reason === undefined) continue;
    const failed: Resource = {
      status: "UPDATE_FAILED",
      declared,
      good,
      physicalId,
      requested: false,
      reason,
    };
    draft.setCurrent(logicalId, failed, showResource(failed));
    failResource(draft, { logicalId, verb: "update" });
  }
}
