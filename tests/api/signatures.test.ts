/** What `--require-signature` lets in: requests as AWS's own clients sign them, and nothing that was changed since. */
import { createHash, createHmac } from "node:crypto";
import { CloudFormationClient, ListStacksCommand } from "@aws-sdk/client-cloudformation";
import { LambdaClient, ListFunctionsCommand } from "@aws-sdk/client-lambda";
import { ListBucketsCommand, S3Client } from "@aws-sdk/client-s3";
import { DescribeParametersCommand, SSMClient } from "@aws-sdk/client-ssm";
import { SignatureV4 } from "@smithy/signature-v4";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, openTestEndpoint, type TestEndpoint } from "./support.ts";

const keys = { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "the secret" };
const region = "eu-west-1";
let endpoint: TestEndpoint;

beforeAll(async () => {
  endpoint = await openTestEndpoint({ keys: new Map([[keys.accessKeyId, keys.secretAccessKey]]) });
  await send(await signed({ service: "s3", method: "PUT", path: "/bucket" }));
});

afterAll(async () => {
  await endpoint.close();
});

interface Request {
  readonly service: string;
  readonly method?: string;
  readonly path: string;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly at?: number;
  readonly credentials?: typeof keys;
}

class Sha256 {
  readonly #data: (string | Uint8Array)[] = [];
  readonly #key: string | Uint8Array | undefined;

  constructor(key?: string | ArrayBuffer | ArrayBufferView) {
    this.#key =
      key === undefined || typeof key === "string" ? key : Buffer.from(key as unknown as Uint8Array);
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#data.push(typeof data === "string" ? data : Buffer.from(data as unknown as Uint8Array));
  }

