import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { responseHost } from "../../packages/custard/src/response/response-url.ts";
import { probeSandbox, sandboxEnvironment } from "../../packages/custard/src/transports/lambda/sandbox.ts";
import { openResponseWorld } from "../support/response-world.ts";
import { temporaryDirectory } from "../support/state-directory.ts";
import { openLambda, requestTo } from "./support.ts";

const requestId = "6a1b2c3d-0000-4000-8000-000000000001";

/** A Lambda whose functions run in sandboxes. */
async function openSandboxed() {
  const response = await openResponseWorld();
  const lambda = await openLambda({
    environment: sandboxEnvironment,
    answered: (request) => response.arrived.some((arrived) => arrived.requestId === request.requestId),
    sandbox: {
      caFile: response.certificate.caFile,
      bundleFile: response.certificate.bundleFile,
      hosts: (region) => [responseHost(region, "aws"), `sns.${region}.amazonaws.com`],
      onConnection: (socket) => response.endpoint.accept(socket),
    },
  });
  onTestFinished(() => lambda.close());
  const request = (arn: string) => ({ ...requestTo(arn, requestId), responseUrl: response.url(requestId) });
  const deliver = (arn: string) => lambda.transport.deliver(request(arn), new AbortController().signal);
  return { lambda, response, deliver };
}

/** A folder with an executable `bootstrap`. */
function bootstrapFolder(source: string): string {
  const folder = join(temporaryDirectory(), "code");
  mkdirSync(folder);
  writeFileSync(join(folder, "bootstrap"), source);
  chmodSync(join(folder, "bootstrap"), 0o755);
  return folder;
}

const nodeSource = `
const https = require("node:https");
exports.handler = async (event) => {
  const body = JSON.stringify({ Status: "SUCCESS", PhysicalResourceId: "node" });
  const url = new URL(event.ResponseURL);
  return await new Promise((resolve, reject) => https.request({ hostname: url.hostname, port: 443, path: url.pathname + url.search,
    method: "PUT", headers: { "content-type": "", "content-length": body.length } }, (r) => resolve(r.statusCode)).on("error", reject).end(body));
};`;

const pythonSource = `
import json, urllib.request
def handler(event, context):
    body = json.dumps({"Status": "SUCCESS", "PhysicalResourceId": "python"}).encode()
    request = urllib.request.Request(event["ResponseURL"], data=body, method="PUT", headers={"content-type": ""})
    return urllib.request.urlopen(request).status
`;

const shellSource = `#!/bin/sh
api="http://$AWS_LAMBDA_RUNTIME_API/2018-06-01/runtime/invocation"
while true; do
  event=$(curl -sS -D /tmp/headers "$api/next")
  id=$(sed -n 's/^lambda-runtime-aws-request-id: *\\([^[:space:]]*\\).*/\\1/Ip' /tmp/headers)
  url=$(printf '%s' "$event" | sed 's/.*"ResponseURL":"\\([^"]*\\)".*/\\1/')
  printf '%s' '{"Status":"SUCCESS","PhysicalResourceId":"shell"}' > /tmp/body
  curl -sS -X PUT -H 'Content-Type:' --data-binary @/tmp/body "$url"
  curl -sS -d done "$api/$id/response" > /dev/null
done
`;

beforeAll(async () => await probeSandbox());

/** An interpreter has more than the process that makes the sandbox. */
const interpreter = /REPORT RequestId: .*\tMax Memory Used: [1-9]\d+ MB/;
const shell = /REPORT RequestId: .*\tMax Memory Used: \d+ MB/;

describe("a function in a sandbox answers by the real name on port 443", () => {
  test.each([
    { name: "node", code: nodeSource, settings: { runtime: "nodejs20.x" } },
    {
      name: "node, on the newest runtime",
      code: nodeSource.replace('"node"', '"node, on the newest runtime"'),
      settings: { runtime: "nodejs24.x" },
    },
    { name: "python", code: pythonSource, settings: { runtime: "python3.12" } },
    {
      name: "shell",
      code: { kind: "directory", path: "" } as const,
      settings: { runtime: "provided.al2023", handler: "x" },
    },
  ])("$name", async ({ name, code, settings }) => {
    const { lambda, response, deliver } = await openSandboxed();
    const source = typeof code === "string" ? code : { ...code, path: bootstrapFolder(shellSource) };
    const arn = await lambda.create("f", source, { timeoutSeconds: 10, ...settings });
    expect(await deliver(arn)).toEqual({ kind: "over" });
    const answers = response.arrived.map(({ body }) => JSON.parse(Buffer.from(body).toString()));
    expect(answers).toEqual([{ Status: "SUCCESS", PhysicalResourceId: name }]);
    expect(lambda.trace.map(({ text }) => text).join("\n")).toMatch(name === "shell" ? shell : interpreter);
  });
});

