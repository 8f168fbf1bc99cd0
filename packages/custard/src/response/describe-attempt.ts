import type { S3ErrorCode } from "./s3-error.ts";

/** One request to a response URL, as far as it matters for telling what went wrong. */
export interface Attempt {
  readonly method: string;
  /** Bytes of the body that came. */
  readonly received: number;
  /** By content-length. */
  readonly announced?: number;
  /** Bytes after the announced end. */
  readonly surplus: number;
  readonly contentType: string;
  /** How the query is signed, by its looks. */
  readonly signature: "v4" | "v2" | "none";
}

/** How an attempt ended. */
export type AttemptEnd =
  | {
      readonly kind: "accepted";
      /** What is wrong with the body, though S3 takes any. */
      readonly fault?: string;
      /** Why it is no answer to a request that waits for one. */
      readonly ignored?: string;
    }
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly code: S3ErrorCode;
      readonly message: string;
    }
  /** The sender went away. */
  | { readonly kind: "broken-off" };

/**
 * One line for the trace, e.g. `PUT of 312 bytes: 200`. It holds no URL and no signature. What went wrong comes with
 * what to do about it, since advice to users quotes it.
 */
export function describeAttempt(attempt: Attempt, end: AttemptEnd): string {
  switch (end.kind) {
    case "accepted":
      return [`PUT of ${bytes(attempt.received)}: 200`, ...remarksOn(attempt, end)].join(", ");
    case "broken-off":
      return `${attempt.method} broken off after ${attempt.received} of ${bytes(attempt.announced ?? 0)}`;
    case "refused":
      return `${attempt.method}: ${end.status} ${end.code}, ${causeOf(attempt, end)}`;
  }
}

function remarksOn(
  { surplus }: Attempt,
  { fault, ignored }: Extract<AttemptEnd, { kind: "accepted" }>,
): readonly string[] {
  if (surplus > 0) return [`content-length is ${bytes(surplus)} short and the rest was cut off`];
  if (ignored !== undefined) return [`ignored: ${ignored}`];
  return fault === undefined ? [] : [fault];
}

function causeOf(
  attempt: Attempt,
  refusal: { readonly code: S3ErrorCode; readonly message: string },
): string {
  if (attempt.method !== "PUT") return `the response must be sent by PUT, not by ${attempt.method}`;
  if (attempt.signature === "none")
    return "the query of the ResponseURL was dropped: send to the whole URL as it came";
  if (refusal.code === "SlowDown") return "the response couldn't be kept";
  if (refusal.code === "NotImplemented") return "S3 takes no chunked body: send a content-length";
  if (refusal.code === "SignatureDoesNotMatch") {
    return attempt.signature === "v2" && attempt.contentType !== ""
      ? `the URL is signed for an empty content-type, but ${shortened(attempt.contentType)} was sent: send an empty one`
      : "the ResponseURL was changed: send to it exactly as it came";
  }
  const message = `${refusal.message.slice(0, 1).toLowerCase()}${refusal.message.slice(1)}`.replace(
    /\.$/u,
    "",
  );
  return /expired/u.test(message) ? `${message}: a ResponseURL is valid for 2 hours` : message;
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function bytes(count: number): string {
  return count === 1 ? "1 byte" : `${count} bytes`;
}
