import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unzipSync, zipSync } from "fflate";
import { expect, test } from "vitest";
import { createTask } from "../../../../tests/support/resource-task.ts";
import { resourceWorld } from "../../../../tests/support/resource-world.ts";
import { temporaryDirectory } from "../../../../tests/support/state-directory.ts";
import type { LogicalId, PhysicalId } from "../engine/ids.ts";
import type { ResourceTask } from "../engine/ports.ts";
import { Sensitive, type ValueMap } from "../template/value.ts";

const scope = { partition: "aws", account: "123456789012", region: "us-east-1" };
const arn = "arn:aws:lambda:us-east-1:123456789012:function:f";
const inline = {
  Code: { ZipFile: "exports.handler = async () => {}" },
  Handler: "index.handler",
  Role: "arn:aws:iam::123456789012:role/r",
  Runtime: "nodejs20.x",
};

function functionTask(properties: ValueMap, more: Partial<ResourceTask> = {}): ResourceTask {
  return createTask("AWS::Lambda::Function", { properties: { ...inline, ...properties }, ...more });
}

const named = { FunctionName: "f" };

test("a function gets the generated name, its ARN and Lambda's defaults", async () => {
  const { perform, functions } = resourceWorld();
  const name = "my-stack-Thing-Kdps7TfbhFx5";
  expect(await perform(functionTask({}))).toMatchObject({
    kind: "done",
    physicalId: name,
    attributes: { Arn: `arn:aws:lambda:us-east-1:123456789012:function:${name}` },
  });
  const { settings, code } = await functions.resolve({ ...scope, name });
  expect(settings).toMatchObject({ timeoutSeconds: 3, memoryMegabytes: 128, runtime: "nodejs20.x" });
  expect(code.kind).toBe("inline");
});

test("what the template says reaches the function, texts of numbers and secrets too", async () => {
  const { perform, functions, layers } = resourceWorld();
  const bytes = zipSync({ "nodejs/a.js": Buffer.from("1") });
  await layers.publish({ ...scope, name: "l" }, { code: { kind: "zip", bytes } });
  const properties = {
    ...named,
    Timeout: "30",
    MemorySize: 256,
    Environment: { Variables: { PORT: 80, ON: true, SECRET: new Sensitive("s3cret") } },
    Layers: ["arn:aws:lambda:us-east-1:123456789012:layer:l:1"],
    Architectures: ["arm64"],
    LoggingConfig: { LogFormat: "JSON", ApplicationLogLevel: "DEBUG", LogGroup: "/x" },
    ReservedConcurrentExecutions: 0,
    Description: "d",
    Tags: [{ Key: "a", Value: "own" }],
  };
  expect(await perform(functionTask(properties, { tags: { a: "stack", b: "stack" } }))).toMatchObject({
    kind: "done",
  });
  expect((await functions.resolve({ ...scope, name: "f" })).settings).toMatchObject({
    timeoutSeconds: 30,
    memoryMegabytes: 256,
    environment: { PORT: "80", ON: "true", SECRET: "s3cret" },
    layers: ["arn:aws:lambda:us-east-1:123456789012:layer:l:1"],
    architecture: "arm64",
    logging: { format: "JSON", applicationLevel: "DEBUG", group: "/x" },
    reservedConcurrency: 0,
    description: "d",
    tags: { a: "own", b: "stack" },
  });
});

