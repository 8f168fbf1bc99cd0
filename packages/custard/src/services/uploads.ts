/**
 * Multipart uploads to the object store.
 *
 * Invariants
 * M1: parts are kept until their upload is completed or aborted, across restarts too.
 * M2: completing makes one new body of them; the upload is forgotten only when that is an object.
 */
import { createHash, randomUUID } from "node:crypto";
import type { Documents } from "../engine/ports.ts";
import type { BodyFiles, ByteSource } from "./body-files.ts";
import { type ChecksumAlgorithm, checksumOf, type Checksums } from "./checksums.ts";
import { ObjectError } from "./object-error.ts";
import {
  type BucketPlace,
  type ObjectContent,
  type ObjectDescription,
  type ObjectPlace,
  type PartRecord,
  storedAs,
  toJson,
  type UploadRecord,
} from "./object-record.ts";
import {
  type BodyExpectation,
  checkKey,
  descriptionOf,
  type FoundObject,
  type ObjectStore,
  type WriteConditions,
} from "./objects.ts";

/** An upload by its id. */
export interface UploadPlace extends ObjectPlace {
  readonly uploadId: string;
}

/** A part as the one who completes an upload names it. */
export interface NamedPart {
  readonly number: number;
  /** With or without quotes. */
  readonly etag: string;
}

/** S3's least size of a part that isn't the last. */
const leastPartBytes = 5 * 1024 * 1024;
const mostParts = 10_000;

/** Uploads in `Documents`, under `upload/<partition>/<bucket>/<id>`, their parts under `upload-part/…/<id>/<number>`. */
export class Uploads {
  readonly #store: ObjectStore;
  readonly #documents: Documents;
  readonly #bodies: BodyFiles;
  readonly #now: () => number;

  constructor(
    store: ObjectStore,
    world: { readonly documents: Documents; readonly bodies: BodyFiles; readonly now: () => number },
  ) {
    this.#store = store;
    this.#documents = world.documents;
    this.#bodies = world.bodies;
    this.#now = world.now;
  }

  async create(
    place: ObjectPlace,
    wanted: Partial<ObjectDescription> & {
      readonly algorithm?: ChecksumAlgorithm;
      readonly checksumType?: UploadRecord["checksumType"];
    },
  ): Promise<UploadRecord> {
    checkKey(place);
    await this.#store.buckets.get(place);
    const { algorithm, checksumType = algorithm === "CRC64NVME" ? "FULL_OBJECT" : "COMPOSITE" } = wanted;
    const { partition, bucket, key } = place;
    const upload: UploadRecord = {
      ...descriptionOf(wanted),
      partition,
      bucket,
      key,
      uploadId: randomUUID().replaceAll("-", ""),
      initiatedAt: this.#now(),
      checksumType,
      ...(algorithm === undefined ? {} : { algorithm }),
    };
    await this.#documents.put(uploadKey(upload), toJson(upload));
    return upload;
  }

  async get(place: UploadPlace): Promise<UploadRecord> {
    await this.#store.buckets.get(place);
    const value = await this.#documents.get(uploadKey(place));
    const upload = value === undefined ? undefined : storedAs("upload", value);
    if (upload?.key === place.key) return upload;
    throw new ObjectError("NoSuchUpload", { UploadId: place.uploadId });
  }

  async putPart(
    place: UploadPlace,
    part: { readonly number: number; readonly body: ByteSource; readonly expect?: BodyExpectation },
  ): Promise<PartRecord> {
    checkNumber(part.number);
    const { algorithm } = await this.get(place);
    const expected = { ...(algorithm === undefined ? {} : { algorithm }), ...part.expect };
    const body = await this.#store.writeBody(part.body, expected);
    const record: PartRecord = {
      number: part.number,
      body: body.id,
      size: body.size,
      etag: body.md5,
      checksums: body.checksums,
      modifiedAt: this.#now(),
    };
    const key = partKey(place, part.number);
    const before = await this.#documents.get(key);
    await this.#documents.put(key, toJson(record));
    if (before !== undefined) await this.#bodies.delete(storedAs("part", before).body);
    return record;
  }

  /** The parts so far, by number. */
  async parts(place: UploadPlace): Promise<readonly PartRecord[]> {
    await this.get(place);
    return await this.#parts(place);
  }

