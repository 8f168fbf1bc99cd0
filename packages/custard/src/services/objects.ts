/**
 * The local S3: what `AWS::S3::Bucket`, code from `S3Bucket`/`S3Key`, template URLs and the endpoint share.
 *
 * Owns objects and their versions. Leaves bodies to `body-files.ts`, buckets to `buckets.ts`, multipart uploads to
 * `uploads.ts`, all of them together to `s3.ts`, and headers, XML and signatures to whoever speaks S3's protocol.
 *
 * Invariants
 * O1: an object is listed once its body is whole on the disk, and a body is deleted once nothing lists it any more.
 * O2: changes of one object come one after the other.
 */
import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import type { Documents } from "../engine/ports.ts";
import type { BodyFiles, ByteRange, ByteSource, WrittenBody } from "./body-files.ts";
import { Buckets } from "./buckets.ts";
import { type ChecksumAlgorithm, checksumAlgorithms, type Checksums } from "./checksums.ts";
import { KeyedTurns } from "./keyed-turns.ts";
import { ObjectError } from "./object-error.ts";
import {
  compareKeys,
  type ListedObject,
  type ListedVersion,
  type ListQuery,
  type Page,
  pageOf,
  type VersionMarker,
} from "./object-listing.ts";
import {
  type BucketPlace,
  type BucketRecord,
  type ObjectContent,
  type ObjectDescription,
  type ObjectPlace,
  type ObjectRecord,
  type ObjectVersion,
  storedAs,
  toJson,
} from "./object-record.ts";

/** What the store stands on. */
export interface ObjectWorld {
  readonly documents: Documents;
  readonly bodies: BodyFiles;
  readonly now?: () => number;
}

/** What a body must be like. */
export interface BodyExpectation {
  /** Base64; `Content-MD5`. */
  readonly md5?: string;
  readonly checksums?: Checksums;
  /** To be computed and kept besides. */
  readonly algorithm?: ChecksumAlgorithm;
}

/** Conditions on what is there before a write. */
export interface WriteConditions {
  /** `If-None-Match: *`. */
  readonly mustBeNew?: boolean;
  /** `If-Match`: etag without quotes. */
  readonly mustMatch?: string;
}

/** A new object. */
export interface NewObject extends Partial<ObjectDescription>, WriteConditions {
  readonly body: ByteSource;
  readonly expect?: BodyExpectation;
}

/** A version that was found; never a delete marker. */
export interface FoundObject extends ObjectPlace {
  readonly versionId: string;
  readonly modifiedAt: number;
  readonly content: ObjectContent;
}

/** What a deletion did. */
export interface Deletion {
  /** The delete marker that was made, or the version that was deleted. */
  readonly versionId?: string;
  /** A delete marker was made or deleted. */
  readonly isMarker: boolean;
}

const keyBytes = 1024;

/** Objects in `Documents`, under `object/<partition>/<bucket>/<key>`. Throws `ObjectError` in S3's words. */
export class ObjectStore {
  readonly buckets: Buckets;
  readonly #documents: Documents;
  readonly #bodies: BodyFiles;
  readonly #turns = new KeyedTurns();
  readonly #now: () => number;

