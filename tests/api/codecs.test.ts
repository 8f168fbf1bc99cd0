/**
 * The codecs against AWS's own SDK: what it sends is read as what it was given, and what we write it reads as what was
 * written, for random values of every operation of every service.
 */
import { Readable } from "node:stream";
import fc, { type Arbitrary } from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiError } from "../../packages/custard/src/api/api-error.ts";
import { isInBody } from "../../packages/custard/src/api/protocols/xml-writer.ts";
import {
  isStructure,
  loadModel,
  type Member,
  type Operation,
  type ProtocolName,
  type Ref,
  type ServiceModel,
  type Structure,
} from "../../packages/custard/src/api/model.ts";
import { awsJson } from "../../packages/custard/src/api/protocols/aws-json.ts";
import { awsQuery } from "../../packages/custard/src/api/protocols/aws-query.ts";
import type { Protocol } from "../../packages/custard/src/api/protocols/protocol.ts";
import { restJson } from "../../packages/custard/src/api/protocols/rest-json.ts";
import { restXml } from "../../packages/custard/src/api/protocols/rest-xml.ts";
import type {
  BufferedRequest,
  WireAnswer,
  WireObject,
  WireValue,
} from "../../packages/custard/src/api/wire.ts";

const runs = 300;

const protocols: Readonly<Record<ProtocolName, Protocol>> = {
  awsQuery,
  "awsJson1.0": awsJson,
  "awsJson1.1": awsJson,
  restJson,
  restXml,
};

const services = [
  { service: "cloudformation", client: "cloudformation" },
  { service: "iam", client: "iam" },
  { service: "sns", client: "sns" },
  { service: "sts", client: "sts" },
  { service: "lambda", client: "lambda" },
  { service: "s3", client: "s3" },
  { service: "cloudtrail", client: "cloudtrail" },
  { service: "ecr", client: "ecr" },
  { service: "kms", client: "kms" },
  { service: "logs", client: "cloudwatch-logs" },
  { service: "secretsmanager", client: "secrets-manager" },
  { service: "sqs", client: "sqs" },
  { service: "ssm", client: "ssm" },
  { service: "states", client: "sfn" },
];

const warning = "AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED";
beforeAll(() => {
  process.env[warning] = "true";
});
afterAll(() => {
  delete process.env[warning];
});

test("all protocols are spoken by one of the services", () => {
  const spoken = services.map(({ service }) => loadModel(service).protocol);
  expect(new Set(spoken)).toEqual(new Set(Object.keys(protocols)));
});

describe.each(services)("$service", ({ service, client }) => {
  const model = loadModel(service);
  const codec = protocols[model.protocol];
  const operations = [...model.operations.values()].filter(({ name }) => !isSpecial(service, name));

  test("what the SDK sends is read as what it was given", async () => {
    const sdk = await openSdk(client);
    const call = callsOf(operations, ({ input }) => objects(new Drawn(model, sdk.unions, "input"), input));
    await fc.assert(
      fc.asyncProperty(call, async ({ operation, value }) => {
        const request = await sdk.requestOf(operation.name, toSdk(model, operation.input, value));
        const addressed = codec.address(model, request);
        expect(addressed.operation.name).toBe(operation.name);
        // The SDK adds what callers may leave out, such as tokens and checksums.
        expect(plain(codec.parse({ model, request, addressed }))).toMatchObject(plainObject(value));
      }),
      { numRuns: runs },
    );
  });

  test("what is written is read by the SDK as it was", async () => {
    const sdk = await openSdk(client);
    const call = callsOf(operations, ({ output }) => objects(new Drawn(model, sdk.unions, "output"), output));
    await fc.assert(
      fc.asyncProperty(call, async ({ operation, value }) => {
        const answer = codec.answer({ model, operation, output: value, requestId: "r" });
        const read = await sdk.read(operation.name, minimal(model, operation), answer);
        expect(plain(read)).toMatchObject(plainObject(value));
      }),
      { numRuns: runs },
    );
  });

  test("what is refused is refused with that code and text", async () => {
    const sdk = await openSdk(client);
    const code = fc.stringMatching(/^[A-Z][A-Za-z]{3,20}$/);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...operations), code, texts(model), async (operation, name, text) => {
        const error = new ApiError(name, text);
        const request = { method: "POST", path: "/", query: [], headers: {} };
        const answer = codec.refuse({ model, request, error, requestId: "r" });
        const refused = sdk.read(operation.name, minimal(model, operation), answer);
        await expect(refused).rejects.toMatchObject({ name, message: text });
      }),
      { numRuns: 50 },
    );
  });
});

