/** S3's operations on objects. */
import { checksumAlgorithms, type ChecksumAlgorithm, type Checksums } from "../../../services/checksums.ts";
import { ObjectError, objectErrors } from "../../../services/object-error.ts";
import type { ListedObject } from "../../../services/object-listing.ts";
import type { ObjectContent, ObjectDescription } from "../../../services/object-record.ts";
import type { BodyExpectation, FoundObject } from "../../../services/objects.ts";
import { ApiError } from "../../api-error.ts";
import { isChunked } from "../../aws-chunked.ts";
import type { Input } from "../../input.ts";
import { parseFields } from "../../protocols/form.ts";
import type { ApiCall } from "../../service.ts";
import type { WireObject } from "../../wire.ts";
import { bucketOf, type Handle, objectOf } from "./world.ts";

export const putObject: Handle = async (call, { s3 }) => {
  const { input } = call;
  const mustMatch = unquoted(input.text("IfMatch"));
  const made = await s3.objects.put(objectOf(call), {
    ...describedBy(call),
    body: call.body,
    expect: expectationOf(call),
    mustBeNew: input.text("IfNoneMatch") === "*",
    ...(mustMatch === undefined ? {} : { mustMatch }),
  });
  return writtenAs(made);
};

export const getObject: Handle = async (call, { s3 }) => {
  const found = await s3.objects.find(objectOf(call), call.input.text("VersionId"));
  refuseUnwanted(call, found);
  const range = rangeOf(call.input.text("Range"), found.content.size);
  const described = { ...describe(found), ...overridden(call.input) };
  if (range === undefined) return { ...described, Body: await s3.objects.read(found) };
  const { start, end } = range;
  return {
    ...described,
    ContentLength: end - start + 1,
    ContentRange: `bytes ${start}-${end}/${found.content.size}`,
    Body: await s3.objects.read(found, range),
  };
};

export const headObject: Handle = async (call, { s3 }) => {
  const found = await s3.objects.find(objectOf(call), call.input.text("VersionId"));
  refuseUnwanted(call, found);
  return describe(found);
};

export const deleteObject: Handle = async (call, { s3 }) => {
  const { versionId, isMarker } = await s3.objects.delete(objectOf(call), call.input.text("VersionId"));
  return { VersionId: versionId, DeleteMarker: isMarker ? true : undefined };
};

export const deleteObjects: Handle = async (call, { s3 }) => {
  const place = bucketOf(call);
  await s3.buckets.get(place);
  const request = call.input.object("Delete");
  const deleted: WireObject[] = [];
  for (const wanted of request?.objects("Objects") ?? []) {
    const key = wanted.need("Key");
    const asked = wanted.text("VersionId");
    const { versionId, isMarker } = await s3.objects.delete({ ...place, key }, asked);
    deleted.push({
      Key: key,
      VersionId: asked,
      ...(isMarker ? { DeleteMarker: true, DeleteMarkerVersionId: versionId } : {}),
    });
  }
  return request?.flag("Quiet") === true ? {} : { Deleted: deleted };
};

export const copyObject: Handle = async (call, { s3 }) => {
  const { input, scope } = call;
  const source = copySourceOf(input.need("CopySource"), scope.partition);
  const isReplaced = input.text("MetadataDirective") === "REPLACE";
  const { headers, metadata, tags } = describedBy(call);
  const made = await s3.objects.copy(source, objectOf(call), {
    ...(isReplaced ? { headers, metadata } : {}),
    ...(input.text("TaggingDirective") === "REPLACE" ? { tags } : {}),
  });
  return {
    CopyObjectResult: { ETag: quoted(made.content.etag), LastModified: made.modifiedAt },
    VersionId: versionOf(made),
    CopySourceVersionId: source.versionId,
  };
};