test("an update changes code and settings, and what left the template goes back to its default", async () => {
  const { perform, functions } = resourceWorld();
  const limited = { ...named, ReservedConcurrentExecutions: 5 };
  await perform(functionTask({ ...limited, Timeout: 30, Environment: { Variables: { AB: "1" } } }));
  const before = await functions.resolve({ ...scope, name: "f" });
  const update = { action: "update", physicalId: "f" as PhysicalId, token: "update-1" } as const;
  const task = functionTask({ ...named, Code: { ZipFile: "// new" } }, update);
  expect(await perform(task)).toMatchObject({ kind: "done", physicalId: "f" });
  const after = await functions.resolve({ ...scope, name: "f" });
  expect(before.settings.reservedConcurrency).toBe(5);
  expect(after.settings.reservedConcurrency).toBeUndefined();
  expect(after.settings).toMatchObject({ timeoutSeconds: 3, environment: {} });
  expect(Buffer.from(await functions.codeBytes(after.code)).toString()).toBe("// new");
  expect(after.revision).not.toBe(before.revision);
  await perform(task);
  expect((await functions.resolve({ ...scope, name: "f" })).revision).toBe(after.revision);
});

test("code may be a folder, a zip file or one source file, beside the template or anywhere", async () => {
  const { perform, functions } = resourceWorld();
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "src"));
  writeFileSync(join(directory, "code.zip"), zipSync({ "index.js": Buffer.from("zipped") }));
  writeFileSync(join(directory, "one.py"), "single");
  const make = async (name: string, code: string) => {
    const properties = { FunctionName: name, Code: code, Runtime: "python3.12", Handler: "one.handler" };
    expect(await perform(functionTask(properties, { directory, token: name }))).toMatchObject({
      kind: "done",
    });
    return (await functions.resolve({ ...scope, name })).code;
  };
  expect(await make("folder", "src")).toMatchObject({ kind: "directory", path: join(directory, "src") });
  expect(await make("absolute", join(directory, "src"))).toMatchObject({ path: join(directory, "src") });
  const zip = await make("zip", "./code.zip");
  expect(unzipSync(await functions.codeBytes(zip))["index.js"]).toEqual(
    new Uint8Array(Buffer.from("zipped")),
  );
  const single = await make("single", "one.py");
  expect(Object.keys(unzipSync(await functions.codeBytes(single)))).toEqual(["one.py"]);
});