// ------------------------------------------------------------------------------------------------ the SDK

interface Sdk {
  /** Names of structures that have one member at a time. */
  readonly unions: ReadonlySet<string>;
  requestOf(operation: string, input: object): Promise<BufferedRequest>;
  read(operation: string, input: object, answer: WireAnswer): Promise<WireValue>;
}

/** What an SDK's package exports, as far as it is used here. */
type Exported = Readonly<Record<string, unknown>>;
type Constructor = new (argument: object) => { send(command: object): Promise<WireValue> };
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

async function openSdk(client: string): Promise<Sdk> {
  const exported = (await import(`@aws-sdk/client-${client}`)) as Exported;
  const clientName = Object.keys(exported).find((name) => /^[A-Z]\w*Client$/.test(name)) ?? "";
  let answer: WireAnswer = { status: 200, headers: {}, body: "" };
  let sent: Sent | undefined;
  const handle = async (request: Sent) => {
    sent = request;
    const { status: statusCode, headers, body } = answer;
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    return {
      response: { statusCode, headers, body: bytes instanceof Readable ? bytes : Readable.from([bytes]) },
    };
  };
  const opened = new (exported[clientName] as Constructor)({
    region: "us-east-1",
    endpoint: "http://127.0.0.1:1",
    credentials: { accessKeyId: "a", secretAccessKey: "s" },
    maxAttempts: 1,
    // SQS's client checks hashes, which random answers lack.
    md5: false,
    requestHandler: { handle, metadata: { handlerProtocol: "http/1.1" } },
  });
  const send = async (operation: string, input: object) =>
    opened.send(new (exported[`${operation}Command`] as new (input: object) => object)(input));
  const schemas = Object.values(exported).filter((each): each is unknown[] => Array.isArray(each));
  return {
    unions: new Set(schemas.filter(([kind]) => kind === 4).map(([, , name]) => String(name))),
    async requestOf(operation, input) {
      answer = { status: 599, headers: {}, body: "" };
      sent = undefined;
      await send(operation, input).catch((error: unknown) => {
        if (sent === undefined) throw error;
      });
      if (sent === undefined) throw new Error("nothing was sent");
      return toRequest(sent);
    },
    async read(operation, input, given) {
      answer = given;
      return await withBytes(await send(operation, input));
    },
  };
}

function toRequest({ method, path, query = {}, headers, body }: Sent): BufferedRequest {
  return {
    method,
    path,
    query: Object.entries(query).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value ?? ""]).map((each) => [name, each] as const),
    ),
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text])),
    body: typeof body === "string" || body instanceof Uint8Array ? Buffer.from(body) : Buffer.alloc(0),
  };
}

/** Streams as their bytes. */
async function withBytes(value: WireValue): Promise<WireValue> {
  if (!(value instanceof Object) || Array.isArray(value)) return value;
  const entries = Object.entries(value as WireObject).map(async ([name, each]) =>
    each instanceof Readable ? [name, Buffer.concat(await each.toArray())] : [name, each],
  );
  return Object.fromEntries((await Promise.all(entries)) as [string, WireValue][]);
}

// ----------------------------------------------------------------------------------------- random values

