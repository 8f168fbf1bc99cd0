/**
 * Change sets of nested stacks: made with the change set of their parent, and gone with it. A nested stack that a change
 * set would add is there for that time, in REVIEW_IN_PROGRESS, so that its own change set can be looked at.
 */
import type { ValueMap } from "../template/value.ts";
import type { ChangeSet } from "./change-set.ts";
import type { Task } from "./command.ts";
import type { Post } from "./correspond.ts";
import type { Draft } from "./draft.ts";
import type { LogicalId, StackId } from "./ids.ts";
import { isNestedStack } from "./resource.ts";
import type { StackIdentity } from "./stack.ts";
import { makePhysicalId, makeStackId } from "./unique-id.ts";

/** A nested stack that a change set would update or add. */
export interface ReviewedStack {
  readonly logicalId: LogicalId;
  readonly stackId: StackId;
  readonly properties: ValueMap;
  /** Of one that would be added: what it is called while it is reviewed. */
  readonly identity?: StackIdentity;
}

/** The nested stacks whose change sets are made with this one. */
export function reviewedStacks(parent: StackIdentity, changeSet: ChangeSet): readonly ReviewedStack[] {
  if (changeSet.includesNested !== true) return [];
  return changeSet.changes.flatMap(({ action, type, logicalId, physicalId, after: properties }) => {
    if (!isNestedStack(type) || properties === undefined) return [];
    if (action === "Modify" && physicalId !== undefined)
      return [{ logicalId, stackId: physicalId as string as StackId, properties }];
    if (action !== "Add") return [];
    const identity = identityInReview(parent, changeSet.id, logicalId);
    return [{ logicalId, stackId: identity.stackId, properties, identity }];
  });
}

/** It follows from the change set, so that nobody has to remember it. */
function identityInReview(parent: StackIdentity, changeSetId: string, logicalId: LogicalId): StackIdentity {
  const seed = `${changeSetId}:${logicalId}`;
  const shortened = logicalId.slice(0, 50) as LogicalId;
  const stackName = makePhysicalId(parent.stackName.slice(0, 60), shortened, { seed, counter: 0 });
  return { ...parent, stackName, stackId: makeStackId({ ...parent, stackName }, seed) };
}

/** What was made with a change set goes: it is deleted, void, or being executed. */
export function dropNested(draft: Draft, changeSet: ChangeSet): void {
  const stacks = reviewedStacks(draft.stack.identity, changeSet).map(({ stackId }) => stackId);
  if (stacks.length > 0)
    draft.command({ kind: "drop-nested", changeSet: changeSet.id, stacks, dueAt: draft.at });
}

/** Does so. What is gone already, or never was, is passed over. */
export async function performDropNested(
  post: Post,
  { changeSet, stacks }: Extract<Task, { kind: "drop-nested" }>,
): Promise<void> {
  for (const stackId of stacks) {
    const child = await post.stack(stackId);
    for (const { name, nestedIn } of child?.changeSets.values() ?? [])
      if (nestedIn?.parent === changeSet)
        await post.tell(stackId, { kind: "delete-change-set", changeSet: name });
    if (child?.status === "REVIEW_IN_PROGRESS")
      await post.tell(stackId, { kind: "delete-stack", retain: [] });
  }
}
