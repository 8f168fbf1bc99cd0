import type { ChangeSet } from "./change-set.ts";
import { changeSetClaim } from "./claims.ts";
import type { Draft } from "./draft.ts";
import { dropNested } from "./nested-change-sets.ts";

/** Deletes all change sets but one: they were made for a stack that is about to change. */
export function dropChangeSets(draft: Draft, kept?: string): void {
  for (const changeSet of draft.stack.changeSets.values())
    if (changeSet.name !== kept) dropChangeSet(draft, changeSet);
}

/** Deletes a change set, and those that were made with it. */
export function dropChangeSet(draft: Draft, changeSet: ChangeSet): void {
  const { id, name } = changeSet;
  dropNested(draft, changeSet);
  draft.record({ kind: "change-set-deleted", name });
  draft.claim(changeSetClaim(id), "release");
}
