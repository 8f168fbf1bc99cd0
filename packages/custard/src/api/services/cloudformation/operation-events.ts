/** Stack events in the newer form: by operation, with where each operation began and ended. */
import { createHash } from "node:crypto";
import type { ChangeSetView, StackEvent } from "../../../engine/views.ts";
import type { WireObject } from "../../wire.ts";
import { toEvent } from "./views.ts";

/** One event, or the begin or end of an operation. */
export interface OperationEvent {
  readonly id: string;
  readonly operationId: string | undefined;
  readonly failed: boolean;
  readonly wire: WireObject;
}

interface Operation {
  readonly id: string;
  readonly type: string;
  readonly startedAt: number;
}

/** What a stack's own status says of the operation that begins with it. */
const begins: Readonly<Record<string, string>> = {
  CREATE_IN_PROGRESS: "CREATE_STACK",
  UPDATE_IN_PROGRESS: "UPDATE_STACK",
  DELETE_IN_PROGRESS: "DELETE_STACK",
  ROLLBACK_IN_PROGRESS: "ROLLBACK",
  UPDATE_ROLLBACK_IN_PROGRESS: "ROLLBACK",
};

/** The events of a stack, oldest first, with the operations that they belong to. */
export function operationEvents(events: readonly StackEvent[]): readonly OperationEvent[] {
  const found: OperationEvent[] = [];
  let running: Operation | undefined;
  let before = "";
  const end = (operation: Operation, event: StackEvent, status: "SUCCESS" | "FAILED") => {
    found.push(boundary(operation, event, status));
    running = undefined;
  };
  for (const event of events) {
    const isStack = event.physicalId === event.stackId;
    // What another operation interrupts has failed.
    if (running !== undefined && event.operationId !== running.id) end(running, event, "FAILED");
    if (isStack && running === undefined && event.operationId !== undefined) {
      running = { id: event.operationId, type: typeOf(event.status, before), startedAt: event.at };
      found.push(boundary(running, event, "IN_PROGRESS"));
    }
    found.push(toOperationEvent(event));
    if (isStack && running !== undefined && !event.status.endsWith("_IN_PROGRESS"))
      end(running, event, event.status.endsWith("_FAILED") ? "FAILED" : "SUCCESS");
    if (isStack) before = event.status;
  }
  return found;
}

/** The making of a change set is an operation too. */
export function changeSetEvents(changeSet: ChangeSetView): readonly OperationEvent[] {
  const { changeSetId, stackId, createdAt, status } = changeSet;
  const id = operationIdOf(changeSetId);
  const event = {
    EventId: hashed(`event of ${changeSetId}`),
    StackId: stackId,
    OperationId: id,
    OperationType: "CREATE_CHANGESET",
    OperationStatus: status === "FAILED" ? "FAILED" : "SUCCESS",
    EventType: "STACK_EVENT",
    Timestamp: createdAt,
    StartTime: createdAt,
    EndTime: createdAt,
  };
  return [{ id: event.EventId, operationId: id, failed: status === "FAILED", wire: event }];
}

/** The id of the operation that made a change set. */
export function operationIdOf(changeSetId: string): string {
  return hashed(`operation of ${changeSetId}`);
}

function typeOf(status: string, before: string): string {
  if (before === "UPDATE_ROLLBACK_FAILED" && status === "UPDATE_ROLLBACK_IN_PROGRESS")
    return "CONTINUE_ROLLBACK";
  return begins[status] ?? "ROLLBACK";
}

function boundary(
  operation: Operation,
  event: StackEvent,
  status: "IN_PROGRESS" | "SUCCESS" | "FAILED",
): OperationEvent {
  const id = hashed(`${event.eventId} ${operation.id} ${status}`);
  const wire = {
    EventId: id,
    StackId: event.stackId,
    OperationId: operation.id,
    OperationType: operation.type,
    EventType: "STACK_EVENT",
    Timestamp: event.at,
    StartTime: operation.startedAt,
    OperationStatus: status,
    EndTime: status === "IN_PROGRESS" ? undefined : event.at,
  };
  return { id, operationId: operation.id, failed: status === "FAILED", wire };
}

function toOperationEvent(event: StackEvent): OperationEvent {
  const failed = event.status.endsWith("_FAILED");
  const { StackName: _, ...shared } = toEvent(event);
  const isResource = event.physicalId !== event.stackId;
  const wire = { ...shared, EventType: failed && isResource ? "PROVISIONING_ERROR" : "PROGRESS_EVENT" };
  return { id: event.eventId, operationId: event.operationId, failed, wire };
}

function hashed(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
}
