/**
 * What the response bucket does with one request: S3's checks and answers, in S3's order.
 *
 * R1: 200 is sent only after `onResponse` has resolved, that is, when the response is durable.
 * R2: at most 4097 bytes of a body are kept, however long it is; the rest is counted.
 * R3: every attempt leaves one line in the trace of the request that its path names.
 */
import { createHash, randomBytes } from "node:crypto";
import type { Hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { limits, parseResponse } from "@custard/provider/protocol";
import { hideSignatures } from "../engine/hide-signatures.ts";
import type { ArrivedResponse, Clock, Traces } from "../engine/ports.ts";
import { describeAttempt } from "./describe-attempt.ts";
import type { AttemptEnd } from "./describe-attempt.ts";
import { parseResponseKey } from "./response-url.ts";
import type { ResponseTarget, Verified, VerifiedTarget } from "./response-url.ts";
import { formatS3Error, s3Error } from "./s3-error.ts";
import type { S3Error } from "./s3-error.ts";
import type { SignedRequest } from "./sign.ts";

/** What the bucket needs of the world. */
export interface Bucket {
  verify(request: SignedRequest): VerifiedTarget;
  /** Which request a URL was made for, by its signature alone, whatever else was changed. A hint for the trace. */
  readonly madeFor?: (url: string) => ResponseTarget | undefined;
  /** Does the request wait for a response? */
  readonly isAwaited?: (target: ResponseTarget) => Promise<boolean>;
  /** Resolves when the response is durable. When it rejects, the sender is told to try again. */
  onResponse(arrived: ArrivedResponse): Promise<void>;
  readonly traces?: Traces;
  readonly clock: Clock;
}

/** What of a bucket is needed to note an attempt. */
export type Noting = Pick<Bucket, "madeFor" | "traces" | "clock">;

/** One request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Lower case, without a port. */
  readonly host: string;
  /** The sender waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean;
  /** Bytes after the body's announced end, as the HTTP parser finds them. */
  surplus: number;
}

/** What came with a request. */
export interface Body {
  readonly kept: Buffer;
  readonly length: number;
  readonly md5: Hash;
  /** False when the sender went away before the end. */
  readonly complete: boolean;
}

const bucketMethods: ReadonlySet<string> = new Set(["DELETE", "GET", "HEAD", "PUT"]);
const keptBytes = limits.keptResponseBytes.value;

/** Receives one response. Never rejects: what fails is answered. */
export async function receiveResponse(bucket: Bucket, exchange: Exchange): Promise<void> {
  const accepted = accept(bucket, exchange);
  if (!accepted.ok) {
    refuse(bucket, exchange, accepted.error);
    return;
  }
  const body = await readBody(exchange);
  if (!body.complete) {
    note(bucket, exchange, { end: { kind: "broken-off" }, received: body.length });
    return;
  }
  let awaited = true;
  try {
    awaited = (await bucket.isAwaited?.(accepted.target)) ?? true;
    await bucket.onResponse({
      ...accepted.target,
      body: body.kept,
      length: body.length,
      ...(exchange.surplus > 0 && { surplus: exchange.surplus }),
    });
  } catch {
    // Trouble inside, which its own layer reports; here it only means that the sender should come again.
    refuse(bucket, exchange, s3Error("SlowDown"));
    return;
  }
  const end = { kind: "accepted" as const, ...remarksOn(body, { target: accepted.target, awaited }) };
  note(bucket, exchange, { end, received: body.length });
  answerStored(exchange, body);
}

/** As S3 answers to an object that it keeps now. */
export function answerStored(exchange: Exchange, { md5 }: Body): void {
  const headers = { etag: `"${md5.digest("hex")}"`, "x-amz-server-side-encryption": "AES256" };
  answer(exchange, { status: 200, ids: newIds(), headers, text: "" });
}

/** What S3 doesn't mind, and CloudFormation does. */
function remarksOn(
  body: Body,
  { target, awaited }: { readonly target: ResponseTarget; readonly awaited: boolean },
): { readonly fault?: string; readonly ignored?: string } {
  if (!awaited) return { ignored: "the request was answered before, or its time is over" };
  // What differs between kinds of requests isn't looked at here.
  const verdict = parseResponse(body.kept, body.length, { ...target, requestType: "Create" });
  switch (verdict.kind) {
    case "answer":
      return {};
    case "foreign":
      return {
        ignored: `${lowered(verdict.reason.replace(/; CloudFormation .*$/u, ""))}: copy RequestId, StackId and LogicalResourceId from the event`,
      };
    case "malformed":
      return { fault: [faultText(verdict.reason), ...hiddenText(verdict.hidden)].join(" ") };
  }
}

function hiddenText(reason: string | undefined): readonly string[] {
  return reason === undefined ? [] : [`hides the Reason "${hideSignatures(reason)}"`];
}

