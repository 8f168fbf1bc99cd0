/** Inline code that answers by AWS's response modules, or by hand, through the real redirect to the real endpoint. */
import { afterEach, expect, test } from "vitest";
import type { Delivery, TraceEntry } from "../../packages/custard/src/engine/ports.ts";
import { redirectEnvironment } from "../../packages/custard/src/response/redirect.ts";
import { type ResponseWorld, openResponseWorld } from "../support/response-world.ts";
import { type TestLambda, openLambda, requestTo } from "./support.ts";

let lambda: TestLambda;
afterEach(async () => await lambda.close());

interface Answered {
  readonly delivery: Delivery;
  readonly bodies: readonly Record<string, unknown>[];
  readonly log: readonly string[];
}

async function answer(code: string, runtime: string, requestIds = ["r1"]): Promise<Answered> {
  const world = await openResponseWorld();
  const trace: TraceEntry[] = [];
  lambda = await openLambda({
    traces: {
      note: (entry) => void trace.push(entry),
      ofRequest: async () => [...trace, ...world.traces],
    },
    answered: (request) => world.arrived.some(({ requestId }) => requestId === request.requestId),
    environment: (family) =>
      redirectEnvironment({ ...redirectOf(world), runtime: family === "custom" ? "any" : family }),
  });
  const arn = await lambda.create("provider", code, { runtime });
  let delivery: Delivery = { kind: "over" };
  for (const requestId of requestIds) {
    const request = { ...requestTo(arn), responseUrl: world.url(requestId), requestId };
    delivery = await lambda.transport.deliver(request, new AbortController().signal);
  }
  const bodies = world.arrived.map(({ body }): Record<string, unknown> =>
    JSON.parse(Buffer.from(body).toString()),
  );
  return { delivery, bodies, log: trace.filter(({ kind }) => kind === "log").map(({ text }) => text) };
}

function redirectOf({ endpoint, certificate }: ResponseWorld) {
  return { port: endpoint.port, caFile: certificate.caFile, bundleFile: certificate.bundleFile };
}

const fields = (reason: unknown, data: unknown) => ({
  Status: "SUCCESS",
  Reason: reason,
  PhysicalResourceId: expect.stringMatching(/^\d{4}\/\d\d\/\d\d\/\[\$LATEST\][0-9a-f]{32}$/),
  StackId: expect.stringContaining("arn:aws:cloudformation:"),
  RequestId: "r1",
  LogicalResourceId: "Thing",
  NoEcho: false,
  Data: data,
});

const nodeStyles = [
  {
    title: "the callback form",
    code: "const response = require('cfn-response'); exports.handler = (event, context) => { response.send(event, context, response.SUCCESS, { A: 'b' }) }",
  },
  {
    title: "the form that is awaited",
    code: "const response = require('cfn-response'); exports.handler = async (event, context) => { await response.send(event, context, response.SUCCESS, { A: 'b' }) }",
  },
  {
    title: "the form that is returned",
    code: 'var r = require("cfn-response"); exports.handler = (event, context) => r.send(event, context, "SUCCESS", { A: "b" })',
  },
];
const nodeRuntimes = ["nodejs18.x", "nodejs20.x", "nodejs22.x"];

test.each(nodeRuntimes.flatMap((runtime) => nodeStyles.map((style) => ({ ...style, runtime }))))(
  "cfn-response on $runtime: $title",
  async ({ code, runtime }) => {
    const { delivery, bodies, log } = await answer(code, runtime);
    expect(delivery).toEqual({ kind: "over" });
    expect(bodies).toEqual([
      fields(expect.stringMatching(/^See the details in CloudWatch Log Stream: \d{4}/), { A: "b" }),
    ]);
    expect(log.some((line) => line.includes("\tINFO\tResponse body:\n"))).toBe(true);
    expect(log.some((line) => line.endsWith("\tINFO\tStatus code: 200"))).toBe(true);
  },
);

test("cfn-response on nodejs24.x, which has no context.done", async () => {
  const { bodies } = await answer(nodeStyles[1]?.code ?? "", "nodejs24.x");
  expect(bodies).toHaveLength(1);
});

test("a send that an async handler doesn't wait for is lost, as on Lambda", async () => {
  const code =
    "const response = require('cfn-response'); exports.handler = async (event, context) => { response.send(event, { ...context, done: undefined }, response.SUCCESS, {}) }";
  const { delivery, bodies } = await answer(code, "nodejs20.x");
  expect(bodies).toEqual([]);
  expect(delivery).toEqual({ kind: "silent", advice: expect.stringContaining("returned without answering") });
});

