/** Where a function's code comes from, and what it finds there: directories, layers, packages, custom runtimes. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { strToU8, type Zippable, zipSync } from "fflate";
import { afterEach, expect, test } from "vitest";
import { LayerRegistry } from "../../packages/custard/src/services/layers.ts";
import type { LambdaTransportOptions } from "../../packages/custard/src/transports/lambda/lambda-transport.ts";
import { temporaryDirectory } from "../support/state-directory.ts";
import { type TestLambda, openLambda, requestTo, scope } from "./support.ts";

let lambda: TestLambda;
afterEach(async () => await lambda.close());

async function open(options: Partial<LambdaTransportOptions> = {}): Promise<void> {
  lambda = await openLambda(options);
}

async function resultOf(name: string): Promise<unknown> {
  const { payload } = await lambda.run(name);
  return JSON.parse(Buffer.from(payload).toString());
}

function folder(files: Record<string, string>): string {
  const root = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

function zip(files: Record<string, string>, executable: readonly string[] = []): Uint8Array {
  const entries = Object.entries(files).map(([name, text]): [string, Zippable[string]] => [
    name,
    [strToU8(text), { os: 3, attrs: (executable.includes(name) ? 0o100755 : 0o100644) * 0x10000 }],
  ]);
  return zipSync(Object.fromEntries(entries));
}

async function layer(
  name: string,
  files: Record<string, string>,
  executable: readonly string[] = [],
): Promise<string> {
  const bytes = zip(files, executable);
  return (
    await new LayerRegistry(lambda.documents).publish({ ...scope, name }, { code: { kind: "zip", bytes } })
  ).arn;
}

test.each([
  {
    runtime: "nodejs20.x",
    file: "main.js",
    code: (value: number) => `exports.handler = async () => ${value}`,
  },
  {
    runtime: "python3.12",
    file: "main.py",
    code: (value: number) => `def handler(event, context):\n    return ${value}`,
  },
])(
  "$runtime: a directory is used in place, and read again when a file changes",
  async ({ runtime, file, code }) => {
    await open();
    const path = folder({ [file]: code(1) });
    await lambda.create("f", { kind: "directory", path }, { runtime, handler: "main.handler" });
    expect(await resultOf("f")).toBe(1);
    writeFileSync(join(path, file), `${code(2)} `);
    await expect.poll(() => resultOf("f")).toBe(2);
  },
);

test("a directory that was removed is told by name", async () => {
  await open();
  const path = folder({ "index.js": "" });
  const arn = await lambda.create("f", { kind: "directory", path });
  rmSync(path, { recursive: true });
  expect(await lambda.transport.deliver(requestTo(arn), new AbortController().signal)).toEqual({
    kind: "refused",
    reason: `The code of function f is gone: there is no directory ${path}.`,
  });
});

test("a layer that was deleted is told by name", async () => {
  await open();
  const layers = [await layer("tools", { "python/one.py": "" })];
  const arn = await lambda.create("f", "", { layers });
  await new LayerRegistry(lambda.documents).delete({ ...scope, name: "tools", version: 1 });
  expect(await lambda.transport.deliver(requestTo(arn), new AbortController().signal)).toEqual({
    kind: "refused",
    reason: "Layer version arn:aws:lambda:us-east-1:123456789012:layer:tools:1 does not exist.",
  });
});

test("nothing is written into a directory that is used in place", async () => {
  await open();
  const path = folder({
    "main.py": "import own\ndef handler(event, context):\n    import os\n    return sorted(os.listdir('.'))",
    "own.py": "",
  });
  await lambda.create("f", { kind: "directory", path }, { runtime: "python3.12", handler: "main.handler" });
  expect(await resultOf("f")).toEqual(["main.py", "own.py"]);
});

const packages = {
  "nodejs/node_modules/tool/package.json": '{"name":"tool","main":"index.js"}',
  "nodejs/node_modules/tool/index.js": "exports.name = 'layer'",
};

test.each([
  { title: "CommonJS", files: { "index.js": "exports.handler = async () => require('tool').name" } },
  {
    title: "ESM",
    files: { "index.mjs": "import { name } from 'tool'; export const handler = async () => name" },
  },
  {
    title: "a dynamic import",
    files: { "index.js": "exports.handler = async () => (await import('tool')).name" },
  },
])("a Node function finds a layer's packages: $title", async ({ files }) => {
  await open();
  const layers = [await layer("tools", packages)];
  await lambda.create("f", { kind: "zip", bytes: zip(files) }, { layers });
  expect(await resultOf("f")).toBe("layer");
});

test("a Python function finds a layer's modules, those by version too", async () => {
  await open();
  const layers = [
    await layer("tools", {
      "python/one.py": "name = 1",
      "python/lib/python3.12/site-packages/two.py": "name = 2",
    }),
  ];
  const source = "import one, two\ndef handler(event, context):\n    return [one.name, two.name]";
  await lambda.create("f", source, { runtime: "python3.12", layers });
  expect(await resultOf("f")).toEqual([1, 2]);
});

test("later layers cover earlier ones", async () => {
  await open();
  const first = await layer("first", {
    "python/one.py": "name = 'first'",
    "python/only.py": "name = 'only'",
  });
  const second = await layer("second", { "python/one.py": "name = 'second'" });
  const source = "import one, only\ndef handler(event, context):\n    return [one.name, only.name]";
  await lambda.create("f", source, { runtime: "python3.12", layers: [first, second] });
  expect(await resultOf("f")).toEqual(["second", "only"]);
});

test("a handler and a wrapper of a layer, by their paths on Lambda", async () => {
  await open();
  const wrapper = '#!/bin/sh\nexport WRAPPED=yes\nexec "$@"\n';
  const files = { "nodejs/wrap.js": "exports.handler = async () => process.env.WRAPPED", wrapper };
  const layers = [await layer("wrap", files, ["wrapper"])];
  const settings = {
    layers,
    handler: "/opt/nodejs/wrap.handler",
    environment: { AWS_LAMBDA_EXEC_WRAPPER: "/opt/wrapper" },
  };
  await lambda.create("f", "", settings);
  expect(await resultOf("f")).toBe("yes");
});

test.each([
  { title: "CommonJS", files: { "index.js": "exports.handler = async () => require('@sdk/client').name" } },
  {
    title: "ESM",
    files: {
      "index.mjs": "import client from '@sdk/client'; export const handler = async () => client.name",
    },
  },
])("packages that Lambda has come from the project's node_modules: $title", async ({ files }) => {
  const project = folder({ "node_modules/@sdk/client/index.js": "module.exports = { name: 'project' }" });
  await open({ nodeModules: [join(project, "node_modules")] });
  await lambda.create("f", { kind: "zip", bytes: zip(files) });
  expect(await resultOf("f")).toBe("project");
});

test("a layer's package comes before the project's; both are found", async () => {
  const project = folder({
    "node_modules/tool/index.js": "exports.name = 'project'",
    "node_modules/other/index.js": "exports.name = 'other'",
  });
  await open({ nodeModules: [join(project, "node_modules")] });
  const layers = [await layer("tools", packages)];
  const files = {
    "index.mjs":
      "import { name } from 'tool'; import other from 'other'; export const handler = async () => [name, other.name]",
  };
  await lambda.create("f", { kind: "zip", bytes: zip(files) }, { layers });
  expect(await resultOf("f")).toEqual(["layer", "other"]);
});

test("a package that is nowhere ends in advice that names it and the command, for ESM too", async () => {
  await open();
  const bytes = zip({ "index.mjs": "import '@aws-sdk/client-s3'; export const handler = () => {}" });
  const arn = await lambda.create("f", { kind: "zip", bytes });
  expect(await lambda.transport.deliver(requestTo(arn), new AbortController().signal)).toEqual({
    kind: "silent",
    advice: expect.stringContaining("npm install @aws-sdk/client-s3"),
  });
});

const bootstrap = `#!/bin/sh
api="http://$AWS_LAMBDA_RUNTIME_API/2018-06-01/runtime"
while :; do
  headers=$(mktemp)
  event=$(curl -s -D "$headers" "$api/invocation/next") || exit 0
  id=$(sed -n 's/^lambda-runtime-aws-request-id: *\\([^[:space:]]*\\).*/\\1/Ip' "$headers")
  echo "handling $_HANDLER"
  curl -s -o /dev/null -X POST "$api/invocation/$id/response" -d "$event"
