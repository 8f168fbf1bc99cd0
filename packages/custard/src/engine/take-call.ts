/** What users ask of a stack that is there. */
import { createChangeSet, deleteChangeSet, executeChangeSet } from "./change-set-operations.ts";
import { advance } from "./advance.ts";
import type { Draft } from "./draft.ts";
import type { UserCall } from "./event.ts";
import {
  cancelUpdate,
  continueRollback,
  deleteStack,
  rollBack,
  setPolicy,
  setTerminationProtection,
  updateStack,
} from "./operations.ts";
import { signalResource } from "./signals.ts";

/** Does it, or throws a `StackError`. */
export function takeCall(draft: Draft, event: UserCall): void {
  switch (event.kind) {
    case "create-stack":
      // E2: a repeated create finds its own stack.
      return;
    case "signal-resource":
      signalResource(draft, event);
      return advance(draft);
    case "update-stack":
      return updateStack(draft, event);
    case "create-change-set":
      return createChangeSet(draft, event);
    case "delete-change-set":
      return deleteChangeSet(draft, event);
    case "execute-change-set":
      return executeChangeSet(draft, event);
    case "delete-stack":
      return deleteStack(draft, event);
    case "cancel-update":
      return cancelUpdate(draft, event);
    case "continue-rollback":
      return continueRollback(draft, event);
    case "roll-back":
      return rollBack(draft, event);
    case "set-termination-protection":
      return setTerminationProtection(draft, event);
    case "set-policy":
      return setPolicy(draft, event);
  }
}
