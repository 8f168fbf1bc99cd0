/** Running functions for those who call them directly. */
import { randomUUID } from "node:crypto";
import type { RequestId, StackId } from "../../../engine/ids.ts";
import { formatFunctionArn, type FunctionReference } from "../../../services/function-arn.ts";
import { ApiError } from "../../api-error.ts";
import { functionOf, type FunctionCall, type Handle, type LambdaWorld } from "./world.ts";

/** Bytes. Source: Lambda's quotas. */
const syncBytes = 6 * 1024 * 1024;
const asyncBytes = 1024 * 1024;
/** Of the log, at its end; `X-Amz-Log-Result`. */
const tailBytes = 4096;
const emptyEvent = new TextEncoder().encode("{}");

export const invoke: Handle = async (call, world) => {
  const { input } = call;
  const reference = functionOf(call, input.text("Qualifier"));
  const type = input.text("InvocationType") ?? "RequestResponse";
  const payload = input.bytes("Payload") ?? new Uint8Array();
  await world.functions.resolve(reference);
  checkPayload(payload, type === "Event" ? asyncBytes : syncBytes);
  const clientContext = input.text("ClientContext");
  const wanted = {
    ...noted(reference, world),
    payload: payload.length === 0 ? emptyEvent : payload,
    ...(clientContext === undefined ? {} : { clientContext }),
  };
  switch (type) {
    case "DryRun":
      return { StatusCode: 204 };
    case "Event":
      await world.caller.invokeLater(wanted);
      return { StatusCode: 202 };
    case "RequestResponse":
      return await answered(wanted, world, input.text("LogType") === "Tail");
  }
  throw new ApiError(
    "InvalidParameterValueException",
    `1 validation error detected: Value '${type}' at 'invocationType' failed to satisfy constraint: Member must satisfy enum value set: [RequestResponse, Event, DryRun]`,
  );
};

async function answered(wanted: FunctionCall, { caller }: LambdaWorld, isTailed: boolean) {
  const result = await caller.invoke(wanted);
  return {
    StatusCode: 200,
    ExecutedVersion: result.version,
    FunctionError: result.functionError,
    LogResult: isTailed ? tailOf(result.log) : undefined,
    Payload: result.payload,
  };
}

/** What is logged of the call is found under the function's name; no stack made it, so that the function stands for one. */
function noted(
  reference: FunctionReference,
  { traces, now }: LambdaWorld,
): Pick<FunctionCall, "reference" | "observe"> {
  const requestId = randomUUID() as RequestId;
  const stackId = formatFunctionArn(reference) as StackId;
  return {
    reference,
    observe: ({ kind, text }) =>
      traces.note({ at: now(), requestId, stackId, kind, text, functionName: reference.name }),
  };
}

function tailOf(log: readonly string[]): string {
  const bytes = Buffer.from(`${log.join("\n")}\n`);
  return bytes.subarray(Math.max(0, bytes.length - tailBytes)).toString("base64");
}

function checkPayload(payload: Uint8Array, limit: number): void {
  if (payload.length > limit)
    throw new ApiError(
      "RequestTooLargeException",
      `${payload.length} byte payload is too large (limit ${limit} bytes)`,
      { status: 413 },
    );
  if (payload.length === 0) return;
  try {
    JSON.parse(Buffer.from(payload).toString("utf8"));
  } catch {
    throw new ApiError(
      "InvalidRequestContentException",
      "Could not parse request body into json: Could not parse payload into json",
    );
  }
}
