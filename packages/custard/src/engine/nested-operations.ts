/** What a parent may ask of its nested stack beside creating, updating and deleting it. */
import { advance, beginCleanup, beginRollback } from "./advance.ts";
import type { Draft } from "./draft.ts";
import type { Happened } from "./event.ts";
import { cancelInFlight } from "./fail.ts";
import { answerParent, awaitByParent } from "./nested.ts";
import { skipRestoration } from "./update-rollback.ts";

/** The parent can't go back any more: what was held may be cleaned up. */
export function commitUpdate(draft: Draft, { parent }: Happened<"commit-update">): void {
  if (draft.stack.lastParentRequest === parent.requestId) return;
  awaitByParent(draft, parent);
  if (draft.stack.operation?.held !== true) {
    stopWaiting(draft);
    answerParent(draft, parent);
    return;
  }
  draft.record({ kind: "cleanup-released" });
  beginCleanup(draft);
  advance(draft);
}

/** The parent goes back: whatever this stack has done or is doing in its update is undone. */
export function undoUpdate(draft: Draft, event: Happened<"undo-update">): void {
  const { parent } = event;
  if (draft.stack.lastParentRequest === parent.requestId) return;
  stopWaiting(draft);
  const goes = goBack(draft, event);
  awaitByParent(draft, parent);
  if (goes) {
    advance(draft);
    return;
  }
  stopWaiting(draft);
  answerParent(draft, parent);
}

/** Who waited before doesn't any more. */
function stopWaiting(draft: Draft): void {
  if (draft.stack.operation?.waiting !== undefined) draft.record({ kind: "parent-told" });
}

/** Goes on, or begins, to go back. False when there is nothing (more) to do. */
function goBack(draft: Draft, { skip }: Happened<"undo-update">): boolean {
  const { status, operation } = draft.stack;
  if (status === "UPDATE_IN_PROGRESS") cancelInFlight(draft);
  if (status === "UPDATE_ROLLBACK_FAILED") continueChild(draft, skip);
  const forward = status === "UPDATE_IN_PROGRESS" || status === "UPDATE_FAILED";
  const held = status === "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS" && operation?.held === true;
  if (forward || held) return beginRollback(draft);
  return status === "UPDATE_ROLLBACK_FAILED" || status === "UPDATE_ROLLBACK_IN_PROGRESS";
}

/** ContinueUpdateRollback reaches nested stacks by what it names of them: `<stack name>.<logical id>`. */
function continueChild(draft: Draft, skip: readonly string[]): void {
  const { stackName } = draft.stack.identity;
  const failed = draft.operation.failures.filter(({ cancelled }) => cancelled !== true);
  const skipped = failed
    .map(({ logicalId }) => logicalId)
    .filter((id) => skip.includes(`${stackName}.${id}`));
  draft.record({ kind: "rollback-continued", skipped, skipNested: skip });
  draft.setStatus("UPDATE_ROLLBACK_IN_PROGRESS");
  for (const logicalId of skipped) skipRestoration(draft, logicalId);
}
