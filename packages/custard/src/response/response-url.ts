import { limits } from "@custard/provider/protocol";
import type { LogicalId, RequestId, StackId } from "../engine/ids.ts";
import type { ResponseUrls } from "../engine/ports.ts";
import { s3Error } from "./s3-error.ts";
import type { S3Error } from "./s3-error.ts";
import { s3Host } from "./s3-host.ts";
import { createSigningKeys, presign, verifySignature } from "./sign.ts";
import type { SignatureStyle, SignedRequest } from "./sign.ts";

/** Which request a response URL belongs to. */
export interface ResponseTarget {
  readonly stackId: StackId;
  readonly logicalId: LogicalId;
  readonly requestId: RequestId;
}

/** Whose URL it is, or S3's refusal. */
export type Verified<Target> =
  | { readonly ok: true; readonly target: Target }
  | { readonly ok: false; readonly error: S3Error };

/** The same for a response URL. */
export type VerifiedTarget = Verified<ResponseTarget>;

/** Makes response URLs and recognises them again. */
export interface SignedResponseUrls extends ResponseUrls {
  verify(request: SignedRequest): VerifiedTarget;
  /** Which request one of the newest URLs was made for, by its signature, whatever else of it was changed. */
  madeFor(url: string): ResponseTarget | undefined;
}

/** So many URLs are remembered by their signatures. */
const rememberedUrls = 10_000;

const bucketPrefix = "cloudformation-custom-resource-response-";

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
  return `${bucketPrefix}${region.replaceAll("-", "")}.${s3Host(region, partition)}`;
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
