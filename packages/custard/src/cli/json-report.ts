import type { JsonObject } from "@custard/provider/protocol";
import type { Diagnostic } from "../template/diagnostic.ts";
import type { StackEvent } from "../engine/views.ts";
import type { Output } from "./io.ts";
import { type Message, outputsOf, type Report } from "./message.ts";

/** Shows messages as JSON lines, each an object with a `kind`. */
export function jsonReport(output: Output): Report {
  return (message) => {
    const json = messageJson(message);
    if (json !== undefined) output.write(`${JSON.stringify(json)}\n`);
  };
}

/** A stack event as JSON: as the engine shows it, with its time as an ISO text. */
export function eventJson(event: StackEvent): JsonObject {
  const { at, reason, properties, clientRequestToken, requestId, ...rest } = event;
  return {
    ...rest,
    at: new Date(at).toISOString(),
    ...(reason === undefined ? {} : { reason }),
    ...(properties === undefined ? {} : { properties }),
    ...(clientRequestToken === undefined ? {} : { clientRequestToken }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

/** A diagnostic as JSON. */
export function diagnosticJson(diagnostic: Diagnostic): JsonObject {
  const { position, hint, ...rest } = diagnostic;
  return {
    ...rest,
    ...(position === undefined ? {} : { position: { ...position } }),
    ...(hint === undefined ? {} : { hint }),
  };
}

function messageJson(message: Message): JsonObject | undefined {
  switch (message.kind) {
    case "note":
      return undefined;
    case "function":
      return { kind: "function", ...message.source, sandbox: message.sandbox };
    case "warning":
      return { kind: "warning", file: message.file, ...diagnosticJson(message.diagnostic) };
    case "start":
    case "detached":
      return { ...message };
    case "event":
      return { kind: "event", simulated: message.simulated, ...eventJson(message.event) };
    case "failure":
      return { kind: "failure", ...message.failure };
    case "unchanged":
      return { kind: "result", changed: false, ...stackJson(message.stack) };
    case "result":
      return {
        kind: "result",
        changed: true,
        ...stackJson(message.stack),
        milliseconds: message.took,
        ...(message.advice === undefined ? {} : { advice: message.advice }),
        ...(message.notes.length === 0 ? {} : { notes: [...message.notes] }),
      };
  }
}

function stackJson(stack: Extract<Message, { kind: "result" }>["stack"]): JsonObject {
  return {
    stackId: stack.stackId,
    stackName: stack.stackName,
    status: stack.status,
    ...(stack.reason === undefined ? {} : { reason: stack.reason }),
    outputs: outputsOf(stack),
    simulated: stack.resources.filter((resource) => resource.simulated).map((resource) => resource.logicalId),
  };
}
