/** S3's operations on multipart uploads. */
import type { Readable } from "node:stream";
import type { UploadPlace } from "../../../services/uploads.ts";
import type { ApiCall } from "../../service.ts";
import type { WireObject } from "../../wire.ts";
import {
  algorithmOf,
  checksumsOf,
  copySourceOf,
  describedBy,
  expectationOf,
  quoted,
  rangeOf,
} from "./objects.ts";
import { bucketOf, type Handle, objectOf } from "./world.ts";

export const createMultipartUpload: Handle = async (call, { s3 }) => {
  const { input } = call;
  const algorithm = algorithmOf(input.text("ChecksumAlgorithm"));
  const type = input.text("ChecksumType");
  const { bucket, key, uploadId } = await s3.uploads.create(objectOf(call), {
    ...describedBy(call),
    ...(algorithm === undefined ? {} : { algorithm }),
    ...(type === "FULL_OBJECT" || type === "COMPOSITE" ? { checksumType: type } : {}),
  });
  return { Bucket: bucket, Key: key, UploadId: uploadId, ChecksumAlgorithm: algorithm };
};

export const uploadPart: Handle = async (call, { s3 }) => {
  const { etag, checksums } = await s3.uploads.putPart(uploadOf(call), {
    number: call.input.number("PartNumber") ?? 0,
    body: call.body,
    expect: expectationOf(call),
  });
  return { ETag: quoted(etag), ...checksumsOf(checksums) };
};

export const uploadPartCopy: Handle = async (call, { s3 }) => {
  const { input, scope } = call;
  const source = copySourceOf(input.need("CopySource"), scope.partition);
  const found = await s3.objects.find(source, source.versionId);
  const range = rangeOf(input.text("CopySourceRange"), found.content.size);
  const part = await s3.uploads.putPart(uploadOf(call), {
    number: input.number("PartNumber") ?? 0,
    body: bytesOf(await s3.objects.read(found, range)),
  });
  return { CopyPartResult: { ETag: quoted(part.etag), LastModified: part.modifiedAt } };
};

export const completeMultipartUpload: Handle = async (call, { s3 }) => {
  const { input } = call;
  const parts = input.object("MultipartUpload")?.objects("Parts") ?? [];
  const made = await s3.uploads.complete(
    uploadOf(call),
    parts.map((part) => ({ number: part.number("PartNumber") ?? 0, etag: part.text("ETag") ?? "" })),
    { mustBeNew: input.text("IfNoneMatch") === "*" },
  );
  return {
    Location: `/${made.bucket}/${made.key}`,
    Bucket: made.bucket,
    Key: made.key,
    ETag: quoted(made.content.etag),
    VersionId: made.versionId === "null" ? undefined : made.versionId,
    ...checksumsOf(made.content.checksums),
  };
};

export const abortMultipartUpload: Handle = async (call, { s3 }) => {
  await s3.uploads.abort(uploadOf(call));
  return {};
};

export const listParts: Handle = async (call, { s3 }) => {
  const { bucket, key, uploadId, ...place } = uploadOf(call);
  const limit = Math.min(call.input.number("MaxParts") ?? 1000, 1000);
  const after = Number(call.input.text("PartNumberMarker") ?? 0);
  const all = (await s3.uploads.parts({ bucket, key, uploadId, ...place })).filter(
    ({ number }) => number > after,
  );
  const parts = all.slice(0, limit);
  return {
    Bucket: bucket,
    Key: key,
    UploadId: uploadId,
    MaxParts: limit,
    IsTruncated: all.length > limit,
    NextPartNumberMarker: all.length > limit ? String(parts.at(-1)?.number ?? 0) : undefined,
    Parts: parts.map(({ number, etag, size, modifiedAt, checksums }): WireObject => ({
      PartNumber: number,
      ETag: quoted(etag),
      Size: size,
      LastModified: modifiedAt,
      ...checksumsOf(checksums),
    })),
    StorageClass: "STANDARD",
  };
};

export const listMultipartUploads: Handle = async (call, { s3 }) => {
  const place = bucketOf(call);
  const prefix = call.input.text("Prefix") ?? "";
  const uploads = (await s3.uploads.list(place)).filter(({ key }) => key.startsWith(prefix));
  return {
    Bucket: place.bucket,
    Prefix: prefix,
    MaxUploads: uploads.length,
    IsTruncated: false,
    Uploads: uploads.map(({ key, uploadId, initiatedAt }) => ({
      Key: key,
      UploadId: uploadId,
      Initiated: initiatedAt,
      StorageClass: "STANDARD",
    })),
  };
};

function uploadOf(call: ApiCall): UploadPlace {
  return { ...objectOf(call), uploadId: call.input.need("UploadId") };
}

async function* bytesOf(stream: Readable): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) yield chunk as Buffer;
}
