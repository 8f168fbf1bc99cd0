/** Objects of S3 by their URLs. */
import { urlSuffixes } from "@custard/provider/protocol";

/** An object of S3. */
export interface S3Location {
  readonly bucket: string;
  readonly key: string;
}

/**
 * The object that a URL names: S3's own host names with the bucket in host or path, or this endpoint's with the bucket
 * in the path. Undefined when it is none of S3.
 */
export function parseS3Url(text: string): S3Location | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol === "s3:") return located(`${url.hostname}${url.pathname}`);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  const bucket = bucketInHost(url.hostname);
  return located(bucket === undefined ? url.pathname.slice(1) : `${bucket}${url.pathname}`);
}

/** The bucket in `bucket.s3.us-east-1.amazonaws.com`, `bucket.localhost` and the like. */
export function bucketInHost(hostname: string): string | undefined {
  const local = /^(.+?)\.(?:s3\.)?localhost$/.exec(hostname)?.[1];
  if (local !== undefined) return local === "s3" ? undefined : local;
  const suffix = urlSuffixes.find((each) => hostname.endsWith(`.${each}`));
  if (suffix === undefined) return undefined;
  return /^(.+)\.s3(?:[.-](?:dualstack\.)?[a-z0-9-]+)?$/.exec(hostname.slice(0, -suffix.length - 1))?.[1];
}

function located(path: string): S3Location | undefined {
  const [, bucket, key] = /^([^/]+)\/(.+)$/s.exec(path) ?? [];
  if (bucket === undefined || key === undefined) return undefined;
  try {
    return { bucket: decodeURIComponent(bucket), key: decodeURIComponent(key) };
  } catch {
    return undefined;
  }
}
