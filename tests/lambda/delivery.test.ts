/** How deliveries end: over, silent or refused; with real functions. */
import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import type { Delivery } from "../../packages/custard/src/engine/ports.ts";
import { redirectEnvironment } from "../../packages/custard/src/response/redirect.ts";
import type { LambdaTransportOptions } from "../../packages/custard/src/transports/lambda/lambda-transport.ts";
import { type TestLambda, openLambda, requestTo, scope } from "./support.ts";

let lambda: TestLambda;
afterEach(async () => await lambda.close());

async function open(options: Partial<LambdaTransportOptions> = {}): Promise<void> {
  lambda = await openLambda(options);
}

async function deliver(code: string, settings: Parameters<TestLambda["create"]>[2] = {}): Promise<Delivery> {
  const arn = await lambda.create("provider", code, settings);
  return await lambda.transport.deliver(requestTo(arn), new AbortController().signal);
}

function noted(kind: string): string[] {
  return lambda.trace.filter((entry) => entry.kind === kind).map((entry) => entry.text);
}

/** The hook that reports where a process turns to; its endpoint isn't needed here. */
const reporting = {
  environment: (family: "node" | "python" | "custom") =>
    redirectEnvironment({
      port: 9,
      caFile: "/dev/null",
      bundleFile: "/dev/null",
      runtime: family === "custom" ? "any" : family,
    }),
};

const silences = [
  {
    title: "returns without answering",
    code: "exports.handler = async () => {}",
    attempts: 1,
    advice:
      "Function provider returned without answering: send the response to the ResponseURL and wait until it is sent before the handler returns.",
  },
  {
    title: "throws",
    code: "exports.handler = async () => { throw new TypeError('x is not a function') }",
    attempts: 3,
    advice:
      "Function provider failed before it answered (3 attempts): TypeError: x is not a function at index.js:1. Catch errors in the handler and answer FAILED with the reason.",
  },
  {
    title: "is stopped by its timeout",
    code: "exports.handler = () => { for (;;); }",
    settings: { timeoutSeconds: 1 },
    attempts: 3,
    advice:
      "Function provider was stopped by its Timeout of 1 s before it answered (3 attempts): raise Timeout (at most 900 s), or find what it waits for.",
  },
  {
    title: "ends its process",
    code: "exports.handler = () => process.exit(1)",
    attempts: 3,
    advice:
      "Function provider ended its process (exit status 1) before it answered (3 attempts): answer first, and return from the handler instead of ending the process (process.exit, sys.exit).",
  },
  {
    title: "can't be loaded",
    code: "exports.other = 1",
    attempts: 3,
    advice:
      "Function provider couldn't be loaded (3 attempts): Runtime.HandlerNotFound: index.handler is undefined or not exported. Export what Handler (index.handler) names, or correct Handler.",
  },
  {
    title: "lacks a Node package",
    code: "require('@scope/nowhere/deep')",
    attempts: 3,
    advice:
      "Function provider couldn't be loaded (3 attempts): Error: Cannot find module '@scope/nowhere/deep' at index.js:1. Lambda hasn't got it, and inline code can bring no packages: move the code to a folder, name that as Code, and npm install --prefix FOLDER @scope/nowhere",
  },
  {
    title: "lacks a Python package",
    code: "import nowhere.deep",
    settings: { runtime: "python3.13" },
    attempts: 3,
    advice:
      "Function provider couldn't be loaded (3 attempts): Unable to import module 'index': No module named 'nowhere'. Lambda hasn't got it, and inline code can bring no packages: move the code to a folder, name that as Code, and pip install -t FOLDER nowhere",
  },
];

test.each(silences)("a function that $title is silent", async ({ code, settings, attempts, advice }) => {
  await open();
  expect(await deliver(code, settings)).toEqual({ kind: "silent", advice });
  expect(noted("advice")).toEqual([advice]);
  const failures = noted("failed").length;
  expect(failures === 0 ? 1 : failures).toBe(attempts);
});

