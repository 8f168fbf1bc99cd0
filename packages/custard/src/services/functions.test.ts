import { strToU8, zipSync } from "fflate";
import { beforeEach, expect, test } from "vitest";
import { MemoryDocuments } from "../storage/memory-documents.ts";
import { temporaryDirectory } from "../../../../tests/support/state-directory.ts";
import { LayerRegistry } from "./layers.ts";
import { FunctionRegistry, type NewFunction } from "./functions.ts";

const scope = { partition: "aws", account: "123456789012", region: "eu-west-1" };
const reference = { ...scope, name: "greet" };
const arn = "arn:aws:lambda:eu-west-1:123456789012:function:greet";
const settings = { runtime: "nodejs20.x", handler: "index.handler" };
const inline = (source = "exports.handler = 1"): NewFunction["code"] => ({ kind: "inline", source });

let documents: MemoryDocuments;
let functions: FunctionRegistry;
beforeEach(() => {
  documents = new MemoryDocuments();
  functions = new FunctionRegistry(documents, () => 1000);
});

async function create(change: Partial<NewFunction> = {}) {
  return await functions.create(scope, { name: "greet", code: inline(), settings, ...change });
}

test("a new function has Lambda's defaults and its code", async () => {
  const made = await create();
  expect(made).toMatchObject({ arn, version: "$LATEST", modifiedAt: 1000, eventInvoke: {} });
  expect(made.settings).toMatchObject({
    timeoutSeconds: 3,
    memoryMegabytes: 128,
    environment: {},
    layers: [],
  });
  expect(Buffer.from(await functions.codeBytes(made.code)).toString()).toBe("exports.handler = 1");
  expect(await functions.resolve(reference)).toEqual(made);
});

test("a name is taken once, but the repetition of a call is no second one", async () => {
  const made = await create({ token: "t1" });
  expect(await create({ token: "t1" })).toEqual(made);
  await expect(create({ token: "t2" })).rejects.toThrow("Function already exist: greet");
  await expect(create()).rejects.toMatchObject({ code: "Conflict" });
});

