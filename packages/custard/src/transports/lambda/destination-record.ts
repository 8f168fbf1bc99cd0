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

/** Something that Lambda sends after a call. */
export interface LastMessage {
  /** ARN of a function, topic or queue. */
  readonly to: string;
  readonly body: string;
  readonly attributes?: Readonly<Record<string, { readonly type: string; readonly value: string }>>;
  /** What it is, for the log. */
  readonly what: string;
}

/** The record for a destination, and the event itself for the dead-letter queue or topic. */
export function lastMessages(call: FinishedCall): readonly LastMessage[] {
  const destination = destinationOf(call);
  const body = () => JSON.stringify(destinationRecord(call));
  return [
    ...(destination === undefined
      ? []
      : [{ to: destination, body: body(), what: "The record of this invocation" }]),
    ...deadLetter(call),
  ];
}

/** Longest error message of a dead letter. */
const errorCharacters = 1024;

function deadLetter({ resolved, invocation, attempts }: FinishedCall): readonly LastMessage[] {
  const fault = attempts.at(-1)?.fault;
  const { deadLetterArn } = resolved.settings;
  if (fault === undefined || deadLetterArn === undefined || deadLetterArn === "") return [];
  const attributes = {
    RequestID: { type: "String", value: invocation.requestId },
    ErrorCode: { type: "Number", value: "200" },
    ErrorMessage: { type: "String", value: fault.errorMessage.slice(0, errorCharacters) || fault.errorType },
  };
  const body = Buffer.from(invocation.payload).toString("utf8");
  return [{ to: deadLetterArn, body, attributes, what: "The event" }];
}

/** Where the record of a call goes, if anywhere: on success or on failure. */
function destinationOf({ resolved, attempts }: FinishedCall): string | undefined {
  const { onSuccess, onFailure } = resolved.eventInvoke;
  return attempts.at(-1)?.fault === undefined ? onSuccess : onFailure;
}

function destinationRecord(call: FinishedCall): Json {
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