test("a silent function's instance is destroyed, so that it can't thaw and answer", async () => {
  await open();
  await deliver("exports.handler = async () => { console.log('pid', process.pid) }");
  const pid = Number(/pid (\d+)/.exec(noted("log").join())?.[1]);
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("a frozen instance is noted, one that has ended isn't", async () => {
  await open();
  await deliver("exports.handler = async () => {}");
  expect(noted("frozen")).toHaveLength(1);
  await lambda.close();
  await open();
  await deliver("exports.handler = () => process.exit(0)");
  expect(noted("frozen")).toEqual([]);
});

test("without fail-fast the instance stays, frozen, and the advice is noted only", async () => {
  await open({ failFast: false });
  expect(await deliver("exports.handler = async () => { console.log('pid', process.pid) }")).toEqual({
    kind: "over",
  });
  const pid = Number(/pid (\d+)/.exec(noted("log").join())?.[1]);
  await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "utf8")).toContain(") T ");
  expect(noted("advice")).toHaveLength(1);
});

test.each([
  [
    "a connection",
    "node",
    "exports.handler = () => new Promise((resolve) => require('net').connect(9, '127.0.0.2').on('error', resolve))",
  ],
  ["a program", "node", "exports.handler = async () => { require('child_process').execSync('true') }"],
  [
    "a connection",
    "python",
    "import socket\ndef handler(event, context):\n    socket.socket().connect_ex(('127.0.0.2', 9))\n",
  ],
  ["a program", "python", "import subprocess\ndef handler(event, context):\n    subprocess.run(['true'])\n"],
])("who turned to others (%s, %s) isn't certainly silent", async (_, family, code) => {
  await open(reporting);
  const runtime = family === "node" ? "nodejs20.x" : "python3.12";
  expect(await deliver(code, { runtime })).toEqual({ kind: "over" });
  expect(noted("advice")).toEqual([
    expect.stringMatching(/It turned to others \((?:connect 127\.0\.0\.2:9|spawn .*true)\)/),
  ]);
});

test("a function that was answered for is left warm", async () => {
  await open({ answered: () => true });
  expect(await deliver("exports.handler = async () => {}")).toEqual({ kind: "over" });
  const { log } = await lambda.run("provider");
  expect(log[0]).toMatch(/^START/);
});

test("ending a silent request's instance waits for the next request that runs on it", async () => {
  await open({ cores: 1 });
  const code = `exports.handler = ({ RequestId }) => new Promise((resolve) => setTimeout(resolve, RequestId === "r1" ? 0 : 200))`;
  const arn = await lambda.create("provider", code);
  const requests = ["r1", "r2"].map((id) => requestTo(arn, id));
  const deliveries = requests.map((request) =>
    lambda.transport.deliver(request, new AbortController().signal),
  );
  const silent = { kind: "silent", advice: expect.stringContaining("returned without answering") };
  expect(await Promise.all(deliveries)).toEqual([silent, silent]);
  expect(noted("failed")).toEqual([]);
  expect(noted("returned")).toHaveLength(2);
});

test("an answer stops no further attempts, since Lambda knows nothing of it", async () => {
  await open({ answered: () => true });
  expect(await deliver("exports.handler = async () => { throw new Error('after the answer') }")).toEqual({
    kind: "over",
  });
  expect(noted("failed")).toHaveLength(3);
});

test("a function that has been deleted is not called again", async () => {
  await open();
  const slow =
    "exports.handler = async () => { await new Promise((done) => setTimeout(done, 500)); throw new Error('no') }";
  const arn = await lambda.create("provider", slow);
  const delivered = lambda.transport.deliver(requestTo(arn), new AbortController().signal);
  await vi.waitUntil(() => noted("invoked").length === 1, { timeout: 20_000 });
  await lambda.functions.delete({ ...scope, name: "provider" });
  await delivered;
  expect(noted("invoked")).toHaveLength(1);
});

