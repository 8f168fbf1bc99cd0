import type { JsonObject } from "@custard/provider/protocol";
import { ObjectError } from "../services/object-error.ts";
import type { BucketPlace } from "../services/object-record.ts";
import type { S3 } from "../services/s3.ts";
import { attributeForms } from "./attribute-forms.ts";
import { bucketAspectsOf } from "./bucket-configuration.ts";
import { serviceFailure } from "./failure.ts";
import { generatedName } from "./generated-name.ts";
import type { Handler, Made } from "./handler.ts";
import type { KeptRecords } from "./kept-records.ts";
import { membersOf } from "./properties.ts";
import { type Subject, textProperty, toText } from "./subject.ts";

/** `AWS::S3::Bucket`: buckets of the local object store. */
export function s3Bucket(s3: S3, records: KeptRecords): Handler {
  async function configure(subject: Subject, place: BucketPlace): Promise<void> {
    for (const [aspect, value] of bucketAspectsOf(subject)) await s3.buckets.setAspect(place, aspect, value);
    const before = (await s3.buckets.get(place)).versioning;
    const wanted = versioningOf(subject);
    if (wanted === "Enabled") await s3.buckets.setVersioning(place, "Enabled");
    // Versions once begun can only be suspended.
    else if (before === "Enabled") await s3.buckets.setVersioning(place, "Suspended");
  }
  return {
    async create(subject) {
      const { task, properties } = subject;
      const bucket = textProperty(subject, "BucketName") ?? generatedName(subject);
      const { partition, account, region, token } = task;
      const place = { partition, bucket };
      await s3.buckets
        .create({ ...place, account, region, token })
        .catch(async (error: unknown) =>
          isTaken(error) ? await records.refuseTaken(task, bucket) : s3Failure(error, subject),
        );
      const made = describe(subject, bucket);
      await records.create(task, bucket, { properties, attributes: made.attributes as JsonObject });
      await configure(subject, place).catch((error: unknown) => s3Failure(error, subject));
      return made;
    },
    async update(subject) {
      const { task, properties } = subject;
      const made = describe(subject, task.physicalId);
      await configure(subject, placeOf(subject, task.physicalId)).catch((error: unknown) =>
        s3Failure(error, subject),
      );
      await records.update(task, { properties, attributes: made.attributes as JsonObject });
      return made;
    },
    async delete(subject) {
      if (!(await records.owns(subject.task))) return;
      await unlessMissing(s3.deleteBucket(placeOf(subject, subject.task.physicalId)), subject);
      await records.delete(subject.task);
    },
  };
}

/** `AWS::S3::BucketPolicy`: the policy of a bucket that exists; nothing here asks it. */
export function s3BucketPolicy(s3: S3): Handler {
  async function put(subject: Subject): Promise<Made> {
    const bucket = textProperty(subject, "Bucket") ?? "";
    const policy = subject.properties["PolicyDocument"];
    const text = typeof policy === "string" ? policy : JSON.stringify(policy);
    await s3.buckets
      .setAspect(placeOf(subject, bucket), "policy", text)
      .catch((error: unknown) => s3Failure(error, subject));
    return { physicalId: bucket, attributes: {} };
  }
  return {
    create: put,
    update: put,
    async delete(subject) {
      const { physicalId } = subject.task;
      await unlessMissing(s3.buckets.setAspect(placeOf(subject, physicalId), "policy", undefined), subject);
    },
  };
}

/** A bucket's attributes; the host names follow from its name and region. */
function describe(subject: Subject, bucket: string): Made {
  const { partition } = subject.task;
  const hosts = attributeForms["AWS::S3::Bucket"]?.(subject, bucket) ?? {};
  return { physicalId: bucket, attributes: { Arn: `arn:${partition}:s3:::${bucket}`, ...hosts } };
}

function versioningOf({ properties }: Subject): string | undefined {
  const configuration = properties["VersioningConfiguration"];
  return toText(membersOf(configuration, "VersioningConfiguration")["Status"]);
}

function placeOf({ task }: Subject, bucket: string): BucketPlace {
  return { partition: task.partition, bucket };
}

function isTaken(error: unknown): boolean {
  return (
    error instanceof ObjectError &&
    (error.code === "BucketAlreadyExists" || error.code === "BucketAlreadyOwnedByYou")
  );
}

async function unlessMissing(deletion: Promise<void>, subject: Subject): Promise<void> {
  await deletion.catch((error: unknown) => {
    if (!(error instanceof ObjectError && error.code === "NoSuchBucket")) s3Failure(error, subject);
  });
}

/** Throws what S3's refusal becomes as a resource's reason; other errors as they are. */
export function s3Failure(error: unknown, { task }: Subject): never {
  if (!(error instanceof ObjectError)) throw error;
  const { message, status: httpStatus } = error;
  throw serviceFailure(
    {
      service: "S3",
      message,
      httpStatus,
      handlerErrorCode: handlerErrorCodes[httpStatus] ?? "GeneralServiceException",
    },
    task.token,
    { cause: error },
  );
}

const handlerErrorCodes: Readonly<Record<number, "NotFound" | "InvalidRequest">> = {
  400: "InvalidRequest",
  404: "NotFound",
};
