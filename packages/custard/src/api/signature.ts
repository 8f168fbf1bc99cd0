/**
 * Signature version 4, verified: for endpoints that ask who calls.
 *
 * G1: signatures are compared in constant time, and neither they nor secrets get into messages.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { ApiError } from "./api-error.ts";
import type { ChunkVerifier } from "./aws-chunked.ts";
import type { ProtocolName } from "./model.ts";
import type { Credential } from "./route.ts";
import { type SignatureFault, signatureRefusal } from "./signature-refusals.ts";
import type { WireRequest } from "./wire.ts";

/** The secret of an access key; undefined when there is none such. */
export type SecretOf = (accessKeyId: string) => string | undefined;

/** What is to be verified. */
export interface SignedCall {
  readonly request: WireRequest;
  readonly credential: Credential | undefined;
  readonly secretOf: SecretOf;
  readonly now: number;
  /** In whose words it is refused. */
  readonly protocol: ProtocolName;
  /** Undefined when it is a stream that is read later. */
  readonly body: Uint8Array | undefined;
}

/** What a body that wasn't read yet must hash to, when the signature covers it. */
export interface Verified {
  readonly bodyHash?: string;
  /** Of a body in chunks that are signed each. */
  readonly chunks?: ChunkVerifier;
}

/** Requests may be so old, or so far ahead. */
const tolerance = 15 * 60_000;
/** Seconds for which a link may be good. */
const longestLink = 604_800;

