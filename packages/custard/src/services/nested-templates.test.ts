import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../../../tests/support/state-directory.ts";
import { MemoryDocuments } from "../storage/memory-documents.ts";
import { createTemplates, parseObjectUrl } from "./nested-templates.ts";
import { createS3 } from "./s3.ts";

const place = { region: "us-east-1", account: "123456789012" };

test.each([
  { url: "https://my-bucket.s3.us-east-1.amazonaws.com/a/b.yaml", bucket: "my-bucket", key: "a/b.yaml" },
  { url: "https://my.bucket.s3.amazonaws.com/a%20b.yaml", bucket: "my.bucket", key: "a b.yaml" },
  { url: "https://s3.eu-west-1.amazonaws.com/my-bucket/a/b.yaml", bucket: "my-bucket", key: "a/b.yaml" },
  { url: "https://s3-eu-west-1.amazonaws.com/my-bucket/b.yaml", bucket: "my-bucket", key: "b.yaml" },
  { url: "https://s3.amazonaws.com/my-bucket/b.yaml", bucket: "my-bucket", key: "b.yaml" },
  { url: "https://my-bucket.s3.cn-north-1.amazonaws.com.cn/b.yaml", bucket: "my-bucket", key: "b.yaml" },
  { url: "s3://my-bucket/a/b.yaml", bucket: "my-bucket", key: "a/b.yaml" },
])("$url is $bucket and $key", ({ url, bucket, key }) => {
  expect(parseObjectUrl(url)).toEqual({ bucket, key });
});

test.each([
  "https://example.com/b.yaml",
  "http://my-bucket.s3.amazonaws.com/b.yaml",
  "https://s3.amazonaws.com/my-bucket",
  "https://my-bucket.s3.amazonaws.com/",
  "https://my-bucket.s3.amazonaws.com/%zz",
  "https://notss3.example.amazonaws.com.example.org/b",
])("%s is no object", (url) => {
  expect(parseObjectUrl(url)).toBeUndefined();
});

describe("a template", () => {
  async function start() {
    const directory = temporaryDirectory();
    const s3 = createS3({ documents: new MemoryDocuments(), directory: join(directory, "objects") });
    await s3.sweep();
    const bucket = { partition: "aws", bucket: "my-bucket" };
    await s3.buckets.create({ ...bucket, ...place });
    await s3.objects.put({ ...bucket, key: "child.yaml" }, { body: [Buffer.from("in S3")] });
    await mkdir(join(directory, "parts"));
    await writeFile(join(directory, "parts", "child.yaml"), "in a file");
    return { templates: createTemplates(s3.objects), directory };
  }

  test("is read from a bucket", async () => {
    const { templates } = await start();
    const url = "https://my-bucket.s3.us-east-1.amazonaws.com/child.yaml";
    expect(await templates.read({ url, ...place })).toEqual({ kind: "read", body: "in S3" });
  });

  test("is read beside its parent's, and starts a folder of its own", async () => {
    const { templates, directory } = await start();
    expect(await templates.read({ url: "./parts/child.yaml", directory, ...place })).toEqual({
      kind: "read",
      body: "in a file",
      directory: join(directory, "parts"),
    });
  });

  test.each([
    {
      url: "https://my-bucket.s3.amazonaws.com/none",
      reason: /^S3 error: The specified key does not exist\./,
    },
    {
      url: "https://no-bucket.s3.amazonaws.com/none",
      reason: /^S3 error: The specified bucket does not exist/,
    },
    { url: "https://example.com/child.yaml", reason: /^TemplateURL must be a supported URL\.$/ },
    { url: "none.yaml", reason: /names no file/ },
  ])("that isn't at $url fails with a reason", async ({ url, reason }) => {
    const { templates, directory } = await start();
    expect(await templates.read({ url, directory, ...place })).toEqual({
      kind: "failed",
      reason: expect.stringMatching(reason),
    });
  });

  test("by a path needs a parent that came from a file", async () => {
    const { templates } = await start();
    expect(await templates.read({ url: "child.yaml", ...place })).toMatchObject({ kind: "failed" });
  });
});
