import type { LogicalId, StackId } from "../engine/ids.ts";
import type { WaitUrls } from "../engine/ports.ts";
import type { Verified } from "./response-url.ts";
import { s3Error } from "./s3-error.ts";
import { s3Host } from "./s3-host.ts";
import { createSigningKeys, presign, verifySignature } from "./sign.ts";
import type { SignatureStyle, SignedRequest } from "./sign.ts";

/** Whose handle a URL belongs to. */
export interface WaitTarget {
  readonly stackId: StackId;
  readonly logicalId: LogicalId;
}

/** Makes the URLs of wait condition handles and recognises them again. */
export interface SignedWaitUrls extends WaitUrls {
  verify(request: SignedRequest): Verified<WaitTarget>;
}

const bucketPrefix = "cloudformation-waitcondition-";
/** A day but a second, as CloudFormation's own URLs say. */
const lifetimeSeconds = 86_399;

/**
 * URLs of wait condition handles that look and sign like CloudFormation's. The secret decides the signature: with the
 * same one, a handle gets the same URL after a restart.
 */
export function createWaitUrls(options: {
  /** At least 16 characters of chance, kept by the caller. */
  readonly secret: string;
  readonly style?: SignatureStyle;
}): SignedWaitUrls {
  const keys = createSigningKeys(options.secret);
  return {
    urlFor: ({ stackId, logicalId, region, partition, issuedAt }) =>
      presign(keys, {
        style: options.style ?? "v4",
        method: "PUT",
        host: waitHost(region, partition),
        key: `${stackId}/${logicalId}`,
        region,
        issuedAt,
        lifetimeSeconds,
      }),
    verify(request) {
      const verified = verifySignature(keys, request);
      if (!verified.ok) return verified;
      const target = parseWaitKey(verified.key);
      return target === undefined ? { ok: false, error: s3Error("AccessDenied") } : { ok: true, target };
    },
  };
}

/** The host of a region's bucket for wait conditions, in the form of the region's family. */
export function waitHost(region: string, partition: string): string {
  return `${bucketPrefix}${region}.${s3Host(region, partition)}`;
}

/** Is it the host of a bucket for wait conditions, of whatever region? */
export function isWaitHost(host: string): boolean {
  return host.startsWith(bucketPrefix);
}

/** The parts come from a key that we made and signed. */
function parseWaitKey(key: string): WaitTarget | undefined {
  const [, stackId, logicalId] =
    /^(arn:[^|/]{1,200}:stack\/[^|/]{1,128}\/[^|/]{1,128})\/([^|/]{1,255})$/u.exec(key) ?? [];
  if (stackId === undefined || logicalId === undefined) return undefined;
  return { stackId: stackId as StackId, logicalId: logicalId as LogicalId };
}
