import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../../tests/support/state-directory.ts";
import { MemoryDocuments } from "../storage/memory-documents.ts";
import { createS3 } from "./s3.ts";
import { createTemplates } from "./templates.ts";

const place = { account: "123456789012", region: "us-east-1" };

async function start() {
  const directory = temporaryDirectory();
  const s3 = createS3({ documents: new MemoryDocuments(), directory: join(directory, "objects") });
  const bucket = { partition: "aws", bucket: "assets" };
  await s3.buckets.create({ ...bucket, ...place });
  const put = (key: string, text: string) =>
    s3.objects.put({ ...bucket, key }, { body: [Buffer.from(text)] });
  await put("a b/child.yaml", "stored");
  await put("large.yaml", "x".repeat(1_048_577));
  writeFileSync(join(directory, "child.yaml"), "beside");
  const templates = createTemplates(s3);
  const read = (url: string, from: object = { directory }) => templates.read({ url, ...place, ...from });
  return { directory, read };
}

test.each([
  "https://assets.s3.us-east-1.amazonaws.com/a%20b/child.yaml",
  "https://assets.s3.amazonaws.com/a%20b/child.yaml",
  "https://s3.us-east-1.amazonaws.com/assets/a%20b/child.yaml",
  "https://s3.amazonaws.com/assets/a%20b/child.yaml",
  "http://127.0.0.1:4566/assets/a%20b/child.yaml",
  "s3://assets/a%20b/child.yaml",
])("%s is an object of the local S3", async (url) => {
  expect(await (await start()).read(url)).toEqual({ kind: "read", body: "stored" });
});

test("a path starts at the parent's folder", async () => {
  const { directory, read } = await start();
  const beside = { kind: "read", body: "beside", directory };
  expect(await read("child.yaml")).toEqual(beside);
  expect(await read("./child.yaml")).toEqual(beside);
  expect(await read(join(directory, "child.yaml"), {})).toEqual(beside);
});

test.each([
  { url: "https://assets.s3.amazonaws.com/none", reason: /^S3 error: The specified key does not exist\.\n/ },
  { url: "https://none.s3.amazonaws.com/a", reason: /^S3 error: The specified bucket does not exist\n/ },
  {
    url: "https://assets.s3.amazonaws.com/large.yaml",
    reason: "Template may not exceed 1048576 bytes in size.",
  },
  { url: "https://assets.s3.amazonaws.com/", reason: "TemplateURL must be a supported URL." },
  { url: "ftp://example.org/a", reason: "TemplateURL must be a supported URL." },
  { url: "none.yaml", reason: /There is no template .*none\.yaml/ },
  { url: "/dev/zero", reason: /^The template \/dev\/zero can't be read: .* no regular file/ },
])("$url can't be read: $reason", async ({ url, reason }) => {
  const found = await (await start()).read(url);
  expect(found.kind === "failed" ? found.reason : "it was read").toMatch(reason);
});

test("a relative path needs a parent that came from a file", async () => {
  expect(await (await start()).read("child.yaml", {})).toEqual({
    kind: "failed",
    reason: "TemplateURL must be a supported URL.",
  });
});
