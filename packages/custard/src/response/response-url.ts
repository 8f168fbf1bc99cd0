import { limits, urlSuffixOf } from "@custard/provider/protocol";
import type { LogicalId, RequestId, StackId } from "../engine/ids.ts";
import type { ResponseUrls } from "../engine/ports.ts";
import { s3Error } from "./s3-error.ts";
import type { S3Error } from "./s3-error.ts";
import { createSigningKeys, presign, verifySignature } from "./sign.ts";
import type { SignatureStyle, SignedRequest } from "./sign.ts";

/** Which request a response URL belongs to. */
export interface ResponseTarget {
  readonly stackId: StackId;
  readonly logicalId: LogicalId;
  readonly requestId: RequestId;
}

/** Whose URL it is, or S3's refusal. */
export type VerifiedTarget =
  | { readonly ok: true; readonly target: ResponseTarget }
  | { readonly ok: false; readonly error: S3Error };

/** Makes response URLs and recognises them again. */
export interface SignedResponseUrls extends ResponseUrls {
  verify(request: SignedRequest): VerifiedTarget;
  /** Which request one of the newest URLs was made for, by its signature, whatever else of it was changed. */
  madeFor(url: string): ResponseTarget | undefined;
}

/** So many URLs are remembered by their signatures. */
const rememberedUrls = 10_000;

const bucketPrefix = "cloudformation-custom-resource-response-";

/** Regions whose S3 host name has a dash (facts 23 and 25; us-gov-west-1 by its age, not recorded). */
const dashedRegions: ReadonlySet<string> = new Set([
  "ap-northeast-1",
  "ap-southeast-1",
  "ap-southeast-2",
  "eu-west-1",
  "sa-east-1",
  "us-gov-west-1",
  "us-west-1",
  "us-west-2",
]);

/**
 * Response URLs that look and sign like CloudFormation's (facts 23 to 26): valid for 7200 s from `issuedAt`.
 * The secret decides the signature: with the same one, a request gets the same URL after a restart.
 */
export function createResponseUrls(options: {
  /** At least 16 characters of chance, kept by the caller. */
  readonly secret: string;
  readonly style?: SignatureStyle;
}): SignedResponseUrls {
  const keys = createSigningKeys(options.secret);
  const made = new Map<string, ResponseTarget>();
  return {
    urlFor(target) {
      const url = presign(keys, {
        style: options.style ?? "v4",
        method: "PUT",
        host: responseHost(target.region, target.partition),
        key: `${target.stackId}|${target.logicalId}|${target.requestId}`,
        region: target.region,
        issuedAt: target.issuedAt,
        lifetimeSeconds: limits.responseUrlLifetime.value,
      });
      const { stackId, logicalId, requestId } = target;
      made.set(signatureOf(url), { stackId, logicalId, requestId });
      const [oldest] = made.size > rememberedUrls ? made.keys() : [];
      if (oldest !== undefined) made.delete(oldest);
      return url;
    },
    madeFor: (url) => made.get(signatureOf(url)),
    verify(request) {
      const verified = verifySignature(keys, request);
      if (!verified.ok) return verified;
      const target = parseResponseKey(verified.key);
      return target === undefined ? { ok: false, error: s3Error("AccessDenied") } : { ok: true, target };
    },
  };
}

function signatureOf(url: string): string {
  return /[?&](?:X-Amz-)?Signature=([^&#]+)/u.exec(url)?.[1] ?? "";
}

/** The host of a region's response bucket, in the form of the region's family. */
export function responseHost(region: string, partition: string): string {
  const suffix = urlSuffixOf(partition);
  return `${bucketPrefix}${region.replaceAll("-", "")}.${s3Host(region, suffix)}`;
}

function s3Host(region: string, suffix: string): string {
  if (region === "us-east-1") return `s3.${suffix}`;
  return dashedRegions.has(region) ? `s3-${region}.${suffix}` : `s3.${region}.${suffix}`;
}

/** Is it the host of a response bucket, of whatever region? */
export function isResponseHost(host: string): boolean {
  return host.startsWith(bucketPrefix);
}

/** Takes an object's key apart (fact 26); undefined when it is none of a response. */
export function parseResponseKey(key: string): ResponseTarget | undefined {
  const [, stackId, logicalId, requestId] =
    /^(arn:[^|]{1,1000})\|([^|]{1,255})\|([^|]{1,128})$/u.exec(key) ?? [];
  if (stackId === undefined || logicalId === undefined || requestId === undefined) return undefined;
  // The parts come from a key that the engine made and signed, or serve as a hint only.
  return {
    stackId: stackId as StackId,
    logicalId: logicalId as LogicalId,
    requestId: requestId as RequestId,
  };
}