function lowered(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

function faultText(reason: string): string {
  const text = reason.replace(/^Invalid Response object: /u, "").replace(/\.$/u, "");
  return text.startsWith("Response object is too long")
    ? `more than the ${limits.responseBytes.value} bytes that CloudFormation reads`
    : text;
}

/** Refuses a request as S3 does. */
export function refuse(bucket: Noting, exchange: Exchange, error: S3Error): void {
  const { code, status, message } = error;
  note(bucket, exchange, { end: { kind: "refused", status, code, message }, received: 0 });
  // A sender that waits for `100 Continue` may send its body all the same: the next request can't be told from it.
  if (exchange.expectsContinue) exchange.response.shouldKeepAlive = false;
  const ids = newIds();
  const text = exchange.request.method === "HEAD" ? "" : formatS3Error(error, ids);
  answer(exchange, { status, ids, headers: { "content-type": "application/xml" }, text });
  exchange.request.resume();
}

/** Whose URL a request is for, when it is one that S3 would take; else S3's refusal. */
export function accept<Target>(
  bucket: {
    verify(request: SignedRequest): Verified<Target>;
    readonly clock: Pick<Clock, "now">;
  },
  { request, host }: Exchange,
): Verified<Target> {
  const method = request.method ?? "";
  if (!bucketMethods.has(method)) {
    return { ok: false, error: s3Error("MethodNotAllowed", { Method: method, ResourceType: "OBJECT" }) };
  }
  const { url: target = "", headers } = request;
  const verified = bucket.verify({ method, host, target, headers, now: bucket.clock.now() });
  if (!verified.ok) return verified;
  if (headers["transfer-encoding"] !== undefined) {
    return { ok: false, error: s3Error("NotImplemented", { Header: "Transfer-Encoding" }) };
  }
  if (headers["content-length"] === undefined) return { ok: false, error: s3Error("MissingContentLength") };
  return verified;
}

/** R2. Never rejects: a sender that goes away leaves an incomplete body. */
export function readBody({ request, response, expectsContinue }: Exchange): Promise<Body> {
  if (expectsContinue) response.writeContinue();
  const md5 = createHash("md5");
  const chunks: Buffer[] = [];
  let [kept, length] = [0, 0];
  request.on("data", (chunk: Buffer) => {
    md5.update(chunk);
    length += chunk.length;
    if (kept >= keptBytes) return;
    const part = chunk.subarray(0, keptBytes - kept);
    kept += part.length;
    chunks.push(part);
  });
  // An error only says that the sender went away, which `complete` tells as well.
  request.once("error", () => undefined);
  return new Promise((resolve) => {
    const finish = (): void =>
      resolve({ kept: Buffer.concat(chunks), length, md5, complete: request.complete });
    request.once("end", finish);
    request.once("close", finish);
  });
}

interface Answer {
  readonly status: number;
  readonly ids: Ids;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

function answer({ response, surplus }: Exchange, { status, ids, headers, text }: Answer): void {
  // After surplus bytes nobody knows where a next request would begin.
  if (surplus > 0) response.shouldKeepAlive = false;
  response.writeHead(status, {
    "x-amz-id-2": ids.hostId,
    "x-amz-request-id": ids.requestId,
    ...headers,
    "content-length": Buffer.byteLength(text),
    server: "AmazonS3",
  });
  response.end(text);
}

interface Ids {
  readonly requestId: string;
  readonly hostId: string;
}

/** S3's two ids of a request, by their looks. */
export function newIds(): Ids {
  return {
    requestId: randomBytes(8).toString("hex").toUpperCase(),
    hostId: randomBytes(56).toString("base64"),
  };
}

/** Notes an attempt with the request that its path names: a hint only, since a refused one proves nothing. */
function note(
  bucket: Noting,
  exchange: Exchange,
  seen: { readonly end: AttemptEnd; readonly received: number },
): void {
  const { request, surplus } = exchange;
  const target = bucket.madeFor?.(request.url ?? "") ?? targetOfPath(request.url ?? "");
  if (bucket.traces === undefined || target === undefined) return;
  const announced = Number(request.headers["content-length"] ?? Number.NaN);
  const attempt = {
    method: request.method ?? "",
    received: seen.received,
    ...(Number.isInteger(announced) && { announced }),
    surplus,
    contentType: request.headers["content-type"] ?? "",
    signature: signatureStyleOf(request.url ?? ""),
  };
  const { stackId, requestId } = target;
  const text = describeAttempt(attempt, seen.end);
  bucket.traces.note({ at: bucket.clock.now(), requestId, stackId, kind: "put", text });
}

function targetOfPath(url: string): ResponseTarget | undefined {
  const [path = ""] = url.split("?", 1);
  try {
    return parseResponseKey(decodeURIComponent(path.slice(1)));
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function signatureStyleOf(url: string): "v4" | "v2" | "none" {
  if (/[?&]X-Amz-/u.test(url)) return "v4";
  return /[?&](?:Signature|AWSAccessKeyId)=/u.test(url) ? "v2" : "none";
}
