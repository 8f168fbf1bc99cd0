import type { S3 } from "../../../services/s3.ts";
import type { ObjectPlace } from "../../../services/object-record.ts";
import type { ApiCall, Handler } from "../../service.ts";

/** What S3's operations work on. */
export interface S3World {
  readonly s3: S3;
}

export type Handle = Handler<S3World>;

/** The bucket that a call is about. */
export function bucketOf({ input, scope }: ApiCall): { readonly partition: string; readonly bucket: string } {
  return { partition: scope.partition, bucket: input.need("Bucket") };
}

/** The object that a call is about. */
export function objectOf(call: ApiCall): ObjectPlace {
  return { ...bucketOf(call), key: call.input.need("Key") };
}
