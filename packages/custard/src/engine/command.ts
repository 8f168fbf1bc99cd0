/** What must be done once the records are durable. Keys are unique within a stack. */
import type { RequestId } from "./ids.ts";

/**
 * About a request: deliver it to its provider, perform a built-in type's task, or say that its deadline has passed.
 * About the stack: say that its creation has taken too long.
 */
export type Command =
  | {
      readonly kind: "deliver" | "perform" | "deadline";
      readonly requestId: RequestId;
      readonly dueAt: number;
    }
  | { readonly kind: "creation-timeout"; readonly dueAt: number };

/** The key under which a command is stored. */
export function commandKey(command: Command): string {
  switch (command.kind) {
    case "deliver":
    case "perform":
    case "deadline":
      return `${command.kind}:${command.requestId}`;
    case "creation-timeout":
      return creationTimeoutKey;
  }
}

/** The key of the one command that guards a stack's creation. */
export const creationTimeoutKey = "creation-timeout";

/** All keys that a request can have; they are withdrawn when it ends. */
export function commandKeysOf(requestId: RequestId): readonly string[] {
  return (["deliver", "perform", "deadline"] as const).map((kind) => `${kind}:${requestId}`);
}