  /** The unfinished uploads of a bucket, by key and time. */
  async list(place: BucketPlace): Promise<readonly UploadRecord[]> {
    await this.#store.buckets.get(place);
    const uploads = (await this.#documents.list(bucketPrefix(place))).map(({ value }) =>
      storedAs("upload", value),
    );
    return uploads.toSorted(
      (a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)) || a.initiatedAt - b.initiatedAt,
    );
  }

  async complete(
    place: UploadPlace,
    named: readonly NamedPart[],
    conditions: WriteConditions = {},
  ): Promise<FoundObject> {
    const upload = await this.get(place);
    const parts = choose(await this.#parts(place), named);
    const body = await this.#bodies.write(
      this.#joined(parts),
      upload.algorithm === undefined ? [] : [upload.algorithm],
    );
    const content: ObjectContent = {
      ...descriptionOf(upload),
      body: body.id,
      size: body.size,
      etag: `${md5OfParts(parts)}-${parts.length}`,
      checksums: upload.checksumType === "COMPOSITE" ? composite(upload, parts) : body.checksums,
      checksumType: upload.checksumType,
      parts: parts.length,
    };
    const made = await this.#store.add(place, content, conditions);
    await this.#forget(place);
    return made;
  }

  async abort(place: UploadPlace): Promise<void> {
    await this.get(place);
    await this.#forget(place);
  }

  /** Drops whatever is unfinished in a bucket that is gone. */
  async forget(place: BucketPlace): Promise<void> {
    for (const { value } of await this.#documents.list(bucketPrefix(place)))
      await this.#forget(storedAs("upload", value));
  }

  /** Ids of all bodies that are parts. */
  async bodies(): Promise<readonly string[]> {
    return (await this.#documents.list("upload-part/")).map(({ value }) => storedAs("part", value).body);
  }

  async #forget(place: UploadPlace): Promise<void> {
    await this.#documents.delete(uploadKey(place));
    for (const part of await this.#parts(place)) {
      await this.#documents.delete(partKey(place, part.number));
      await this.#bodies.delete(part.body);
    }
  }

  async #parts(place: UploadPlace): Promise<readonly PartRecord[]> {
    return (await this.#documents.list(partPrefix(place))).map(({ value }) => storedAs("part", value));
  }

  async *#joined(parts: readonly PartRecord[]): AsyncGenerator<Uint8Array> {
    for (const { body } of parts) yield* await this.#bodies.read(body);
  }
}

function checkNumber(number: number): void {
  if (Number.isInteger(number) && number >= 1 && number <= mostParts) return;
  throw new ObjectError(
    "InvalidArgument",
    { ArgumentName: "partNumber", ArgumentValue: String(number) },
    `Part number must be an integer between 1 and ${mostParts}, inclusive`,
  );
}

function choose(parts: readonly PartRecord[], named: readonly NamedPart[]): readonly PartRecord[] {
  const isAscending = named.every(
    (part, index) => index === 0 || part.number > (named[index - 1]?.number ?? 0),
  );
  if (!isAscending) throw new ObjectError("InvalidPartOrder");
  if (named.length === 0) throw new ObjectError("InvalidArgument", {}, "You must specify at least one part");
  return named.map((wanted, index) => {
    const part = parts.find(({ number }) => number === wanted.number);
    if (part === undefined || part.etag !== wanted.etag.replaceAll('"', ""))
      throw new ObjectError("InvalidPart", { PartNumber: String(wanted.number), ETag: wanted.etag });
    if (part.size < leastPartBytes && index < named.length - 1)
      throw new ObjectError("EntityTooSmall", {
        ProposedSize: String(part.size),
        MinSizeAllowed: String(leastPartBytes),
        PartNumber: String(part.number),
      });
    return part;
  });
}

function md5OfParts(parts: readonly PartRecord[]): string {
  const md5 = createHash("md5");
  for (const { etag } of parts) md5.update(Buffer.from(etag, "hex"));
  return md5.digest("hex");
}

/** S3's checksum of the parts' checksums, with their number. */
function composite({ algorithm }: UploadRecord, parts: readonly PartRecord[]): Checksums {
  if (algorithm === undefined) return {};
  const joined = Buffer.concat(
    parts.map(({ checksums }) => Buffer.from(checksums[algorithm] ?? "", "base64")),
  );
  return { [algorithm]: `${checksumOf(algorithm, joined)}-${parts.length}` };
}

function bucketPrefix({ partition, bucket }: BucketPlace): string {
  return `upload/${partition}/${bucket}/`;
}

function uploadKey(place: UploadPlace): string {
  return `${bucketPrefix(place)}${place.uploadId}`;
}

function partPrefix({ partition, bucket, uploadId }: UploadPlace): string {
  return `upload-part/${partition}/${bucket}/${uploadId}/`;
}

function partKey(place: UploadPlace, number: number): string {
  return `${partPrefix(place)}${String(number).padStart(5, "0")}`;
}
