import type { ChangeSet } from "./change-set.ts";
import { changeSetClaim } from "./claims.ts";
import type { Draft } from "./draft.ts";

/** Deletes all change sets but one: they were made for a stack that is about to change. */
export function dropChangeSets(draft: Draft, kept?: string): void {
  for (const changeSet of draft.stack.changeSets.values())
    if (changeSet.name !== kept) dropChangeSet(draft, changeSet);
}

/** Deletes a change set. */
export function dropChangeSet(draft: Draft, { id, name }: Pick<ChangeSet, "id" | "name">): void {
  draft.record({ kind: "change-set-deleted", name });
  draft.claim(changeSetClaim(id), "release");
}