interface Call {
  readonly operation: Operation;
  readonly value: WireObject;
}

function callsOf(
  operations: readonly Operation[],
  values: (operation: Operation) => Arbitrary<WireObject>,
): Arbitrary<Call> {
  return fc
    .constantFrom(...operations)
    .chain((operation) => values(operation).map((value) => ({ operation, value })));
}

/** What is drawn of, and where it will stand. */
class Drawn {
  readonly model: ServiceModel;
  readonly unions: ReadonlySet<string>;
  readonly side: "input" | "output";

  constructor(model: ServiceModel, unions: ReadonlySet<string>, side: "input" | "output") {
    this.model = model;
    this.unions = unions;
    this.side = side;
  }
}

/** Models refer to themselves in places. */
const deepest = 4;

/** Members that the SDK's S3 client changes on the way, as it should: checksums, keys, lengths, and a time as text. */
const changed =
  /^(?:Checksum|SSECustomer|CopySourceSSECustomer|CopySourceIf|ContentLength|ContentMD5|Expires|MFA|IfMatch|Range$|ContentType)/;

/** Operations that the SDK's S3 client treats by ways of their own. */
function isSpecial(service: string, name: string): boolean {
  if (service === "s3")
    return /^(?:SelectObjectContent|WriteGetObjectResponse|CreateSession|ListDirectoryBuckets|GetBucketLocation)$/.test(
      name,
    );
  return /Stream$|^StartLiveTail$|^GetLogObject$|^SubscribeToShard$/.test(name);
}

function objects(drawn: Drawn, structure: Structure | undefined): Arbitrary<WireObject> {
  if (structure === undefined) return fc.constant({});
  const payload = Object.values(structure.members).some((member) => member.payload === true);
  // By them some operations are told from others at the same place.
  const required: string[] = [];
  const members: Record<string, Arbitrary<WireValue>> = {};
  for (const [name, member] of Object.entries(structure.members)) {
    if (drawn.model.service === "s3" && changed.test(name)) continue;
    if (payload && member.payload !== true && isInBody(member)) continue;
    const value = memberValues(drawn, name, member);
    if (value === undefined) continue;
    members[name] = value;
    if (member.payload === true || structure.required.includes(name)) required.push(name);
  }
  return fc.record(members, { requiredKeys: required }) as Arbitrary<WireObject>;
}

function memberValues(drawn: Drawn, name: string, member: Member): Arbitrary<WireValue> | undefined {
  const { ref } = member;
  if (member.label === true && name === "Bucket") return fc.constant("bucket");
  if (member.status === true) return fc.integer({ min: 200, max: 299 });
  if (member.queries === true) return undefined;
  if (member.headers !== undefined)
    return fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), words, { minKeys: 1, noNullPrototype: true });
  if (member.label === true) return ref === "string" ? words : values(drawn, ref, deepest);
  if (member.header !== undefined) return headerValues(drawn, ref);
  return values(drawn, ref, 0);
}

const words = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);

function headerValues(drawn: Drawn, ref: Ref): Arbitrary<WireValue> | undefined {
  if (ref === "string") return words;
  if (typeof ref === "object" && "list" in ref) return fc.array(words, { minLength: 1, maxLength: 3 });
  return values(drawn, ref, deepest);
}

/** Undefined: there can be none at this depth. */
function values(drawn: Drawn, ref: Ref, depth: number): Arbitrary<WireValue> | undefined {
  if (typeof ref === "object") return collections(drawn, ref, depth);
  if (isStructure(ref)) return depth >= deepest ? undefined : structures(drawn, ref, depth);
  switch (ref) {
    case "string":
      return texts(drawn.model);
    case "number":
      return fc.integer();
    case "boolean":
      return fc.boolean();
    case "timestamp":
    case "date-time":
    case "http-date":
    case "epoch-seconds":
      // Whole seconds, which all forms can say.
      return fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => seconds * 1000);
    case "blob":
    case "stream":
      return fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => Buffer.from(bytes));
    case "document":
    case "events":
    case "unit":
      return undefined;
  }
}

