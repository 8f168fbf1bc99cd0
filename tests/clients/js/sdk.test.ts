import { Readable } from "node:stream";
import {
  ChangeSetNotFoundException,
  CloudFormationClient,
  CreateStackCommand,
  DeleteStackCommand,
  DescribeChangeSetCommand,
  DescribeStacksCommand,
  paginateDescribeStackEvents,
  UpdateStackCommand,
  waitUntilStackCreateComplete,
  waitUntilStackDeleteComplete,
  waitUntilStackUpdateComplete,
} from "@aws-sdk/client-cloudformation";
import { InvokeCommand, LambdaClient, ResourceNotFoundException } from "@aws-sdk/client-lambda";
import {
  CreateBucketCommand,
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { CreateTopicCommand, PublishBatchCommand, SNSClient } from "@aws-sdk/client-sns";
import { GetParametersByPathCommand, PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import { AssumeRoleCommand, GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Server, startServer, template } from "../server.ts";

const keys = { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "a secret" };

let server: Server;
let settings: { readonly region: string; readonly endpoint: string; readonly credentials: typeof keys };

// Every request is signed by the real client, and verified.
beforeAll(async () => {
  process.env["CUSTARD_KEYS"] = `${keys.accessKeyId}:${keys.secretAccessKey}`;
  server = await startServer(["--require-signature", "--hold", "all"]);
  delete process.env["CUSTARD_KEYS"];
  settings = { region: "us-east-1", endpoint: server.url, credentials: keys };
});

afterAll(async () => {
  await server.close();
});

test("a stack is created, updated and deleted with the SDK's own waiters", async () => {
  const client = new CloudFormationClient(settings);
  const wait = { client, maxWaitTime: 60, minDelay: 1 };
  const stack = { StackName: "sdk", TemplateBody: template, Capabilities: ["CAPABILITY_IAM" as const] };
  await client.send(new CreateStackCommand(stack));
  await waitUntilStackCreateComplete(wait, { StackName: "sdk" });
  await expect(client.send(new UpdateStackCommand(stack))).rejects.toMatchObject({
    name: "ValidationError",
    message: "No updates are to be performed.",
  });
  await client.send(
    new UpdateStackCommand({ ...stack, Parameters: [{ ParameterKey: "Word", ParameterValue: "two" }] }),
  );
  await waitUntilStackUpdateComplete(wait, { StackName: "sdk" });
  const statuses: unknown[] = [];
  for await (const page of paginateDescribeStackEvents({ client }, { StackName: "sdk" }))
    statuses.push(...(page.StackEvents ?? []).map((event) => event.ResourceStatus));
  expect(statuses[0]).toBe("UPDATE_COMPLETE");
  expect(statuses.at(-1)).toBe("CREATE_IN_PROGRESS");
  await expect(
    client.send(new DescribeChangeSetCommand({ StackName: "sdk", ChangeSetName: "nope" })),
  ).rejects.toThrow(ChangeSetNotFoundException);
  await client.send(new DeleteStackCommand({ StackName: "sdk" }));
  await waitUntilStackDeleteComplete(wait, { StackName: "sdk" });
}, 60_000);

test("objects are uploaded as streams, in chunks of AWS's own", async () => {
  const client = new S3Client(settings);
  await client.send(new CreateBucketCommand({ Bucket: "streams" }));
  const text = "é".repeat(200_000);
  const Body = Readable.from([Buffer.from(text.slice(0, 100_000)), Buffer.from(text.slice(100_000))]);
  const length = Buffer.byteLength(text);
  await client.send(new PutObjectCommand({ Bucket: "streams", Key: "a b/ü", Body, ContentLength: length }));
  const got = await client.send(new GetObjectCommand({ Bucket: "streams", Key: "a b/ü" }));
  expect(await got.Body?.transformToString()).toBe(text);
  await expect(client.send(new GetObjectCommand({ Bucket: "streams", Key: "nope" }))).rejects.toThrow(
    NoSuchKey,
  );
});

test("parameters, secrets, topics and functions", async () => {
  const ssm = new SSMClient(settings);
  await ssm.send(new PutParameterCommand({ Name: "/a/b", Value: "v", Type: "SecureString" }));
  const { Parameters = [] } = await ssm.send(
    new GetParametersByPathCommand({ Path: "/a", WithDecryption: true }),
  );
  expect(Parameters).toMatchObject([{ Name: "/a/b", Value: "v" }]);

  const secrets = new SecretsManagerClient(settings);
  await secrets.send(new CreateSecretCommand({ Name: "s", SecretBinary: Buffer.from([1, 2]) }));
  const { SecretBinary } = await secrets.send(new GetSecretValueCommand({ SecretId: "s" }));
  expect([...(SecretBinary ?? [])]).toEqual([1, 2]);

  const sns = new SNSClient(settings);
  const { TopicArn } = await sns.send(
    new CreateTopicCommand({ Name: "t", Attributes: { DisplayName: "T" } }),
  );
  const batch = {
    TopicArn,
    PublishBatchRequestEntries: [
      { Id: "1", Message: "a" },
      { Id: "2", Message: "b" },
    ],
  };
  expect((await sns.send(new PublishBatchCommand(batch))).Successful).toHaveLength(2);

  const invoke = new InvokeCommand({ FunctionName: "nope" });
  await expect(new LambdaClient(settings).send(invoke)).rejects.toThrow(ResourceNotFoundException);
});

test("a role that was assumed calls for its account, and a wrong secret for nobody", async () => {
  const sts = new STSClient(settings);
  const { Credentials } = await sts.send(
    new AssumeRoleCommand({ RoleArn: "arn:aws:iam::999999999999:role/deploy", RoleSessionName: "test" }),
  );
  const credentials = {
    accessKeyId: Credentials?.AccessKeyId ?? "",
    secretAccessKey: Credentials?.SecretAccessKey ?? "",
    sessionToken: Credentials?.SessionToken ?? "",
  };
  const other = new STSClient({ ...settings, credentials });
  expect(await other.send(new GetCallerIdentityCommand({}))).toMatchObject({ Account: "999999999999" });

  const wrong = { ...keys, secretAccessKey: "guessed" };
  const stranger = new CloudFormationClient({ ...settings, credentials: wrong });
  await expect(stranger.send(new DescribeStacksCommand({}))).rejects.toMatchObject({
    name: "SignatureDoesNotMatch",
  });
});
