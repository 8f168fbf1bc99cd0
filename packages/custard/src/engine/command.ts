/** What must be done once the records are durable. Keys are unique within a stack. */
import type { Json } from "@custard/provider/protocol";
import type { RequestId, StackId } from "./ids.ts";

/** What is to be done. */
export type Task =
  /**
   * Deliver a request to its provider, perform a built-in type's task, say that its deadline has passed, or hand it
   * to a nested stack.
   */
  | { readonly kind: "deliver" | "perform" | "deadline" | "child"; readonly requestId: RequestId }
  /** Tell the parent stack what has come of its request; with a reason, that it failed. */
  | {
      readonly kind: "report";
      readonly parent: StackId;
      readonly requestId: RequestId;
      readonly reason?: string;
    }
  /** Publish the events of some records: those after number `after`, up to number `until`. */
  | {
      readonly kind: "notify";
      readonly after: number;
      readonly until: number;
      readonly topicArns: readonly string[];
    }
  /** Say that the stack's creation has taken too long. */
  | { readonly kind: "creation-timeout" }
  /** Ask the stack that has an export for its value. */
  | { readonly kind: "find-import"; readonly name: string; readonly sequence: number }
  /** Tell the stack that has an export that it isn't used any more. */
  | {
      readonly kind: "release-import";
      readonly name: string;
      readonly exporter: StackId;
      readonly sequence: number;
    }
  /** Delete the change sets of nested stacks that were made with a change set, by its id. */
  | { readonly kind: "drop-nested"; readonly changeSet: string; readonly stacks: readonly StackId[] };

/** A task, and when it is due. */
export type Command = Task & { readonly dueAt: number };

/** The key under which a command is stored. */
export function commandKey(command: Task): string {
  switch (command.kind) {
    case "deliver":
    case "perform":
    case "deadline":
    case "child":
    case "report":
      return `${command.kind}:${command.requestId}`;
    case "creation-timeout":
      return creationTimeoutKey;
    case "notify":
      return `notify:${command.after}`;
    case "find-import":
      return `find-import:${command.name}`;
    case "release-import":
      return `release-import:${command.sequence}:${command.name}`;
    case "drop-nested":
      return `drop-nested:${command.changeSet}`;
  }
}

/** The key of the one command that guards a stack's creation. */
export const creationTimeoutKey = "creation-timeout";

/** All keys that a request can have; they are withdrawn when it ends. */
export function commandKeysOf(requestId: RequestId): readonly string[] {
  return (["deliver", "perform", "deadline", "child"] as const).map((kind) => `${kind}:${requestId}`);
}

const taskKinds: ReadonlySet<unknown> = new Set<Task["kind"]>([
  "deliver",
  "perform",
  "deadline",
  "child",
  "report",
  "creation-timeout",
  "notify",
  "find-import",
  "release-import",
  "drop-nested",
]);

/** Reads what was stored of a command: the journal is ours, so only its kind is in question. */
export function parseTask(body: Json): Task {
  const { kind } = Object(body) as { readonly kind?: unknown };
  if (taskKinds.has(kind)) return body as unknown as Task;
  throw new Error("the journal holds a command of an unknown form");
}
