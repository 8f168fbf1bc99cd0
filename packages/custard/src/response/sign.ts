/**
 * Signatures in the query of a URL, made and checked as S3 does: Signature Version 4, and Version 2 of old regions.
 *
 * S1: the same keys, target and time give the same URL, in this process and after a restart.
 * S2: whatever differs in meaning from what was signed is refused; comparisons take constant time.
 * S3: no secret and no signature stands in a refusal, since providers log what they are answered.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { s3Error } from "./s3-error.ts";
import type { S3Error } from "./s3-error.ts";

/** How the query is signed: `v4` as in all regions today, `v2` as in old regions until about 2018. */
export type SignatureStyle = "v4" | "v2";

/** What to sign. */
export interface SignTarget {
  readonly style: SignatureStyle;
  readonly method: string;
  /** `<bucket>.<S3 host of the region>`. */
  readonly host: string;
  readonly key: string;
  readonly region: string;
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
  readonly lifetimeSeconds: number;
}

/** A request as it came in. */
export interface SignedRequest {
  readonly method: string;
  /** Lower case, without a port. */
  readonly host: string;
  /** Path and query as sent. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What a check found: the object's key, or S3's refusal. */
export type Verification =
  | { readonly ok: true; readonly key: string }
  | { readonly ok: false; readonly error: S3Error };

/** The keys that sign, all derived from one secret. */
export interface SigningKeys {
  /** Looks like AWS's: `AKIA` and 16 characters. */
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The Version 4 key of a day and region; kept, since it costs four hashes. */
  signingKey(day: string, region: string): Buffer;
}

interface ParsedTarget {
  readonly key: string;
  readonly query: readonly (readonly [name: string, value: string])[];
}

const algorithm = "AWS4-HMAC-SHA256";
const signedHeaders = "host";
const minSecretLength = 16;
const keptSigningKeys = 64;
const base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Derives the keys. The secret is the same after a restart (S1). Throws RangeError when it is under 16 characters. */
export function createSigningKeys(secret: string): SigningKeys {
  if (secret.length < minSecretLength) throw new RangeError("the secret of the response URLs is too short");
  const secretAccessKey = hmac(secret, "secret access key").toString("base64").slice(0, 40);
  const id = hmac(secret, "access key id").subarray(0, 16);
  const kept = new Map<string, Buffer>();
  return {
    accessKeyId: `AKIA${[...id].map((byte) => base32[byte % 32]).join("")}`,
    secretAccessKey,
    signingKey(day, region) {
      const name = `${day}/${region}`;
      const found = kept.get(name);
      if (found !== undefined) return found;
      const key = [region, "s3", "aws4_request"].reduce(
        (from: Buffer, part) => hmac(from, part),
        hmac(`AWS4${secretAccessKey}`, day),
      );
      // Day and region may come from a stranger's request, so the store is bounded.
      for (const oldest of kept.keys()) if (kept.size >= keptSigningKeys) kept.delete(oldest);
      kept.set(name, key);
      return key;
    },
  };
}

/** The URL with its signature, parameters in the order in which CloudFormation writes them (fact 23). */
export function presign(keys: SigningKeys, target: SignTarget): string {
  switch (target.style) {
    case "v4":
      return presignV4(keys, target);
    case "v2":
      return presignV2(keys, target);
  }
}

/** Checks the signature of a request, then its expiry. Both styles are understood, whichever is made now. */
export function verifySignature(keys: SigningKeys, request: SignedRequest): Verification {
  const target = parseTarget(request.target);
  if (target === undefined)
    return refuse(s3Error("InvalidURI", { URI: request.target.split("?", 1)[0] ?? "" }));
  const names = new Set(target.query.map(([name]) => name));
  const inQuery =
    names.has("X-Amz-Algorithm") || names.has("X-Amz-Signature") || names.has("X-Amz-Credential");
  if (request.headers["authorization"] !== undefined) {
    return refuse(s3Error("InvalidArgument", { ArgumentName: "Authorization" }));
  }
  if (inQuery) return verifyV4(keys, request, target);
  if (names.has("Signature") || names.has("AWSAccessKeyId")) return verifyV2(keys, request, target);
  return refuse(s3Error("AccessDenied"));
}

// ------------------------------------------------------------------------------------------- version 4

function presignV4(keys: SigningKeys, target: SignTarget): string {
  const time = amzTime(target.issuedAt);
  const day = time.slice(0, 8);
  const query: [string, string][] = [
    ["X-Amz-Algorithm", algorithm],
    ["X-Amz-Date", time],
    ["X-Amz-SignedHeaders", signedHeaders],
    ["X-Amz-Expires", String(target.lifetimeSeconds)],
    ["X-Amz-Credential", `${keys.accessKeyId}/${day}/${target.region}/s3/aws4_request`],
  ];
  const canonical = canonicalRequest({
    method: target.method,
    key: target.key,
    query,
    headers: [["host", target.host]],
  });
  const scope = `${day}/${target.region}/s3/aws4_request`;
  const signature = hmac(keys.signingKey(day, target.region), stringToSign(time, scope, canonical)).toString(
    "hex",
  );
  const written = [...query, ["X-Amz-Signature", signature] as const].map(
    ([name, value]) => `${name}=${encode(value)}`,
  );
  return `https://${target.host}/${encodeKey(target.key)}?${written.join("&")}`;
}

interface Scope {
  readonly accessKeyId: string;
  readonly day: string;
  readonly region: string;
  readonly text: string;
}

function verifyV4(keys: SigningKeys, request: SignedRequest, target: ParsedTarget): Verification {
  const parameters = parseV4(target);
  if (!parameters.ok) return parameters;
  const { time, expires, signature, scope, signed } = parameters;
  if (scope.accessKeyId !== keys.accessKeyId) {
    return refuse(s3Error("InvalidAccessKeyId", { AWSAccessKeyId: scope.accessKeyId }));
  }
  const unsigned = Object.keys(request.headers).filter(
    (name) => mustBeSigned(name) && !signed.includes(name),
  );
  if (unsigned.length > 0) return refuse(unsignedHeaders(unsigned));
  const canonical = canonicalRequest({
    method: request.method,
    key: target.key,
    query: target.query.filter(([name]) => name !== "X-Amz-Signature"),
    headers: signed.map((name) => [name, headerValue(request, name)] as const),
  });
  const toSign = stringToSign(time, scope.text, canonical);
  const expected = hmac(keys.signingKey(scope.day, scope.region), toSign).toString("hex");
  if (!isSame(expected, signature)) {
    return refuse(
      s3Error("SignatureDoesNotMatch", {
        AWSAccessKeyId: scope.accessKeyId,
        StringToSign: toSign,
        CanonicalRequest: canonical,
      }),
    );
  }
  return checkExpiry({
    key: target.key,
    expiresAt: parseAmzTime(time) + expires * 1000,
    now: request.now,
    details: { "X-Amz-Expires": String(expires) },
  });
}

type ParsedV4 =
  | {
      readonly ok: true;
      readonly time: string;
      readonly expires: number;
      readonly signature: string;
      readonly scope: Scope;
      readonly signed: readonly string[];
    }
  | { readonly ok: false; readonly error: S3Error };

function parseV4({ query }: ParsedTarget): ParsedV4 {
  const value = (name: string): string => query.find(([parameter]) => parameter === name)?.[1] ?? "";
  const [time, signature, credential] = [
    value("X-Amz-Date"),
    value("X-Amz-Signature"),
    value("X-Amz-Credential"),
  ];
  const [signed, expires] = [value("X-Amz-SignedHeaders"), value("X-Amz-Expires")];
  if ([time, signature, credential, signed, expires, value("X-Amz-Algorithm")].includes("")) {
    return refuse(s3Error("AuthorizationQueryParametersError"));
  }
  const fault = faultOfV4({ time, expires, algorithm: value("X-Amz-Algorithm") });
  if (fault !== undefined) return refuse(s3Error("AuthorizationQueryParametersError", {}, fault));
  const scope = parseScope(credential);
  if (scope === undefined || scope.day !== time.slice(0, 8)) {
    return refuse(
      s3Error(
        "AuthorizationQueryParametersError",
        {},
        'Error parsing the X-Amz-Credential parameter; the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".',
      ),
    );
  }
  const names = signed.split(";");
  if (!names.includes("host")) return refuse(unsignedHeaders(["host"]));
  return { ok: true, time, signature, scope, expires: Number(expires), signed: names };
}

function faultOfV4(parameters: { time: string; expires: string; algorithm: string }): string | undefined {
  if (parameters.algorithm !== algorithm) {
    return 'X-Amz-Algorithm only supports "AWS4-HMAC-SHA256 and AWS4-ECDSA-P256-SHA256"';
  }
  if (!/^\d{8}T\d{6}Z$/u.test(parameters.time)) {
    return "X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"";
  }
  if (!/^\d{1,6}$/u.test(parameters.expires)) return "X-Amz-Expires should be a number";
  if (Number(parameters.expires) > 604_800) {
    return "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds";
  }
  return undefined;
}

function parseScope(credential: string): Scope | undefined {
  const [, accessKeyId, text, day, region] =
    /^([^/]+)\/((\d{8})\/([a-z0-9-]+)\/s3\/aws4_request)$/u.exec(credential) ?? [];
  if (accessKeyId === undefined || text === undefined || day === undefined || region === undefined)
    return undefined;
  return { accessKeyId, text, day, region };
}

/** S3 refuses `x-amz-…` headers that are not signed, but for the digest of the body. */
function mustBeSigned(header: string): boolean {
  return header.startsWith("x-amz-") && header !== "x-amz-content-sha256";
}

function unsignedHeaders(names: readonly string[]): S3Error {
  return s3Error(
    "AccessDenied",
    { HeadersNotSigned: names.join(", ") },
    "There were headers present in the request which were not signed",
  );
}

function canonicalRequest(request: {
  readonly method: string;
  readonly key: string;
  readonly query: ParsedTarget["query"];
  readonly headers: readonly (readonly [name: string, value: string])[];
}): string {
  const query = request.query.map(([name, value]) => `${encode(name)}=${encode(value)}`).sort();
  const headers = request.headers.map(([name, value]) => `${name}:${value}\n`);
  const names = request.headers.map(([name]) => name).join(";");
  return [
    request.method,
    `/${encodeKey(request.key)}`,
    query.join("&"),
    headers.join(""),
    names,
    "UNSIGNED-PAYLOAD",
  ].join("\n");
}

function stringToSign(time: string, scope: string, canonical: string): string {
  return [algorithm, time, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
}

function headerValue(request: SignedRequest, name: string): string {
  if (name === "host") return request.host;
  const value = request.headers[name] ?? "";
  const text = typeof value === "string" ? value : value.join(",");
  return text.trim().replace(/ +/gu, " ");
}

// ------------------------------------------------------------------------------------------- version 2

function presignV2(keys: SigningKeys, target: SignTarget): string {
  const expires = String(Math.floor(target.issuedAt / 1000) + target.lifetimeSeconds);
  const toSign = stringToSignV2({
    method: target.method,
    host: target.host,
    key: target.key,
    expires,
    headers: {},
  });
  const signature = hmac(keys.secretAccessKey, toSign, "sha1").toString("base64");
  return `https://${target.host}/${encodeKey(target.key)}?AWSAccessKeyId=${keys.accessKeyId}&Expires=${expires}&Signature=${encode(signature)}`;
}

function verifyV2(keys: SigningKeys, request: SignedRequest, target: ParsedTarget): Verification {
  const value = (name: string): string => target.query.find(([parameter]) => parameter === name)?.[1] ?? "";
  const [accessKeyId, expires, signature] = [value("AWSAccessKeyId"), value("Expires"), value("Signature")];
  if (accessKeyId === "" || signature === "" || !/^\d{1,12}$/u.test(expires)) {
    return refuse(
      s3Error(
        "AccessDenied",
        {},
        "Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters",
      ),
    );
  }
  if (accessKeyId !== keys.accessKeyId) {
    return refuse(s3Error("InvalidAccessKeyId", { AWSAccessKeyId: accessKeyId }));
  }
  const toSign = stringToSignV2({ ...request, key: target.key, expires });
  if (!isSame(hmac(keys.secretAccessKey, toSign, "sha1").toString("base64"), signature)) {
    return refuse(s3Error("SignatureDoesNotMatch", { AWSAccessKeyId: accessKeyId, StringToSign: toSign }));
  }
  return checkExpiry({ key: target.key, expiresAt: Number(expires) * 1000, now: request.now, details: {} });
}

function stringToSignV2(request: {
  readonly method: string;
  readonly host: string;
  readonly key: string;
  readonly expires: string;
  readonly headers: SignedRequest["headers"];
}): string {
  const text = (name: string): string => String(request.headers[name] ?? "");
  const amz = Object.keys(request.headers)
    .filter((name) => name.startsWith("x-amz-"))
    .sort()
    .map((name) => `${name}:${text(name).trim()}\n`);
  const bucket = request.host.split(".", 1)[0] ?? "";
  // Fact 28: the content type is signed, and was empty.
  return [
    request.method,
    text("content-md5"),
    text("content-type"),
    request.expires,
    `${amz.join("")}/${bucket}/${encodeKey(request.key)}`,
  ].join("\n");
}

// ---------------------------------------------------------------------------------------------- shared

function checkExpiry(checked: {
  readonly key: string;
  readonly expiresAt: number;
  readonly now: number;
  readonly details: Readonly<Record<string, string>>;
}): Verification {
  if (checked.now <= checked.expiresAt) return { ok: true, key: checked.key };
  const details = {
    ...checked.details,
    Expires: isoTime(checked.expiresAt),
    ServerTime: isoTime(checked.now),
  };
  return refuse(s3Error("AccessDenied", details, "Request has expired"));
}

function refuse(error: S3Error): { readonly ok: false; readonly error: S3Error } {
  return { ok: false, error };
}

function parseTarget(target: string): ParsedTarget | undefined {
  const [, path = "", query = ""] = /^\/([^?]*)\??(.*)$/su.exec(target) ?? [];
  const pairs = query.split("&").filter((pair) => pair !== "");
  try {
    // Encoded again below, since senders differ in what they leave unencoded.
    return {
      key: decodeURIComponent(path),
      query: pairs.map((pair) => {
        const [, name = "", value = ""] = /^([^=]*)=?(.*)$/su.exec(pair) ?? [];
        return [decodeURIComponent(name), decodeURIComponent(value)] as const;
      }),
    };
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** Percent-encodes all but letters, digits and `-._~`, as AWS's signatures want it. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/gu,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function encodeKey(key: string): string {
  return key.split("/").map(encode).join("/");
}

function hmac(key: string | Buffer, text: string, hash: "sha256" | "sha1" = "sha256"): Buffer {
  return createHmac(hash, key).update(text).digest();
}

function isSame(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function amzTime(time: number): string {
  return isoTime(time).replace(/[-:]/gu, "");
}

function isoTime(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/u, "Z");
}

function parseAmzTime(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/u, "$1-$2-$3T$4:$5:$6Z"));
}
