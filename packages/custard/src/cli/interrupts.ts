import { StackError } from "../engine/stack-error.ts";
import type { StackEvent } from "../engine/views.ts";
import type { Operation } from "./follow.ts";
import type { Session } from "./session.ts";

/** How a person's interruptions bear on one operation. */
export interface Interrupts {
  /** Aborted when the operation is to be left as it is. */
  readonly signal: AbortSignal;
  happened(): boolean;
  /** Keeps track of where the operation is. */
  note(event: StackEvent): void;
  /** Stops listening: the next signal ends the process. */
  ignore(): void;
}

/**
 * The first Ctrl-C undoes: a create is deleted, an update is cancelled. A second one, one during a delete, and any
 * request to end (`SIGTERM`, `SIGHUP`) leave the operation as it is, for `custard resume`. Where a server does the work
 * it goes on in any case: every signal only ends the watching.
 */
export function heedInterrupts(session: Session, operation: Operation): Interrupts {
  const left = new AbortController();
  let count = 0;
  let status = startStatus[operation.kind];
  const ignore = session.io.onInterrupt((signal) => {
    count += 1;
    const isLeft = count > 1 || signal !== "SIGINT" || status === "DELETE_IN_PROGRESS";
    if (isLeft || session.local.server !== undefined) left.abort();
    else void undo(session, operation, status);
  });
  return {
    signal: left.signal,
    happened: () => count > 0,
    note(event) {
      if (event.physicalId === event.stackId) status = event.status;
    },
    ignore,
  };
}

const startStatus: Readonly<Record<Operation["kind"], string>> = {
  create: "CREATE_IN_PROGRESS",
  update: "UPDATE_IN_PROGRESS",
  delete: "DELETE_IN_PROGRESS",
};

const leaveHint = "Press Ctrl-C again to leave it as it is.";

async function undo(session: Session, operation: Operation, status: string): Promise<void> {
  const { engine } = session.local;
  const tell = (text: string): void => session.report({ kind: "note", text: `${text} ${leaveHint}` });
  try {
    if (status === "CREATE_IN_PROGRESS") {
      tell(`Interrupted: deleting what was created of ${operation.stackName}.`);
      await engine.deleteStack({ stack: operation.stackId });
    } else if (status === "UPDATE_IN_PROGRESS") {
      tell(`Interrupted: cancelling the update of ${operation.stackName}.`);
      await engine.cancelUpdate(operation.stackId);
    } else {
      tell(`${operation.stackName} is in ${status}: there is nothing more to undo.`);
    }
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    tell(error.message);
  }
}
