import type { Json } from "@custard/provider/protocol";
import type { ObjectErrorCode } from "./object-error.ts";

/** Configuration of buckets that is kept as S3's API gives it, and what S3 says when there is none. */
export const bucketAspects = {
  tagging: { missing: "NoSuchTagSet" },
  policy: { missing: "NoSuchBucketPolicy" },
  cors: { missing: "NoSuchCORSConfiguration" },
  encryption: {
    initial: {
      Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" }, BucketKeyEnabled: false }],
    },
  },
  lifecycle: { missing: "NoSuchLifecycleConfiguration" },
  logging: { initial: {} },
  notification: { initial: {} },
  ownershipControls: { initial: { Rules: [{ ObjectOwnership: "BucketOwnerEnforced" }] } },
  publicAccessBlock: {
    initial: {
      BlockPublicAcls: true,
      IgnorePublicAcls: true,
      BlockPublicPolicy: true,
      RestrictPublicBuckets: true,
    },
  },
  replication: { missing: "ReplicationConfigurationNotFoundError" },
  website: { missing: "NoSuchWebsiteConfiguration" },
} as const satisfies Readonly<
  Record<string, { readonly missing: ObjectErrorCode } | { readonly initial: Json }>
>;

/** One of them. */
export type BucketAspect = keyof typeof bucketAspects;

/**
 * What S3 says once a value that every new bucket has was deleted; encryption goes back to its first value instead,
 * as do logging and notifications.
 */
export const afterDeletion: Readonly<Partial<Record<BucketAspect, ObjectErrorCode>>> = {
  ownershipControls: "OwnershipControlsNotFoundError",
  publicAccessBlock: "NoSuchPublicAccessBlockConfiguration",
};
