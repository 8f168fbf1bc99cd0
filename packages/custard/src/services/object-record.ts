/** What the object store keeps of buckets, objects and uploads. */
import type { Json, JsonObject } from "@custard/provider/protocol";
import type { ChecksumAlgorithm, Checksums } from "./checksums.ts";

/** A bucket: its name is unique within a partition. */
export interface BucketPlace {
  readonly partition: string;
  readonly bucket: string;
}

/** An object's place. */
export interface ObjectPlace extends BucketPlace {
  readonly key: string;
}

/** A bucket as kept. */
export interface BucketRecord extends BucketPlace {
  readonly account: string;
  readonly region: string;
  readonly createdAt: number;
  readonly versioning: "Off" | "Enabled" | "Suspended";
  /** Further configuration by aspect, in the form of S3's API. */
  readonly aspects: JsonObject;
  /** Token of the call that made it, to know its repetition. */
  readonly token: string;
}

/** Headers that are kept with an object and given back as they came, by lower-case name, e.g. `content-type`. */
export type ObjectHeaders = Readonly<Record<string, string>>;

/** What belongs to an object besides its bytes. */
export interface ObjectDescription {
  readonly headers: ObjectHeaders;
  /** `x-amz-meta-…`, without that prefix. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

/** The bytes of a version. */
export interface ObjectContent extends ObjectDescription {
  readonly body: string;
  readonly size: number;
  /** Without quotes. */
  readonly etag: string;
  readonly checksums: Checksums;
  readonly checksumType: "FULL_OBJECT" | "COMPOSITE";
  /** How many parts a multipart upload had. */
  readonly parts?: number;
}

/** One version of an object. */
export interface ObjectVersion {
  /** `null` (the text) in buckets without versions. */
  readonly versionId: string;
  readonly modifiedAt: number;
  /** Absent in a delete marker. */
  readonly content?: ObjectContent;
}

/** An object as kept: its versions, newest first; never empty. */
export interface ObjectRecord {
  readonly versions: readonly ObjectVersion[];
}

/** A multipart upload in the making. */
export interface UploadRecord extends ObjectPlace, ObjectDescription {
  readonly uploadId: string;
  readonly initiatedAt: number;
  readonly algorithm?: ChecksumAlgorithm;
  readonly checksumType: "FULL_OBJECT" | "COMPOSITE";
}

/** One part of it. */
export interface PartRecord {
  readonly number: number;
  readonly body: string;
  readonly size: number;
  readonly etag: string;
  readonly checksums: Checksums;
  readonly modifiedAt: number;
}

/**
 * Reads what the store wrote itself: only the outline is checked, and what isn't ours is a bug or a damaged state
 * directory.
 */
export function storedAs<Kind extends keyof StoredKinds>(kind: Kind, value: Json): StoredKinds[Kind] {
  const outline = outlines[kind];
  const fits =
    typeof value === "object" && value !== null && outline.every((member) => Object.hasOwn(value, member));
  if (!fits) throw new Error(`A stored ${kind} is damaged.`);
  return value as unknown as StoredKinds[Kind];
}

interface StoredKinds {
  readonly bucket: BucketRecord;
  readonly object: ObjectRecord;
  readonly upload: UploadRecord;
  readonly part: PartRecord;
}

const outlines: Readonly<Record<keyof StoredKinds, readonly string[]>> = {
  bucket: ["bucket", "account", "region", "versioning", "aspects"],
  object: ["versions"],
  upload: ["uploadId", "key", "bucket"],
  part: ["number", "body", "etag"],
};

/** A record as JSON. */
export function toJson(record: BucketRecord | ObjectRecord | UploadRecord | PartRecord): Json {
  return JSON.parse(JSON.stringify(record)) as Json;
}
