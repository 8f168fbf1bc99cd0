import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { custardEnds, deploy, startCustard } from "./support/custard.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const answering = `
import https from "node:https";
export const handler = async (event) => {
  console.log("asked to", event.RequestType, JSON.stringify(event.ResourceProperties));
  const failed = event.ResourceProperties.Fail === "true";
  const body = JSON.stringify({
    Status: failed ? "FAILED" : "SUCCESS", Reason: failed ? "because" : undefined,
    PhysicalResourceId: event.PhysicalResourceId ?? "thing-1",
    StackId: event.StackId, RequestId: event.RequestId, LogicalResourceId: event.LogicalResourceId,
    NoEcho: event.ResourceProperties.Secret === "true",
    Data: { Old: event.OldResourceProperties ?? "none", Size: event.ResourceProperties.Size },
  });
  const url = new URL(event.ResponseURL);
  await new Promise((done, failed) => {
    const request = https.request({ hostname: url.hostname, path: url.pathname + url.search, method: "PUT",
      headers: { "content-type": "", "content-length": Buffer.byteLength(body) } }, (response) => response.resume().on("end", done));
    request.on("error", failed);
    request.end(body);
  });
};
export const mute = async () => {};
export const broken = async () => { throw new Error("oh dear"); };
`;

interface Invocation {
  readonly outcome: string;
  readonly reason?: string;
  readonly response?: {
    readonly status: string;
    readonly physicalId: string;
    readonly data: unknown;
    readonly reason?: string;
  };
  readonly advice?: string;
  readonly trace: readonly { readonly kind: string; readonly text: string }[];
}

async function invoke(code: number, folder: string, ...argv: readonly string[]): Promise<Invocation> {
  const ended = await custardEnds(code, folder, ["invoke", ...argv, "--json"]);
  return JSON.parse(ended.stdout);
}

test("a module is run as a function, and its answer shown", async () => {
  const folder = temporaryFolder({ "provider.mjs": answering });
  const ended = await custardEnds(0, folder, [
    "invoke",
    "--module",
    "provider.mjs",
    "create",
    "--properties",
    "Size=3",
  ]);
  expect(ended.stdout).toMatch(
    /log +.*asked to Create \{"ServiceToken":"arn:aws:lambda:us-east-1:123456789012:function:custard-invoke-[^"]+","Size":"3"\}/,
  );
  expect(ended.stdout).toMatch(/put +PUT of \d+ bytes: 200/);
  expect(ended.stdout).toMatch(
    /✓ SUCCESS: Create of Custom::Invoked after \d+ ms\n {2}PhysicalResourceId: thing-1\n {2}Old = none\n {2}Size = 3\n/,
  );
  // Nothing is left behind: neither a state directory nor a function.
  expect(existsSync(join(folder, ".custard"))).toBe(false);
});

test("updates and deletes carry what they need", async () => {
  const folder = temporaryFolder({ "provider.mjs": answering });
  const update = await invoke(
    0,
    folder,
    "--module",
    "provider.mjs",
    "update",
    "--physical-id",
    "mine",
    "--properties",
    '{"Size": [1, true]}',
    "--old-properties",
    "Size=2",
  );
  expect(update.response).toMatchObject({
    status: "SUCCESS",
    physicalId: "mine",
    data: { Old: { Size: "2" }, Size: ["1", "true"] },
  });
  const deleted = await invoke(0, folder, "--module", "provider.mjs", "delete", "--physical-id", "mine");
  expect(deleted.response).toMatchObject({ physicalId: "mine" });
});

test("FAILED ends with 1 and its reason", async () => {
  const folder = temporaryFolder({ "provider.mjs": answering });
  const failed = await invoke(1, folder, "--module", "provider.mjs", "create", "--properties", "Fail=true");
  expect(failed).toMatchObject({ outcome: "answered", response: { status: "FAILED", reason: "because" } });
});

test("values of a NoEcho answer aren't shown", async () => {
  const folder = temporaryFolder({ "provider.mjs": answering });
  const shown = await invoke(
    0,
    folder,
    "--module",
    "provider.mjs",
    "create",
    "--properties",
    "Secret=true",
    "Size=3",
  );
  expect(shown.response?.data).toEqual({ Old: "*****", Size: "*****" });
});

test.each([
  { handler: "mute", says: /returned without answering/ },
  { handler: "broken", says: /failed before it answered.*oh dear/ },
  { handler: "absent", says: /couldn't be loaded/ },
])("a module whose handler is $handler gets advice at once", async ({ handler, says }) => {
  const folder = temporaryFolder({ "provider.mjs": answering });
  const ended = await invoke(1, folder, "--module", `provider.mjs:${handler}`, "create");
  expect(ended.outcome).toBe("silent");
  expect(ended.advice).toMatch(says);
});

test("a function of a stack is found by its logical id and its name", async () => {
  const source = answering
    .replace('import https from "node:https";', 'const https = require("node:https");')
    .replaceAll(/export const (\w+)/g, "exports.$1");
  const template = {
    Resources: {
      Provider: {
        Type: "AWS::Lambda::Function",
        Properties: {
          FunctionName: "my-provider",
          Runtime: "nodejs20.x",
          Handler: "index.handler",
          Role: "arn:aws:iam::123456789012:role/r",
          Code: { ZipFile: source },
        },
      },
    },
  };
  const folder = temporaryFolder({ "template.yaml": JSON.stringify(template) });
  await deploy(folder, 0, "--region", "eu-west-1");
  for (const name of ["Provider", "my-provider"]) {
    const ended = await invoke(0, folder, name, "create", "--properties", "Size=3");
    expect(ended.response).toMatchObject({ data: { Size: "3" } });
  }
  const unknown = await invoke(1, folder, "other", "create");
  expect(unknown).toMatchObject({
    outcome: "refused",
    reason: expect.stringContaining(
      "Function not found: arn:aws:lambda:us-east-1:123456789012:function:other",
    ),
  });
});

test("a server behind a topic confirms, and answers", async () => {
  const folder = temporaryFolder();
  const provider = join(import.meta.dirname, "support/express-provider.cjs");
  const running = startCustard(folder, ["exec", "--", process.execPath, provider]);
  onTestFinished(async () => {
    // It passes the signal on: killed at once, it would leave its program behind.
    running.child.kill("SIGTERM");
    await running.ended;
  });
  const [, port] = await vi.waitFor(
    () => /LISTENING (\d+)/.exec(running.output()) ?? Promise.reject(new Error("not yet")),
    {
      timeout: 20_000,
      interval: 20,
    },
  );
  const ended = await invoke(
    0,
    folder,
    "--url",
    `http://localhost:${port}/`,
    "create",
    "--properties",
    "Size=3",
  );
  expect(ended.response).toMatchObject({ status: "SUCCESS", data: { Size: "size 3" } });
});

