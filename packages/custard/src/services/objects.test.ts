import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../../tests/support/state-directory.ts";
import type { Documents } from "../engine/ports.ts";
import { MemoryDocuments } from "../storage/memory-documents.ts";
import { isBucketName } from "./buckets.ts";
import { checksumOf } from "./checksums.ts";
import { compareKeys, pageOf } from "./object-listing.ts";
import { createS3 } from "./s3.ts";

const account = "123456789012";
const bucket = { partition: "aws", bucket: "my-bucket" };
const owned = { ...bucket, account, region: "us-east-1" };

async function start(documents: Documents = new MemoryDocuments(), directory = temporaryDirectory()) {
  const s3 = createS3({ documents, directory: join(directory, "objects"), now: () => 5 });
  await s3.sweep();
  return { s3, documents, directory, bodies: () => readdir(join(directory, "objects")) };
}

async function withBucket() {
  const world = await start();
  await world.s3.buckets.create(owned);
  const put = (key: string, text: string) =>
    world.s3.objects.put({ ...bucket, key }, { body: [Buffer.from(text)] });
  return { ...world, put };
}

test.each([
  { name: "abc", valid: true },
  { name: "my.bucket-1", valid: true },
  { name: "ab", valid: false },
  { name: "Abc", valid: false },
  { name: "a_b", valid: false },
  { name: "-abc", valid: false },
  { name: "a..b", valid: false },
  { name: "192.168.5.4", valid: false },
  { name: "xn--abc", valid: false },
  { name: "abc-s3alias", valid: false },
  { name: "a".repeat(64), valid: false },
])("$name may be a bucket's name: $valid", ({ name, valid }) => expect(isBucketName(name)).toBe(valid));

test("a bucket's name belongs to one account of a partition", async () => {
  const { s3 } = await start();
  await s3.buckets.create({ ...owned, token: "1" });
  await expect(s3.buckets.create({ ...owned, token: "1" })).resolves.toMatchObject(owned);
  await expect(s3.buckets.create(owned)).rejects.toMatchObject({ code: "BucketAlreadyOwnedByYou" });
  await expect(s3.buckets.create({ ...owned, account: "210987654321" })).rejects.toMatchObject({
    code: "BucketAlreadyExists",
  });
  await expect(s3.buckets.create({ ...owned, partition: "aws-cn" })).resolves.toBeDefined();
  await expect(s3.buckets.create({ ...owned, bucket: "No" })).rejects.toMatchObject({
    code: "InvalidBucketName",
    message: "The specified bucket is not valid.",
  });
  expect(await s3.buckets.list({ partition: "aws", account })).toHaveLength(1);
});

test("an object comes back as it went in, whole and in part", async () => {
  const { s3 } = await withBucket();
  const place = { ...bucket, key: "ordner/ü.txt" };
  const put = await s3.objects.put(place, {
    body: [Buffer.from("hello "), Buffer.from("world")],
    headers: { "content-type": "text/plain" },
    metadata: { a: "b" },
    expect: { algorithm: "SHA256" },
  });
  expect(put).toMatchObject({
    versionId: "null",
    modifiedAt: 5,
    content: {
      size: 11,
      etag: createHash("md5").update("hello world").digest("hex"),
      headers: { "content-type": "text/plain" },
      metadata: { a: "b" },
      checksums: { SHA256: checksumOf("SHA256", Buffer.from("hello world")) },
    },
  });
  const found = await s3.objects.find(place);
  expect(Buffer.from(await s3.objects.bytes(found)).toString()).toBe("hello world");
  const part = await s3.objects.read(found, { start: 6, end: 8 });
  expect((await part.toArray()).join("")).toBe("wor");
});

test("bodies are gone with their objects, and those that a crash left are swept", async () => {
  const { s3, put, bodies, documents, directory } = await withBucket();
  await put("a", "1");
  await put("a", "2");
  await put("b", "3");
  expect(await bodies()).toHaveLength(2);
  await s3.objects.delete({ ...bucket, key: "a" });
  expect(await bodies()).toHaveLength(1);
  await documents.delete("object/aws/my-bucket/b");
  await start(documents, directory);
  expect(await bodies()).toHaveLength(0);
});

test("a body that isn't what was announced is refused and not kept", async () => {
  const { s3, bodies } = await withBucket();
  const put = (expected: object) =>
    s3.objects.put({ ...bucket, key: "a" }, { body: [Buffer.from("x")], expect: expected });
  await expect(put({ md5: createHash("md5").digest("base64") })).rejects.toMatchObject({ code: "BadDigest" });
  await expect(put({ md5: "eA==" })).rejects.toMatchObject({ code: "InvalidDigest" });
  await expect(put({ checksums: { CRC32: "AAAAAA==" } })).rejects.toThrow(
    "The CRC32 you specified did not match the calculated checksum.",
  );
  const failing = (async function* () {
    yield Buffer.from("x");
    throw new Error("connection lost");
  })();
  await expect(s3.objects.put({ ...bucket, key: "a" }, { body: failing })).rejects.toThrow("connection lost");
  expect(await bodies()).toEqual([]);
  await expect(s3.objects.find({ ...bucket, key: "a" })).rejects.toMatchObject({
    code: "NoSuchKey",
    message: "The specified key does not exist.",
    status: 404,
  });
});

