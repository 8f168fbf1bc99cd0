import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryDocuments } from "../storage/memory-documents.ts";
import { randomPassword } from "./random-password.ts";
import { SecretStore } from "./secrets.ts";

const scope = { partition: "aws", account: "123456789012", region: "us-east-1" };

function start() {
  const time = { now: 7 };
  return { time, store: new SecretStore(new MemoryDocuments(), () => time.now) };
}

test("a secret is found by its name, its ARN, and its ARN without the last characters", async () => {
  const { store } = start();
  const { arn } = await store.create(scope, {
    name: "app/db",
    content: { text: "s3cret" },
    tags: { a: "b" },
  });
  expect(arn).toMatch(/^arn:aws:secretsmanager:us-east-1:123456789012:secret:app\/db-[A-Za-z0-9]{6}$/);
  for (const id of ["app/db", arn, arn.slice(0, -7)])
    expect(await store.value(scope, id)).toMatchObject({
      content: { text: "s3cret" },
      stages: ["AWSCURRENT"],
    });
  await expect(store.value(scope, `${arn.slice(0, -6)}zzzzzz`)).rejects.toMatchObject({
    code: "ResourceNotFoundException",
    message: "Secrets Manager can't find the specified secret.",
  });
  expect(JSON.stringify(await store.describe(scope, arn))).not.toContain("s3cret");
});

test("a new version is the current one, and the one before is the previous", async () => {
  const { store } = start();
  await store.create(scope, { name: "a", content: { text: "1" }, versionId: "v1" });
  await store.put(scope, "a", { content: { text: "2" }, versionId: "v2" });
  await store.put(scope, "a", { content: { text: "3" }, versionId: "v3", stages: ["PENDING"] });
  const value = async (stage: string) => (await store.value(scope, "a", { stage })).content;
  expect(await value("AWSCURRENT")).toEqual({ text: "2" });
  expect(await value("AWSPREVIOUS")).toEqual({ text: "1" });
  expect(await value("PENDING")).toEqual({ text: "3" });
  await store.moveStage(scope, "a", { stage: "AWSCURRENT", to: "v3", from: "v2" });
  expect(await value("AWSCURRENT")).toEqual({ text: "3" });
  expect(await value("AWSPREVIOUS")).toEqual({ text: "2" });
  expect((await store.value(scope, "a", { versionId: "v1" })).stages).toEqual([]);
  await expect(store.moveStage(scope, "a", { stage: "AWSCURRENT", to: "v1" })).rejects.toMatchObject({
    code: "InvalidParameterException",
  });
  await expect(store.value(scope, "a", { stage: "OTHER" })).rejects.toMatchObject({
    message: "Secrets Manager can't find the specified secret value for staging label: OTHER",
  });
});

test("a put that comes twice with one version id is one version; another value is refused", async () => {
  const { store } = start();
  await store.create(scope, { name: "a", content: { text: "1" } });
  const put = (text: string) => store.put(scope, "a", { content: { text }, versionId: "v" });
  await put("2");
  await put("2");
  expect((await store.describe(scope, "a")).versions).toHaveLength(2);
  await expect(put("3")).rejects.toMatchObject({ code: "ResourceExistsException" });
});

test("a secret marked for deletion can't be used, can be restored, and is gone in the end", async () => {
  const { store, time } = start();
  await store.create(scope, { name: "a", content: { text: "1" } });
  await store.delete(scope, "a", { recoveryDays: 7 });
  await expect(store.value(scope, "a")).rejects.toThrow("it was marked for deletion");
  await expect(store.create(scope, { name: "a" })).rejects.toThrow("already scheduled for deletion");
  expect(await store.list(scope)).toEqual([]);
  await store.restore(scope, "a");
  expect((await store.value(scope, "a")).content).toEqual({ text: "1" });
  await store.delete(scope, "a", { recoveryDays: 7 });
  time.now += 8 * 86_400_000;
  await expect(store.describe(scope, "a")).rejects.toMatchObject({ code: "ResourceNotFoundException" });
  await store.create(scope, { name: "a" });
  await store.delete(scope, "a", { force: true });
  await store.create(scope, { name: "a" });
});

test("a name belongs to one secret", async () => {
  const { store } = start();
  await store.create(scope, { name: "a", token: "t" });
  await store.create(scope, { name: "a", token: "t" });
  await expect(store.create(scope, { name: "a" })).rejects.toThrow(
    "The operation failed because the secret a already exists.",
  );
  await expect(store.create(scope, { name: "a b" })).rejects.toMatchObject({ code: "ValidationException" });
  await store.create({ ...scope, region: "eu-west-1" }, { name: "a" });
});

test("versions that no stage names go when there are more than a hundred", async () => {
  const { store } = start();
  await store.create(scope, { name: "a", content: { text: "0" } });
  for (let index = 1; index <= 105; index += 1)
    await store.put(scope, "a", { content: { text: String(index) } });
  expect((await store.describe(scope, "a")).versions).toHaveLength(100);
  expect((await store.value(scope, "a", { stage: "AWSPREVIOUS" })).content).toEqual({ text: "104" });
});

test("passwords keep the rules", () => {
  const rules = fc.record({
    length: fc.integer({ min: 5, max: 60 }),
    excludeCharacters: fc.string({ maxLength: 5 }),
    excludeNumbers: fc.boolean(),
    excludePunctuation: fc.boolean(),
    excludeUppercase: fc.boolean(),
    includeSpace: fc.boolean(),
  });
  fc.assert(
    fc.property(rules, (wanted) => {
      const password = randomPassword(wanted);
      expect(password).toHaveLength(wanted.length);
      for (const character of wanted.excludeCharacters) expect(password).not.toContain(character);
      expect(/\d/.test(password)).toBe(!wanted.excludeNumbers);
      expect(/[A-Z]/.test(password)).toBe(!wanted.excludeUppercase);
      expect(/[^A-Za-z0-9 ]/.test(password)).toBe(!wanted.excludePunctuation);
      expect(password).toMatch(/[a-z]/);
    }),
  );
  expect(() => randomPassword({ length: 2 })).toThrow("too short");
  expect(() =>
    randomPassword({
      excludeLowercase: true,
      excludeUppercase: true,
      excludeNumbers: true,
      excludePunctuation: true,
    }),
  ).toThrow("every character is excluded");
});
