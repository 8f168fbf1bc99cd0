/**
 * Signature version 4, verified: for endpoints that ask who calls.
 *
 * G1: signatures are compared in constant time, and neither they nor secrets get into messages.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { ApiError } from "./api-error.ts";
import type { Credential } from "./route.ts";
import type { WireRequest } from "./wire.ts";

/** The secret of an access key; undefined when there is none such. */
export type SecretOf = (accessKeyId: string) => string | undefined;

/** What is to be verified. */
export interface SignedCall {
  readonly request: WireRequest;
  readonly credential: Credential | undefined;
  readonly secretOf: SecretOf;
  readonly now: number;
  /** Undefined when it is a stream that is read later. */
  readonly body: Uint8Array | undefined;
}

/** What a body that wasn't read yet must hash to, when the signature covers it. */
export interface Verified {
  readonly bodyHash?: string;
}

/** Requests may be so old, or so far ahead. */
const tolerance = 15 * 60_000;

/** Throws `ApiError` when a request isn't signed by a key that `secretOf` knows. */
export function verifySignature(call: SignedCall): Verified {
  const { request, credential, secretOf, now, body } = call;
  if (credential === undefined)
    throw new ApiError("MissingAuthenticationToken", "Request is missing Authentication Token", forbidden);
  const parts = partsOf(request, body);
  checkTime(parts, credential, now);
  const secret = secretOf(credential.accessKeyId);
  // Signed with something all the same, so that unknown keys take as long.
  const expected = sign(credential, secret ?? "", { request, parts });
  const isRight = isSame(expected, parts.signature);
  if (secret === undefined)
    throw new ApiError(
      "InvalidClientTokenId",
      "The security token included in the request is invalid.",
      forbidden,
    );
  if (!isRight)
    throw new ApiError(
      "SignatureDoesNotMatch",
      "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.",
      forbidden,
    );
  if (!/^[0-9a-f]{64}$/.test(parts.bodyHash)) return {};
  if (body !== undefined) checkHash(sha256(body), parts.bodyHash);
  return { bodyHash: parts.bodyHash };
}

/** Passes a body on; throws `ApiError` at its end when it isn't what was signed. */
export async function* checkedBody(
  body: AsyncIterable<Uint8Array>,
  { bodyHash }: Verified,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const chunk of body) {
    hash.update(chunk);
    yield chunk;
  }
  if (bodyHash !== undefined) checkHash(hash.digest("hex"), bodyHash);
}

/** Throws `ApiError` when a presigned URL has had its day. */
export function checkExpiry({ query }: WireRequest, now: number): void {
  const value = (name: string) => query.find(([given]) => given === name)?.[1];
  const expires = value("X-Amz-Expires");
  const time = parseTime(value("X-Amz-Date") ?? "");
  if (expires === undefined || !/^\d{1,6}$/.test(expires) || time === undefined) return;
  if (now > time + Number(expires) * 1000)
    throw new ApiError("AccessDenied", "Request has expired", {
      status: 403,
      details: { "X-Amz-Expires": expires },
    });
}

function checkHash(actual: string, signed: string): void {
  if (isSame(actual, signed)) return;
  throw new ApiError(
    "XAmzContentSHA256Mismatch",
    "The provided 'x-amz-content-sha256' header does not match what was computed.",
  );
}

const forbidden = { status: 403 };

interface Parts {
  readonly time: string;
  readonly signature: string;
  readonly signed: readonly string[];
  readonly bodyHash: string;
  readonly expires?: number;
}

function partsOf(request: WireRequest, body: Uint8Array | undefined): Parts {
  const { headers, query } = request;
  const authorization = headers["authorization"];
  const value = (name: string) => query.find(([given]) => given === name)?.[1] ?? "";
  if (authorization === undefined)
    return {
      time: value("X-Amz-Date"),
      signature: value("X-Amz-Signature"),
      signed: value("X-Amz-SignedHeaders").split(";"),
      bodyHash: headers["x-amz-content-sha256"] ?? "UNSIGNED-PAYLOAD",
      expires: Number(value("X-Amz-Expires")),
    };
  const part = (name: string) => new RegExp(`\\b${name}=([^,\\s]+)`).exec(authorization)?.[1] ?? "";
  return {
    time: headers["x-amz-date"] ?? "",
    signature: part("Signature"),
    signed: part("SignedHeaders").split(";"),
    // S3's clients alone always send it.
    bodyHash: headers["x-amz-content-sha256"] ?? (body === undefined ? "" : sha256(body)),
  };
}

function checkTime({ time, expires, signed }: Parts, credential: Credential, now: number): void {
  const at = parseTime(time);
  if (at === undefined || time.slice(0, 8) !== credential.day || !signed.includes("host"))
    throw new ApiError("IncompleteSignature", "The request signature does not conform to AWS standards.");
  const isCurrent =
    expires === undefined
      ? Math.abs(now - at) <= tolerance
      : now >= at - tolerance && now <= at + expires * 1000;
  if (!isCurrent)
    throw new ApiError(
      "RequestExpired",
      "The request has expired, or its time is too far from now.",
      forbidden,
    );
}

function sign(
  credential: Credential,
  secret: string,
  { request, parts }: { request: WireRequest; parts: Parts },
): string {
  const { day, region, service } = credential;
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", parts.time, scope, sha256(canonical(request, parts, service))].join(
    "\n",
  );
  const key = [day, region, service, "aws4_request"].reduce<Buffer>(
    (previous, text) => hmac(previous, text),
    Buffer.from(`AWS4${secret}`),
  );
  return hmac(key, toSign).toString("hex");
}

function canonical(request: WireRequest, parts: Parts, service: string): string {
  const query = request.query
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted();
  const headers = parts.signed.map(
    (name) => `${name}:${(request.headers[name] ?? "").trim().replace(/ +/g, " ")}\n`,
  );
  return [
    request.method,
    canonicalPath(request.path, service),
    query.join("&"),
    headers.join(""),
    parts.signed.join(";"),
    parts.bodyHash,
  ].join("\n");
}

/** All services but S3 encode the path a second time. */
function canonicalPath(path: string, service: string): string {
  const once = path.split("/").map((part) => encode(decode(part)));
  return (service === "s3" ? once : once.map(encode)).join("/");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parseTime(text: string): number | undefined {
  const iso = text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z");
  const time = iso === text ? Number.NaN : Date.parse(iso);
  return Number.isNaN(time) ? undefined : time;
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function isSame(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}
