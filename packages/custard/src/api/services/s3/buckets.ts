/** S3's operations on buckets and their configuration. */
import type { Json } from "@custard/provider/protocol";
import type { BucketAspect } from "../../../services/bucket-aspects.ts";
import { ApiError } from "../../api-error.ts";
import type { WireValue } from "../../wire.ts";
import { bucketOf, type Handle } from "./world.ts";

export const createBucket: Handle = async (call, { s3 }) => {
  const { input, scope } = call;
  const { partition, bucket } = bucketOf(call);
  const region = input.object("CreateBucketConfiguration")?.text("LocationConstraint") ?? scope.region;
  const existing = await s3.buckets.find({ partition, bucket });
  // S3's oldest region answers its owner's repetition as if it were the first.
  const isRepeated =
    existing?.account === scope.account && existing.region === "us-east-1" && region === "us-east-1";
  if (!isRepeated) await s3.buckets.create({ partition, bucket, account: scope.account, region });
  return { Location: `/${bucket}` };
};

export const deleteBucket: Handle = async (call, { s3 }) => {
  await s3.deleteBucket(bucketOf(call));
  return {};
};

export const headBucket: Handle = async (call, { s3 }) => {
  const { region } = await s3.buckets.get(bucketOf(call));
  return { BucketRegion: region };
};

export const listBuckets: Handle = async ({ scope, input }, { s3 }) => {
  const prefix = input.text("Prefix") ?? "";
  const buckets = (await s3.buckets.list(scope)).filter(({ bucket }) => bucket.startsWith(prefix));
  return {
    Buckets: buckets.map(({ bucket, createdAt, region }) => ({
      Name: bucket,
      CreationDate: createdAt,
      BucketRegion: region,
    })),
    Owner: { ID: scope.account },
  };
};

/** S3's oldest region has no name here. */
export const getBucketLocation: Handle = async (call, { s3 }) => {
  const { region } = await s3.buckets.get(bucketOf(call));
  return { LocationConstraint: region === "us-east-1" ? undefined : region };
};

export const getBucketVersioning: Handle = async (call, { s3 }) => {
  const { versioning } = await s3.buckets.get(bucketOf(call));
  return { Status: versioning === "Off" ? undefined : versioning };
};

export const putBucketVersioning: Handle = async (call, { s3 }) => {
  const status = call.input.object("VersioningConfiguration")?.text("Status");
  if (status !== "Enabled" && status !== "Suspended") throw malformedXml();
  await s3.buckets.setVersioning(bucketOf(call), status);
  return {};
};

/** Bodies that are the configuration itself, below the member of that name or without one. */
export function getAspect(aspect: BucketAspect, member?: string): Handle {
  return async (call, { s3 }) => {
    const value = await s3.buckets.aspect(bucketOf(call), aspect);
    return call.fit(member === undefined ? value : { [member]: value });
  };
}

export function putAspect(aspect: BucketAspect, member: string): Handle {
  return async (call, { s3 }) => {
    const given = call.input.object(member);
    if (given === undefined) throw malformedXml();
    await s3.buckets.setAspect(bucketOf(call), aspect, toJson(given.whole()));
    return {};
  };
}

export function deleteAspect(aspect: BucketAspect): Handle {
  return async (call, { s3 }) => {
    await s3.buckets.setAspect(bucketOf(call), aspect, undefined);
    return {};
  };
}

/** A text of JSON. */
export const putBucketPolicy: Handle = async (call, { s3 }) => {
  await s3.buckets.setAspect(bucketOf(call), "policy", call.input.text("Policy") ?? "");
  return {};
};

/** Everything belongs to whoever owns the bucket: no lists of others are kept. */
export const getAcl: Handle = async ({ scope }) => ({
  Owner: { ID: scope.account },
  Grants: [{ Grantee: { Type: "CanonicalUser", ID: scope.account }, Permission: "FULL_CONTROL" }],
});

function toJson(value: WireValue): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

function malformedXml(): ApiError {
  return new ApiError(
    "MalformedXML",
    "The XML you provided was not well-formed or did not validate against our published schema",
  );
}