export const listObjectsV2: Handle = async (call, { s3 }) => {
  const { input } = call;
  const { limit, encode, shared, query } = listingOf(input);
  const token = input.text("ContinuationToken");
  const after = token === undefined ? input.text("StartAfter") : Buffer.from(token, "base64url").toString();
  const page = await s3.objects.list(bucketOf(call), { ...query, ...(after === undefined ? {} : { after }) });
  return {
    ...shared,
    IsTruncated: page.next !== undefined,
    KeyCount: page.items.length + page.commonPrefixes.length,
    MaxKeys: limit,
    Contents: page.items.map((item) => toListed(item, encode)),
    CommonPrefixes: page.commonPrefixes.map((prefix) => ({ Prefix: encode(prefix) })),
    ContinuationToken: token,
    StartAfter: input.text("StartAfter"),
    NextContinuationToken: page.next === undefined ? undefined : Buffer.from(page.next).toString("base64url"),
  };
};

export const listObjects: Handle = async (call, { s3 }) => {
  const { input } = call;
  const { limit, encode, shared, query } = listingOf(input);
  const marker = input.text("Marker");
  const page = await s3.objects.list(bucketOf(call), {
    ...query,
    ...(marker === undefined ? {} : { after: marker }),
  });
  return {
    ...shared,
    Marker: marker ?? "",
    IsTruncated: page.next !== undefined,
    MaxKeys: limit,
    Contents: page.items.map((item) => toListed(item, encode)),
    CommonPrefixes: page.commonPrefixes.map((prefix) => ({ Prefix: encode(prefix) })),
    NextMarker: page.next,
  };
};

export const listObjectVersions: Handle = async (call, { s3 }) => {
  const { input } = call;
  const { limit, encode, shared, query } = listingOf(input);
  const key = input.text("KeyMarker");
  const versionId = input.text("VersionIdMarker");
  const after = key === undefined ? undefined : { key, ...(versionId === undefined ? {} : { versionId }) };
  const page = await s3.objects.listVersions(bucketOf(call), {
    ...query,
    ...(after === undefined ? {} : { after }),
  });
  const last = page.items.at(-1);
  const rows = page.items.map((item) => ({
    isMarker: item.content === undefined,
    row: toVersion(item, encode),
  }));
  return {
    ...shared,
    IsTruncated: page.next !== undefined,
    MaxKeys: limit,
    KeyMarker: key ?? "",
    VersionIdMarker: versionId ?? "",
    Versions: rows.filter(({ isMarker }) => !isMarker).map(({ row }) => row),
    DeleteMarkers: rows.filter(({ isMarker }) => isMarker).map(({ row }) => row),
    CommonPrefixes: page.commonPrefixes.map((prefix) => ({ Prefix: encode(prefix) })),
    ...(page.next === undefined ? {} : { NextKeyMarker: page.next, NextVersionIdMarker: last?.versionId }),
  };
};

export const getObjectTagging: Handle = async (call, { s3 }) => {
  const found = await s3.objects.find(objectOf(call), call.input.text("VersionId"));
  return {
    TagSet: Object.entries(found.content.tags).map(([Key, Value]) => ({ Key, Value })),
    VersionId: versionOf(found),
  };
};

export const putObjectTagging: Handle = async (call, { s3 }) => {
  const tags = call.input.object("Tagging")?.objects("TagSet") ?? [];
  const pairs = tags.map((tag) => [tag.text("Key") ?? "", tag.text("Value") ?? ""] as const);
  await s3.objects.setTags(objectOf(call), Object.fromEntries(pairs), call.input.text("VersionId"));
  return {};
};

export const deleteObjectTagging: Handle = async (call, { s3 }) => {
  await s3.objects.setTags(objectOf(call), {}, call.input.text("VersionId"));
  return {};
};

