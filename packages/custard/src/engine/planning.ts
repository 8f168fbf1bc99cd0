import type { ResourceChange } from "./change-set.ts";
import type { Knowledge } from "./draft.ts";
import type { LogicalId } from "./ids.ts";
import type { Definition, Stack } from "./stack.ts";

/** What is known of an update's changes so far, while one after the other is found. */
export interface Planning {
  readonly stack: Stack;
  readonly next: Definition;
  readonly knowledge: Knowledge;
  readonly changes: Map<LogicalId, ResourceChange>;
}
