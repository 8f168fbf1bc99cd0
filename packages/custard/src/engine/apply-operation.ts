/** The part of the fold that is about the operation in flight. */
import { changedOperation } from "./apply-dealing.ts";
import type { LogicalId } from "./ids.ts";
import type { Progress, StackRecord } from "./record.ts";
import type { Before, Operation, OperationEntry, OperationStart, Stack, Terms } from "./stack.ts";

/** A record of an operation's progress, with when it was made. */
type ProgressRecord = Extract<StackRecord, Progress>;
type Started = Extract<StackRecord, { kind: "operation-started" }>;
type Renewed = Extract<StackRecord, { kind: "rollback-continued" | "rollback-chosen" }>;

const kinds: ReadonlySet<string> = new Set<Progress["kind"]>([
  "operation-started",
  "phase-entered",
  "cleanup-released",
  "pass-started",
  "resources-done",
  "resource-failed",
  "rollback-continued",
  "rollback-chosen",
  "operation-ended",
]);

/** Is it about how an operation goes? */
export function isProgress<R extends StackRecord>(record: R): record is Extract<R, Progress> {
  return kinds.has(record.kind);
}

/** What changes in the stack. */
export function progressed(stack: Stack, record: ProgressRecord): Partial<Stack> {
  switch (record.kind) {
    case "operation-started":
      return startedOperation(stack, record);
    case "phase-entered":
      return changedOperation(stack, () => ({
        ...nothingYet,
        phase: record.phase,
        held: record.held ?? false,
      }));
    case "cleanup-released":
      return changedOperation(stack, () => ({ held: false }));
    case "pass-started":
      return changedOperation(stack, (operation) => ({ pass: operation.pass + 1 }));
    case "resources-done":
      return changedOperation(stack, ({ done }) => ({ done: new Set([...done, ...record.logicalIds]) }));
    case "resource-failed":
      return changedOperation(stack, ({ failures }) => ({ failures: [...failures, record.failure] }));
    case "rollback-continued":
      return calledAnew(stack, { record, type: "CONTINUE_ROLLBACK" }, ({ done }) => ({
        done: new Set([...done, ...record.skipped]),
        failures: [],
        skipNested: record.skipNested ?? [],
      }));
    case "rollback-chosen":
      return calledAnew(stack, { record, type: "ROLLBACK" }, () => ({
        onFailure: "ROLLBACK",
        retainExceptOnCreate: record.retainExceptOnCreate,
      }));
    case "operation-ended":
      return { operation: undefined };
  }
}

/** How a phase begins. */
const nothingYet = {
  done: new Set<LogicalId>(),
  failures: [],
  asked: new Set<string>(),
  pass: 1,
} as const satisfies Partial<Operation>;

/** The operation goes on under a new call: its events carry that call's token, or none. */
function calledAnew(
  stack: Stack,
  { record, type }: { record: Renewed; type: OperationEntry["type"] },
  change: (operation: Operation) => Partial<Operation>,
): Partial<Stack> {
  const { clientRequestToken } = record;
  if (stack.operation === undefined) throw new Error("an operation's record without an operation");
  const { clientRequestToken: _former, ...operation } = stack.operation;
  const token = clientRequestToken === undefined ? {} : { clientRequestToken };
  return {
    operation: { ...operation, ...token, ...change(stack.operation) },
    ...joined(stack, record.terms),
    ...addedOperation(stack, type),
  };
}

function startedOperation(stack: Stack, record: Started): Partial<Stack> {
  const before = record.operation.kind === "update" ? stableState(stack) : undefined;
  // What an update left unfinished is this one's to finish, or to undo.
  const touched = record.operation.kind === "update" ? stack.operation?.touched : undefined;
  return {
    operation: {
      ...record.operation,
      ...(before === undefined ? {} : { before }),
      ...nothingYet,
      held: false,
      skipNested: [],
      touched: touched ?? new Set(),
    },
    disableRollback:
      record.operation.kind === "delete"
        ? stack.disableRollback
        : record.operation.onFailure === "DO_NOTHING",
    ...(record.definition === undefined ? {} : { definition: record.definition }),
    ...shownOfChange(stack, record),
    ...shownOfCall(stack, record.operation),
  };
}

const types = { create: "CREATE_STACK", update: "UPDATE_STACK", delete: "DELETE_STACK" } as const;

/** What users see of how the operation was asked for. */
function shownOfCall(stack: Stack, { kind, terms, retainExceptOnCreate }: OperationStart): Partial<Stack> {
  const lastOperations = [{ type: types[kind], number: stack.version + 1 }];
  if (kind === "delete") return { ...joined(stack, terms), lastOperations };
  const { roleArn, rollback } = stack.terms ?? {};
  const kept = {
    ...(roleArn === undefined ? {} : { roleArn }),
    ...(rollback === undefined ? {} : { rollback }),
  };
  return {
    terms: { ...kept, ...terms },
    lastOperations,
    ...(retainExceptOnCreate === undefined ? {} : { retainExceptOnCreate }),
  };
}

function joined({ terms: before }: Stack, terms: Terms | undefined): Partial<Stack> {
  return terms === undefined ? {} : { terms: { ...before, ...terms } };
}

/** A rollback that begins now, in front of the operation that it undoes. */
export function addedOperation(stack: Stack, type: OperationEntry["type"]): Partial<Stack> {
  const [last, ...rest] = stack.lastOperations ?? [];
  // One rollback is shown, the newest.
  const undone = last === undefined || isRollback(last) ? rest : [last, ...rest];
  return { lastOperations: [{ type, number: stack.version + 1 }, ...undone] };
}

/** Is a rollback what runs? */
export function isRollback({ type }: OperationEntry): boolean {
  return type === "ROLLBACK" || type === "CONTINUE_ROLLBACK";
}

/** What users see of how the stack came to be what it is. A change set's creation counts as an update. */
function shownOfChange({ changeSets }: Stack, { at, operation }: Started): Partial<Stack> {
  const { kind, changeSet } = operation;
  if (kind === "delete") return {};
  return {
    changeSetId: changeSet === undefined ? undefined : changeSets.get(changeSet)?.id,
    ...(kind === "update" || changeSet !== undefined ? { updatedAt: at } : {}),
  };
}

/** The state that a rollback returns to: the last one in which the stack was complete (S3). */
function stableState({ status, operation, definition, resources, outputs }: Stack): Before | undefined {
  if (status === "CREATE_FAILED" || status === "UPDATE_FAILED" || operation?.held === true)
    return operation?.before;
  return { definition, resources, outputs };
}
