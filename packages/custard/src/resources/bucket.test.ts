import { expect, test } from "vitest";
import { createTask } from "../../../../tests/support/resource-task.ts";
import { resourceWorld } from "../../../../tests/support/resource-world.ts";
import type { LogicalId, PhysicalId } from "../engine/ids.ts";
import type { ResourceTask } from "../engine/ports.ts";
import type { ValueMap } from "../template/value.ts";

const bucket = { partition: "aws", bucket: "my-bucket" };

function bucketTask(properties: ValueMap, more: Partial<ResourceTask> = {}): ResourceTask {
  return createTask("AWS::S3::Bucket", { properties, ...more });
}

const named = { BucketName: "my-bucket" };
const existing = { action: "update", physicalId: "my-bucket" as PhysicalId, token: "update-1" } as const;
const deletion = { action: "delete", physicalId: "my-bucket" as PhysicalId, token: "delete-1" } as const;

test("a bucket without a name gets a generated one that S3 takes", async () => {
  const { perform, s3 } = resourceWorld();
  const outcome = await perform(bucketTask({}));
  expect(outcome).toMatchObject({ kind: "done", physicalId: "my-stack-thing-kdps7tfbhfx5" });
  await expect(
    s3.buckets.get({ partition: "aws", bucket: "my-stack-thing-kdps7tfbhfx5" }),
  ).resolves.toMatchObject({ account: "123456789012", region: "us-east-1" });
});

test.each([
  {
    region: "us-east-1",
    partition: "aws",
    regional: "my-bucket.s3.us-east-1.amazonaws.com",
    website: "http://my-bucket.s3-website-us-east-1.amazonaws.com",
  },
  {
    region: "eu-central-1",
    partition: "aws",
    regional: "my-bucket.s3.eu-central-1.amazonaws.com",
    website: "http://my-bucket.s3-website.eu-central-1.amazonaws.com",
  },
  {
    region: "cn-north-1",
    partition: "aws-cn",
    regional: "my-bucket.s3.cn-north-1.amazonaws.com.cn",
    website: "http://my-bucket.s3-website.cn-north-1.amazonaws.com.cn",
  },
])("attributes of a bucket in $region", async ({ region, partition, regional, website }) => {
  const { perform } = resourceWorld();
  expect(await perform(bucketTask(named, { region, partition }))).toMatchObject({
    attributes: {
      Arn: `arn:${partition}:s3:::my-bucket`,
      RegionalDomainName: regional,
      WebsiteURL: website,
    },
  });
});

test("what a template says is what S3's API shows, and what it took back is S3's own again", async () => {
  const { perform, s3 } = resourceWorld();
  const properties = {
    ...named,
    BucketEncryption: {
      ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: "aws:kms" } }],
    },
    LifecycleConfiguration: { Rules: [{ Id: "r", Status: "Enabled", ExpirationInDays: 3 }] },
    VersioningConfiguration: { Status: "Enabled" },
    Tags: [{ Key: "a", Value: "b" }],
  };
  expect(await perform(bucketTask(properties))).toMatchObject({ kind: "done" });
  expect(await s3.buckets.aspect(bucket, "encryption")).toEqual({
    Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "aws:kms" } }],
  });
  expect(await s3.buckets.aspect(bucket, "lifecycle")).toEqual({
    Rules: [{ ID: "r", Status: "Enabled", Filter: { Prefix: "" }, Expiration: { Days: 3 } }],
  });
  expect(await s3.buckets.aspect(bucket, "tagging")).toEqual({ TagSet: [{ Key: "a", Value: "b" }] });
  expect((await s3.buckets.get(bucket)).versioning).toBe("Enabled");
  await perform(bucketTask(named, { ...existing, oldProperties: properties }));
  expect(await s3.buckets.aspect(bucket, "encryption")).toMatchObject({
    Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }],
  });
  await expect(s3.buckets.aspect(bucket, "lifecycle")).rejects.toMatchObject({
    code: "NoSuchLifecycleConfiguration",
  });
  expect((await s3.buckets.get(bucket)).versioning).toBe("Suspended");
});

test("a bucket that isn't empty isn't deleted; an empty one may be, twice", async () => {
  const { perform, s3 } = resourceWorld();
  await perform(bucketTask(named));
  await s3.objects.put({ ...bucket, key: "a" }, { body: [Buffer.from("x")] });
  expect(await perform(bucketTask(named, deletion))).toMatchObject({
    kind: "failed",
    reason: expect.stringMatching(
      /^Resource handler returned message: "The bucket you tried to delete is not empty \(Service: S3, Status Code: 409, /,
    ),
  });
  await s3.objects.delete({ ...bucket, key: "a" });
  expect(await perform(bucketTask(named, deletion))).toMatchObject({ kind: "done" });
  expect(await s3.buckets.find(bucket)).toBeUndefined();
  expect(await perform(bucketTask(named, deletion))).toMatchObject({ kind: "done" });
});

test("a taken name is refused, and who lost it doesn't delete the other's", async () => {
  const { perform, s3 } = resourceWorld();
  const first = bucketTask(named);
  expect(await perform(first)).toEqual(await perform(first));
  const other = { logicalId: "Other" as LogicalId, token: "create-2" };
  expect(await perform(bucketTask(named, other))).toEqual({
    kind: "failed",
    reason: `my-bucket already exists in stack ${first.stackId}`,
  });
  await perform(bucketTask(named, { ...other, ...deletion }));
  await expect(s3.buckets.get(bucket)).resolves.toBeDefined();
  await s3.buckets.create({ partition: "aws", bucket: "by-hand", account: "1", region: "us-east-1" });
  expect(await perform(bucketTask({ BucketName: "by-hand" }))).toEqual({
    kind: "failed",
    reason: "by-hand already exists",
  });
});

test("a bucket's policy is kept with it", async () => {
  const { perform, s3 } = resourceWorld();
  await perform(bucketTask(named));
  const properties = { Bucket: "my-bucket", PolicyDocument: { Statement: [] } };
  const task = (more: Partial<ResourceTask> = {}) =>
    createTask("AWS::S3::BucketPolicy", { properties, ...more });
  expect(await perform(task())).toMatchObject({ kind: "done", physicalId: "my-bucket" });
  expect(await s3.buckets.aspect(bucket, "policy")).toBe('{"Statement":[]}');
  expect(await perform(task(deletion))).toMatchObject({ kind: "done" });
  await expect(s3.buckets.aspect(bucket, "policy")).rejects.toMatchObject({ code: "NoSuchBucketPolicy" });
  await perform(bucketTask(named, deletion));
  expect(await perform(task(deletion))).toMatchObject({ kind: "done" });
  expect(await perform(task())).toMatchObject({
    reason: expect.stringContaining("The specified bucket does not exist (Service: S3, Status Code: 404"),
  });
});
