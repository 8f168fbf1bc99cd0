/**
 * Reduces the schemas that the AWS clients publish to what the endpoint's codecs need: a file per service. Does nothing
 * for a service whose file was made from the same schemas by the same script.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The client's package, by the name by which requests are signed. */
const clients = {
  cloudformation: "cloudformation",
  cloudtrail: "cloudtrail",
  ecr: "ecr",
  iam: "iam",
  kms: "kms",
  lambda: "lambda",
  logs: "cloudwatch-logs",
  s3: "s3",
  secretsmanager: "secrets-manager",
  sns: "sns",
  sqs: "sqs",
  ssm: "ssm",
  states: "sfn",
  sts: "sts",
};

// The clients warn of the end of Node.js versions; nothing is called with them here.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";

/** Services that answer the query protocol as well, which their older clients speak. */
const namespacesOfForms = { SQSClient: "http://queue.amazonaws.com/doc/2012-11-05/" };

const folder = fileURLToPath(new URL("../packages/custard/dist/apis/", import.meta.url));
const script = readFileSync(fileURLToPath(import.meta.url));
mkdirSync(folder, { recursive: true });
await Promise.all(Object.entries(clients).map(([service, client]) => reduceService(service, client)));

async function reduceService(service, client) {
  const manifest = new URL(`../node_modules/@aws-sdk/client-${client}/package.json`, import.meta.url);
  const stamp = createHash("sha256").update(readFileSync(manifest)).update(script).digest("hex");
  const file = `${folder}${service}.json`;
  if (existsSync(file) && readFileSync(file, "latin1").startsWith(`{"stamp":"${stamp}"`)) return;
  const exported = await import(`@aws-sdk/client-${client}`);
  const reduced = { stamp, ...headOf(exported), ...bodyOf(exported) };
  writeFileSync(`${file}.new`, `${JSON.stringify(reduced)}\n`);
  renameSync(`${file}.new`, file);
}

/** The members of this and of `bodyOf` are read by `packages/custard/src/api/model.ts`. */
function headOf(exported) {
  const [name] = Object.keys(exported).filter((each) => /^[A-Z]\w*Client$/.test(each));
  // Nothing is called; a client alone knows its settings.
  const { protocol, protocolSettings } = new exported[name]({ region: "us-east-1" }).config;
  const protocols = {
    AwsQueryProtocol: "awsQuery",
    AwsJson1_0Protocol: "awsJson1.0",
    AwsJson1_1Protocol: "awsJson1.1",
    AwsRestJsonProtocol: "restJson",
    S3RestXmlProtocol: "restXml",
  };
  const forms = namespacesOfForms[name];
  return {
    protocol: protocols[protocol.constructor.name] ?? fail(`unknown protocol ${protocol.constructor.name}`),
    version: protocolSettings.version,
    namespace: forms ?? protocolSettings.xmlNamespace ?? "",
    ...(forms === undefined ? {} : { forms: true }),
    target: protocolSettings.serviceTarget,
  };
}

function bodyOf(exported) {
  const shapes = new Map();
  const operations = {};
  const errors = {};
  for (const [name, schema] of Object.entries(exported)) {
    if (!name.endsWith("$") || !Array.isArray(schema)) continue;
    if (schema[0] === 9) operations[schema[2]] = reduceOperation(schema, shapes);
    if (schema[0] === -3) errors[schema[2]] = reduceError(schema, shapes);
  }
  return {
    operations: sorted(operations),
    errors: sorted(errors),
    shapes: sorted(Object.fromEntries(shapes)),
  };
}

function reduceOperation([, , , traits, input, output], shapes) {
  const { http } = traits === 0 ? {} : traits;
  return {
    input: refOf(input, shapes),
    output: refOf(output, shapes),
    ...(http === undefined ? {} : { method: http[0], uri: http[1], status: http[2] }),
  };
}

function reduceError(schema, shapes) {
  const [, , name, traits] = schema;
  const { awsQueryError: [code, queryStatus] = [], httpError, error } = traits === 0 ? {} : traits;
  // So that its members are known to the codecs.
  refOf(schema, shapes);
  return { code: code ?? name, status: httpError ?? queryStatus ?? (error === "server" ? 500 : 400) };
}

