import { expect, test } from "vitest";
import { MemoryDocuments } from "../storage/memory-documents.ts";
import { ParameterStore } from "./parameters.ts";

const scope = { partition: "aws", account: "123456789012", region: "us-east-1" };

function start() {
  return new ParameterStore(new MemoryDocuments(), () => 7);
}

test("a parameter has versions; the newest counts", async () => {
  const store = start();
  await store.put(scope, { name: "/a/b", value: "1", type: "String", description: "d" });
  expect(await store.put(scope, { name: "/a/b", value: "2", overwrite: true })).toMatchObject({ version: 2 });
  expect(await store.get(scope, "/a/b")).toMatchObject({
    value: "2",
    version: 2,
    type: "String",
    description: "d",
    tier: "Standard",
    dataType: "text",
    modifiedAt: 7,
    arn: "arn:aws:ssm:us-east-1:123456789012:parameter/a/b",
  });
  expect(await store.get(scope, "/a/b:1")).toMatchObject({ value: "1", selector: ":1" });
  expect(await store.get(scope, "arn:aws:ssm:us-east-1:123456789012:parameter/a/b")).toMatchObject({
    value: "2",
  });
  expect((await store.history(scope, "/a/b")).map(({ value }) => value)).toEqual(["1", "2"]);
  await expect(store.get(scope, "/a/b:9")).rejects.toMatchObject({
    code: "ParameterVersionNotFound",
    message: "Systems Manager could not find version 9 of /a/b. Verify the version and try again.",
  });
});

test("a parameter that is there is only overwritten when asked to", async () => {
  const store = start();
  const input = { name: "a", value: "1", type: "String", token: "t" } as const;
  await store.put(scope, input);
  expect(await store.put(scope, input)).toMatchObject({ version: 1 });
  await expect(store.put(scope, { ...input, token: "u" })).rejects.toMatchObject({
    code: "ParameterAlreadyExists",
    message:
      "The parameter already exists. To overwrite this value, set the overwrite option in the request to true.",
  });
});

test("each account and region has its own", async () => {
  const store = start();
  await store.put(scope, { name: "a", value: "1", type: "String" });
  await expect(store.get({ ...scope, region: "eu-west-1" }, "a")).rejects.toMatchObject({
    code: "ParameterNotFound",
  });
  expect(await store.find({ ...scope, account: "210987654321" }, "a")).toBeUndefined();
  await expect(store.delete({ ...scope, region: "eu-west-1" }, "a")).rejects.toMatchObject({
    code: "ParameterNotFound",
  });
  await store.delete(scope, "a");
  expect(await store.list(scope)).toEqual([]);
});

test.each([
  { name: "a/b", value: "x", message: "Parameter name must be a fully qualified name." },
  { name: "/ssm/a", value: "x", message: /can't be prefixed with "ssm"/ },
  { name: "a b", value: "x", message: /can't be prefixed with "ssm"/ },
  { name: "/a//b", value: "x", message: /sub-paths/ },
  { name: "/aws/x", value: "x", message: "No access to reserved parameter name: /aws/x." },
  { name: "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16", value: "x", message: /15/ },
  { name: "a", value: "", message: /Member must have length greater than or equal to 1/ },
  { name: "a", value: "x".repeat(4097), message: /^Standard tier parameters support a maximum/ },
  {
    name: "a",
    value: "x",
    allowedPattern: "\\d+",
    message: /cannot be validated against allowedPattern: \\d\+/,
  },
])("$name is refused: $message", async ({ message, ...input }) => {
  await expect(start().put(scope, { type: "String", ...input })).rejects.toThrow(message);
});

test("larger values take the advanced tier when they may", async () => {
  const store = start();
  const value = "x".repeat(5000);
  const put = (tier: "Advanced" | "Intelligent-Tiering", name: string) =>
    store.put(scope, { name, value, type: "String", tier });
  expect(await put("Advanced", "a")).toMatchObject({ tier: "Advanced" });
  expect(await put("Intelligent-Tiering", "b")).toMatchObject({ tier: "Advanced" });
  await expect(
    store.put(scope, { name: "c", value: "x".repeat(8193), type: "String", tier: "Advanced" }),
  ).rejects.toThrow("8192");
});

test("a label names one version, and asks for it", async () => {
  const store = start();
  for (const value of ["1", "2"])
    await store.put(scope, { name: "a", value, type: "String", overwrite: true });
  expect(await store.label(scope, "a", { version: 1, labels: ["prod", "1st", "aws-x"] })).toEqual({
    invalid: ["1st", "aws-x"],
    version: 1,
  });
  expect(await store.get(scope, "a:prod")).toMatchObject({ value: "1", selector: ":prod" });
  await store.label(scope, "a", { labels: ["prod"] });
  expect(await store.get(scope, "a:prod")).toMatchObject({ value: "2" });
  expect((await store.get(scope, "a:1")).labels).toEqual([]);
  const eleven = Array.from({ length: 11 }, (_, index) => `l${index}`);
  await expect(store.label(scope, "a", { labels: eleven })).rejects.toMatchObject({
    code: "ParameterVersionLabelLimitExceeded",
  });
  expect(await store.unlabel(scope, "a", { version: 2, labels: ["prod", "none"] })).toEqual({
    removed: ["prod"],
    invalid: ["none"],
  });
});

test("the oldest of a hundred versions goes, unless a label holds it", async () => {
  const store = start();
  for (let index = 0; index < 101; index += 1)
    await store.put(scope, { name: "a", value: String(index), type: "String", overwrite: true });
  expect((await store.history(scope, "a"))[0]).toMatchObject({ version: 2 });
  await store.label(scope, "a", { version: 2, labels: ["keep"] });
  await expect(store.put(scope, { name: "a", value: "x", overwrite: true })).rejects.toMatchObject({
    code: "ParameterMaxVersionLimitExceeded",
  });
});

test("parameters are found by path", async () => {
  const store = start();
  for (const name of ["/app/a", "/app/b/c", "/apple", "other"])
    await store.put(scope, { name, value: name, type: "String" });
  const names = async (path: string, recursive: boolean) =>
    (await store.byPath(scope, path, { recursive })).map(({ name }) => name);
  expect(await names("/app", false)).toEqual(["/app/a"]);
  expect(await names("/app/", true)).toEqual(["/app/a", "/app/b/c"]);
  expect(await names("/", false)).toEqual(["/apple", "other"]);
  await expect(names("app", true)).rejects.toThrow(/must begin with a forward slash/);
});