const refusals: readonly { title: string; change: Partial<NewFunction>; message: string }[] = [
  {
    title: "a reserved variable",
    change: { settings: { ...settings, environment: { AWS_REGION: "x", A1: "y" } } },
    message:
      "Lambda was unable to configure your environment variables because the environment variables you have provided contains reserved keys that are currently not supported for modification. Reserved keys used in this request: AWS_REGION",
  },
  {
    title: "too much environment",
    change: { settings: { ...settings, environment: { A1: "x".repeat(4096) } } },
    message: "exceeded the 4KB limit",
  },
  {
    title: "a variable's name",
    change: { settings: { ...settings, environment: { "a b": "x" } } },
    message: "Map keys must satisfy constraint",
  },
  {
    title: "a timeout of 0",
    change: { settings: { ...settings, timeoutSeconds: 0 } },
    message:
      "1 validation error detected: Value '0' at 'timeout' failed to satisfy constraint: Member must have value greater than or equal to 1",
  },
  {
    title: "a timeout of 901",
    change: { settings: { ...settings, timeoutSeconds: 901 } },
    message:
      "Value '901' at 'timeout' failed to satisfy constraint: Member must have value less than or equal to 900",
  },
  {
    title: "half a second",
    change: { settings: { ...settings, timeoutSeconds: 0.5 } },
    message: "Value '0.5' at 'timeout' must be an integer.",
  },
  {
    title: "127 MB",
    change: { settings: { ...settings, memoryMegabytes: 127 } },
    message: "Member must have value greater than or equal to 128",
  },
  {
    title: "10241 MB",
    change: { settings: { ...settings, memoryMegabytes: 10_241 } },
    message: "Member must have value less than or equal to 10240",
  },
  {
    title: "no such runtime",
    change: { settings: { ...settings, runtime: "cobol" } },
    message:
      "Value cobol at 'runtime' failed to satisfy constraint: Member must satisfy enum value set: [nodejs18.x, ",
  },
  {
    title: "a runtime that doesn't run here",
    change: { settings: { ...settings, runtime: "java21" } },
    message: "The runtime java21 doesn't run here",
  },
  {
    title: "an older runtime of a language that runs here",
    change: { settings: { ...settings, runtime: "python3.7" } },
    message:
      "Give the function a newer Runtime, or have it run on one with runtimes: { python3.7: python3.13 } in custard.config.",
  },
  {
    title: "an older runtime of the other language",
    change: { settings: { ...settings, runtime: "nodejs16.x" } },
    message: "runtimes: { nodejs16.x: nodejs22.x } in custard.config.",
  },
  {
    title: "no handler",
    change: { settings: { ...settings, handler: "" } },
    message: "Runtime and Handler are mandatory parameters",
  },
  {
    title: "a handler with a space",
    change: { settings: { ...settings, handler: "index. handler" } },
    message: "regular expression pattern: [^\\s]+",
  },
  {
    title: "another file for inline code",
    change: { settings: { ...settings, handler: "main.handler" } },
    message: 'the Handler must begin with "index.", not "main.handler"',
  },
  {
    title: "inline code for a custom runtime",
    change: { settings: { ...settings, runtime: "provided.al2023" } },
    message: "ZipFile can only be used when Runtime is set to either of nodejs or python.",
  },
  {
    title: "more than 4 MB inline",
    change: { code: inline("x".repeat(4_194_305)) },
    message: "The inline code (ZipFile) has 4194305 bytes; it can have at most 4194304 (4 MB).",
  },
  {
    title: "six layers",
    change: {
      settings: {
        ...settings,
        layers: Array.from({ length: 6 }, () => "arn:aws:lambda:eu-west-1:123456789012:layer:l:1"),
      },
    },
    message: "at most 5 layers",
  },
  {
    title: "no layer's ARN",
    change: { settings: { ...settings, layers: ["nowhere"] } },
    message: "Layer version nowhere is not a valid layer version ARN.",
  },
  {
    title: "a name with a slash",
    change: { name: "a/b" },
    message: "Value 'a/b' at 'functionName' failed to satisfy constraint",
  },
  {
    title: "bytes that are no zip",
    change: { code: { kind: "zip", bytes: strToU8("no") } },
    message: "Could not unzip uploaded file. Please check your file, then try to upload again.",
  },
  {
    title: "a directory that isn't there",
    change: { code: { kind: "directory", path: "/nowhere/at/all" } },
    message: "There is no directory /nowhere/at/all.",
  },
];

test.each(refusals)("$title is refused", async ({ change, message }) => {
  await expect(create(change)).rejects.toThrow(message);
  expect(await functions.find(reference)).toBeUndefined();
});

test("limits themselves are allowed, and a layer may bring the handler", async () => {
  const bytes = zipSync({ "nodejs/wrap.js": strToU8("") });
  const layers = [
    (await new LayerRegistry(documents).publish({ ...scope, name: "wrap" }, { code: { kind: "zip", bytes } }))
      .arn,
  ];
  const most = { timeoutSeconds: 900, memoryMegabytes: 10_240, layers, handler: "/opt/nodejs/wrap.handler" };
  expect((await create({ settings: { ...settings, ...most } })).settings).toMatchObject(most);
});

test("an update changes what it names, and warm instances can tell", async () => {
  const made = await create();
  const updated = await functions.update(reference, { settings: { timeoutSeconds: 9 } });
  expect(updated.settings).toEqual({ ...made.settings, timeoutSeconds: 9 });
  expect(updated.code).toEqual(made.code);
  expect(updated.revision).not.toBe(made.revision);
});