test("attempts carry one Lambda request id, on a new instance after a crash", async () => {
  await open();
  await deliver(
    "exports.handler = async (event, context) => { console.log('id', context.awsRequestId, context.logStreamName); process.exit(1) }",
  );
  const seen = noted("log").flatMap((text) => /id (\S+) (\S+)/.exec(text)?.slice(1) ?? []);
  expect(new Set(seen.filter((_, index) => index % 2 === 0)).size).toBe(1);
  expect(new Set(seen.filter((_, index) => index % 2 === 1)).size).toBe(3);
});

test("MaximumRetryAttempts is honoured", async () => {
  await open();
  const arn = await lambda.create("provider", "exports.handler = async () => { throw new Error('no') }");
  await lambda.functions.putEventInvoke({ ...scope, name: "provider" }, { maximumRetryAttempts: 0 });
  await lambda.transport.deliver(requestTo(arn), new AbortController().signal);
  expect(noted("failed")).toHaveLength(1);
});

test("the function gets the request as CloudFormation sends it", async () => {
  await open();
  await deliver(
    "exports.handler = async (event) => { process.stdout.write(JSON.stringify(Object.keys(event)) + '\\n') }",
  );
  expect(noted("log")).toContain(
    '["RequestType","ServiceToken","ResponseURL","StackId","RequestId","LogicalResourceId","ResourceType","ResourceProperties"]',
  );
});

test("signatures of response URLs are not kept", async () => {
  await open();
  await deliver(
    "exports.handler = async (event) => { console.log(event.ResponseURL, encodeURIComponent(event.ResponseURL)) }",
  );
  expect(noted("log").join()).toContain("X-Amz-Signature=*****");
  expect(JSON.stringify(lambda.trace)).not.toContain("5ec3e7");
});

const elsewhere = "arn:aws:lambda:us-east-1:123456789012:function:nowhere";
const refusals = [
  {
    title: "an unknown function",
    token: elsewhere,
    reason: `Function not found: ${elsewhere} (Service: Lambda, Status Code: 404, Request ID: `,
  },
  {
    title: "an unknown alias",
    token: `${elsewhere}:live`,
    reason: `Function not found: ${elsewhere}:live (`,
  },
  {
    title: "another region",
    token: elsewhere.replace("us-east-1", "eu-west-1"),
    reason: "Functions from 'eu-west-1' are not reachable in this region ('us-east-1') (",
  },
  {
    title: "no function ARN",
    token: "arn:aws:lambda:us-east-1:1:layer:x",
    reason: "Invalid function ARN: arn:aws:lambda:us-east-1:1:layer:x (",
  },
];

test.each(refusals)("$title is refused at once", async ({ token, reason }) => {
  await open();
  const delivery = await lambda.transport.deliver(requestTo(token), new AbortController().signal);
  expect(delivery).toEqual({ kind: "refused", reason: expect.stringContaining(reason) });
});

test("a request that is too large is refused", async () => {
  await open();
  const arn = await lambda.create("provider", "exports.handler = async () => {}");
  const request = { ...requestTo(arn), properties: { Text: "x".repeat(1_048_576) } };
  expect(await lambda.transport.deliver(request, new AbortController().signal)).toEqual({
    kind: "refused",
    reason: expect.stringMatching(
      /^\d+ byte payload is too large for the Event invocation type \(limit 1048576 bytes\)/,
    ),
  });
});

test("an aborted delivery rejects at once and leaves the running function alone", async () => {
  await open();
  const abort = new AbortController();
  const arn = await lambda.create(
    "provider",
    "exports.handler = () => new Promise((resolve) => setTimeout(resolve, 300, 'end'))",
  );
  const delivery = lambda.transport.deliver(requestTo(arn), abort.signal);
  await expect.poll(() => noted("invoked")).toHaveLength(1);
  abort.abort(new Error("no longer wanted"));
  await expect(delivery).rejects.toThrow("no longer wanted");
  await expect.poll(() => noted("returned")).toHaveLength(1);
});

