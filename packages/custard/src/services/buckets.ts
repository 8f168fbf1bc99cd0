/**
 * Buckets: their names, owners and configuration.
 *
 * Invariants
 * U1: a name belongs to one account of a partition at a time.
 * U2: a create that comes twice with one token changes nothing the second time.
 * U3: a bucket that holds anything, delete markers and unfinished uploads aside, isn't deleted.
 */
import type { Json } from "@custard/provider/protocol";
import type { Documents } from "../engine/ports.ts";
import { afterDeletion, type BucketAspect, bucketAspects } from "./bucket-aspects.ts";
import type { KeyedTurns } from "./keyed-turns.ts";
import { ObjectError } from "./object-error.ts";
import { type BucketPlace, type BucketRecord, storedAs, toJson } from "./object-record.ts";

/** A bucket that is to be. */
export interface NewBucket extends BucketPlace {
  readonly account: string;
  readonly region: string;
  /** The same for every repetition of one call (U2). */
  readonly token?: string;
}

/** Buckets in `Documents`, under `bucket/<partition>/<name>`. Throws `ObjectError`. */
export class Buckets {
  readonly #documents: Documents;
  readonly #turns: KeyedTurns;
  readonly #now: () => number;

  constructor(documents: Documents, turns: KeyedTurns, now: () => number) {
    this.#documents = documents;
    this.#turns = turns;
    this.#now = now;
  }

  async create(wanted: NewBucket): Promise<BucketRecord> {
    const { token = "", ...place } = wanted;
    if (!isBucketName(wanted.bucket))
      throw new ObjectError("InvalidBucketName", { BucketName: wanted.bucket });
    return await this.#turn(place, async () => {
      const owner = await this.find(place);
      if (owner !== undefined) return taken(owner, wanted);
      const { partition, bucket, account, region } = place;
      const record: BucketRecord = {
        partition,
        bucket,
        account,
        region,
        createdAt: this.#now(),
        versioning: "Off",
        aspects: initialAspects(),
        token,
      };
      await this.#save(record);
      return record;
    });
  }

  async find(place: BucketPlace): Promise<BucketRecord | undefined> {
    const value = await this.#documents.get(keyOf(place));
    return value === undefined ? undefined : storedAs("bucket", value);
  }

  async get(place: BucketPlace): Promise<BucketRecord> {
    const bucket = await this.find(place);
    if (bucket === undefined) throw new ObjectError("NoSuchBucket", { BucketName: place.bucket });
    return bucket;
  }

  /** The buckets of an account, by name. */
  async list(owner: {
    readonly partition: string;
    readonly account: string;
  }): Promise<readonly BucketRecord[]> {
    const entries = await this.#documents.list(`bucket/${owner.partition}/`);
    return entries
      .map(({ value }) => storedAs("bucket", value))
      .filter(({ account }) => account === owner.account);
  }

  /** What S3 shows of one kind of configuration; its own error when there is none. */
  async aspect(place: BucketPlace, aspect: BucketAspect): Promise<Json> {
    const { aspects } = await this.get(place);
    const value = aspects[aspect];
    if (value !== undefined) return value;
    const known = bucketAspects[aspect];
    const code = afterDeletion[aspect] ?? ("missing" in known ? known.missing : undefined);
    if (code === undefined && "initial" in known) return known.initial;
    throw new ObjectError(code ?? "NoSuchBucket", { BucketName: place.bucket });
  }

  /** Sets one kind of configuration; undefined deletes it. */
  async setAspect(place: BucketPlace, aspect: BucketAspect, value: Json | undefined): Promise<void> {
    if (aspect === "policy" && value !== undefined) checkPolicy(value);
    await this.#turn(place, async () => {
      const bucket = await this.get(place);
      const { [aspect]: _, ...others } = bucket.aspects;
      await this.#save({ ...bucket, aspects: value === undefined ? others : { ...others, [aspect]: value } });
    });
  }

  async setVersioning(place: BucketPlace, versioning: "Enabled" | "Suspended"): Promise<void> {
    await this.#turn(place, async () => await this.#save({ ...(await this.get(place)), versioning }));
  }

  /** Deletes an empty bucket; `isEmpty` is asked in its turn (U3). */
  async delete(place: BucketPlace, isEmpty: (bucket: BucketRecord) => Promise<boolean>): Promise<void> {
    await this.#turn(place, async () => {
      const bucket = await this.get(place);
      if (!(await isEmpty(bucket))) throw notEmpty(bucket);
      await this.#documents.delete(keyOf(place));
    });
  }

  #turn<Result>(place: BucketPlace, act: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(keyOf(place), act);
  }

  #save(record: BucketRecord): Promise<void> {
    return this.#documents.put(keyOf(record), toJson(record));
  }
}

/** S3's rules for names of general purpose buckets. */
export function isBucketName(name: string): boolean {
  return (
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name) &&
    !name.includes("..") &&
    !/^\d{1,3}(?:\.\d{1,3}){3}$/.test(name) &&
    !/^(?:xn--|sthree-|amzn-s3-demo-)/.test(name) &&
    !/(?:-s3alias|--ol-s3|\.mrap|--x-s3)$/.test(name)
  );
}

function keyOf({ partition, bucket }: BucketPlace): string {
  return `bucket/${partition}/${bucket}`;
}

function taken(owner: BucketRecord, wanted: NewBucket): BucketRecord {
  if (wanted.token !== undefined && wanted.token !== "" && owner.token === wanted.token) return owner;
  const code = owner.account === wanted.account ? "BucketAlreadyOwnedByYou" : "BucketAlreadyExists";
  throw new ObjectError(code, { BucketName: wanted.bucket });
}

function notEmpty({ bucket, versioning }: BucketRecord): ObjectError {
  const details = { BucketName: bucket };
  if (versioning === "Off") return new ObjectError("BucketNotEmpty", details);
  return new ObjectError(
    "BucketNotEmpty",
    details,
    "The bucket you tried to delete is not empty. You must delete all versions in the bucket.",
  );
}

function initialAspects(): BucketRecord["aspects"] {
  return Object.fromEntries(
    Object.entries(bucketAspects).flatMap(([name, aspect]) =>
      "initial" in aspect ? [[name, aspect.initial]] : [],
    ),
  );
}

function checkPolicy(value: Json): void {
  const text = typeof value === "string" ? value : undefined;
  try {
    const policy: unknown = text === undefined ? undefined : JSON.parse(text);
    if (typeof policy === "object" && policy !== null && !Array.isArray(policy)) return;
  } catch {
    // Said below.
  }
  throw new ObjectError("MalformedPolicy", {}, "Policies must be valid JSON and the first byte must be '{'");
}