test.each<{ name: string; properties: ValueMap; reason: string | RegExp }>([
  {
    name: "code in a bucket that isn't here",
    properties: { Code: { S3Bucket: "b", S3Key: "k.zip" } },
    reason:
      /Error occurred while GetObject\. S3 Error Code: NoSuchBucket\. S3 Error Message: The specified bucket does not exist \(Service: Lambda, Status Code: 400/,
  },
  { name: "a container image", properties: { Code: { ImageUri: "x" } }, reason: /container image/ },
  { name: "no source", properties: { Code: {} }, reason: "Please provide a source for function code." },
  {
    name: "a relative path without a folder",
    properties: { Code: "src" },
    reason: /the template didn't come from a file/,
  },
  {
    name: "a path that leads nowhere",
    properties: { Code: "/nowhere/at/all" },
    reason: /There is no file or folder \/nowhere\/at\/all/,
  },
  {
    name: "a runtime that doesn't exist",
    properties: { Runtime: "nodejs99.x" },
    reason:
      /^Resource handler returned message: "Value nodejs99.x at 'runtime' .*\(Service: Lambda, Status Code: 400, Request ID: [0-9a-f-]{36}\)" \(RequestToken: [0-9a-f-]{36}, HandlerErrorCode: InvalidRequest\)$/,
  },
  {
    name: "a timeout that is no number",
    properties: { Timeout: "soon" },
    reason: "Property validation failure: [Value of property {/Timeout} does not match type {Integer}]",
  },
  {
    name: "a structure as environment variable",
    properties: { Environment: { Variables: { AB: ["x"] } } },
    reason: /Environment\/Variables\/AB/,
  },
  { name: "an unknown architecture", properties: { Architectures: ["mips"] }, reason: /mips/ },
])("a function with $name fails by name", async ({ properties, reason }) => {
  const outcome = await resourceWorld().perform(functionTask(properties));
  expect(outcome.kind === "failed" ? outcome.reason : "it was made").toMatch(reason);
});

test("a create that comes twice makes one function; another one's name is refused", async () => {
  const { perform } = resourceWorld();
  const first = await perform(functionTask(named));
  expect(await perform(functionTask(named))).toEqual(first);
  expect(await perform(functionTask(named, { token: "other" }))).toEqual({
    kind: "failed",
    reason: expect.stringMatching(
      /^Resource handler returned message: "Resource of type 'AWS::Lambda::Function' with identifier 'f' already exists\." \(RequestToken: [0-9a-f-]{36}, HandlerErrorCode: AlreadyExists\)$/,
    ),
  });
});

test("code comes from an object of the local S3", async () => {
  const { perform, functions, s3 } = resourceWorld();
  await s3.buckets.create({ ...scope, bucket: "assets" });
  const place = { partition: "aws", bucket: "assets", key: "k.zip" };
  const bytes = zipSync({ "index.js": Buffer.from("stored") });
  await s3.objects.put(place, { body: [bytes] });
  const code = { Code: { S3Bucket: "assets", S3Key: "k.zip" } };
  expect(await perform(functionTask({ ...named, ...code }))).toMatchObject({ kind: "done" });
  const made = await functions.resolve({ ...scope, name: "f" });
  expect(made.code.kind).toBe("zip");
  expect(await functions.codeBytes(made.code)).toEqual(bytes);
  const missing = { Code: { S3Bucket: "assets", S3Key: "other.zip" } };
  expect(await perform(functionTask(missing))).toMatchObject({
    reason: expect.stringContaining(
      "S3 Error Code: NoSuchKey. S3 Error Message: The specified key does not exist.",
    ),
  });
});

test("layers are numbered, keep what they hold, and go with their resource", async () => {
  const { perform, layers } = resourceWorld();
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "layer.zip"), zipSync({ "nodejs/a.js": Buffer.from("1") }));
  const properties = { LayerName: "l", Content: "layer.zip", CompatibleRuntimes: ["nodejs20.x"] };
  const task = (token: string, more: Partial<ResourceTask> = {}) =>
    createTask("AWS::Lambda::LayerVersion", { properties, directory, token, ...more });
  const layerArn = "arn:aws:lambda:us-east-1:123456789012:layer:l";
  expect(await perform(task("1"))).toEqual({
    kind: "done",
    physicalId: `${layerArn}:1`,
    attributes: { LayerVersionArn: `${layerArn}:1` },
  });
  expect(await perform(task("1"))).toMatchObject({ physicalId: `${layerArn}:1` });
  expect(await perform(task("2"))).toMatchObject({ physicalId: `${layerArn}:2` });
  const kept = await layers.resolve(`${layerArn}:2`);
  expect(kept).toMatchObject({ version: 2, compatibleRuntimes: ["nodejs20.x"] });
  expect(Object.keys(unzipSync(await layers.codeBytes(kept.code)))).toEqual(["nodejs/a.js"]);
  await perform(task("3", { action: "delete", physicalId: `${layerArn}:2` as PhysicalId }));
  await expect(layers.resolve(`${layerArn}:2`)).rejects.toThrow(
    `Layer version ${layerArn}:2 does not exist.`,
  );
  expect(await perform(task("4"))).toMatchObject({ physicalId: `${layerArn}:3` });
});

test("a delete may come twice", async () => {
  const { perform, functions } = resourceWorld();
  await perform(functionTask(named));
  const task = functionTask(named, { action: "delete", physicalId: "f" as PhysicalId });
  expect(await perform(task)).toMatchObject({ kind: "done" });
  expect(await functions.find({ ...scope, name: "f" })).toBeUndefined();
  expect(await perform(task)).toMatchObject({ kind: "done" });
});

