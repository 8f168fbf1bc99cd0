/** What must be done once the records are durable. Keys are unique within a stack and end with the request. */
import type { RequestId } from "./ids.ts";

/** Deliver a request to its provider, perform a built-in type's task, or say that a deadline has passed. */
export interface Command {
  readonly kind: "deliver" | "perform" | "deadline";
  readonly requestId: RequestId;
  readonly dueAt: number;
}

/** The key under which a command is stored. */
export function commandKey(command: Pick<Command, "kind" | "requestId">): string {
  return `${command.kind}:${command.requestId}`;
}

/** All keys that a request can have; they are withdrawn when it ends. */
export function commandKeysOf(requestId: RequestId): readonly string[] {
  return (["deliver", "perform", "deadline"] as const).map((kind) => commandKey({ kind, requestId }));
}
