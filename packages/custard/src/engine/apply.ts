import type { LogicalId } from "./ids.ts";
import { dealt, isDealing, without } from "./apply-dealing.ts";
import { addedOperation, isProgress, isRollback, progressed } from "./apply-operation.ts";
import type { Dealing, ParentDealing, Progress, StackRecord } from "./record.ts";
import type { Slot } from "./resource.ts";
import type { Stack } from "./stack.ts";

type RecordOf<Kind extends StackRecord["kind"]> = Extract<StackRecord, { kind: Kind }>;

/** The fold: the stack after a record. The first record of a stack is `stack-created`, and only the first. */
export function apply(stack: Stack | undefined, record: StackRecord): Stack {
  if (record.kind === "stack-created") return createdStack(record);
  if (stack === undefined) throw new Error(`record ${record.kind} before stack-created`);
  return { ...stack, ...changed(stack, record), version: stack.version + 1 };
}

function createdStack(record: RecordOf<"stack-created">): Stack {
  return {
    identity: record.identity,
    seed: record.seed,
    version: 1,
    status: "REVIEW_IN_PROGRESS",
    reason: undefined,
    createdAt: record.at,
    terminationProtection: record.terminationProtection,
    disableRollback: false,
    ...(record.parent === undefined ? {} : { parent: record.parent }),
    ...(record.timeoutMinutes === undefined ? {} : { timeoutMinutes: record.timeoutMinutes }),
    definition: record.definition,
    operation: undefined,
    resources: new Map(),
    requests: new Map(),
    imports: new Map(),
    importers: new Map(),
    claimedExports: new Set(),
    signals: new Map(),
    changeSets: new Map(),
    changeSetId: undefined,
    outputs: new Map(),
  };
}

function changed(stack: Stack, record: Exclude<StackRecord, { kind: "stack-created" }>): Partial<Stack> {
  if (isDealing(record)) return dealt(stack, record);
  return isProgress(record) ? progressed(stack, record) : happened(stack, record);
}

function happened(
  stack: Stack,
  record: Exclude<StackRecord, { kind: "stack-created" } | Dealing | ParentDealing | Progress>,
): Partial<Stack> {
  switch (record.kind) {
    case "change-set-created":
      return { changeSets: new Map(stack.changeSets).set(record.changeSet.name, record.changeSet) };
    case "change-set-executed":
      return executedChangeSet(stack, record.name);
    case "change-set-deleted":
      return { changeSets: without(stack.changeSets, record.name) };
    case "called":
      return { lastCall: record.call };
    case "termination-protection-set":
      return { terminationProtection: record.enabled };
    case "policy-set":
      return { policy: record.policy };
    case "stack-status":
      return changedStatus(stack, record);
    case "resource":
      return changedResource(stack, record);
    case "resource-forgotten":
      return { resources: without(stack.resources, record.logicalId) };
    case "request-issued":
      return { requests: new Map(stack.requests).set(record.request.requestId, record.request) };
    case "request-ended":
      return { requests: without(stack.requests, record.requestId) };
    case "signalled":
      return signalled(stack, record);
    case "signals-cleared":
      return { signals: without(stack.signals, record.logicalId) };
    case "answer-ignored":
      return {};
    case "definition-restored":
      return { definition: record.definition };
    case "outputs-changed":
      return { outputs: record.outputs };
  }
}

function signalled(stack: Stack, { logicalId, signal }: RecordOf<"signalled">): Partial<Stack> {
  const before = stack.signals.get(logicalId) ?? [];
  return { signals: new Map(stack.signals).set(logicalId, [...before, signal]) };
}

function executedChangeSet(stack: Stack, name: string): Partial<Stack> {
  const changeSet = stack.changeSets.get(name);
  if (changeSet === undefined) throw new Error(`there is no change set ${name} to execute`);
  return { changeSets: new Map(stack.changeSets).set(name, { ...changeSet, executed: true }) };
}

function changedStatus(stack: Stack, record: RecordOf<"stack-status">): Partial<Stack> {
  const { status, reason, at } = record;
  // Fact 96: a rollback that has deleted shows the time of it, as a deletion does.
  const deleted =
    status === "DELETE_COMPLETE" || status === "ROLLBACK_COMPLETE" || status === "ROLLBACK_FAILED";
  const undoes = status === "ROLLBACK_IN_PROGRESS" || status === "UPDATE_ROLLBACK_IN_PROGRESS";
  const [last] = stack.lastOperations ?? [];
  return {
    status,
    reason,
    ...(deleted ? { deletedAt: at } : {}),
    ...(undoes && last !== undefined && !isRollback(last) ? addedOperation(stack, "ROLLBACK") : {}),
  };
}

function changedResource(stack: Stack, record: RecordOf<"resource">): Partial<Stack> {
  const { logicalId, current, shown } = record;
  const before = stack.resources.get(logicalId);
  const slot = changedSlot(before ?? { former: [], changedAt: record.at }, record);
  const resources = new Map(stack.resources).set(logicalId, slot);
  return shown === undefined || current === undefined
    ? { resources }
    : { resources, ...touch(stack, logicalId) };
}

function changedSlot(before: Slot, { current, former, shown, at }: RecordOf<"resource">): Slot {
  const kept = current === undefined ? before.current : (current ?? undefined);
  return {
    ...(kept === undefined ? {} : { current: kept }),
    former: former ?? before.former,
    changedAt: shown === undefined ? before.changedAt : at,
  };
}

function touch(stack: Stack, logicalId: LogicalId): Partial<Stack> {
  const { operation } = stack;
  if (operation?.phase !== "forward" || operation.touched.has(logicalId)) return {};
  return { operation: { ...operation, touched: new Set([...operation.touched, logicalId]) } };
}
