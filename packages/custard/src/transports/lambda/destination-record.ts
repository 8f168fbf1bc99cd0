/** What Lambda sends to a destination of asynchronous invocations. Source: Lambda's page on invocation records. */
import type { Json } from "@custard/provider/protocol";
import type { ResolvedFunction } from "../../services/function-record.ts";
import type { Attempt, Invocation } from "./invoke.ts";

/** An asynchronous invocation that is over. */
export interface FinishedCall {
  readonly resolved: ResolvedFunction;
  readonly invocation: Invocation;
  /** At least one. */
  readonly attempts: readonly Attempt[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Where the record of a call goes, if anywhere: on success or on failure. */
export function destinationOf({ resolved, attempts }: FinishedCall): string | undefined {
  const { onSuccess, onFailure } = resolved.eventInvoke;
  return attempts.at(-1)?.fault === undefined ? onSuccess : onFailure;
}

/** The record. */
export function destinationRecord(call: FinishedCall): Json {
  const { resolved, invocation, attempts, at } = call;
  const last = attempts.at(-1);
  const failed = last?.fault !== undefined;
  const qualifier = resolved.reference.qualifier ?? "$LATEST";
  const functionArn =
    resolved.reference.qualifier === undefined ? `${resolved.arn}:${qualifier}` : resolved.arn;
  return {
    version: "1.0",
    timestamp: new Date(at).toISOString(),
    requestContext: {
      requestId: invocation.requestId,
      functionArn,
      condition: failed ? "RetriesExhausted" : "Success",
      approximateInvokeCount: attempts.length,
    },
    requestPayload: parse(invocation.payload),
    responseContext: {
      statusCode: 200,
      executedVersion: resolved.version,
      ...(failed ? { functionError: "Unhandled" } : {}),
    },
    responsePayload: parse(last?.payload ?? new Uint8Array()),
  };
}

function parse(payload: Uint8Array): Json {
  const text = Buffer.from(payload).toString("utf8");
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