function collections(drawn: Drawn, ref: Ref & object, depth: number): Arbitrary<WireValue> | undefined {
  const inner = values(drawn, "list" in ref ? ref.list : ref.map, depth + 1);
  if (inner === undefined) return undefined;
  if ("list" in ref) return fc.array(inner, { minLength: 1, maxLength: 3 });
  return fc.dictionary(words, inner, { minKeys: 1, maxKeys: 3, noNullPrototype: true });
}

function structures(drawn: Drawn, ref: `#${string}`, depth: number): Arbitrary<WireValue> | undefined {
  const { members } = drawn.model.structure(ref);
  const inner = Object.entries(members).flatMap(([name, { ref: each, attribute }]) => {
    // XML takes any blank in an attribute for a space; those that there are hold a word.
    const value = attribute === true ? words : values(drawn, each, depth + 1);
    return value === undefined ? [] : [[name, value] as const];
  });
  if (inner.length === 0) return undefined;
  if (drawn.unions.has(ref.slice(1)))
    return fc.constantFrom(...inner).chain(([name, value]) => value.map((each) => ({ [name]: each })));
  // One at least: a query can't say that there is an empty structure.
  const one = fc.constantFrom(...inner.map(([name]) => name));
  const all = fc.record(Object.fromEntries(inner), { noNullPrototype: true });
  return fc.tuple(one, fc.array(one, { maxLength: 6 }), all).map(([first, more, whole]) => {
    const kept = new Set([first, ...more]);
    return Object.fromEntries(Object.entries(whole).filter(([name]) => kept.has(name)));
  });
}

/** Whatever can be said in the protocol. XML can't hold some characters, and blanks alone are layout in it. */
function texts({ protocol }: ServiceModel): Arbitrary<string> {
  const text = fc.oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }),
    fc.constantFrom(
      "a&b<c>\"d'",
      "line\r\nline\ttab",
      " around ",
      "é😀",
      "]]>",
      "true",
      "0012",
      "a=b&c=d+e%20f",
    ),
  );
  if (protocol.startsWith("awsJson") || protocol === "restJson") return text;
  return text.filter((each) => each.trim() !== "");
}

/** An input that can be sent: with what stands in the path. */
function minimal(_model: ServiceModel, { input }: Operation): object {
  const labels = Object.entries(input?.members ?? {}).filter(([, member]) => member.label === true);
  return Object.fromEntries(
    labels.map(([name, { ref }]) => [name, name === "Bucket" ? "bucket" : ref === "number" ? 1 : "x"]),
  );
}

// ------------------------------------------------------------------------------------------- comparing

function toSdk(model: ServiceModel, structure: Structure | undefined, value: WireObject): object {
  const members = structure?.members ?? {};
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      toSdkValue(model, members[name]?.ref ?? "unit", each),
    ]),
  );
}

function toSdkValue(model: ServiceModel, ref: Ref, value: WireValue): unknown {
  if (typeof ref === "object") {
    if ("list" in ref)
      return (value as readonly WireValue[]).map((each) => toSdkValue(model, ref.list, each));
    return Object.fromEntries(
      Object.entries(value as WireObject).map(([key, each]) => [key, toSdkValue(model, ref.map, each)]),
    );
  }
  if (isStructure(ref)) return toSdk(model, model.structure(ref), value as WireObject);
  return times.has(ref) ? new Date(value as number) : value;
}

const times: ReadonlySet<string> = new Set(["timestamp", "date-time", "http-date", "epoch-seconds"]);

/** Bytes as text, times as numbers, on either side. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("hex")}`;
  if (value instanceof Date) return value.getTime();
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === "object" && value !== null ? plainObject(value) : value;
}

function plainObject(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}
