import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

describe("clients that are slow, break off, or send nonsense", () => {
  const limits = { headers: 300, request: 2000, pause: 300 };
  let patient: TestEndpoint;

  beforeAll(async () => {
    patient = await openTestEndpoint({ limits });
  });

  afterAll(async () => {
    await patient.close();
  });

  /** A raw connection that has sent this. */
  async function talker(text: string): Promise<Socket> {
    const socket = connect(Number(new URL(patient.url).port), "127.0.0.1");
    await once(socket, "connect");
    // Being cut off is what is expected of some.
    socket.on("error", () => undefined);
    socket.write(text);
    return socket;
  }

  /** Everything that comes until the other side hangs up. */
  async function heardBy(socket: Socket): Promise<string> {
    let heard = "";
    socket.setEncoding("utf8").on("data", (text: string) => (heard += text));
    await once(socket, "close");
    return heard;
  }

  const head = "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-www-form-urlencoded\r\n";

  test("who never sends a whole head, or nothing at all, is hung up on", async () => {
    expect(await heardBy(await talker(""))).toMatch(/^(?:HTTP\/1\.1 408|$)/);
    expect(await heardBy(await talker("POST / HTTP/1.1\r\nhost: 127"))).toMatch(/^(?:HTTP\/1\.1 408|$)/);
  });

  test("nor is who sends it a line at a time given more time", async () => {
    const socket = await talker(head);
    const drip = setInterval(() => socket.write("x-more: 1\r\n"), 50);
    expect(await heardBy(socket)).toMatch(/^(?:HTTP\/1\.1 408|$)/);
    clearInterval(drip);
  });

  test("who stops in the middle of a body is hung up on", async () => {
    expect(await heardBy(await talker(`${head}content-length: 1000\r\n\r\nAction=`))).toBe("");
  });

  test("who sends a body a byte at a time is hung up on when the whole has taken too long", async () => {
    const socket = await talker(`${head}content-length: 100000\r\n\r\n`);
    const drip = setInterval(() => socket.write("x"), 50);
    expect(await heardBy(socket)).toMatch(/^(?:HTTP\/1\.1 408|$)/);
    clearInterval(drip);
  });

  test("a head that is too large is refused as such", async () => {
    const socket = await talker(
      `GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-large: ${"x".repeat(70_000)}\r\n\r\n`,
    );
    expect(await heardBy(socket)).toMatch(/^HTTP\/1\.1 431 /);
  });

  test("what isn't HTTP is refused", async () => {
    expect(await heardBy(await talker("\u0000\u0001nonsense\r\n\r\n"))).toMatch(/^HTTP\/1\.1 400 /);
    expect(await heardBy(await talker("GET /a b HTTP/1.1\r\n\r\n"))).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("a body that is longer than it may be is refused at once, whether it says so or not", async () => {
    const said = await talker(`${head}content-length: 999999999\r\n\r\n`);
    expect(await heardBy(said)).toMatch(/^HTTP\/1\.1 413 /);
    const unsaid = await talker(`${head}transfer-encoding: chunked\r\n\r\n`);
    const chunk = "x".repeat(1024 * 1024);
    for (let sent = 0; sent < 5; sent += 1) unsaid.write(`100000\r\n${chunk}\r\n`);
    expect(await heardBy(unsaid)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test("an upload that breaks off leaves nothing", async () => {
    await patient.send("/broken", { method: "PUT", service: "s3" });
    const put = "PUT /broken/half HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000000\r\n\r\n";
    const socket = await talker(put + "x".repeat(500_000));
    await patient.send("/broken?list-type=2", { service: "s3" });
    socket.destroy();
    await once(socket, "close");
    expect((await patient.send("/broken/half", { service: "s3" })).status).toBe(404);
    const { text } = await patient.send("/broken?list-type=2", { service: "s3" });
    expect(text).toContain("<KeyCount>0</KeyCount>");
  });

  test("who takes no answer is hung up on", async () => {
    await patient.send("/slow", { method: "PUT", service: "s3" });
    await patient.send("/slow/large", {
      method: "PUT",
      service: "s3",
      body: new Uint8Array(32 * 1024 * 1024),
    });
    const socket = await talker("GET /slow/large HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
    socket.pause();
    await expect
      .poll(
        () => {
          // A write to who has hung up fails; one now and then, as each is a sign of life.
          socket.write("\r\n");
          return socket.closed || socket.destroyed;
        },
        { interval: 2 * limits.pause },
      )
      .toBe(true);
  });

  test("a request that takes long to be answered isn't one of them", async () => {
    const template = JSON.stringify({
      Resources: {
        Wait: {
          Type: "AWS::CloudFormation::WaitCondition",
          Properties: { Handle: { Ref: "Handle" }, Timeout: "600" },
        },
        Handle: { Type: "AWS::CloudFormation::WaitConditionHandle" },
      },
    });
    const held = await openTestEndpoint({ limits, hold: "all", holdTime: 1200 });
    await held.query({ Action: "CreateStack", StackName: "held", TemplateBody: template });
    const { text } = await held.query({ Action: "DescribeStacks", StackName: "held" });
    expect(text).toContain("<StackStatus>CREATE_IN_PROGRESS</StackStatus>");
    await held.close();
  });

  test("two hundred of them keep nobody else waiting", async () => {
    const stuck = await Promise.all(
      Array.from({ length: 200 }, async (_, index) =>
        talker(index % 2 === 0 ? head : `${head}content-length: 1000\r\n\r\nAction=`),
      ),
    );
    expect((await patient.query({ Action: "ListStacks" })).status).toBe(200);
    for (const socket of stuck) socket.destroy();
  });
});

test("an endpoint that others can reach asks for signatures", async () => {
  await expect(openTestEndpoint({ host: "0.0.0.0" })).rejects.toThrow("must ask for signatures");
});