test("a missing interpreter refuses the request by name", async () => {
  const path = process.env["PATH"];
  process.env["PATH"] = "/nowhere";
  await open();
  const delivery = await deliver("def handler(event, context):\n    pass", { runtime: "python3.12" }).finally(
    () => {
      process.env["PATH"] = path;
    },
  );
  expect(delivery).toEqual({
    kind: "refused",
    reason: "Python functions need python3, and there is none on the PATH.",
  });
});

test("a failed invocation's record goes to its on-failure destination, which may answer", async () => {
  await open();
  const rescue = await lambda.create(
    "rescue",
    "exports.handler = async (event) => { console.log(JSON.stringify(event)) }",
  );
  const arn = await lambda.create("provider", "exports.handler = async () => { throw new Error('no') }");
  await lambda.functions.putEventInvoke(
    { ...scope, name: "provider" },
    { maximumRetryAttempts: 1, onFailure: rescue },
  );
  const delivery = await lambda.transport.deliver(requestTo(arn), new AbortController().signal);
  expect(delivery).toEqual({ kind: "over" });
  expect(noted("advice")).toEqual([expect.stringContaining(`It turned to others (${rescue})`)]);
  await expect.poll(() => noted("log").findLast((text) => text.includes('"requestContext"'))).toBeDefined();
  const line = noted("log").findLast((text) => text.includes('"requestContext"')) ?? "";
  expect(JSON.parse(line.slice(line.indexOf("{")))).toEqual({
    version: "1.0",
    timestamp: expect.any(String),
    requestContext: {
      requestId: expect.any(String),
      functionArn: `${arn}:$LATEST`,
      condition: "RetriesExhausted",
      approximateInvokeCount: 2,
    },
    requestPayload: expect.objectContaining({ RequestType: "Create", LogicalResourceId: "Thing" }),
    responseContext: { statusCode: 200, executedVersion: "$LATEST", functionError: "Unhandled" },
    responsePayload: { errorType: "Error", errorMessage: "no", trace: expect.any(Array) },
  });
});

test("records for topics and queues are handed to whoever delivers there", async () => {
  const sent: { readonly to: string; readonly body: string }[] = [];
  await open({ sendRecord: async (message) => void sent.push(message) });
  const queue = "arn:aws:sqs:us-east-1:123456789012:done";
  const arn = await lambda.create("provider", "exports.handler = async () => 'well'");
  await lambda.functions.putEventInvoke({ ...scope, name: "provider" }, { onSuccess: queue });
  await lambda.transport.deliver(requestTo(arn), new AbortController().signal);
  expect(sent.map(({ to }) => to)).toEqual([queue]);
  expect(JSON.parse(sent[0]?.body ?? "")).toMatchObject({ responsePayload: "well" });
});

test("the event of a call that failed for good goes to the dead-letter queue as it came", async () => {
  const sent: unknown[] = [];
  await open({ sendRecord: async (message) => void sent.push(message) });
  const queue = "arn:aws:sqs:us-east-1:123456789012:dead";
  const settings = { deadLetterArn: queue };
  const failing = await lambda.create(
    "failing",
    "exports.handler = async () => { throw new Error('no') }",
    settings,
  );
  const event = requestTo(failing);
  expect(await lambda.transport.deliver(event, new AbortController().signal)).toEqual({ kind: "over" });
  expect(sent).toEqual([
    {
      to: queue,
      what: "The event",
      body: expect.stringContaining(`"RequestId":"${event.requestId}"`),
      attributes: {
        RequestID: { type: "String", value: expect.stringMatching(/^[-0-9a-f]{36}$/) },
        ErrorCode: { type: "Number", value: "200" },
        ErrorMessage: { type: "String", value: "no" },
      },
    },
  ]);
  // Whoever reads the queue may still answer.
  expect(noted("advice")).toEqual([expect.stringContaining(`It turned to others (${queue})`)]);
  const fine = await lambda.create("fine", "exports.handler = async () => {}", settings);
  await lambda.transport.deliver(requestTo(fine), new AbortController().signal);
  expect(sent).toHaveLength(1);
});