test("conditions on what is there are kept, also by writers at the same time", async () => {
  const { s3 } = await withBucket();
  const place = { ...bucket, key: "lock" };
  const tries = await Promise.allSettled(
    ["a", "b", "c"].map((text) => s3.objects.put(place, { body: [Buffer.from(text)], mustBeNew: true })),
  );
  expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const { content } = await s3.objects.find(place);
  await expect(s3.objects.put(place, { body: [], mustMatch: "other" })).rejects.toMatchObject({
    code: "PreconditionFailed",
  });
  await expect(s3.objects.put(place, { body: [], mustMatch: content.etag })).resolves.toBeDefined();
});

test("a bucket with versions keeps them, marks deletions and gives old ones", async () => {
  const { s3, put, bodies } = await withBucket();
  const place = { ...bucket, key: "a" };
  await put("a", "before");
  await s3.buckets.setVersioning(bucket, "Enabled");
  const first = await put("a", "first");
  await put("a", "second");
  const deletion = await s3.objects.delete(place);
  expect(deletion).toMatchObject({ isMarker: true });
  await expect(s3.objects.find(place)).rejects.toMatchObject({ code: "NoSuchKey" });
  await expect(s3.objects.find(place, deletion.versionId)).rejects.toMatchObject({
    code: "MethodNotAllowed",
  });
  await expect(s3.objects.find(place, "none")).rejects.toMatchObject({ code: "NoSuchVersion" });
  expect((await s3.objects.find(place, first.versionId)).content.size).toBe(5);
  expect(await s3.objects.list(bucket)).toEqual({ items: [], commonPrefixes: [] });
  const { items } = await s3.objects.listVersions(bucket);
  expect(items.map(({ isLatest, content }) => [isLatest, content?.size])).toEqual([
    [true, undefined],
    [false, 6],
    [false, 5],
    [false, 6],
  ]);
  await expect(s3.deleteBucket(bucket)).rejects.toThrow(
    "The bucket you tried to delete is not empty. You must delete all versions in the bucket.",
  );
  await s3.objects.delete(place, deletion.versionId);
  expect((await s3.objects.find(place)).content.size).toBe(6);
  for (const { versionId } of items) await s3.objects.delete(place, versionId);
  expect(await bodies()).toEqual([]);
  await s3.deleteBucket(bucket);
});

test("versions are paged within a key too", async () => {
  const { s3, put } = await withBucket();
  await s3.buckets.setVersioning(bucket, "Enabled");
  for (const key of ["a", "b"]) for (const text of ["1", "2", "3"]) await put(key, text);
  const seen: string[] = [];
  let after: { key: string; versionId?: string } | undefined;
  do {
    const page = await s3.objects.listVersions(bucket, {
      limit: 2,
      ...(after === undefined ? {} : { after }),
    });
    seen.push(...page.items.map(({ key, versionId }) => `${key}/${versionId}`));
    const last = page.items.at(-1);
    after = page.next === undefined || last === undefined ? undefined : last;
  } while (after !== undefined);
  expect(new Set(seen).size).toBe(6);
});

test("a bucket that isn't empty isn't deleted, one that is goes with its unfinished uploads", async () => {
  const { s3, put, bodies } = await withBucket();
  await put("a", "1");
  await expect(s3.deleteBucket(bucket)).rejects.toMatchObject({
    code: "BucketNotEmpty",
    message: "The bucket you tried to delete is not empty",
  });
  await s3.objects.delete({ ...bucket, key: "a" });
  const upload = await s3.uploads.create({ ...bucket, key: "big" }, {});
  await s3.uploads.putPart(upload, { number: 1, body: [Buffer.from("x")] });
  await s3.deleteBucket(bucket);
  expect(await bodies()).toEqual([]);
  await expect(put("a", "1")).rejects.toMatchObject({
    code: "NoSuchBucket",
    message: "The specified bucket does not exist",
  });
});