/** Runs a function's code and gives what it returns. */
async function runInside(code: string, event = {}) {
  const { lambda } = await openSandboxed();
  await lambda.create("f", code, { runtime: "nodejs20.x", timeoutSeconds: 10 });
  const { payload } = await lambda.run("f", event);
  return JSON.parse(Buffer.from(payload).toString());
}

test("it sees Lambda's paths, and nothing of the user's", async () => {
  const seen = await runInside(`
    const fs = require("node:fs");
    const attempt = (act) => { try { return act(); } catch (error) { return error.code; } };
    exports.handler = async () => ({
      directory: process.cwd(), root: process.env.LAMBDA_TASK_ROOT, home: process.env.HOME, user: require("node:os").userInfo().username,
      code: fs.readdirSync("/var/task"), etc: fs.readdirSync("/etc").includes("shadow"), homes: attempt(() => fs.readdirSync("/root")),
      system: attempt(() => fs.writeFileSync("/usr/x", "")), own: attempt(() => fs.writeFileSync("/var/task/x", "")), top: attempt(() => fs.writeFileSync("/x", "")),
      temporary: attempt(() => fs.writeFileSync("/tmp/x", "")) ?? "written", processes: fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).length,
      channel: process.env.NODE_CHANNEL_FD ?? "none", connected: process.connected ?? "none", interfaces: Object.keys(require("node:os").networkInterfaces()),
    });`);
  expect(seen).toEqual({
    directory: "/var/task",
    root: "/var/task",
    home: "/tmp",
    user: "sbx_user1051",
    code: ["index.js"],
    etc: false,
    homes: "ENOENT",
    system: "EROFS",
    own: "EROFS",
    top: "EROFS",
    temporary: "written",
    processes: expect.any(Number),
    channel: "none",
    connected: expect.anything(),
    interfaces: ["lo"],
  });
  expect(seen.processes).toBeLessThan(5);
  expect(seen.connected).not.toBe(true);
});

test("it reaches nobody but the endpoint", async () => {
  const outside = await openResponseWorld();
  const code = `
    const net = require("node:net");
    const connect = (host, port) => new Promise((resolve) => {
      const socket = net.connect({ host, port, timeout: 3000 }, () => { socket.destroy(); resolve("connected"); });
      socket.on("error", (error) => resolve(error.code)).on("timeout", () => { socket.destroy(); resolve("timeout"); });
    });
    exports.handler = async ({ port }) => [await connect("127.0.0.1", port), await connect("192.0.2.1", 443), await connect("example.com", 443),
      await connect("sns.us-east-1.amazonaws.com", 443)];`;
  const [local, address, name, sns] = await runInside(code, { port: outside.endpoint.port });
  expect(local).toBe("ECONNREFUSED");
  expect(address).toBe("ENETUNREACH");
  expect(["ENOTFOUND", "EAI_AGAIN"]).toContain(name);
  expect(sns).toBe("connected");
});

test("a function that returns without answering is silent for certain, also with a runtime of its own", async () => {
  const { lambda, deliver } = await openSandboxed();
  const mute = shellSource.replace(/.*-X PUT.*\n/, "");
  const arn = await lambda.create(
    "f",
    { kind: "directory", path: bootstrapFolder(mute) },
    { runtime: "provided.al2023", handler: "x" },
  );
  expect(await deliver(arn)).toEqual({
    kind: "silent",
    advice: expect.stringContaining("returned without answering"),
  });
});

test("a timeout ends everything in it", async () => {
  const { lambda } = await openSandboxed();
  const marker = `sleep ${100_000 + (process.pid % 100_000)}`;
  const code = `exports.handler = async () => { require("node:child_process").spawn("sh", ["-c", ${JSON.stringify(`exec ${marker}`)}]); for (;;) {} };`;
  await lambda.create("f", code, { runtime: "nodejs20.x", timeoutSeconds: 1 });
  const { payload } = await lambda.run("f");
  expect(Buffer.from(payload).toString()).toContain("Task timed out after 1.00 seconds");
  const left = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
  expect(left.split("\n").filter((line) => line === marker)).toEqual([]);
});

test("between events it is frozen", async () => {
  const { lambda } = await openSandboxed();
  const code = `let ticks = 0; setInterval(() => { ticks += 1; }, 5); exports.handler = async () => ticks;`;
  await lambda.create("f", code, { runtime: "nodejs20.x" });
  await lambda.run("f");
  const first = Number(Buffer.from((await lambda.run("f")).payload).toString());
  await new Promise((resolve) => setTimeout(resolve, 300));
  const second = Number(Buffer.from((await lambda.run("f")).payload).toString());
  expect(second - first).toBeLessThan(20);
});