  constructor({ documents, bodies, now = Date.now }: ObjectWorld) {
    this.#documents = documents;
    this.#bodies = bodies;
    this.#now = now;
    this.buckets = new Buckets(documents, this.#turns, now);
  }

  async put(place: ObjectPlace, object: NewObject): Promise<FoundObject> {
    checkKey(place);
    await this.buckets.get(place);
    const body = await this.writeBody(object.body, object.expect ?? {});
    const content: ObjectContent = {
      ...descriptionOf(object),
      body: body.id,
      size: body.size,
      etag: body.md5,
      checksums: body.checksums,
      checksumType: "FULL_OBJECT",
    };
    return await this.add(place, content, object);
  }

  /** Takes on a body that is on the disk already; deletes it when it can't. */
  async add(place: ObjectPlace, content: ObjectContent, conditions: WriteConditions): Promise<FoundObject> {
    try {
      return await this.#turn(place, async () => await this.#add(place, content, conditions));
    } catch (error) {
      await this.#bodies.delete(content.body);
      throw error;
    }
  }

  /** Copies within the store; what `change` gives replaces the source's own. */
  async copy(
    source: ObjectPlace & { readonly versionId?: string },
    target: ObjectPlace,
    change: Partial<ObjectDescription> = {},
  ): Promise<FoundObject> {
    checkKey(target);
    await this.buckets.get(target);
    const found = await this.find(source, source.versionId);
    const body = await this.#bodies.duplicate(found.content.body);
    return await this.add(target, { ...found.content, ...change, body }, {});
  }

  /** The newest version, or the one named. `NoSuchKey` also when that is a delete marker. */
  async find(place: ObjectPlace, versionId?: string): Promise<FoundObject> {
    await this.buckets.get(place);
    const versions = (await this.#load(place))?.versions ?? [];
    const version =
      versionId === undefined ? versions[0] : versions.find((candidate) => candidate.versionId === versionId);
    if (version?.content !== undefined) return { ...placeOf(place), ...version, content: version.content };
    throw missing(place, { versionId, version });
  }

  /** A found object's bytes; the stream must be read to its end or destroyed. */
  async read(found: FoundObject, range?: ByteRange): Promise<Readable> {
    return await this.#bodies.read(found.content.body, range);
  }

  /** The same in memory, for code and templates. */
  async bytes(found: FoundObject): Promise<Uint8Array> {
    return await this.#bodies.bytes(found.content.body);
  }

  /** Deletes a version for good; without one, what S3 does: the object, or a new delete marker over it. */
  async delete(place: ObjectPlace, versionId?: string): Promise<Deletion> {
    return await this.#turn(place, async () => {
      const { versioning } = await this.buckets.get(place);
      const versions = (await this.#load(place))?.versions ?? [];
      if (versionId !== undefined) return await this.#deleteVersion(place, versions, versionId);
      if (versioning === "Off") {
        await this.#save(place, [], versions);
        return { isMarker: false };
      }
      const marker = { versionId: newVersionId(versioning), modifiedAt: this.#now() };
      await this.#save(place, withNewest(versions, marker), versions);
      return { versionId: marker.versionId, isMarker: true };
    });
  }

  /** Replaces an object's tags. */
  async setTags(
    place: ObjectPlace,
    tags: Readonly<Record<string, string>>,
    versionId?: string,
  ): Promise<void> {
    await this.#turn(place, async () => {
      const found = await this.find(place, versionId);
      const versions = (await this.#load(place))?.versions ?? [];
      const changed = versions.map((version) =>
        version.versionId === found.versionId ? { ...version, content: { ...found.content, tags } } : version,
      );
      await this.#save(place, changed, changed);
    });
  }

  /** Current objects, in S3's order. */
  async list(place: BucketPlace, query: ListQuery = {}): Promise<Page<ListedObject>> {
    const items = (await this.#entries(place, query.prefix ?? "")).flatMap(({ key, record }) => {
      const [newest] = record.versions;
      return newest?.content === undefined
        ? []
        : [{ key, modifiedAt: newest.modifiedAt, content: newest.content }];
    });
    return pageOf(items, query);
  }

  /** All versions and delete markers, newest first for each key. */
  async listVersions(
    place: BucketPlace,
    query: Omit<ListQuery, "after"> & { readonly after?: VersionMarker } = {},
  ): Promise<Page<ListedVersion>> {
    const { after, ...rest } = query;
    const items = (await this.#entries(place, query.prefix ?? "")).flatMap(({ key, record }) =>
      record.versions.map((version, index) => ({ ...version, key, isLatest: index === 0 })),
    );
    if (after?.versionId === undefined)
      return pageOf(items, { ...rest, ...(after === undefined ? {} : { after: after.key }) });
    const at = items.findIndex(({ key, versionId }) => key === after.key && versionId === after.versionId);
    return pageOf(items.slice(at + 1), rest);
  }

  /** Is there nothing in a bucket, not even a delete marker? */
  async isEmpty(place: BucketPlace): Promise<boolean> {
    return (await this.#entries(place, "")).length === 0;
  }

  /** Ids of all bodies that are versions of objects. */
  async bodies(): Promise<readonly string[]> {
    return (await this.#documents.list("object/")).flatMap(({ value }) =>
      storedAs("object", value).versions.flatMap(({ content }) => content?.body ?? []),
    );
  }

  /** Writes a body and checks it against what was announced. */
  async writeBody(source: ByteSource, expected: BodyExpectation): Promise<WrittenBody> {
    if (expected.md5 !== undefined && Buffer.from(expected.md5, "base64").length !== 16)
      throw new ObjectError("InvalidDigest", { "Content-MD5": expected.md5 });
    const { checksums = {} } = expected;
    const algorithms = checksumAlgorithms.filter(
      (algorithm) => algorithm in checksums || algorithm === expected.algorithm,
    );
    const body = await this.#bodies.write(source, algorithms);
    const fault = faultOf(body, expected);
    if (fault === undefined) return body;
    await this.#bodies.delete(body.id);
    throw fault;
  }

  async #add(place: ObjectPlace, content: ObjectContent, conditions: WriteConditions): Promise<FoundObject> {
    const { versioning } = await this.buckets.get(place);
    const versions = (await this.#load(place))?.versions ?? [];
    checkConditions(place, versions[0]?.content, conditions);
    const version = { versionId: newVersionId(versioning), modifiedAt: this.#now(), content };
    await this.#save(place, withNewest(versions, version), versions);
    return { ...placeOf(place), ...version };
  }

  async #deleteVersion(
    place: ObjectPlace,
    versions: readonly ObjectVersion[],
    versionId: string,
  ): Promise<Deletion> {
    const gone = versions.find((version) => version.versionId === versionId);
    await this.#save(
      place,
      versions.filter((version) => version !== gone),
      versions,
    );
    return { versionId, isMarker: gone !== undefined && gone.content === undefined };
  }

