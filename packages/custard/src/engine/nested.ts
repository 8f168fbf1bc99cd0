/**
 * A nested stack's side of its parent: it is a stack like any other, but the parent decides how its operations end.
 *
 * N1: each request of the parent is reported on exactly once for each state that the parent waits for; a report that
 *     is repeated, or that nobody waits for any more, is harmless.
 * N2: after an update, or its rollback, it holds: it cleans up only when the parent commits, so that the parent can
 *     still go back (facts 77, 92).
 * N3: a failed create stays as it is; the parent's rollback deletes it.
 */
import type { Draft } from "./draft.ts";
import type { PhysicalId } from "./ids.ts";
import { childNotCreated, childNotDeleted, childNotUpdated } from "./messages.ts";
import { isLive, isNestedStack } from "./resource.ts";
import type { ParentLink } from "./stack.ts";

/** From now on the parent waits for what comes next. */
export function awaitByParent(draft: Draft, link: ParentLink): void {
  draft.record({ kind: "parent-waits", link });
}

/** N1: tells the parent, if it waits, that all is well, or why not. */
export function tellParent(draft: Draft, reason?: string): void {
  const waiting = draft.stack.operation?.waiting;
  if (waiting === undefined) return;
  draft.record({ kind: "parent-told" });
  answerParent(draft, waiting, reason);
}

/** Answers a request of the parent at once. */
export function answerParent(draft: Draft, { stackId, requestId }: ParentLink, reason?: string): void {
  draft.command({
    kind: "report",
    parent: stackId,
    requestId,
    dueAt: draft.at,
    ...(reason === undefined ? {} : { reason }),
  });
}

/** Tells the parent that what it waits for has failed; the stack's status and reason say how. */
export function tellParentOfFailure(draft: Draft): void {
  const { status, reason = "", identity } = draft.stack;
  const { stackId } = identity;
  switch (draft.operation.kind) {
    case "create":
      return tellParent(draft, childNotCreated(stackId, reason));
    case "update":
      return tellParent(draft, childNotUpdated(stackId, { status, reason }));
    case "delete":
      return tellParent(draft, childNotDeleted(stackId, reason));
  }
}

/** Tells the nested stacks that took part in the operation that it can't be rolled back any more. */
export function commitChildren(draft: Draft): void {
  const { touched } = draft.operation;
  for (const [logicalId, { current }] of draft.stack.resources) {
    if (!isLive(current) || !touched.has(logicalId) || !isNestedStack(current.good.declared.type)) continue;
    draft.issue({
      kind: "child",
      action: "commit",
      requestId: draft.newRequestId(),
      logicalId,
      type: current.good.declared.type,
      properties: {},
      issuedAt: draft.at,
      childId: childIdOf(current.good.physicalId),
      undo: false,
    });
  }
}

/** The physical id of a nested stack is its ARN. */
function childIdOf(physicalId: PhysicalId): ParentLink["stackId"] {
  return physicalId as string as ParentLink["stackId"];
}