test("a multipart upload becomes one object with S3's kind of etag", async () => {
  const { s3, bodies } = await withBucket();
  const place = { ...bucket, key: "big" };
  const upload = await s3.uploads.create(place, { algorithm: "CRC32", headers: { "content-type": "a/b" } });
  const texts = ["x".repeat(5 * 1024 * 1024), "end"];
  for (const [index, text] of texts.entries())
    await s3.uploads.putPart(upload, { number: index + 1, body: [Buffer.from(text)] });
  const parts = await s3.uploads.parts(upload);
  expect(parts.map(({ size }) => size)).toEqual([5 * 1024 * 1024, 3]);
  const named = parts.map(({ number, etag }) => ({ number, etag: `"${etag}"` }));
  await expect(s3.uploads.complete(upload, named.toReversed())).rejects.toMatchObject({
    code: "InvalidPartOrder",
  });
  await expect(s3.uploads.complete(upload, [{ number: 9, etag: "x" }])).rejects.toMatchObject({
    code: "InvalidPart",
  });
  const made = await s3.uploads.complete(upload, named);
  const digests = texts.map((text) => createHash("md5").update(text).digest());
  expect(made.content).toMatchObject({
    etag: `${createHash("md5").update(Buffer.concat(digests)).digest("hex")}-2`,
    size: 5 * 1024 * 1024 + 3,
    headers: { "content-type": "a/b" },
    parts: 2,
  });
  expect(made.content.checksums.CRC32).toMatch(/^[\w+/]{6}==-2$/);
  expect(Buffer.from(await s3.objects.bytes(made)).toString()).toBe(texts.join(""));
  expect(await bodies()).toHaveLength(1);
  await expect(s3.uploads.parts(upload)).rejects.toMatchObject({ code: "NoSuchUpload" });
});

test("parts but the last have at least 5 MB", async () => {
  const { s3 } = await withBucket();
  const upload = await s3.uploads.create({ ...bucket, key: "big" }, {});
  for (const number of [1, 2]) await s3.uploads.putPart(upload, { number, body: [Buffer.from("x")] });
  const named = await s3.uploads.parts(upload);
  await expect(s3.uploads.complete(upload, named)).rejects.toMatchObject({ code: "EntityTooSmall" });
  await s3.uploads.abort(upload);
  expect(await s3.uploads.list(bucket)).toEqual([]);
});

test("a copy stands on its own", async () => {
  const { s3, put } = await withBucket();
  await put("a", "text");
  const place = { ...bucket, key: "b" };
  await s3.objects.copy({ ...bucket, key: "a" }, place, { metadata: { new: "1" } });
  await s3.objects.delete({ ...bucket, key: "a" });
  const copy = await s3.objects.find(place);
  expect(copy.content.metadata).toEqual({ new: "1" });
  expect(Buffer.from(await s3.objects.bytes(copy)).toString()).toBe("text");
});

test("configuration is S3's own until it is set, and its error when it was deleted", async () => {
  const { s3 } = await withBucket();
  expect(await s3.buckets.aspect(bucket, "publicAccessBlock")).toMatchObject({ BlockPublicAcls: true });
  expect(await s3.buckets.aspect(bucket, "encryption")).toMatchObject({
    Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }],
  });
  await expect(s3.buckets.aspect(bucket, "tagging")).rejects.toMatchObject({
    code: "NoSuchTagSet",
    message: "The TagSet does not exist",
  });
  await s3.buckets.setAspect(bucket, "policy", '{"Statement":[]}');
  expect(await s3.buckets.aspect(bucket, "policy")).toBe('{"Statement":[]}');
  await s3.buckets.setAspect(bucket, "policy", undefined);
  await expect(s3.buckets.aspect(bucket, "policy")).rejects.toMatchObject({ code: "NoSuchBucketPolicy" });
  await expect(s3.buckets.setAspect(bucket, "policy", "no json")).rejects.toMatchObject({
    code: "MalformedPolicy",
  });
  await s3.buckets.setAspect(bucket, "publicAccessBlock", undefined);
  await expect(s3.buckets.aspect(bucket, "publicAccessBlock")).rejects.toMatchObject({
    code: "NoSuchPublicAccessBlockConfiguration",
  });
});

test("a list folds keys behind a delimiter", async () => {
  const { s3, put } = await withBucket();
  for (const key of ["a/1", "a/2", "b", "c/1", "d"]) await put(key, key);
  const page = await s3.objects.list(bucket, { delimiter: "/", limit: 2 });
  expect(page).toMatchObject({ items: [{ key: "b" }], commonPrefixes: ["a/"], next: "b" });
  const rest = await s3.objects.list(bucket, { delimiter: "/", after: page.next ?? "" });
  expect(rest).toMatchObject({ items: [{ key: "d" }], commonPrefixes: ["c/"] });
  expect(rest.next).toBeUndefined();
  expect((await s3.objects.list(bucket, { prefix: "a/", delimiter: "/" })).items).toHaveLength(2);
});

test("pages of any size give every key and prefix once, in S3's order", () => {
  const keys = fc.uniqueArray(fc.string({ unit: fc.constantFrom("a", "/", "b", "é", "𐐷"), minLength: 1 }));
  fc.assert(
    fc.property(keys, fc.integer({ min: 1, max: 4 }), fc.constantFrom("", "/"), (names, limit, delimiter) => {
      const items = names.toSorted(compareKeys).map((key) => ({ key }));
      const whole = pageOf(items, { delimiter });
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = pageOf(items, { delimiter, limit, ...(after === undefined ? {} : { after }) });
        seen.push(...[...page.items.map(({ key }) => key), ...page.commonPrefixes].toSorted(compareKeys));
        after = page.next;
      } while (after !== undefined);
      expect(seen).toEqual(
        [...whole.items.map(({ key }) => key), ...whole.commonPrefixes].toSorted(compareKeys),
      );
    }),
  );
});
