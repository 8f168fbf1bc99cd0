/**
 * The engine's heart: what one event does to one stack. Pure: the same stack, event and knowledge give the same
 * decision. Throws `StackError` where CloudFormation refuses the call; never for what a provider does.
 *
 * E1: records and commands of a decision become durable together, or not at all.
 * E2: a repeated event is harmless.
 * E3: an answer for a request that isn't pending is recorded and changes nothing (design section 9).
 */
import { createReview } from "./change-set-operations.ts";
import { Draft, type Decision, type Knowledge } from "./draft.ts";
import type { Occurrence, StackOccurrence, UserCall, Word } from "./event.ts";
import { stackNotFound } from "./messages.ts";
import { createStack } from "./operations.ts";
import { StackError } from "./stack-error.ts";
import type { Stack } from "./stack.ts";
import { takeCall } from "./take-call.ts";
import { takeOutcome } from "./take-outcome.ts";
import { takeWord } from "./take-word.ts";

/** Decides on one event. */
export function decide(stack: Stack | undefined, event: StackOccurrence, knowledge: Knowledge): Decision {
  const draft = new Draft(stack, event.at, knowledge);
  if (stack === undefined) begin(draft, event);
  else if (isCall(event)) takeCall(draft, event);
  else if (isWord(event)) takeWord(draft, event);
  else takeOutcome(draft, event);
  return draft.finish();
}

/** Only two calls can find no stack. */
function begin(draft: Draft, event: StackOccurrence): void {
  if (event.kind === "create-stack") createStack(draft, event);
  else if (event.kind === "create-change-set" && event.changeSet.type === "CREATE")
    createReview(draft, event);
  else throw new StackError("StackNotFound", stackNotFound(event.stackId));
}

const calls: ReadonlySet<Occurrence["kind"]> = new Set<UserCall["kind"]>([
  "create-stack",
  "update-stack",
  "create-change-set",
  "delete-change-set",
  "execute-change-set",
  "delete-stack",
  "cancel-update",
  "continue-rollback",
  "roll-back",
  "set-termination-protection",
  "set-policy",
  "signal-resource",
]);

const words: ReadonlySet<Occurrence["kind"]> = new Set<Word["kind"]>([
  "creation-timed-out",
  "handle-signalled",
  "undo-update",
  "commit-update",
  "import-answered",
  "import-wanted",
  "import-released",
]);

function isCall<O extends Occurrence>(event: O): event is Extract<O, UserCall> {
  return calls.has(event.kind);
}

function isWord<O extends Occurrence>(event: O): event is Extract<O, Word> {
  return words.has(event.kind);
}