test("a server that isn't there", async () => {
  const ended = await invoke(1, temporaryFolder(), "--url", "http://127.0.0.1:9/", "create");
  expect(ended).toMatchObject({ outcome: "silent", advice: expect.stringContaining("can't be reached") });
});

test("a provider that takes too long", async () => {
  const folder = temporaryFolder({
    "slow.js": "exports.handler = () => new Promise((done) => setTimeout(done, 60_000));",
  });
  const ended = await invoke(1, folder, "--module", "slow.js", "create", "--timeout", "1");
  expect(ended.outcome).toBe("timed-out");
});

test.each([
  { argv: ["create"], says: "Name a provider and what to ask of it" },
  { argv: ["--module", "provider.mjs"], says: "Say what to ask of the provider" },
  { argv: ["--module", "provider.mjs", "destroy"], says: '"destroy" is no action' },
  { argv: ["--module", "provider.mjs", "--url", "http://localhost/", "create"], says: "Name one provider" },
  { argv: ["--module", "absent.mjs", "create"], says: "There is no file absent.mjs" },
  { argv: ["--module", ".", "create"], says: ". is a folder, not a module" },
  { argv: ["--module", "my provider.js", "create"], says: "there is a blank in its name" },
  { argv: ["--module", "provider.ts", "create"], says: "provider.ts can't be run as a function" },
  { argv: ["--url", "localhost:3000", "create"], says: '"localhost:3000" is no URL' },
  {
    argv: ["--module", "provider.mjs", "create", "--properties", "{"],
    says: "--properties is no JSON object",
  },
  {
    argv: ["--module", "provider.mjs", "create", "--properties", "Size"],
    says: "--properties takes KEY=VALUE",
  },
  { argv: ["--module", "provider.mjs", "create", "--timeout", "0"], says: "--timeout takes a whole number" },
])("$argv is refused", async ({ argv, says }) => {
  const folder = temporaryFolder({ "provider.mjs": answering });
  for (const name of ["provider.ts", "my provider.js"]) writeFileSync(join(folder, name), "export {}");
  const ended = await custardEnds(2, folder, ["invoke", ...argv]);
  expect(ended.stderr).toContain(says);
});