  async #load(place: ObjectPlace): Promise<ObjectRecord | undefined> {
    const value = await this.#documents.get(keyOf(place));
    return value === undefined ? undefined : storedAs("object", value);
  }

  /** Saves versions, then deletes the bodies that only `before` had (O1). */
  async #save(
    place: ObjectPlace,
    versions: readonly ObjectVersion[],
    before: readonly ObjectVersion[],
  ): Promise<void> {
    if (versions.length > 0) await this.#documents.put(keyOf(place), toJson({ versions }));
    else if (before.length > 0) await this.#documents.delete(keyOf(place));
    const kept = new Set(versions.map(({ content }) => content?.body));
    for (const { content } of before)
      if (content !== undefined && !kept.has(content.body)) await this.#bodies.delete(content.body);
  }

  async #entries(
    place: BucketPlace,
    prefix: string,
  ): Promise<readonly { readonly key: string; readonly record: ObjectRecord }[]> {
    await this.buckets.get(place);
    const start = keyOf({ ...place, key: "" });
    const entries = await this.#documents.list(`${start}${prefix}`);
    return entries
      .map(({ key, value }) => ({ key: key.slice(start.length), record: storedAs("object", value) }))
      .toSorted((a, b) => compareKeys(a.key, b.key));
  }

  #turn<Result>(place: ObjectPlace, act: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(keyOf(place), act);
  }
}

/** Whether an object's bucket may have one of that key. */
export function checkKey({ key }: ObjectPlace): void {
  const size = Buffer.byteLength(key);
  if (size <= keyBytes) return;
  throw new ObjectError("KeyTooLongError", { Size: String(size), MaxSizeAllowed: String(keyBytes) });
}

/** What belongs to an object besides its bytes, filled up. */
export function descriptionOf({
  headers = {},
  metadata = {},
  tags = {},
}: Partial<ObjectDescription>): ObjectDescription {
  return { headers, metadata, tags };
}

function keyOf({ partition, bucket, key }: ObjectPlace): string {
  return `object/${partition}/${bucket}/${key}`;
}

function placeOf({ partition, bucket, key }: ObjectPlace): ObjectPlace {
  return { partition, bucket, key };
}

function newVersionId(versioning: BucketRecord["versioning"]): string {
  return versioning === "Enabled" ? randomUUID().replaceAll("-", "") : "null";
}

/** A version without an id of its own takes the place of the one that there was. */
function withNewest(versions: readonly ObjectVersion[], newest: ObjectVersion): readonly ObjectVersion[] {
  return [newest, ...versions.filter(({ versionId }) => versionId !== newest.versionId)];
}

function missing(
  { key }: ObjectPlace,
  asked: { readonly versionId: string | undefined; readonly version: ObjectVersion | undefined },
): ObjectError {
  const { versionId, version } = asked;
  const marker = version === undefined ? {} : { DeleteMarker: version.versionId };
  if (versionId === undefined) return new ObjectError("NoSuchKey", { Key: key, ...marker });
  if (version === undefined) return new ObjectError("NoSuchVersion", { Key: key, VersionId: versionId });
  return new ObjectError("MethodNotAllowed", { Method: "GET", ResourceType: "DeleteMarker", ...marker });
}

function checkConditions(
  { key }: ObjectPlace,
  current: ObjectContent | undefined,
  { mustBeNew = false, mustMatch }: WriteConditions,
): void {
  if (mustBeNew && current !== undefined)
    throw new ObjectError("PreconditionFailed", { Condition: "If-None-Match" });
  if (mustMatch === undefined) return;
  if (current === undefined) throw new ObjectError("NoSuchKey", { Key: key });
  if (current.etag !== mustMatch) throw new ObjectError("PreconditionFailed", { Condition: "If-Match" });
}

function faultOf(body: WrittenBody, { md5, checksums = {} }: BodyExpectation): ObjectError | undefined {
  if (md5 !== undefined && Buffer.from(md5, "base64").toString("hex") !== body.md5)
    return new ObjectError("BadDigest", { ExpectedDigest: md5 });
  const wrong = checksumAlgorithms.find(
    (algorithm) => checksums[algorithm] !== undefined && checksums[algorithm] !== body.checksums[algorithm],
  );
  if (wrong === undefined) return undefined;
  return new ObjectError(
    "BadDigest",
    {},
    `The ${wrong} you specified did not match the calculated checksum.`,
  );
}