/** Throws `ApiError` when a request isn't signed by a key that `secretOf` knows. */
export function verifySignature(call: SignedCall): Verified {
  const { request, credential, secretOf, protocol, body } = call;
  const refuse = (fault: SignatureFault) => signatureRefusal(fault, protocol);
  if (credential === undefined) throw refuse({ kind: isTried(request) ? "malformed" : "missing" });
  const parts = partsOf(request, { body, service: credential.service });
  checkTime(parts, credential, call);
  const secret = secretOf(credential.accessKeyId);
  // Signed with something all the same, so that unknown keys take as long.
  const expected = sign(credential, secret ?? "", { request, parts });
  const isRight = isSame(expected, parts.signature);
  if (secret === undefined) throw refuse({ kind: "unknown-key" });
  if (!isRight) throw refuse({ kind: "wrong" });
  if (parts.bodyHash.startsWith(signedChunks))
    return { chunks: new ChunkSignatures({ credential, secret, parts, protocol }) };
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

/** `STREAMING-AWS4-HMAC-SHA256-PAYLOAD`, also with `-TRAILER` after it. */
const signedChunks = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
const nothingHash = sha256("");

/**
 * Each chunk is signed together with the signature before it, which the request's own begins. Source: S3's reference,
 * "Signature calculations for the Authorization header: transferring payload in multiple chunks".
 */
class ChunkSignatures implements ChunkVerifier {
  readonly #key: Buffer;
  readonly #scope: string;
  readonly #time: string;
  readonly #protocol: ProtocolName;
  readonly #hasTrailer: boolean;
  #previous: string;

  constructor(of: { credential: Credential; secret: string; parts: Parts; protocol: ProtocolName }) {
    this.#key = signingKey(of.credential, of.secret);
    this.#scope = scopeOf(of.credential);
    this.#time = of.parts.time;
    this.#protocol = of.protocol;
    this.#hasTrailer = of.parts.bodyHash.endsWith("-TRAILER");
    this.#previous = of.parts.signature;
  }

  chunk(): { add: (bytes: Uint8Array) => void; end: (signature: string) => void } {
    const hash = createHash("sha256");
    return {
      add: (bytes) => hash.update(bytes),
      end: (signature) =>
        this.#check("AWS4-HMAC-SHA256-PAYLOAD", [nothingHash, hash.digest("hex")], signature),
    };
  }

  trailers(trailers: Readonly<Record<string, string>>): void {
    if (!this.#hasTrailer) return;
    const { [trailerSignature]: signature = "", ...signed } = trailers;
    const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`);
    this.#check("AWS4-HMAC-SHA256-TRAILER", [sha256(lines.toSorted().join(""))], signature);
  }

  #check(algorithm: string, hashes: readonly string[], signature: string): void {
    const toSign = [algorithm, this.#time, this.#scope, this.#previous, ...hashes].join("\n");
    const expected = hmac(this.#key, toSign).toString("hex");
    if (!isSame(expected, signature)) throw signatureRefusal({ kind: "wrong" }, this.#protocol);
    this.#previous = expected;
  }
}

const trailerSignature = "x-amz-trailer-signature";

interface Parts {
  readonly time: string;
  readonly signature: string;
  readonly signed: readonly string[];
  readonly bodyHash: string;
  readonly expires?: number;
}

/** Was it meant to be signed? */
function isTried({ headers, query }: WireRequest): boolean {
  return (
    headers["authorization"] !== undefined ||
    query.some(([name]) => /^X-Amz-(?:Signature|Credential)$/.test(name))
  );
}

function partsOf(request: WireRequest, content: Content): Parts {
  const { headers, query } = request;
  const authorization = headers["authorization"];
  const bodyHash = bodyHashOf(request, content);
  if (authorization === undefined) {
    const value = (name: string) => query.find(([given]) => given === name)?.[1] ?? "";
    return {
      time: value("X-Amz-Date"),
      signature: value("X-Amz-Signature"),
      signed: value("X-Amz-SignedHeaders").split(";"),
      bodyHash,
      expires: Number(value("X-Amz-Expires")),
    };
  }
  const part = (name: string) => new RegExp(`\\b${name}=([^,\\s]+)`).exec(authorization)?.[1] ?? "";
  return {
    time: headers["x-amz-date"] ?? "",
    signature: part("Signature"),
    signed: part("SignedHeaders").split(";"),
    bodyHash,
  };
}

/** What is signed of a body. Only S3 believes what a request says of its own. */
function bodyHashOf({ headers, query }: WireRequest, { body, service }: Content): string {
  const said =
    headers["x-amz-content-sha256"] ??
    query.find(([name]) => name.toLowerCase() === "x-amz-content-sha256")?.[1];
  if (said === unsigned) return unsigned;
  const actual = body === undefined ? "" : sha256(body);
  if (service !== "s3") return actual;
  // Links need say nothing of it.
  return said ?? (headers["authorization"] === undefined ? unsigned : actual);
}

const unsigned = "UNSIGNED-PAYLOAD";

/** Whose request it is, and its body as far as it was read. */
interface Content {
  readonly body: Uint8Array | undefined;
  readonly service: string;
}

function checkTime(
  { time, expires, signed }: Parts,
  credential: Credential,
  { now, protocol }: Pick<SignedCall, "now" | "protocol">,
): void {
  const at = parseTime(time);
  const isLink = expires !== undefined;
  if (at === undefined || time.slice(0, 8) !== credential.day || !signed.includes("host"))
    throw signatureRefusal({ kind: "malformed" }, protocol);
  if (isLink && !(expires >= 1 && expires <= longestLink)) throw unreasonable(expires);
  const age = { signed: time, now, tolerance };
  if (now < at - tolerance) throw signatureRefusal({ kind: "early", ...age }, protocol);
  if (now > at + (isLink ? expires * 1000 : tolerance))
    throw signatureRefusal({ kind: "expired", ...age }, protocol);
}

function unreasonable(expires: number): ApiError {
  return new ApiError(
    "AuthorizationQueryParametersError",
    expires > longestLink
      ? "X-Amz-Expires must be less than a week (in seconds) that is, the given X-Amz-Expires must be less than 604800 seconds"
      : "X-Amz-Expires should be a number of at least 1",
  );
}

function sign(
  credential: Credential,
  secret: string,
  { request, parts }: { request: WireRequest; parts: Parts },
): string {
  const hash = sha256(canonical(request, parts, credential.service));
  const toSign = ["AWS4-HMAC-SHA256", parts.time, scopeOf(credential), hash].join("\n");
  return hmac(signingKey(credential, secret), toSign).toString("hex");
}

function scopeOf({ day, region, service }: Credential): string {
  return `${day}/${region}/${service}/aws4_request`;
}

function signingKey({ day, region, service }: Credential, secret: string): Buffer {
  return [day, region, service, "aws4_request"].reduce<Buffer>(
    (previous, text) => hmac(previous, text),
    Buffer.from(`AWS4${secret}`),
  );
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