/** What is kept with an object besides its bytes. */
export function describedBy({ input, request }: ApiCall): ObjectDescription {
  const headers: Record<string, string> = {};
  for (const name of keptHeaders) {
    const value = request.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  const encoding = withoutChunks(request.headers["content-encoding"]);
  if (encoding !== undefined) headers["content-encoding"] = encoding;
  return { headers, metadata: input.map("Metadata") ?? {}, tags: tagsOf(input.text("Tagging")) };
}

/** What a client says that a body is like; checksums may come after it. */
export function expectationOf({ input, request, trailers }: ApiCall): BodyExpectation {
  const md5 = input.text("ContentMD5");
  const algorithm = algorithmOf(input.text("ChecksumAlgorithm"));
  return {
    ...(md5 === undefined ? {} : { md5 }),
    ...(algorithm === undefined ? {} : { algorithm }),
    checksums: announced(request.headers, isChunked(request) ? trailers : undefined),
  };
}

/** The algorithm of that name, when there is one. */
export function algorithmOf(name: string | undefined): ChecksumAlgorithm | undefined {
  return checksumAlgorithms.find((algorithm) => algorithm === name);
}

/** Checksums as members of an output. */
export function checksumsOf(checksums: Checksums): WireObject {
  return Object.fromEntries(Object.entries(checksums).map(([name, value]) => [`Checksum${name}`, value]));
}

export function quoted(etag: string): string {
  return `"${etag}"`;
}

/** The object that `x-amz-copy-source` names. */
export function copySourceOf(text: string, partition: string) {
  const [path = "", query = ""] = text.split("?");
  const [, bucket, key] = /^\/?([^/]+)\/(.+)$/s.exec(decoded(path)) ?? [];
  if (bucket === undefined || key === undefined)
    throw new ApiError(
      "InvalidArgument",
      "Copy Source must mention the source bucket and key: sourcebucket/sourcekey",
    );
  const versionId = /^versionId=(.+)$/.exec(query)?.[1];
  return { partition, bucket, key, ...(versionId === undefined ? {} : { versionId }) };
}

/** Byte ranges of one part. What can't be satisfied is refused, and what isn't understood ignored, as S3 does. */
export function rangeOf(
  text: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | undefined {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(text ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (start <= end) return { start, end };
  throw new ObjectError("InvalidRange", { RangeRequested: text ?? "", ActualObjectSize: String(size) });
}

const keptHeaders = [
  "cache-control",
  "content-disposition",
  "content-language",
  "content-type",
  "expires",
  "x-amz-storage-class",
  "x-amz-website-redirect-location",
] as const;

function withoutChunks(encoding: string | undefined): string | undefined {
  const kept = (encoding ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "" && part.toLowerCase() !== "aws-chunked");
  return kept.length === 0 ? undefined : kept.join(",");
}

/** Looked up only when the body was read: by then the trailers are there. */
function announced(
  headers: ApiCall["request"]["headers"],
  trailers: ApiCall["trailers"] | undefined,
): Checksums {
  const promised = headers["x-amz-trailer"]?.toLowerCase() ?? "";
  const checksums: Partial<Record<ChecksumAlgorithm, string>> = {};
  for (const algorithm of checksumAlgorithms) {
    const name = `x-amz-checksum-${algorithm.toLowerCase()}`;
    const value = headers[name];
    if (value !== undefined) checksums[algorithm] = value;
    else if (trailers !== undefined && promised.includes(name))
      Object.defineProperty(checksums, algorithm, { enumerable: true, get: () => trailers[name] });
  }
  return checksums;
}

function writtenAs(made: FoundObject): WireObject {
  const { etag, checksums, checksumType } = made.content;
  return {
    ETag: quoted(etag),
    VersionId: versionOf(made),
    ServerSideEncryption: "AES256",
    ...checksumsOf(checksums),
    ...(Object.keys(checksums).length === 0 ? {} : { ChecksumType: checksumType }),
  };
}

function describe(found: FoundObject): WireObject {
  const { content, modifiedAt } = found;
  const { headers } = content;
  return {
    AcceptRanges: "bytes",
    ContentLength: content.size,
    ContentType: headers["content-type"] ?? "binary/octet-stream",
    ETag: quoted(content.etag),
    LastModified: modifiedAt,
    VersionId: versionOf(found),
    Metadata: content.metadata,
    ServerSideEncryption: "AES256",
    CacheControl: headers["cache-control"],
    ContentDisposition: headers["content-disposition"],
    ContentEncoding: headers["content-encoding"],
    ContentLanguage: headers["content-language"],
    StorageClass: headers["x-amz-storage-class"],
    WebsiteRedirectLocation: headers["x-amz-website-redirect-location"],
    TagCount: Object.keys(content.tags).length === 0 ? undefined : Object.keys(content.tags).length,
    PartsCount: content.parts,
  };
}

/** Only with versions has an object one to name. */
function versionOf({ versionId }: { readonly versionId: string }): string | undefined {
  return versionId === "null" ? undefined : versionId;
}

function overridden(input: Input): WireObject {
  const names = {
    CacheControl: "ResponseCacheControl",
    ContentDisposition: "ResponseContentDisposition",
    ContentEncoding: "ResponseContentEncoding",
    ContentLanguage: "ResponseContentLanguage",
    ContentType: "ResponseContentType",
  };
  return Object.fromEntries(
    Object.entries(names).flatMap(([name, asked]) => {
      const value = input.text(asked);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** `If-Match`, `If-None-Match` and the times. */
function refuseUnwanted({ input }: ApiCall, { content, modifiedAt }: FoundObject): void {
  const matches = (etags: string) =>
    etags.split(",").some((etag) => ["*", content.etag].includes(unquoted(etag.trim()) ?? ""));
  const [ifMatch, ifNoneMatch] = [input.text("IfMatch"), input.text("IfNoneMatch")];
  const [since, until] = [input.number("IfModifiedSince"), input.number("IfUnmodifiedSince")];
  const second = Math.floor(modifiedAt / 1000) * 1000;
  if (ifMatch !== undefined && !matches(ifMatch))
    throw new ObjectError("PreconditionFailed", { Condition: "If-Match" });
  if (ifMatch === undefined && until !== undefined && second > until)
    throw new ObjectError("PreconditionFailed", { Condition: "If-Unmodified-Since" });
  const isKnown = ifNoneMatch === undefined ? since !== undefined && second <= since : matches(ifNoneMatch);
  if (isKnown) throw new ApiError("NotModified", "Not Modified", { status: 304 });
}

function listingOf(input: Input) {
  const limit = input.number("MaxKeys") ?? 1000;
  const isEncoded = input.text("EncodingType") === "url";
  const encode = (key: string) => (isEncoded ? encodeURIComponent(key).replaceAll("%2F", "/") : key);
  const [prefix, delimiter] = [input.text("Prefix"), input.text("Delimiter")];
  return {
    limit: Math.min(limit, 1000),
    encode,
    shared: {
      Name: input.need("Bucket"),
      Prefix: encode(prefix ?? ""),
      Delimiter: delimiter === undefined ? undefined : encode(delimiter),
      EncodingType: isEncoded ? "url" : undefined,
    },
    query: {
      limit,
      ...(prefix === undefined ? {} : { prefix }),
      ...(delimiter === undefined ? {} : { delimiter }),
    },
  };
}

function toListed({ key, modifiedAt, content }: ListedObject, encode: (key: string) => string): WireObject {
  return {
    Key: encode(key),
    LastModified: modifiedAt,
    ETag: quoted(content.etag),
    Size: content.size,
    StorageClass: "STANDARD",
    ChecksumAlgorithm: Object.keys(content.checksums),
  };
}

function toVersion(
  item: {
    readonly key: string;
    readonly versionId: string;
    readonly isLatest: boolean;
    readonly modifiedAt: number;
    readonly content?: ObjectContent;
  },
  encode: (key: string) => string,
): WireObject {
  const { key, versionId, isLatest, modifiedAt, content } = item;
  return {
    Key: encode(key),
    VersionId: versionId,
    IsLatest: isLatest,
    LastModified: modifiedAt,
    ...(content === undefined
      ? {}
      : { ETag: quoted(content.etag), Size: content.size, StorageClass: "STANDARD" }),
  };
}

function tagsOf(text: string | undefined): ObjectDescription["tags"] {
  return text === undefined ? {} : Object.fromEntries(parseFields(text));
}

function unquoted(etag: string | undefined): string | undefined {
  return etag?.replace(/^"(.*)"$/, "$1");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** S3's refusals, as it writes them. */
export function explainObjectError(error: unknown): ApiError | undefined {
  if (!(error instanceof ObjectError)) return undefined;
  const { code, message, details } = error;
  return new ApiError(code, message, { status: objectErrors[code].status, details });
}
