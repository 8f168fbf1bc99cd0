import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { connect } from "node:tls";
import type { TLSSocket } from "node:tls";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openResponseWorld } from "../../../../tests/support/response-world.ts";
import type { ResponseWorld } from "../../../../tests/support/response-world.ts";

interface Sent {
  readonly method?: string;
  readonly host?: string;
  readonly path?: string;
  readonly headers?: Record<string, string | number>;
  readonly body?: string | Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Sends one request to the endpoint, with the path and query of `url` unless told otherwise. */
async function send(world: ResponseWorld, url: string, sent: Sent = {}): Promise<Answer> {
  const { pathname, search } = new URL(url);
  const { method = "PUT", host = world.host, path = pathname + search, body = "", headers = {} } = sent;
  const outgoing = request({
    agent: false,
    host: "127.0.0.1",
    port: world.endpoint.port,
    servername: host,
    ca: readFileSync(world.certificate.caFile),
    method,
    path,
    headers: {
      host,
      ...(headers["transfer-encoding"] === undefined && { "content-length": Buffer.byteLength(body) }),
      ...headers,
    },
  });
  outgoing.end(body);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

/** A connection for bytes that no client library would send. */
async function open(world: ResponseWorld): Promise<TLSSocket> {
  const ca = readFileSync(world.certificate.caFile);
  const socket = connect({ host: "127.0.0.1", port: world.endpoint.port, servername: world.host, ca });
  onTestFinished(() => void socket.destroy());
  await once(socket, "secureConnect");
  return socket;
}

function head(world: ResponseWorld, url: string, headers: readonly string[]): string {
  const { pathname, search } = new URL(url);
  return [`PUT ${pathname}${search} HTTP/1.1`, `Host: ${world.host}`, ...headers, "", ""].join("\r\n");
}

async function firstAnswer(socket: TLSSocket): Promise<string> {
  const [data] = (await once(socket, "data")) as [Buffer];
  return data.toString();
}

function bodiesOf(world: ResponseWorld): string[] {
  return world.arrived.map(({ body }) => Buffer.from(body).toString());
}

function lines(world: ResponseWorld): string[] {
  return world.traces.map((entry) => entry.text);
}

test("a response arrives with what it belongs to, and is answered as S3 does", async () => {
  const world = await openResponseWorld();
  const answer = await send(world, world.url("c0ffee"), { body: "{}" });
  expect(answer).toMatchObject({ status: 200, body: "" });
  expect(answer.headers).toMatchObject({
    etag: '"99914b932bd37a50b983c5e7c90ae93b"',
    server: "AmazonS3",
    "x-amz-request-id": expect.stringMatching(/^[0-9A-F]{16}$/u) as string,
  });
  expect(world.arrived).toEqual([
    {
      stackId: "arn:aws:cloudformation:us-east-1:123456789012:stack/shop/51af3dc0",
      logicalId: "Table",
      requestId: "c0ffee",
      body: Buffer.from("{}"),
      length: 2,
    },
  ]);
  expect(world.traces).toMatchObject([
    { kind: "put", requestId: "c0ffee", text: expect.stringMatching(/^PUT of 2 bytes: 200\b/) },
  ]);
});

test.each([0, 1, 4096, 4097, 4098, 1_000_000])(
  "of %d bytes, at most 4097 are kept and all are counted",
  async (length) => {
    const world = await openResponseWorld();
    const body = "x".repeat(length);
    expect(await send(world, world.url("c0ffee"), { body })).toMatchObject({ status: 200 });
    expect(world.arrived).toMatchObject([{ length, body: Buffer.from(body.slice(0, 4097)) }]);
  },
);

describe("200", () => {
  test("is sent only after the response is durable", async () => {
    const order: string[] = [];
    let finish = (): void => undefined;
    const durable = new Promise<void>((resolve) => (finish = resolve));
    const world = await openResponseWorld({
      onResponse: () => durable.then(() => void order.push("durable")),
    });
    const answered = send(world, world.url("c0ffee"), { body: "{}" }).then(() => order.push("answered"));
    await send(world, world.url("other"), { method: "GET" });
    finish();
    await answered;
    expect(order).toEqual(["durable", "answered"]);
  });

  test("is never sent when it couldn't be kept: the sender is asked to come again", async () => {
    const world = await openResponseWorld({ onResponse: () => Promise.reject(new Error("disk full")) });
    const answer = await send(world, world.url("c0ffee"), { body: "{}" });
    expect(answer.status).toBe(503);
    expect(answer.body).toContain("<Code>SlowDown</Code><Message>Please reduce your request rate.</Message>");
    expect(answer.body).not.toContain("disk");
  });
});

describe("S3's refusals", () => {
  test.each<{ what: string; sent: Sent; status: number; code: string; trace: string }>([
    {
      what: "a GET",
      sent: { method: "GET" },
      status: 403,
      code: "SignatureDoesNotMatch",
      trace: "GET: 403 SignatureDoesNotMatch, the response must be sent by PUT, not by GET",
    },
    {
      what: "a POST",
      sent: { method: "POST" },
      status: 405,
      code: "MethodNotAllowed",
      trace: "POST: 405 MethodNotAllowed, the response must be sent by PUT, not by POST",
    },
    {
      what: "a chunked body",
      sent: { headers: { "transfer-encoding": "chunked" } },
      status: 501,
      code: "NotImplemented",
      trace: "PUT: 501 NotImplemented, S3 takes no chunked body: send a content-length",
    },
    {
      what: "an unsigned header",
      sent: { headers: { "x-amz-acl": "private" } },
      status: 403,
      code: "AccessDenied",
      trace: "PUT: 403 AccessDenied, there were headers present in the request which were not signed",
    },
    {
      what: "another host's bucket",
      sent: { host: "my-bucket.s3.amazonaws.com" },
      status: 404,
      code: "NoSuchBucket",
      trace: "PUT: 404 NoSuchBucket, the specified bucket does not exist",
    },
  ])("$what: $code", async ({ sent, status, code, trace }) => {
    const world = await openResponseWorld();
    const answer = await send(world, world.url("c0ffee"), { body: "{}", ...sent });
    expect(answer.status).toBe(status);
    expect(answer.headers["content-type"]).toBe("application/xml");
    expect(answer.body).toMatch(
      new RegExp(
        `^<\\?xml version="1.0" encoding="UTF-8"\\?>\n<Error><Code>${code}</Code><Message>.*</HostId></Error>$`,
        "su",
      ),
    );
    expect(world.arrived).toEqual([]);
    expect(lines(world)).toEqual([trace]);
  });

  test("a dropped query: AccessDenied, and the trace says why", async () => {
    const world = await openResponseWorld();
    const url = world.url("c0ffee");
    expect(await send(world, url, { path: new URL(url).pathname })).toMatchObject({ status: 403 });
    expect(lines(world)).toEqual([
      "PUT: 403 AccessDenied, the query of the ResponseURL was dropped: send to the whole URL as it came",
    ]);
  });

  test("an expired URL", async () => {
    const world = await openResponseWorld();
    const url = world.url("c0ffee", { issuedAt: Date.now() - 7_300_000 });
    const answer = await send(world, url);
    expect(answer.body).toMatch(
      /<Code>AccessDenied<\/Code><Message>Request has expired<\/Message><X-Amz-Expires>7200<\/X-Amz-Expires><Expires>.+<\/Expires><ServerTime>/u,
    );
  });

  test("a HEAD is answered without a body", async () => {
    const world = await openResponseWorld();
    expect(await send(world, world.url("c0ffee"), { method: "HEAD" })).toMatchObject({
      status: 403,
      body: "",
    });
  });

  test("a key of no response leaves no trace", async () => {
    const world = await openResponseWorld();
    expect(await send(world, world.url("c0ffee"), { path: "/index.html" })).toMatchObject({ status: 403 });
    expect(world.traces).toEqual([]);
  });

  test("neither signature nor URL stands in a trace", async () => {
    const world = await openResponseWorld();
    await send(world, world.url("c0ffee"), { method: "GET" });
    await send(world, world.url("c0ffee"), { body: "{}" });
    expect(JSON.stringify(world.traces)).not.toMatch(/X-Amz|https:/u);
  });
});

describe("Expect: 100-continue", () => {
  test("the body is asked for when the signature is right", async () => {
    const world = await openResponseWorld();
    const socket = await open(world);
    socket.write(head(world, world.url("c0ffee"), ["Expect: 100-continue", "Content-Length: 2"]));
    expect(await firstAnswer(socket)).toMatch(/^HTTP\/1.1 100 Continue/u);
    socket.write("{}");
    expect(await firstAnswer(socket)).toMatch(/^HTTP\/1.1 200 OK/u);
    expect(bodiesOf(world)).toEqual(["{}"]);
  });

  test("it is not when it is wrong", async () => {
    const world = await openResponseWorld();
    const socket = await open(world);
    const url = world.url("c0ffee").replace("=7200", "=7201");
    socket.write(head(world, url, ["Expect: 100-continue", "Content-Length: 2"]));
    expect(await firstAnswer(socket)).toMatch(/^HTTP\/1.1 403 Forbidden/u);
  });
});

describe("a content-length that is too short", () => {
  const body = '{"Data":"übergrößen"}';

  test.each(["keep-alive", "close"])(
    "connection: %s gets S3's answer, and the engine the cut body",
    async (connection) => {
      const world = await openResponseWorld();
      const socket = await open(world);
      const length = body.length;
      socket.write(
        head(world, world.url("c0ffee"), [`Content-Length: ${length}`, `Connection: ${connection}`]) + body,
      );
      expect(await firstAnswer(socket)).toMatch(/^HTTP\/1.1 200 OK/u);
      const surplus = Buffer.byteLength(body) - length;
      expect(world.arrived).toMatchObject([{ length, surplus, body: Buffer.from(body).subarray(0, length) }]);
      expect(lines(world)).toEqual([
        `PUT of ${length} bytes: 200, content-length is ${surplus} bytes short and the rest was cut off`,
      ]);
    },
  );
});

describe("senders that misbehave", () => {
  test("one that stops in mid-body holds up nobody, and is noted when it goes", async () => {
    const world = await openResponseWorld();
    const slow = await open(world);
    slow.write(`${head(world, world.url("slow"), ["Content-Length: 100"])}{"Sta`);
    expect(await send(world, world.url("quick"), { body: "{}" })).toMatchObject({ status: 200 });
    slow.destroy();
    await vi.waitFor(() => expect(lines(world)).toContain("PUT broken off after 5 of 100 bytes"));
    expect(world.arrived.map(({ requestId }) => requestId)).toEqual(["quick"]);
  });

  test("one that falls silent in mid-body is given up, as S3 does", async () => {
    const world = await openResponseWorld({ idleTimeout: 50 });
    const frozen = await open(world);
    frozen.write(`${head(world, world.url("frozen"), ["Content-Length: 100"])}{"Sta`);
    expect(await firstAnswer(frozen)).toMatch(/^HTTP\/1.1 400 Bad Request.*<Code>RequestTimeout</su);
    await vi.waitFor(() => expect(lines(world)).toEqual(["PUT broken off after 5 of 100 bytes"]));
  });

  test("one that waits for its answer is not", async () => {
    let finish = (): void => undefined;
    const durable = new Promise<void>((resolve) => (finish = resolve));
    const world = await openResponseWorld({ idleTimeout: 50, onResponse: () => durable });
    const waiting = await open(world);
    waiting.write(`${head(world, world.url("c0ffee"), ["Content-Length: 2"])}{}`);
    // Two whole idle times pass: each of these is closed after one.
    await once(await open(world), "close");
    await once(await open(world), "close");
    finish();
    expect(await firstAnswer(waiting)).toMatch(/^HTTP\/1.1 200 OK/u);
  });

  test("headers without end are refused", async () => {
    const world = await openResponseWorld();
    const socket = await open(world);
    socket.on("error", () => undefined);
    socket.write(head(world, world.url("c0ffee"), [`X-Long: ${"x".repeat(20_000)}`]));
    expect(await firstAnswer(socket)).toMatch(/^HTTP\/1.1 400 Bad Request.*RequestHeaderSectionTooLarge/su);
  });

  test("what is no HTTP is refused", async () => {
    const world = await openResponseWorld();
    const socket = await open(world);
    socket.write("hello\r\n\r\n");
    expect(await firstAnswer(socket)).toMatch(/^HTTP\/1.1 400 Bad Request.*<Code>BadRequest</su);
  });
});

test("one connection carries several responses", async () => {
  const world = await openResponseWorld();
  const socket = await open(world);
  for (const requestId of ["one", "two"]) {
    socket.write(`${head(world, world.url(requestId), ["Content-Length: 2"])}{}`);
    expect(await firstAnswer(socket)).toMatch(/^HTTP\/1.1 200 OK/u);
  }
  expect(world.arrived.map(({ requestId }) => requestId)).toEqual(["one", "two"]);
});

test("further hosts are served on the same port, each with its certificate", async () => {
  const world = await openResponseWorld();
  const host = "sns.us-east-1.amazonaws.com";
  world.endpoint.serve(
    (name) => name.startsWith("sns."),
    (incoming, response) => void response.end(`${incoming.headers.host} ${incoming.url}`),
  );
  const answer = await send(world, `https://${host}/cert.pem`, { method: "GET", host });
  expect(answer).toMatchObject({ status: 200, body: `${host} /cert.pem` });
});

test("who names no host gets the certificate of the address", async () => {
  const world = await openResponseWorld();
  const ca = readFileSync(world.certificate.caFile);
  const socket = connect({ host: "127.0.0.1", port: world.endpoint.port, ca });
  await once(socket, "secureConnect");
  expect(socket.authorized).toBe(true);
  socket.destroy();
});

test("closing lets an answer go out, ends idle connections and takes no more", async () => {
  let finish = (): void => undefined;
  const durable = new Promise<void>((resolve) => (finish = resolve));
  let arrived = (): void => undefined;
  const inside = new Promise<void>((resolve) => (arrived = resolve));
  const world = await openResponseWorld({
    onResponse() {
      arrived();
      return durable;
    },
  });
  await open(world);
  const answer = send(world, world.url("c0ffee"), { body: "{}" });
  await inside;
  const closed = world.endpoint.close();
  finish();
  expect(await answer).toMatchObject({ status: 200 });
  await closed;
  await expect(send(world, world.url("late"))).rejects.toThrow("ECONNREFUSED");
});