test("a permission needs its function", async () => {
  const { perform } = resourceWorld();
  const properties = { FunctionName: arn, Action: "lambda:InvokeFunction", Principal: "s3.amazonaws.com" };
  const task = createTask("AWS::Lambda::Permission", { properties });
  expect(await perform(task)).toMatchObject({
    kind: "failed",
    reason: expect.stringMatching(
      /Function not found: arn:aws:lambda:us-east-1:123456789012:function:f .*HandlerErrorCode: NotFound/,
    ),
  });
  await perform(functionTask(named));
  expect(await perform(task)).toMatchObject({
    kind: "done",
    physicalId: task.physicalId,
    attributes: { Id: task.physicalId },
  });
  expect(await perform({ ...task, action: "delete" })).toMatchObject({ kind: "done" });
});

test("a version freezes the function; a second one of the same code is refused", async () => {
  const { perform, functions } = resourceWorld();
  await perform(functionTask(named));
  const task = createTask("AWS::Lambda::Version", { properties: { FunctionName: "f", Description: "one" } });
  const first = await perform(task);
  expect(first).toMatchObject({
    kind: "done",
    physicalId: `${arn}:1`,
    attributes: { Version: "1", FunctionArn: `${arn}:1` },
  });
  expect(await perform(task)).toEqual(first);
  const second = createTask("AWS::Lambda::Version", {
    properties: { FunctionName: "f" },
    logicalId: "Second" as LogicalId,
    token: "create-2",
  });
  expect(await perform(second)).toMatchObject({
    kind: "failed",
    reason: expect.stringContaining(
      "A version for this Lambda function exists ( 1 ). Modify the function to create a new version.",
    ),
  });
  await perform({ ...task, action: "delete", physicalId: `${arn}:1` as PhysicalId });
  expect(await functions.versions({ ...scope, name: "f" })).toEqual([]);
});

test("an alias names a version and follows it", async () => {
  const { perform, functions } = resourceWorld();
  await perform(functionTask(named));
  await perform(createTask("AWS::Lambda::Version", { properties: named }));
  const properties = { FunctionName: "f", FunctionVersion: "1", Name: "live" };
  const task = createTask("AWS::Lambda::Alias", { properties });
  expect(await perform(task)).toMatchObject({
    physicalId: `${arn}:live`,
    attributes: { AliasArn: `${arn}:live` },
  });
  const physicalId = `${arn}:live` as PhysicalId;
  const moved = {
    ...task,
    action: "update",
    physicalId,
    properties: { ...properties, FunctionVersion: "$LATEST" },
  } as const;
  expect(await perform(moved)).toMatchObject({ kind: "done" });
  expect(await functions.aliases({ ...scope, name: "f" })).toEqual({ live: "$LATEST" });
  const missing = { ...moved, properties: { ...properties, FunctionVersion: "9" } };
  expect(await perform(missing)).toMatchObject({
    kind: "failed",
    reason: expect.stringContaining("Function not found"),
  });
  await perform({ ...moved, action: "delete" });
  expect(await functions.aliases({ ...scope, name: "f" })).toEqual({});
});

test("settings of asynchronous invocation belong to a qualifier and go with their resource", async () => {
  const { perform, functions } = resourceWorld();
  await perform(functionTask(named));
  const properties = {
    FunctionName: "f",
    Qualifier: "$LATEST",
    MaximumRetryAttempts: "1",
    DestinationConfig: { OnFailure: { Destination: "arn:aws:sns:us-east-1:123456789012:t" } },
  };
  const task = createTask("AWS::Lambda::EventInvokeConfig", { properties });
  expect(await perform(task)).toMatchObject({ kind: "done", physicalId: "f|$LATEST" });
  const settings = async () => (await functions.resolve({ ...scope, name: "f" })).eventInvoke;
  expect(await settings()).toEqual({
    maximumRetryAttempts: 1,
    onFailure: "arn:aws:sns:us-east-1:123456789012:t",
  });
  await perform({ ...task, action: "delete", physicalId: "f|$LATEST" as PhysicalId });
  expect(await settings()).toEqual({});
});
