import type { StackId } from "../engine/ids.ts";
import type { StackEvent, StackView } from "../engine/views.ts";
import { explainFailures, nameOf } from "./failure.ts";
import type { ExitCode } from "./fault.ts";
import { heedInterrupts, type Interrupts } from "./interrupts.ts";
import { isSimulated } from "./is-simulated.ts";
import type { OperationKind } from "./message.ts";
import type { Session } from "./session.ts";
import { functionOf, notesOn } from "./notes.ts";
import { isSuccess } from "./status.ts";

/** A stack operation that is under way. */
export interface Operation {
  readonly kind: OperationKind;
  readonly stackId: StackId;
  readonly stackName: string;
  /** Sequence of the last event before it. */
  readonly after: number;
  readonly startedAt: number;
}

const shownFailures = 3;

/** Shows an operation until its stack has settled or the person has left it; says why it failed; gives the exit code. */
export async function follow(session: Session, operation: Operation): Promise<ExitCode> {
  const interrupts = heedInterrupts(session, operation);
  try {
    const events = await showEvents(session, operation, interrupts);
    if (interrupts.signal.aborted) return leave(session, operation);
    return await conclude(session, operation, { events, interrupted: interrupts.happened() });
  } finally {
    interrupts.ignore();
  }
}

async function showEvents(
  session: Session,
  operation: Operation,
  interrupts: Interrupts,
): Promise<readonly StackEvent[]> {
  const seen: StackEvent[] = [];
  try {
    for await (const event of session.local.engine.watch(operation.stackId, {
      after: operation.after,
      signal: interrupts.signal,
    })) {
      seen.push(event);
      interrupts.note(event);
      const simulated = isSimulated(event, session.local.types);
      session.report({ kind: "event", event, simulated });
      if (simulated) await warnOfSignals(session, event);
    }
  } catch (error) {
    if (!interrupts.signal.aborted) throw error;
  }
  return seen;
}

/** What is simulated and not complete once it is there waits for signals of its CreationPolicy. */
async function warnOfSignals(session: Session, event: StackEvent): Promise<void> {
  if (event.status !== "CREATE_IN_PROGRESS" || event.reason !== "Resource creation Initiated") return;
  const { resources } = await session.local.engine.stack(event.stackId);
  const resource = resources.find(({ logicalId }) => logicalId === event.logicalId);
  if (resource?.status !== "CREATE_IN_PROGRESS") return;
  session.report({
    kind: "note",
    text: `${event.logicalId} is simulated: nothing here sends the signals that its CreationPolicy waits for. Take the CreationPolicy out, or send them with aws cloudformation signal-resource to custard serve.`,
  });
}

function leave(session: Session, operation: Operation): ExitCode {
  const { server } = session.local;
  session.report({
    kind: "detached",
    stackName: operation.stackName,
    command: `custard resume${session.stateHint}`,
    ...(server === undefined ? {} : { server: server.pid }),
  });
  return 130;
}

async function conclude(
  session: Session,
  operation: Operation,
  course: { readonly events: readonly StackEvent[]; readonly interrupted: boolean },
): Promise<ExitCode> {
  const stack = await session.local.engine.stack(operation.stackId);
  const failed = !isSuccess(stack.status);
  const { events } = course;
  if (failed && !course.interrupted) await showFailures(session, events);
  const advice = nextStep(stack, session.stateHint);
  session.report({
    kind: "result",
    stack,
    // The machine's clock may have been set back.
    took: Math.max(0, Date.now() - operation.startedAt),
    notes: failed || operation.kind === "delete" ? [] : notesOn({ events, stack }),
    ...(advice === undefined ? {} : { advice }),
  });
  if (course.interrupted) return 130;
  return failed ? 1 : 0;
}

async function showFailures(session: Session, events: readonly StackEvent[]): Promise<void> {
  const { engine, traces } = session.local;
  const failures = await explainFailures(events, {
    traces,
    events: (stackId) => engine.events(stackId),
    stack: (stackId) => engine.stack(stackId),
  });
  for (const failure of failures.slice(0, shownFailures)) session.report({ kind: "failure", failure });
  const more = failures.slice(shownFailures).map(nameOf);
  if (more.length > 0)
    session.report({ kind: "note", text: `${more.length} more failed: ${more.join(", ")}` });
}

/** What can be done with a stack that has not ended well. */
function nextStep(stack: StackView, hint: string): string | undefined {
  const remove = `custard delete ${stack.stackName}${hint}`;
  const steps: Readonly<Record<string, string>> = {
    CREATE_FAILED: `What was created is still there. Remove it: ${remove}`,
    ROLLBACK_COMPLETE: `Nothing is left of it but its name. Free that: ${remove}, then deploy again.`,
    ROLLBACK_FAILED: `Something may be left of it. Try again to remove it: ${remove}`,
    DELETE_FAILED: afterDelete(stack, remove),
    UPDATE_FAILED: `What was updated stays so. Put the cause right and deploy again, or remove the stack: ${remove}`,
    UPDATE_ROLLBACK_COMPLETE: "The stack is as it was before the update.",
    UPDATE_ROLLBACK_FAILED: `The stack could not be brought back to where it was. Remove it: ${remove}`,
  };
  return steps[stack.status];
}

/** CloudFormation goes on to delete what a failed resource depends on, its own function too. */
function afterDelete(stack: StackView, remove: string): string {
  const failed = stack.resources.filter(({ status }) => status === "DELETE_FAILED");
  const names = failed.map(({ logicalId }) => logicalId).join(" ");
  const orphans = failed.filter((resource) => functionOf(resource, stack)?.status === "DELETE_COMPLETE");
  if (orphans.length > 0 && orphans.length === failed.length)
    return `The function that answers for ${names} has been deleted, so that trying again can't help. Give it up, and remove by hand what it made: ${remove} --retain ${names}`;
  return `Try again: ${remove}; or keep what can't be deleted: add --retain ${names}`;
}
