/** What clients ask of the larger services beside what they are for. */
import {
  CreateAliasCommand,
  CreateFunctionCommand,
  CreateFunctionUrlConfigCommand,
  DeleteFunctionCommand,
  GetAccountSettingsCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
  ListFunctionEventInvokeConfigsCommand,
  PutFunctionEventInvokeConfigCommand,
  ResourceNotFoundException,
  UpdateAliasCommand,
  UpdateFunctionEventInvokeConfigCommand,
} from "@aws-sdk/client-lambda";
import {
  CreateStateMachineCommand,
  DescribeStateMachineForExecutionCommand,
  ListTagsForResourceCommand,
  SFNClient,
  StartExecutionCommand,
  StartSyncExecutionCommand,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateStateMachineCommand,
  ValidateStateMachineDefinitionCommand,
} from "@aws-sdk/client-sfn";
import {
  AddPermissionCommand,
  CreateTopicCommand,
  GetTopicAttributesCommand,
  RemovePermissionCommand,
  SNSClient,
} from "@aws-sdk/client-sns";
import { zipSync } from "fflate";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestEndpoint, settingsOf, type TestEndpoint } from "./support.ts";

let endpoint: TestEndpoint;

beforeAll(async () => {
  endpoint = await openTestEndpoint();
});

afterAll(async () => {
  await endpoint.close();
});

test("SNS: permissions are statements of a topic's policy", async () => {
  const sns = new SNSClient(settingsOf(endpoint));
  const { TopicArn } = await sns.send(new CreateTopicCommand({ Name: "t" }));
  const statements = async (): Promise<unknown> => {
    const { Attributes } = await sns.send(new GetTopicAttributesCommand({ TopicArn }));
    return JSON.parse(Attributes?.["Policy"] ?? "{}").Statement;
  };
  const usual = expect.objectContaining({ Sid: "__default_statement_ID" });
  expect(await statements()).toEqual([usual]);
  const permission = { TopicArn, Label: "other", AWSAccountId: ["210987654321"], ActionName: ["Publish"] };
  await sns.send(new AddPermissionCommand(permission));
  const added = {
    Sid: "other",
    Effect: "Allow",
    Principal: { AWS: "arn:aws:iam::210987654321:root" },
    Action: "SNS:Publish",
    Resource: TopicArn,
  };
  expect(await statements()).toEqual([usual, added]);
  await expect(sns.send(new AddPermissionCommand(permission))).rejects.toMatchObject({
    name: "InvalidParameterException",
    message: "Invalid parameter: Statement already exists",
  });
  await sns.send(new RemovePermissionCommand({ TopicArn, Label: "other" }));
  expect(await statements()).toEqual([usual]);
  sns.destroy();
});

async function makeFunction(lambda: LambdaClient, FunctionName: string): Promise<void> {
  await lambda.send(
    new CreateFunctionCommand({
      FunctionName,
      Runtime: "nodejs20.x",
      Handler: "index.handler",
      Role: "arn:aws:iam::123456789012:role/r",
      Code: { ZipFile: zipSync({ "index.js": Buffer.from("exports.handler = async () => 1;") }) },
    }),
  );
}

test("Lambda: what would send calls elsewhere than they go is refused, not passed over", async () => {
  const lambda = new LambdaClient(settingsOf(endpoint));
  const FunctionName = "weighted";
  await makeFunction(lambda, FunctionName);
  const alias = { FunctionName, Name: "live", FunctionVersion: "$LATEST" };
  const RoutingConfig = { AdditionalVersionWeights: { "1": 0.1 } };
  await expect(lambda.send(new CreateAliasCommand({ ...alias, RoutingConfig }))).rejects.toMatchObject({
    name: "InvalidParameterValueException",
    message: expect.stringContaining("leave out AdditionalVersionWeights"),
  });
  await lambda.send(new CreateAliasCommand({ ...alias, RoutingConfig: {} }));
  await expect(lambda.send(new UpdateAliasCommand({ ...alias, RoutingConfig }))).rejects.toMatchObject({
    name: "InvalidParameterValueException",
  });
  const url = { FunctionName, AuthType: "NONE" } as const;
  await expect(lambda.send(new CreateFunctionUrlConfigCommand(url))).rejects.toThrow(
    "CreateFunctionUrlConfig",
  );
  await lambda.send(new DeleteFunctionCommand({ FunctionName }));
  lambda.destroy();
});