test("a Node sender by hand, to port 443", async () => {
  const code = `
const https = require('https');
exports.handler = (event, context, callback) => {
  const { hostname, pathname, search } = new URL(event.ResponseURL);
  const { StackId, RequestId, LogicalResourceId } = event;
  const body = JSON.stringify({ Status: 'SUCCESS', PhysicalResourceId: 'own', StackId, RequestId, LogicalResourceId });
  const request = https.request({ hostname, port: 443, path: pathname + search, method: 'PUT', headers: { 'content-type': '', 'content-length': body.length } }, (response) => response.resume().on('end', () => callback(null, response.statusCode)));
  request.on('error', callback);
  request.end(body);
};`;
  expect((await answer(code, "nodejs20.x")).bodies).toEqual([
    expect.objectContaining({ PhysicalResourceId: "own" }),
  ]);
});

test("cfnresponse in Python, with all its arguments", async () => {
  const code = `
import cfnresponse
def handler(event, context):
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {'A': 'ü'}, physicalResourceId='own', noEcho=True, reason='because')
`;
  const { delivery, bodies, log } = await answer(code, "python3.12");
  expect(delivery).toEqual({ kind: "over" });
  expect(bodies).toEqual([{ ...fields("because", { A: "ü" }), PhysicalResourceId: "own", NoEcho: true }]);
  expect(log).toEqual(expect.arrayContaining(["Response body:", "Status code: 200"]));
});

test("cfnresponse keeps its connection, and opens another when that one is gone", async () => {
  const code = `
import cfnresponse, http.client, socket
opened = []
connect = http.client.HTTPSConnection.connect
def counted(self):
    opened.append(self)
    connect(self)
http.client.HTTPSConnection.connect = counted
def handler(event, context):
    if event['RequestId'] == 'r3':
        opened[-1].sock.shutdown(socket.SHUT_RDWR)
    cfnresponse.send(event, context, 'SUCCESS', {'Opened': len(opened)})
`;
  const { bodies } = await answer(code, "python3.12", ["r1", "r2", "r3", "r4"]);
  expect(bodies.map(({ RequestId, Data }) => [RequestId, Data])).toEqual([
    ["r1", { Opened: 0 }],
    ["r2", { Opened: 1 }],
    ["r3", { Opened: 1 }],
    ["r4", { Opened: 2 }],
  ]);
});

test("cfnresponse with its defaults", async () => {
  const code =
    "import json, cfnresponse\ndef handler(event, context):\n    cfnresponse.send(event, context, 'SUCCESS', {})";
  expect((await answer(code, "python3.9")).bodies).toEqual([
    fields(expect.stringMatching(/^See the details in CloudWatch Log Stream: /), {}),
  ]);
});

test.each([
  [
    "nodejs20.x",
    "exports.handler = async () => require('cfn-' + 'response')",
    "Cannot find module 'cfn-response'",
  ],
  [
    "python3.12",
    "def handler(event, context):\n    __import__('cfnresponse')",
    "No module named 'cfnresponse'",
  ],
])("the module isn't there for code that doesn't name it (%s)", async (runtime, code, message) => {
  const { delivery } = await answer(code, runtime);
  expect(delivery).toEqual({ kind: "silent", advice: expect.stringContaining(message) });
});

const sender = (path: string) => `
const https = require('https');
exports.handler = (event, context, callback) => {
  const url = new URL(event.ResponseURL);
  const body = JSON.stringify({ Status: 'SUCCESS', PhysicalResourceId: 'own', Data: { Text: 'gr\u00fc\u00dfe' } });
  const request = https.request({ hostname: url.hostname, path: ${path}, method: 'PUT', headers: { 'content-type': '', 'content-length': body.length } }, (response) => { response.resume(); callback(null, response.statusCode); });
  request.on('error', callback);
  request.end(body);
};`;

test("a sender that drops the query is told so", async () => {
  expect((await answer(sender("url.pathname"), "nodejs20.x")).delivery).toEqual({
    kind: "silent",
    advice: expect.stringMatching(
      /^Function provider tried to answer, but S3 refused it \(403 \w+\): the query of the ResponseURL was dropped: /,
    ),
  });
});
