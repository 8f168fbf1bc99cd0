/** Whatever is sent, something well-formed comes back, and nobody hears of a bug. */
import { parseXml } from "@rgrove/parse-xml";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Dispatching, dispatch } from "../../packages/custard/src/api/dispatch.ts";
import { loadModel } from "../../packages/custard/src/api/model.ts";
import { bind, type Service } from "../../packages/custard/src/api/service.ts";
import type { WireAnswer } from "../../packages/custard/src/api/wire.ts";

const names = [
  "cloudformation",
  "cloudtrail",
  "ecr",
  "iam",
  "kms",
  "lambda",
  "logs",
  "s3",
  "secretsmanager",
  "sns",
  "sqs",
  "ssm",
  "states",
  "sts",
];

const models = new Map(names.map((name) => [name, loadModel(name)]));
const troubles: unknown[] = [];
/** Requests that were answered, and those that came to a handler, by protocol. */
const answered = new Map<string, number>();
const performed = new Map<string, number>();
let world: Dispatching;

beforeAll(() => {
  world = {
    models,
    // Every operation is there and gives nothing: what is tested is the way to it and back.
    services: new Map(
      [...models].map(([name, { operations }]) => [
        name,
        bind(emptyService(name, [...operations.keys()]), {}),
      ]),
    ),
    account: "123456789012",
    region: "us-east-1",
    now: () => 0,
    trouble: (error) => troubles.push(error),
  };
});

afterAll(() => {
  if (troubles.length > 0) throw new AggregateError(troubles, "There was trouble.");
});

test("10,000 random requests are all answered in the protocol that they speak", async () => {
  await fc.assert(
    fc.asyncProperty(requests(), async (request) => {
      const { answer, service } = await dispatch(
        {
          request,
          requestId: "00000000-0000-0000-0000-000000000000",
          signal: new AbortController().signal,
          read: async () => request.body,
          stream: () => once(request.body),
        },
        world,
      );
      count(answered, service);
      expect(answer.status).toBeGreaterThanOrEqual(200);
      expect(answer.status).toBeLessThan(600);
      expect(answer.status).not.toBe(500);
      expect(isWellFormed(answer)).toBe(true);
    }),
    { numRuns: 10_000 },
  );
  // Each codec had its share, and not all of it was nonsense.
  for (const protocol of new Set([...models.values()].map((model) => model.protocol))) {
    expect(answered.get(protocol), `${protocol}: answered`).toBeGreaterThan(300);
    expect(performed.get(protocol), `${protocol}: performed`).toBeGreaterThan(10);
  }
}, 120_000);

/** Headers that can be sent, and a body that can be read. */
function isWellFormed({ headers, body }: WireAnswer): boolean {
  const texts = Object.entries(headers).flat();
  if (!texts.every((text) => /^[\x20-\x7e]*$/.test(text))) return false;
  if (typeof body !== "string" || body === "") return true;
  const isXml = headers["content-type"]?.includes("xml") === true;
  return isXml ? parseXml(body).root !== null : typeof JSON.parse(body) === "object";
}

function count(counts: Map<string, number>, service: string): void {
  const protocol = models.get(service)?.protocol ?? "none";
  counts.set(protocol, (counts.get(protocol) ?? 0) + 1);
}

function emptyService(name: string, operations: readonly string[]): Service<object> {
  const perform = async () => {
    count(performed, name);
    return {};
  };
  const handlers = operations.map((operation) => [operation, perform] as const);
  return { name, operations: Object.fromEntries(handlers), explain: () => undefined };
}

function requests() {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.constantFrom("%", "%zz", "<", "&", "__proto__"),
  );
  const service = fc.constantFrom(...names, "ec2", "");
  return service.chain((name) =>
    fc.record({
      method: fc.constantFrom(
        "POST",
        "POST",
        "POST",
        "POST",
        "GET",
        "PUT",
        "POST",
        "DELETE",
        "HEAD",
        "PATCH",
      ),
      path: fc.oneof(
        fc.constant("/"),
        fc.constant("/"),
        paths(),
        text.map((each) => `/${each}`),
      ),
      query: fc.array(
        fc.tuple(
          fc.oneof(text, fc.constantFrom("Action", "uploads", "uploadId", "list-type", "partNumber")),
          text,
        ),
        { maxLength: 4 },
      ),
      headers: headersFor(name),
      body: fc.oneof(
        { arbitrary: bodiesFor(name), weight: 4 },
        text.map((each) => Buffer.from(each)),
        fc.uint8Array({ maxLength: 200 }),
      ),
    }),
  );
}

function paths() {
  return fc.constantFrom(
    "/bucket",
    "/bucket/key",
    "/bucket//a/",
    "/2015-03-31/functions",
    "/2015-03-31/functions/f/invocations",
    "/2015-03-31/functions/f/policy",
    "/2018-10-31/layers/l/versions/1",
    "/2019-09-25/functions/f/event-invoke-config",
    "/2017-03-31/tags/arn",
  );
}

function headersFor(name: string) {
  const { target, operations } = models.get(name) ?? { target: "X", operations: new Map([["X", 0]]) };
  return fc
    .record({
      signed: fc.boolean(),
      operation: fc.oneof(fc.constantFrom(...operations.keys()), fc.string()),
      extra: fc.dictionary(
        fc.constantFrom(
          "range",
          "if-match",
          "x-amz-copy-source",
          "content-encoding",
          "x-amz-meta-a",
          "content-type",
          "x-amz-content-sha256",
          "last-modified",
          "if-modified-since",
        ),
        fc.oneof(
          fc.string(),
          fc.constantFrom("aws-chunked", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "bytes=0-1"),
        ),
      ),
    })
    .map(({ signed, operation, extra }) => ({
      ...extra,
      "x-amz-target": `${target}.${operation}`,
      ...(signed
        ? {
            authorization: `AWS4-HMAC-SHA256 Credential=A/20261201/eu-west-1/${name}/aws4_request, Signature=0`,
          }
        : {}),
    }));
}

/** Bodies that are nearly right. */
function bodiesFor(name: string) {
  const operations = [...(models.get(name) ?? loadModel("sts")).operations.values()];
  return fc.constantFrom(...operations).chain((operation) => {
    const members = Object.keys(operation.input?.members ?? { X: 0 });
    const member = fc.constantFrom(...members, "Unknown");
    const value = fc.oneof(
      fc.string(),
      fc.integer().map(String),
      fc.constantFrom("true", "", "2026-12-01", "null"),
    );
    const suffix = fc.constantFrom(
      "",
      ".member.1",
      ".member.2.Key",
      ".entry.1.key",
      ".entry.1.value",
      ".1",
      ".member.x",
      ".".repeat(40),
    );
    const form = fc
      .array(fc.tuple(member, suffix, value), { maxLength: 5 })
      .map((fields) =>
        new URLSearchParams([
          ["Action", operation.name],
          ...fields.map(([a, b, c]): [string, string] => [`${a}${b}`, c]),
        ]).toString(),
      );
    const json = fc.dictionary(member, fc.jsonValue()).map((each) => JSON.stringify(each));
    const xml = fc
      .tuple(member, value)
      .map(([tag, each]) => `<A><${tag}><Object><Key>${each}</Key></Object></${tag}></A>`);
    return fc.oneof(form, json, xml, fc.constant("<A>".repeat(5000))).map((each) => Buffer.from(each));
  });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
