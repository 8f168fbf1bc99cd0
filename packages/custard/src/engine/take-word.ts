/** What other stacks say to a stack, and the clock. */
import { advance, failStack } from "./advance.ts";
import type { Draft } from "./draft.ts";
import type { Happened, Word } from "./event.ts";
import { admitImporter, dismissImporter, takeImport } from "./exports.ts";
import { cancelInFlight } from "./fail.ts";
import { noExport } from "./messages.ts";
import { commitUpdate, undoUpdate } from "./nested-operations.ts";
import { timeOutCreation } from "./operations.ts";
import { signalHandle } from "./signals.ts";

/** Takes it; what is repeated changes nothing (E2). */
export function takeWord(draft: Draft, event: Word): void {
  switch (event.kind) {
    case "creation-timed-out":
      return timeOutCreation(draft);
    case "handle-signalled":
      signalHandle(draft, event);
      return advance(draft);
    case "undo-update":
      return undoUpdate(draft, event);
    case "commit-update":
      return commitUpdate(draft, event);
    case "import-answered":
      return answerImport(draft, event);
    case "import-wanted":
      return admitImporter(draft, event);
    case "import-released":
      return dismissImporter(draft, event);
  }
}

function answerImport(draft: Draft, event: Happened<"import-answered">): void {
  const { missing } = takeImport(draft, event);
  if (missing) {
    cancelInFlight(draft);
    failStack(draft, noExport(event.name));
  }
  advance(draft);
}
