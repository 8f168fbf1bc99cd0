import { expect, test } from "vitest";
import { MemoryDocuments } from "../storage/memory-documents.ts";
import { parseDynamicReference } from "../template/dynamic-references.ts";
import { createLookups } from "./lookups.ts";
import { ParameterStore } from "./parameters.ts";
import { SecretStore } from "./secrets.ts";

const place = { account: "123456789012", region: "us-east-1" };
const scope = { ...place, partition: "aws" };

async function start() {
  const documents = new MemoryDocuments();
  const [parameters, secrets] = [new ParameterStore(documents), new SecretStore(documents)];
  await parameters.put(scope, { name: "/app/size", value: "1", type: "String" });
  await parameters.put(scope, { name: "/app/size", value: "2", overwrite: true });
  await parameters.put(scope, { name: "list", value: "a,b", type: "StringList" });
  await parameters.put(scope, { name: "pass", value: "s3cret", type: "SecureString" });
  const { arn } = await secrets.create(scope, {
    name: "db",
    content: { text: '{"user":"me","port":5432,"nested":{"a":1}}' },
    versionId: "v1",
  });
  await secrets.put(scope, "db", { content: { text: '{"user":"you"}' }, versionId: "v2" });
  await secrets.create(scope, { name: "raw", content: { binary: "AAAA" } });
  const lookups = createLookups({ parameters, secrets });
  return {
    arn,
    lookups,
    look: async (text: string, at = place) => {
      const reference = parseDynamicReference(text);
      if (typeof reference === "string") throw new Error(reference);
      return await lookups.dynamicValue(reference, at);
    },
  };
}

test.each([
  { text: "{{resolve:ssm:/app/size}}", value: "2" },
  { text: "{{resolve:ssm:/app/size:1}}", value: "1" },
  { text: "{{resolve:ssm:list}}", value: "a,b" },
  { text: "{{resolve:ssm-secure:pass}}", value: "s3cret" },
  { text: "{{resolve:ssm-secure:pass:1}}", value: "s3cret" },
  { text: "{{resolve:secretsmanager:db}}", value: '{"user":"you"}' },
  { text: "{{resolve:secretsmanager:db:SecretString:user}}", value: "you" },
  { text: "{{resolve:secretsmanager:db:SecretString:user:AWSPREVIOUS}}", value: "me" },
  { text: "{{resolve:secretsmanager:db:SecretString:port::v1}}", value: "5432" },
  { text: "{{resolve:secretsmanager:db:SecretString:nested:AWSPREVIOUS}}", value: '{"a":1}' },
])("$text is $value", async ({ text, value }) => {
  expect(await (await start()).look(text)).toEqual({ kind: "value", value });
});

test("a secret is found by its ARN, from another account's stack too", async () => {
  const { look, arn } = await start();
  const reference = `{{resolve:secretsmanager:${arn}:SecretString:user}}`;
  const value = { kind: "value", value: "you" };
  expect(await look(reference)).toEqual(value);
  expect(await look(reference, { ...place, account: "210987654321" })).toEqual(value);
});

test.each([
  { text: "{{resolve:ssm:/no}}", message: "Parameters: [ssm:/no] cannot be found." },
  { text: "{{resolve:ssm:/app/size:9}}", message: "Parameters: [ssm:/app/size:9] cannot be found." },
  { text: "{{resolve:ssm:pass}}", message: /Non-secure reference/ },
  { text: "{{resolve:ssm-secure:list}}", message: /Secure reference/ },
  {
    text: "{{resolve:secretsmanager:no}}",
    message:
      /^Secrets Manager can't find the specified secret\. \(Service: AWSSecretsManager; Status Code: 400; Error Code: ResourceNotFoundException; Request ID: [0-9a-f-]{36}; Proxy: null\)$/,
  },
  {
    text: "{{resolve:secretsmanager:db:SecretString:user:OTHER}}",
    message: /^Secrets Manager can't find the specified secret value for staging label: OTHER \(/,
  },
  {
    text: "{{resolve:secretsmanager:db:SecretString:none}}",
    message: "Could not find a value associated with JSONKey in SecretString",
  },
  { text: "{{resolve:secretsmanager:raw}}", message: /no SecretString/ },
])("$text fails: $message", async ({ text, message }) => {
  const found = await (await start()).look(text);
  expect(found.kind === "failed" ? found.message : "it was found").toMatch(message);
});

test("parameters of SSM types get values by name; secure ones are refused", async () => {
  const { lookups } = await start();
  expect(await lookups.ssmParameters(["/app/size", "none", "list"], place)).toEqual({
    kind: "values",
    values: new Map([
      ["/app/size", "2"],
      ["list", "a,b"],
    ]),
  });
  expect(await lookups.ssmParameters(["list", "pass"], place)).toEqual({
    kind: "failed",
    message: "Parameters [pass] referenced by template have types not supported by CloudFormation.",
  });
  expect(await lookups.ssmParameters(["list"], { ...place, region: "eu-west-1" })).toEqual({
    kind: "values",
    values: new Map(),
  });
});