  async digest(): Promise<Uint8Array> {
    const hash = this.#key === undefined ? createHash("sha256") : createHmac("sha256", this.#key);
    for (const part of this.#data) hash.update(part);
    return hash.digest();
  }

  reset(): void {
    this.#data.length = 0;
  }
}

function signer({ service, credentials = keys }: Pick<Request, "service" | "credentials">): SignatureV4 {
  const uriEscapePath = service !== "s3";
  return new SignatureV4({ service, region, credentials, sha256: Sha256, uriEscapePath });
}

function toSign({ method = "GET", path, query = {}, headers = {}, body }: Request) {
  const { hostname, port, host, protocol } = new URL(endpoint.url);
  return {
    protocol,
    hostname,
    port: Number(port),
    method,
    path,
    query,
    headers: { host, ...headers },
    ...(body === undefined ? {} : { body }),
  };
}

/** In a header. */
async function signed(request: Request) {
  const signingDate = new Date(request.at ?? Date.now());
  return await signer(request).sign(toSign(request), { signingDate });
}

/** In the query. */
async function link(request: Request & { readonly expiresIn?: number }) {
  const signingDate = new Date(request.at ?? Date.now());
  const { expiresIn = 60, service } = request;
  // As S3's own presigner does it.
  const headers: Record<string, string> =
    service === "s3" ? { "x-amz-content-sha256": "UNSIGNED-PAYLOAD", ...request.headers } : {};
  return await signer(request).presign(toSign({ ...request, headers }), { signingDate, expiresIn });
}

type Signed = Awaited<ReturnType<typeof signed>>;

async function send({ method, path, query = {}, headers, body }: Signed, sent = body): Promise<Answer> {
  const parameters = new URLSearchParams(query as Record<string, string>).toString();
  const { host: _, ...rest } = headers;
  return await endpoint.send(parameters === "" ? path : `${path}?${parameters}`, {
    method,
    headers: rest,
    ...(sent === undefined ? {} : { body: sent as string }),
  });
}

const form = { "content-type": "application/x-www-form-urlencoded" };
const listStacks = "Action=ListStacks&Version=2010-05-15";

test("a request that its header signs is answered, one whose body was changed is not", async () => {
  const call = { service: "cloudformation", method: "POST", path: "/", headers: form, body: listStacks };
  expect((await send(await signed(call))).status).toBe(200);
  const { status, text } = await send(await signed(call), `${listStacks}&X=1`);
  expect(status).toBe(403);
  expect(text).toContain("<Code>SignatureDoesNotMatch</Code>");
});

test("a link is answered as long as it is good, and only as it was signed", async () => {
  const identity = { Action: "GetCallerIdentity", Version: "2011-06-15" };
  const whoAmI = await link({ service: "sts", path: "/", query: identity });
  expect((await send(whoAmI)).text).toContain("<Account>123456789012</Account>");
  const put = await link({ service: "s3", method: "PUT", path: "/bucket/a%20b", query: {} });
  expect((await send(put, "content")).status).toBe(200);
  const get = await link({ service: "s3", path: "/bucket/a%20b" });
  expect((await send(get)).text).toBe("content");
  const other = await send({ ...get, path: "/bucket/other" });
  expect(other.text).toContain("<Code>SignatureDoesNotMatch</Code>");
  const old = await link({ service: "s3", path: "/bucket/a%20b", at: Date.now() - 61_000 });
  const late = await send(old);
  expect(late.status).toBe(403);
  expect(late.text).toContain("<Code>AccessDenied</Code><Message>Request has expired</Message>");
  const { text } = await send({ ...get, query: { ...get.query, "X-Amz-Expires": "604801" } });
  expect(text).toContain("<Code>AuthorizationQueryParametersError</Code>");
});

describe("each service refuses in its own words", () => {
  const settings = (credentials: typeof keys, systemClockOffset = 0) => ({
    region,
    endpoint: endpoint.url,
    credentials,
    systemClockOffset,
    // A client that sees that its clock is wrong puts it right, and tries again.
    maxAttempts: 1,
  });
  const ask = {
    cloudformation: async (credentials: typeof keys, offset?: number) =>
      new CloudFormationClient(settings(credentials, offset)).send(new ListStacksCommand({})),
    lambda: async (credentials: typeof keys, offset?: number) =>
      new LambdaClient(settings(credentials, offset)).send(new ListFunctionsCommand({})),
    s3: async (credentials: typeof keys, offset?: number) =>
      new S3Client(settings(credentials, offset)).send(new ListBucketsCommand({})),
    ssm: async (credentials: typeof keys, offset?: number) =>
      new SSMClient(settings(credentials, offset)).send(new DescribeParametersCommand({})),
  };
  const codes = {
    cloudformation: ["InvalidClientTokenId", "SignatureDoesNotMatch", "SignatureDoesNotMatch"],
    lambda: ["UnrecognizedClientException", "InvalidSignatureException", "InvalidSignatureException"],
    s3: ["InvalidAccessKeyId", "SignatureDoesNotMatch", "RequestTimeTooSkewed"],
    ssm: ["UnrecognizedClientException", "InvalidSignatureException", "InvalidSignatureException"],
  } as const;

  test.each(["cloudformation", "lambda", "s3", "ssm"] as const)("%s", async (service) => {
    const [unknown, wrong, skewed] = codes[service];
    await ask[service](keys);
    await expect(ask[service]({ ...keys, accessKeyId: "AKIASTRANGER" })).rejects.toMatchObject({
      name: unknown,
    });
    await expect(ask[service]({ ...keys, secretAccessKey: "guessed" })).rejects.toMatchObject({
      name: wrong,
    });
    for (const offset of [-16 * 60_000, 16 * 60_000])
      await expect(ask[service](keys, offset)).rejects.toMatchObject({ name: skewed });
    await ask[service](keys, -14 * 60_000);
  });

  test.each([
    {
      service: "cloudformation",
      path: "/",
      headers: form,
      body: listStacks,
      code: "MissingAuthenticationToken",
    },
    { service: "s3", path: "/bucket", code: "AccessDenied" },
    { service: "lambda", path: "/2015-03-31/functions", code: "MissingAuthenticationTokenException" },
  ])("$service says of a request without a signature $code", async ({ path, headers, body, code }) => {
    const init = body === undefined ? {} : { method: "POST", headers: headers ?? {}, body };
    const { status, text, headers: answered } = await endpoint.send(path, init);
    expect(status).toBe(403);
    expect(`${answered.get("x-amzn-errortype")} ${text}`).toContain(code);
  });
});

describe("bodies in chunks that are signed each", () => {
  const chunks = ["a".repeat(8192), "b".repeat(100), ""];

  interface Chunked {
    readonly trailer?: Readonly<Record<string, string>>;
    /** Makes the wire's body another one than was signed. */
    readonly change?: (body: string) => string;
  }

  async function upload(key: string, { trailer, change = (body) => body }: Chunked = {}): Promise<Answer> {
    const hash = `STREAMING-AWS4-HMAC-SHA256-PAYLOAD${trailer === undefined ? "" : "-TRAILER"}`;
    const length = String(chunks.join("").length);
    const headers = {
      "content-encoding": "aws-chunked",
      "x-amz-content-sha256": hash,
      "x-amz-decoded-content-length": length,
      ...(trailer === undefined ? {} : { "x-amz-trailer": Object.keys(trailer).join(",") }),
    };
    const request = await signed({ service: "s3", method: "PUT", path: `/bucket/${key}`, headers });
    const time = request.headers["x-amz-date"] ?? "";
    const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
    const signingKey = scope
      .split("/")
      .reduce<Buffer>((previous, text) => hmac(previous, text), Buffer.from(`AWS4${keys.secretAccessKey}`));
    let previous = /Signature=(\w+)/.exec(request.headers["authorization"] ?? "")?.[1] ?? "";
    const sign = (algorithm: string, ...hashes: readonly string[]) => {
      previous = hmac(signingKey, [algorithm, time, scope, previous, ...hashes].join("\n")).toString("hex");
      return previous;
    };
    let body = "";
    for (const chunk of chunks) {
      const signature = sign("AWS4-HMAC-SHA256-PAYLOAD", sha256(""), sha256(chunk));
      body += `${chunk.length.toString(16)};chunk-signature=${signature}\r\n`;
      body += chunk === "" ? "" : `${chunk}\r\n`;
    }
    if (trailer !== undefined) {
      const lines = Object.entries(trailer).map(([name, value]) => `${name}:${value}`);
      const signature = sign("AWS4-HMAC-SHA256-TRAILER", sha256(lines.map((line) => `${line}\n`).join("")));
      body += [...lines, `x-amz-trailer-signature:${signature}`].map((line) => `${line}\r\n`).join("");
    }
    return await send(request, change(`${body}\r\n`));
  }

  const crc32 = { "x-amz-checksum-sha256": base64(chunks.join("")) };

  test("are stored, with and without headers after them", async () => {
    expect((await upload("plain")).status).toBe(200);
    expect((await upload("trailed", { trailer: crc32 })).status).toBe(200);
    for (const key of ["plain", "trailed"]) {
      const got = await send(await link({ service: "s3", path: `/bucket/${key}` }));
      expect(got.text).toBe(chunks.join(""));
    }
  });

  test.each([
    { name: "a byte", change: (body: string) => body.replace("bbb", "bcb") },
    {
      name: "a chunk's order",
      change: (body: string) => body.replace(/(2000;[^]*?)(64;[^]*?)(0;)/, "$2$1$3"),
    },
    {
      name: "a signature",
      change: (body: string) => body.replace(/64;chunk-signature=\w{8}/, "64;chunk-signature=00000000"),
    },
    { name: "a lack of signatures", change: (body: string) => body.replaceAll(/;chunk-signature=\w+/g, "") },
    {
      name: "a trailer",
      trailer: crc32,
      change: (body: string) => body.replace("x-amz-checksum", "x-amz-meta"),
    },
    {
      name: "a lack of the trailer's signature",
      trailer: crc32,
      change: (body: string) => body.replace(/x-amz-trailer-signature.*\r\n/, ""),
    },
  ])("$name that was changed on the way is noticed, and nothing is stored", async ({ change, trailer }) => {
    const { status, text } = await upload("changed", { change, ...(trailer && { trailer }) });
    expect(status).toBe(403);
    expect(text).toContain("<Code>SignatureDoesNotMatch</Code>");
    expect((await send(await link({ service: "s3", path: "/bucket/changed" }))).status).toBe(404);
  });

  test("the name of the encoding alone gets no body past its signature", async () => {
    const headers = { "content-encoding": "aws-chunked" };
    const body = "3\r\nabc\r\n0\r\n\r\n";
    const request = await signed({ service: "s3", method: "PUT", path: "/bucket/encoded", headers, body });
    expect((await send(request, body.replace("abc", "xyz"))).status).toBe(400);
    expect((await send(await link({ service: "s3", path: "/bucket/encoded" }))).status).toBe(404);
    expect((await send(request)).status).toBe(200);
  });
});

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function base64(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