test("the code that an update replaces is forgotten, but not a version's", async () => {
  const made = await create();
  await functions.publishVersion(reference);
  const second = await functions.update(reference, { code: inline("second") });
  await functions.update(reference, { code: inline("third") });
  expect(Buffer.from(await functions.codeBytes(made.code)).toString()).toBe("exports.handler = 1");
  await expect(functions.codeBytes(second.code)).rejects.toThrow("The code of the function is gone.");
});

test("versions stay as they were published; nothing new gives the same number again", async () => {
  await create();
  expect(await functions.publishVersion(reference)).toMatchObject({ version: "1", arn: `${arn}:1` });
  expect(await functions.publishVersion(reference)).toMatchObject({ version: "1" });
  await functions.update(reference, { settings: { timeoutSeconds: 9 } });
  expect(await functions.publishVersion(reference, "second")).toMatchObject({
    version: "2",
    description: "second",
  });
  const first = await functions.resolve({ ...reference, qualifier: "1" });
  expect(first).toMatchObject({ version: "1", settings: { timeoutSeconds: 3 } });
});

test("an alias is the version that it names, with its own settings for asynchronous calls", async () => {
  await create();
  await functions.publishVersion(reference);
  await functions.putAlias(reference, { name: "live", version: "1" });
  const live = { ...reference, qualifier: "live" };
  await functions.putEventInvoke(live, { maximumRetryAttempts: 0 });
  expect(await functions.resolve(live)).toMatchObject({
    arn: `${arn}:live`,
    version: "1",
    eventInvoke: { maximumRetryAttempts: 0 },
  });
  expect((await functions.resolve(reference)).eventInvoke).toEqual({});
  await functions.deleteAlias(reference, "live");
  await expect(functions.resolve(live)).rejects.toThrow(`Function not found: ${arn}:live`);
});

test("an alias of a version that isn't there is refused", async () => {
  await create();
  await expect(functions.putAlias(reference, { name: "live", version: "7" })).rejects.toThrow(
    `Function not found: ${arn}:7`,
  );
});

test.each([{ maximumRetryAttempts: 3 }, { maximumEventAgeSeconds: 59 }, { maximumEventAgeSeconds: 21_601 }])(
  "settings of asynchronous calls have limits: %o",
  async (wrong) => {
    await create();
    await expect(functions.putEventInvoke(reference, wrong)).rejects.toThrow("failed to satisfy constraint");
  },
);

test("functions are listed by region, and deleted with their code", async () => {
  const made = await create();
  await create({ name: "another" });
  expect((await functions.list(scope)).map((each) => each.reference.name)).toEqual(["another", "greet"]);
  expect(await functions.list({ ...scope, region: "eu-west-2" })).toEqual([]);
  await functions.delete(reference);
  await expect(functions.resolve(reference)).rejects.toThrow(`Function not found: ${arn}`);
  await expect(functions.codeBytes(made.code)).rejects.toThrow("The code of the function is gone.");
});

test("one version can be deleted alone", async () => {
  await create();
  await functions.publishVersion(reference);
  await functions.delete({ ...reference, qualifier: "1" });
  expect(await functions.versions(reference)).toEqual([]);
  expect((await functions.resolve(reference)).version).toBe("$LATEST");
});

test("zip files are kept as they are, directories used in place", async () => {
  const bytes = zipSync({ "index.js": strToU8("1") });
  const zip = await create({ code: { kind: "zip", bytes } });
  expect(await functions.codeBytes(zip.code)).toEqual(bytes);
  const path = temporaryDirectory();
  const directory = await create({ name: "local", code: { kind: "directory", path } });
  expect(directory.code).toMatchObject({ kind: "directory", path });
});

test("a damaged record is named", async () => {
  await documents.put("function/aws/123456789012/eu-west-1/greet", { latest: 1 });
  await expect(functions.resolve(reference)).rejects.toThrow(
    "The stored function function/aws/123456789012/eu-west-1/greet is damaged.",
  );
});