/** A kind of simple value, the name of a structure after `#`, or a list or map with what it holds. */
function refOf(given, shapes) {
  const schema = dereferenced(given);
  if (!Array.isArray(schema)) return refOfNumber(schema);
  const [kind, , name, traits] = schema;
  switch (kind) {
    case 0:
      return refOf(schema[4], shapes);
    case 1:
      return {
        list: refOf(withoutTraits(schema[4]), shapes),
        ...pick({ name: traitsOf(schema[4]).xmlName }),
      };
    case 2:
      return {
        map: refOf(withoutTraits(schema[5]), shapes),
        ...pick({ key: traitsOf(schema[4]).xmlName, value: traitsOf(schema[5]).xmlName }),
      };
    case 3:
    case -3:
    case 4:
      if (traits !== 0 && traits.streaming) return "events";
      if (!shapes.has(name)) {
        const shape = { members: {} };
        shapes.set(name, shape);
        Object.assign(shape, reduceStructure(schema, shapes));
      }
      return `#${name}`;
  }
  return fail(`unknown kind of schema ${kind}`);
}

function refOfNumber(schema) {
  if (schema === "unit") return "unit";
  const kinds = {
    0: "string",
    1: "number",
    2: "boolean",
    4: "timestamp",
    5: "date-time",
    6: "http-date",
    7: "epoch-seconds",
    15: "document",
    17: "number",
    19: "number",
    21: "blob",
    42: "stream",
  };
  if (typeof schema !== "number") return fail(`unknown schema ${String(schema)}`);
  if (schema >= 128) return { map: refOfNumber(schema & 63) };
  if (schema >= 64) return { list: refOfNumber(schema & 63) };
  return kinds[schema] ?? fail(`unknown kind of value ${schema}`);
}

function reduceStructure([, , , traits, names, schemas, required = 0], shapes) {
  const members = names.map((name, index) => [name, reduceMember(schemas[index], shapes)]);
  return {
    members: Object.fromEntries(members),
    ...(required === 0 ? {} : { required: names.slice(0, required) }),
    ...pick({ name: traits === 0 ? undefined : traits.xmlName }),
  };
}

/** The bare reference, or one with where and how the member goes on the wire. */
function reduceMember(schema, shapes) {
  const ref = refOf(withoutTraits(schema), shapes);
  const traits = traitsOf(schema);
  const reduced = pick({
    name: traits.xmlName,
    flat: traits.xmlFlattened === 1 ? true : undefined,
    attribute: traits.xmlAttribute === 1 ? true : undefined,
    header: traits.httpHeader,
    headers: traits.httpPrefixHeaders,
    query: traits.httpQuery,
    queries: traits.httpQueryParams === 1 ? true : undefined,
    label: traits.httpLabel === 1 ? true : undefined,
    payload: traits.httpPayload === 1 ? true : undefined,
    status: traits.httpResponseCode === 1 ? true : undefined,
  });
  return Object.keys(reduced).length === 0 ? ref : { ref, ...reduced };
}

function isMember(schema) {
  return Array.isArray(schema) && schema.length === 2;
}

function withoutTraits(schema) {
  return isMember(schema) ? schema[0] : schema;
}

/** Traits as an object; a number stands for a set of them, a bit each. */
function traitsOf(schema) {
  if (!isMember(schema)) return {};
  const [, traits] = schema;
  if (typeof traits !== "number") return traits;
  const names = ["httpLabel", "", "", "", "httpPayload", "httpResponseCode", "httpQueryParams"];
  return Object.fromEntries(names.flatMap((name, bit) => ((traits >> bit) & 1 ? [[name, 1]] : [])));
}

function dereferenced(schema) {
  const found = typeof schema === "function" ? schema() : schema;
  return isMember(found) ? dereferenced(found[0]) : found;
}

function pick(members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function sorted(object) {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function fail(message) {
  throw new Error(message);
}