test("Lambda: settings of asynchronous invocations change one by one", async () => {
  const lambda = new LambdaClient(settingsOf(endpoint));
  const FunctionName = "f";
  await makeFunction(lambda, FunctionName);
  const change = { FunctionName, MaximumRetryAttempts: 1 };
  await expect(lambda.send(new UpdateFunctionEventInvokeConfigCommand(change))).rejects.toThrow(
    ResourceNotFoundException,
  );
  await lambda.send(new PutFunctionEventInvokeConfigCommand({ FunctionName, MaximumEventAgeInSeconds: 100 }));
  await lambda.send(new UpdateFunctionEventInvokeConfigCommand(change));
  const { FunctionEventInvokeConfigs } = await lambda.send(
    new ListFunctionEventInvokeConfigsCommand({ FunctionName }),
  );
  expect(FunctionEventInvokeConfigs).toMatchObject([
    {
      FunctionArn: "arn:aws:lambda:us-east-1:123456789012:function:f:$LATEST",
      MaximumEventAgeInSeconds: 100,
      MaximumRetryAttempts: 1,
    },
  ]);
  const { AccountUsage } = await lambda.send(new GetAccountSettingsCommand({}));
  expect(AccountUsage?.FunctionCount).toBe(1);
  const { EventSourceMappings } = await lambda.send(new ListEventSourceMappingsCommand({}));
  expect(EventSourceMappings).toEqual([]);
  lambda.destroy();
});

test("Step Functions: an execution tells its machine as it was, and machines have tags", async () => {
  const sfn = new SFNClient({ ...settingsOf(endpoint), disableHostPrefix: true });
  const pass = (Result: string) =>
    JSON.stringify({ StartAt: "A", States: { A: { Type: "Pass", Result, End: true } } });
  const { stateMachineArn } = await sfn.send(
    new CreateStateMachineCommand({
      name: "m",
      type: "EXPRESS",
      roleArn: "arn:aws:iam::123456789012:role/r",
      definition: pass("one"),
      tags: [{ key: "a", value: "1" }],
    }),
  );
  const { executionArn } = await sfn.send(new StartExecutionCommand({ stateMachineArn }));
  await sfn.send(new UpdateStateMachineCommand({ stateMachineArn, definition: pass("two") }));
  expect(await sfn.send(new DescribeStateMachineForExecutionCommand({ executionArn }))).toMatchObject({
    stateMachineArn,
    name: "m",
    definition: pass("one"),
  });
  expect(await sfn.send(new StartSyncExecutionCommand({ stateMachineArn }))).toMatchObject({
    status: "SUCCEEDED",
    output: '"two"',
  });
  const resourceArn = stateMachineArn;
  await sfn.send(new TagResourceCommand({ resourceArn, tags: [{ key: "b", value: "2" }] }));
  await sfn.send(new UntagResourceCommand({ resourceArn, tagKeys: ["a"] }));
  expect((await sfn.send(new ListTagsForResourceCommand({ resourceArn }))).tags).toEqual([
    { key: "b", value: "2" },
  ]);
  const checked = await sfn.send(
    new ValidateStateMachineDefinitionCommand({ definition: '{"StartAt":"A"}' }),
  );
  expect(checked).toMatchObject({ result: "FAIL", diagnostics: [{ severity: "ERROR" }] });
  sfn.destroy();
});
