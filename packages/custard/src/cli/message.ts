import type { JsonObject } from "@custard/provider/protocol";
import type { StackEvent, StackView } from "../engine/views.ts";
import type { Diagnostic } from "../template/diagnostic.ts";
import type { Failure } from "./failure.ts";
import type { FunctionSource } from "./function-sources.ts";

/** What a command does to a stack. */
export type OperationKind = "create" | "update" | "delete";

/** What a command has to tell while it works. `text-report.ts` and `json-report.ts` show it. */
export type Message =
  | { readonly kind: "function"; readonly source: FunctionSource; readonly sandbox: boolean }
  | {
      readonly kind: "start";
      readonly operation: OperationKind;
      readonly stackName: string;
      readonly region: string;
      readonly resumed: boolean;
    }
  | { readonly kind: "event"; readonly event: StackEvent; readonly simulated: boolean }
  | { readonly kind: "failure"; readonly failure: Failure }
  | {
      readonly kind: "result";
      readonly stack: StackView;
      readonly took: number;
      readonly advice?: string;
      /** What may not be what was meant, though all went well. */
      readonly notes: readonly string[];
    }
  | { readonly kind: "unchanged"; readonly stack: StackView }
  | {
      readonly kind: "detached";
      readonly stackName: string;
      readonly command: string;
      /** The process that goes on with it; absent when nobody does. */
      readonly server?: number;
    }
  | {
      readonly kind: "warning";
      readonly file: string;
      readonly body: string;
      readonly diagnostic: Diagnostic;
    }
  /** For people only. */
  | { readonly kind: "note"; readonly text: string };

/** What ends a command before it has done anything. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly advice?: string;
  /** When the template is to blame. */
  readonly template?: {
    readonly file: string;
    readonly body: string;
    readonly diagnostics: readonly Diagnostic[];
  };
}

/** Shows a message. */
export type Report = (message: Message) => void;

/** A stack's outputs by name. */
export function outputsOf(stack: StackView): JsonObject {
  return Object.fromEntries(stack.outputs.map((output) => [output.name, output.value]));
}