done
`;

test("a custom runtime: any executable bootstrap of the code or of a layer", async () => {
  await open();
  const custom = { runtime: "provided.al2023", handler: "anything" };
  const own = { kind: "zip" as const, bytes: zip({ bootstrap }, ["bootstrap"]) };
  await lambda.create("own", own, custom);
  const { payload, log } = await lambda.run("own", { echo: true });
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual({ echo: true });
  expect(log).toContain("handling anything");
  const layers = [await layer("runtime", { bootstrap }, ["bootstrap"])];
  const code = { kind: "zip" as const, bytes: zip({ "readme.txt": "" }) };
  await lambda.create("layered", code, { ...custom, layers });
  expect(JSON.parse(Buffer.from((await lambda.run("layered", 5)).payload).toString())).toBe(5);
});

test("nobody can tell what a custom runtime turned to, so it isn't certainly silent", async () => {
  await open();
  const code = { kind: "zip" as const, bytes: zip({ bootstrap }, ["bootstrap"]) };
  const arn = await lambda.create("f", code, { runtime: "provided.al2023", handler: "x" });
  expect(await lambda.transport.deliver(requestTo(arn), new AbortController().signal)).toEqual({
    kind: "over",
  });
  const advice = lambda.trace.filter(({ kind }) => kind === "advice").map(({ text }) => text);
  expect(advice).toEqual([expect.stringContaining("It turned to others (a runtime of its own)")]);
});

test("a custom runtime without a bootstrap is told so", async () => {
  await open();
  const path = folder({ bootstrap });
  chmodSync(join(path, "bootstrap"), 0o644);
  const arn = await lambda.create(
    "f",
    { kind: "directory", path },
    { runtime: "provided.al2023", handler: "x" },
  );
  expect(await lambda.transport.deliver(requestTo(arn), new AbortController().signal)).toEqual({
    kind: "silent",
    advice: expect.stringContaining(
      "Runtime.InvalidEntrypoint: Couldn't find valid bootstrap(s): [/var/task/bootstrap /opt/bootstrap]",
    ),
  });
});

test("a start that takes too long is made once more within the invocation", async () => {
  await open({ initLimitMs: 300 });
  const path = folder({
    "index.js":
      "const fs = require('fs'); const again = fs.existsSync('again'); fs.writeFileSync('again', ''); const end = Date.now() + (again ? 0 : 60000); while (Date.now() < end); exports.handler = async () => 'second'",
  });
  await lambda.create("f", { kind: "directory", path });
  const { log, payload } = await lambda.run("f");
  expect(Buffer.from(payload).toString()).toBe('"second"');
  expect(
    log.filter((line) => /^INIT_REPORT Init Duration: [\d.]+ ms\tPhase: init\tStatus: timeout$/.test(line)),
  ).toHaveLength(1);
});

test("a start that never ends fails with the function's timeout", async () => {
  await open({ initLimitMs: 100 });
  await lambda.create("f", "for (;;);", { timeoutSeconds: 1 });
  const { payload } = await lambda.run("f");
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual({
    errorType: "Sandbox.Timedout",
    errorMessage: expect.stringMatching(/^RequestId: \S+ Error: Task timed out after \d\.\d\d seconds$/),
  });
});

test.each([
  {
    runtime: "nodejs20.x",
    code: "exports.handler = async () => { const kept = []; for (;;) { kept.push(Buffer.alloc(1e7, 1)); await new Promise(setImmediate) } }",
  },
  {
    runtime: "python3.12",
    code: "def handler(event, context):\n    kept = []\n    while True:\n        kept.append(bytearray(b'1') * 1000000)",
  },
])("$runtime: what uses more than its memory is stopped, with advice", async ({ runtime, code }) => {
  await open({ retryDelays: [] });
  const arn = await lambda.create("f", code, { runtime, memoryMegabytes: 256, timeoutSeconds: 10 });
  expect(await lambda.transport.deliver(requestTo(arn), new AbortController().signal)).toEqual({
    kind: "silent",
    advice:
      "Function f used more than its MemorySize of 256 MB and was stopped before it answered: raise MemorySize (at most 10240 MB), or find what fills it.",
  });
});

test("a function that is reserved no concurrency never runs, and the request is told so", async () => {
  await open();
  const arn = await lambda.create("f", "exports.handler = async () => {}", { reservedConcurrency: 0 });
  expect(await lambda.transport.deliver(requestTo(arn), new AbortController().signal)).toEqual({
    kind: "silent",
    advice:
      "Function f has ReservedConcurrentExecutions 0, so that Lambda never runs it: raise it or leave it out.",
  });
});

test("reserved concurrency is the most that runs at once", async () => {
  await open({ cores: 4 });
  await lambda.create(
    "f",
    "exports.handler = () => new Promise((resolve) => setTimeout(resolve, 20, process.pid))",
    { reservedConcurrency: 1 },
  );
  const pids = await Promise.all([resultOf("f"), resultOf("f"), resultOf("f")]);
  expect(new Set(pids).size).toBe(1);
});
