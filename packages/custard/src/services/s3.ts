/** The local S3, whole: buckets, objects, uploads and their bodies. */
import type { Documents } from "../engine/ports.ts";
import { BodyFiles } from "./body-files.ts";
import type { Buckets } from "./buckets.ts";
import type { BucketPlace } from "./object-record.ts";
import { ObjectStore } from "./objects.ts";
import { Uploads } from "./uploads.ts";

/** The local S3. */
export interface S3 {
  readonly buckets: Buckets;
  readonly objects: ObjectStore;
  readonly uploads: Uploads;
  /** `BucketNotEmpty` when anything is in it; unfinished uploads go with the bucket. */
  deleteBucket(place: BucketPlace): Promise<void>;
  /** Deletes bodies that a crash left without an owner. Only before anything is written. */
  sweep(): Promise<void>;
}

/** The local S3: records in `documents`, bodies in `directory`. */
export function createS3(world: {
  readonly documents: Documents;
  readonly directory: string;
  readonly now?: () => number;
}): S3 {
  const { documents, now = Date.now } = world;
  const bodies = new BodyFiles(world.directory);
  const objects = new ObjectStore({ documents, bodies, now });
  const uploads = new Uploads(objects, { documents, bodies, now });
  return {
    buckets: objects.buckets,
    objects,
    uploads,
    async deleteBucket(place) {
      await objects.buckets.delete(place, () => objects.isEmpty(place));
      await uploads.forget(place);
    },
    sweep: () =>
      bodies.sweep(async () => new Set([...(await objects.bodies()), ...(await uploads.bodies())])),
  };
}
