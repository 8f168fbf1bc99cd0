import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestEndpoint, type TestEndpoint } from "./support.ts";

let endpoint: TestEndpoint;

beforeAll(async () => {
  endpoint = await openTestEndpoint();
});

afterAll(async () => {
  await endpoint.close();
});

test("health is told to whoever asks", async () => {
  const { status, text } = await endpoint.send("/_custard/health");
  expect(status).toBe(200);
  expect(JSON.parse(text)).toEqual({ status: "ok", version: "0.0.0" });
});

test("web pages are kept out", async () => {
  const { status, text } = await endpoint.send("/", {
    method: "POST",
    headers: { origin: "https://evil.example", "content-type": "application/x-www-form-urlencoded" },
    body: "Action=ListStacks",
  });
  expect(status).toBe(403);
  expect(text).toContain("<Code>AccessDenied</Code>");
});

test("a link can't ask for anything", async () => {
  const link = "/?Action=DeleteStack&StackName=x&Version=2010-05-15";
  const signed = await endpoint.send(link, { service: "cloudformation" });
  expect(signed.text).toContain("<DeleteStackResponse");
  // What isn't signed and no form is for S3, whose links do no more than show.
  const unsigned = await endpoint.send(link);
  expect(unsigned.text).toContain("<ListAllMyBucketsResult");
});

test("a form without a signature is for the service whose version it names", async () => {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = "Action=GetCallerIdentity&Version=2011-06-15";
  const { text } = await endpoint.send("/", { method: "POST", headers, body });
  expect(text).toContain("<Account>123456789012</Account>");
});

test.each([
  { name: "an unknown action", service: "cloudformation", action: "Nonsense", code: "InvalidAction" },
  {
    name: "an operation that isn't served",
    service: "cloudformation",
    action: "CreateStackSet",
    code: "UnsupportedOperation",
  },
  {
    name: "a service that isn't served",
    service: "ec2",
    action: "DescribeInstances",
    code: "UnknownService",
  },
])("$name is refused by name", async ({ service, action, code }) => {
  const { status, text } = await endpoint.query({ Action: action }, { service });
  expect(status).toBe(400);
  expect(text).toContain(`<Code>${code}</Code>`);
});

test("S3 refuses what it doesn't do with its own code", async () => {
  const { status, text } = await endpoint.send("/bucket?analytics", { service: "s3" });
  expect(status).toBe(501);
  expect(text).toContain("<Code>NotImplemented</Code>");
});

test("a request that is too large is refused without being read", async () => {
  const { status } = await endpoint.send("/", {
    method: "POST",
    service: "cloudformation",
    body: new Uint8Array(5 * 1024 * 1024),
  });
  expect(status).toBe(413);
});

test("clients that stop in the middle, or send nonsense, keep nobody from being served", async () => {
  const port = Number(new URL(endpoint.url).port);
  const stuck = Array.from({ length: 50 }, () => connect(port, "127.0.0.1"));
  await Promise.all(stuck.map((socket) => once(socket, "connect")));
  for (const socket of stuck) {
    socket.on("error", () => undefined);
    socket.write("POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000\r\n\r\nAction=");
  }
  const mad = connect(port, "127.0.0.1");
  mad.on("error", () => undefined);
  mad.write("\u0000\u0001nonsense\r\n\r\n");
  expect((await endpoint.query({ Action: "ListStacks" })).status).toBe(200);
  for (const socket of [...stuck, mad]) socket.destroy();
});

test("an endpoint that others can reach asks for signatures", async () => {
  await expect(openTestEndpoint({ host: "0.0.0.0" })).rejects.toThrow("must ask for signatures");
});
