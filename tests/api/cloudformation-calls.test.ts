/** What CloudFormation shows of how stacks came to be, and what it refuses, through the AWS SDK. */
import {
  CancelUpdateStackCommand,
  CloudFormationClient,
  ContinueUpdateRollbackCommand,
  CreateChangeSetCommand,
  type CreateChangeSetCommandInput,
  CreateStackCommand,
  type CreateStackCommandInput,
  DeleteStackCommand,
  DescribeChangeSetCommand,
  DescribeEventsCommand,
  DescribeStackEventsCommand,
  DescribeStacksCommand,
  ExecuteChangeSetCommand,
  GetTemplateCommand,
  GetTemplateSummaryCommand,
  ListStacksCommand,
  RollbackStackCommand,
  type Stack,
  UpdateStackCommand,
} from "@aws-sdk/client-cloudformation";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTestEndpoint, type TestEndpoint } from "./support.ts";

let endpoint: TestEndpoint;
let client: CloudFormationClient;

beforeAll(async () => {
  endpoint = await openTestEndpoint({ hold: "all" });
  const credentials = { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "secret" };
  client = new CloudFormationClient({ region: "us-east-1", endpoint: endpoint.url, credentials });
});

afterAll(async () => {
  await endpoint.close();
});

const roleArn = "arn:aws:iam::123456789012:role/deploys";
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const alarm = { Arn: "arn:aws:cloudwatch:us-east-1:123456789012:alarm:a", Type: "AWS::CloudWatch::Alarm" };

function topic(name: string): string {
  return JSON.stringify({
    Resources: { Topic: { Type: "AWS::SNS::Topic", Properties: { DisplayName: name } } },
  });
}

/** A template whose update fails: a resource that can't be made after one that can. */
function failing(name: string): string {
  const Broken = {
    Type: "Custom::Broken",
    DependsOn: "Topic",
    Properties: { ServiceToken: "arn:aws:lambda:us-east-1:123456789012:function:there-is-none" },
  };
  return JSON.stringify({
    Resources: { ...(JSON.parse(topic(name)) as { Resources: object }).Resources, Broken },
  });
}

async function create(input: CreateStackCommandInput): Promise<Stack> {
  await client.send(new CreateStackCommand(input));
  return await described(input.StackName ?? "");
}

/** The stack when it has settled. */
async function described(StackName: string): Promise<Stack> {
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName }));
  const [stack] = Stacks;
  if (stack === undefined) throw new Error(`${StackName} isn't described`);
  return stack;
}

async function refusal(call: Promise<unknown>): Promise<string> {
  return await call.then(
    () => "none",
    (error: Error) => `${error.name}: ${error.message}`,
  );
}

describe("a stack shows how it was made", () => {
  test("by its creation, then by its update; role and triggers stay where an update says nothing", async () => {
    const created = await create({
      StackName: "shown",
      TemplateBody: topic("one"),
      RoleARN: roleArn,
      Capabilities: ["CAPABILITY_NAMED_IAM"],
      RollbackConfiguration: { RollbackTriggers: [alarm], MonitoringTimeInMinutes: 5 },
      TimeoutInMinutes: 7,
      RetainExceptOnCreate: true,
      DeploymentConfig: { Mode: "STANDARD" },
      EnableTerminationProtection: false,
    });
    expect(created).toMatchObject({
      RoleARN: roleArn,
      Capabilities: ["CAPABILITY_NAMED_IAM"],
      RollbackConfiguration: { RollbackTriggers: [alarm], MonitoringTimeInMinutes: 5 },
      TimeoutInMinutes: 7,
      RetainExceptOnCreate: true,
      DeploymentConfig: { Mode: "STANDARD" },
      DisableRollback: false,
      EnableTerminationProtection: false,
      DriftInformation: { StackDriftStatus: "NOT_CHECKED" },
      LastOperations: [{ OperationType: "CREATE_STACK", OperationId: expect.stringMatching(uuid) }],
    });
    const { OperationId } = await client.send(
      new UpdateStackCommand({ StackName: "shown", TemplateBody: topic("two"), DisableRollback: true }),
    );
    const updated = await described("shown");
    expect(updated).toMatchObject({
      StackStatus: "UPDATE_COMPLETE",
      RoleARN: roleArn,
      RollbackConfiguration: { RollbackTriggers: [alarm] },
      DisableRollback: true,
      LastOperations: [{ OperationType: "UPDATE_STACK", OperationId }],
    });
    expect(updated.Capabilities).toBeUndefined();
    const { StackSummaries = [] } = await client.send(new ListStacksCommand({}));
    expect(StackSummaries.find(({ StackName }) => StackName === "shown")?.LastOperations).toEqual(
      updated.LastOperations,
    );
  });

  test("and how it was deleted, without a protection that it has no more (fact 97)", async () => {
    const { StackId = "" } = await create({ StackName: "gone", TemplateBody: topic("x") });
    const other = "arn:aws:iam::123456789012:role/deletes";
    const DeletionMode = "STANDARD";
    await client.send(new DeleteStackCommand({ StackName: "gone", RoleARN: other, DeletionMode }));
    const deleted = await described(StackId);
    expect(deleted).toMatchObject({ StackStatus: "DELETE_COMPLETE", RoleARN: other, DeletionMode });
    expect(deleted).not.toHaveProperty("EnableTerminationProtection");
    expect(deleted.LastOperations).toMatchObject([{ OperationType: "DELETE_STACK" }]);
  });

  test("a rollback is an operation of its own, before the one that it undoes", async () => {
    await create({ StackName: "undone", TemplateBody: topic("one") });
    await client.send(new UpdateStackCommand({ StackName: "undone", TemplateBody: failing("two") }));
    const { StackStatus, LastOperations = [] } = await described("undone");
    expect(StackStatus).toBe("UPDATE_ROLLBACK_COMPLETE");
    expect(LastOperations.map(({ OperationType }) => OperationType)).toEqual(["ROLLBACK", "UPDATE_STACK"]);
    const [rollback, update] = LastOperations;
    const { StackEvents = [] } = await client.send(new DescribeStackEventsCommand({ StackName: "undone" }));
    const idsOf = (status: string) =>
      StackEvents.filter(({ ResourceStatus }) => ResourceStatus === status).map(
        ({ OperationId }) => OperationId,
      );
    expect(idsOf("CREATE_FAILED")).toEqual([update?.OperationId]);
    expect(idsOf("UPDATE_ROLLBACK_IN_PROGRESS")).toEqual([rollback?.OperationId]);
    expect(idsOf("UPDATE_ROLLBACK_COMPLETE")).toEqual([rollback?.OperationId]);
  });
});

describe("events by operation", () => {
  test("say where each operation began and ended, and why it failed", async () => {
    const { StackId, OperationId } = await client.send(
      new CreateStackCommand({ StackName: "events", TemplateBody: failing("x"), OnFailure: "ROLLBACK" }),
    );
    expect(OperationId).toMatch(uuid);
    await described("events");
    const { OperationEvents = [] } = await client.send(new DescribeEventsCommand({ StackName: "events" }));
    const operations = OperationEvents.filter(({ EventType }) => EventType === "STACK_EVENT");
    expect(operations.map(({ OperationType, OperationStatus }) => [OperationType, OperationStatus])).toEqual([
      ["ROLLBACK", "SUCCESS"],
      ["ROLLBACK", "IN_PROGRESS"],
      ["CREATE_STACK", "FAILED"],
      ["CREATE_STACK", "IN_PROGRESS"],
    ]);
    expect(new Set(OperationEvents.map(({ EventId }) => EventId)).size).toBe(OperationEvents.length);
    expect(OperationEvents.every((event) => event.StackId === StackId)).toBe(true);

    const failed = await client.send(
      new DescribeEventsCommand({ OperationId, Filters: { FailedEvents: true } }),
    );
    expect(failed.OperationEvents).toMatchObject([
      { EventType: "STACK_EVENT", OperationStatus: "FAILED", OperationId },
      {
        EventType: "PROVISIONING_ERROR",
        LogicalResourceId: "Broken",
        ResourceStatusReason: expect.stringContaining("Function not found"),
      },
    ]);
  });

  test("are of a stack, a change set, or an operation", async () => {
    expect(await refusal(client.send(new DescribeEventsCommand({})))).toBe(
      "ValidationError: One of ChangeSetName, OperationId or StackName must be specified.",
    );
    await changeSet({ StackName: "planned", ChangeSetName: "first", ChangeSetType: "CREATE" });
    const named = { StackName: "planned", ChangeSetName: "first" };
    const { OperationEvents = [] } = await client.send(new DescribeEventsCommand(named));
    expect(OperationEvents).toMatchObject([
      { OperationType: "CREATE_CHANGESET", OperationStatus: "SUCCESS" },
    ]);
    const byId = await client.send(
      new DescribeEventsCommand({ OperationId: OperationEvents[0]?.OperationId }),
    );
    expect(byId.OperationEvents).toEqual(OperationEvents);
  });
});

async function changeSet(input: CreateChangeSetCommandInput) {
  return await client.send(new CreateChangeSetCommand({ TemplateBody: topic("planned"), ...input }));
}

describe("a change set", () => {
  test("shows what its execution will be asked for, and hands it to the stack", async () => {
    const named = { StackName: "reviewed", ChangeSetName: "first" };
    await changeSet({
      ...named,
      ChangeSetType: "CREATE",
      RoleARN: roleArn,
      Capabilities: ["CAPABILITY_IAM"],
      RollbackConfiguration: { RollbackTriggers: [alarm] },
      ImportExistingResources: true,
      OnStackFailure: "DO_NOTHING",
      Description: "the first",
      DeploymentConfig: { Mode: "STANDARD" },
    });
    expect(await client.send(new DescribeChangeSetCommand(named))).toMatchObject({
      Capabilities: ["CAPABILITY_IAM"],
      RollbackConfiguration: { RollbackTriggers: [alarm] },
      ImportExistingResources: true,
      IncludeNestedStacks: false,
      OnStackFailure: "DO_NOTHING",
      Description: "the first",
      DeploymentConfig: { Mode: "STANDARD" },
      Changes: [{ ResourceChange: { Action: "Add", LogicalResourceId: "Topic" } }],
    });
    expect(await described("reviewed")).toMatchObject({ StackStatus: "REVIEW_IN_PROGRESS" });
    await client.send(new ExecuteChangeSetCommand(named));
    expect(await described("reviewed")).toMatchObject({
      StackStatus: "CREATE_COMPLETE",
      RoleARN: roleArn,
      Capabilities: ["CAPABILITY_IAM"],
    });
  });

  test("that is made again with its token is the same; with another it exists already", async () => {
    const input = {
      StackName: "twice",
      ChangeSetName: "a",
      ChangeSetType: "CREATE",
      ClientToken: "t",
    } as const;
    const { Id } = await changeSet(input);
    expect((await changeSet(input)).Id).toBe(Id);
    expect(await refusal(changeSet({ ...input, ClientToken: "u" }))).toBe(
      "AlreadyExistsException: ChangeSet [a] already exists",
    );
  });

  test("needs no word for transforms, but one for IAM, also for what transforms make", async () => {
    const Role = { Type: "AWS::IAM::Role", Properties: { AssumeRolePolicyDocument: {} } };
    const roles = JSON.stringify({
      Transform: "AWS::LanguageExtensions",
      Resources: { "Fn::ForEach::Roles": ["Name", ["A"], { "Role${Name}": Role }] },
    });
    const create = { StackName: "iam", ChangeSetName: "a", ChangeSetType: "CREATE" } as const;
    const lacking = "InsufficientCapabilitiesException: Requires capabilities :";
    expect(await refusal(changeSet({ ...create, TemplateBody: roles }))).toBe(`${lacking} [CAPABILITY_IAM]`);
    const macro = JSON.stringify({ Transform: "Mine", Resources: { Role } });
    expect(
      await refusal(client.send(new CreateStackCommand({ StackName: "iam", TemplateBody: macro }))),
    ).toBe(`${lacking} [CAPABILITY_AUTO_EXPAND]`);
    expect(await refusal(changeSet({ ...create, TemplateBody: macro }))).not.toContain(lacking);
  });
});

describe("a client request token", () => {
  test("makes a call one that may be repeated, and belongs to it", async () => {
    const input = { StackName: "token", TemplateBody: topic("x"), ClientRequestToken: "once" };
    const first = await client.send(new CreateStackCommand(input));
    expect(await client.send(new CreateStackCommand(input))).toMatchObject({
      StackId: first.StackId,
      OperationId: first.OperationId,
    });
    await described("token");
    const other = { StackName: "token", ClientRequestToken: "once" };
    expect(await refusal(client.send(new DeleteStackCommand(other)))).toBe(
      "TokenAlreadyExistsException: A client request token already exists: once",
    );
    await client.send(new DeleteStackCommand({ ...other, ClientRequestToken: "another" }));
  });
});

describe("templates", () => {
  const transformed = JSON.stringify({
    Transform: "AWS::LanguageExtensions",
    Resources: {
      "Fn::ForEach::Topics": ["Name", ["A", "B"], { "Topic${Name}": { Type: "AWS::SNS::Topic" } }],
    },
  });

  test("are given as they were written, or as transforms have made them; the latter by default", async () => {
    await create({
      StackName: "processed",
      TemplateBody: transformed,
      Capabilities: ["CAPABILITY_AUTO_EXPAND"],
    });
    const get = async (TemplateStage?: "Original" | "Processed") =>
      client.send(new GetTemplateCommand({ StackName: "processed", TemplateStage }));
    expect(await get("Original")).toMatchObject({
      TemplateBody: transformed,
      StagesAvailable: ["Original", "Processed"],
    });
    const { TemplateBody = "" } = await get();
    expect(Object.keys((JSON.parse(TemplateBody) as { Resources: object }).Resources)).toEqual([
      "TopicA",
      "TopicB",
    ]);
    expect((await get("Processed")).TemplateBody).toBe(TemplateBody);
    expect(await refusal(client.send(new GetTemplateCommand({})))).toBe(
      "ValidationError: StackName is required if ChangeSetName is not specified.",
    );
  });

  test("are summarised by text and by stack", async () => {
    const TemplateBody = JSON.stringify({
      Description: "d",
      Metadata: { a: 1 },
      Parameters: {
        P: { Type: "String", AllowedValues: ["x", "y"], Default: "x", Description: "p", NoEcho: true },
      },
      Resources: {
        T: { Type: "AWS::SNS::Topic" },
        B: { Type: "AWS::S3::Bucket" },
        C: { Type: "AWS::S3::Bucket" },
      },
    });
    const byText = await client.send(new GetTemplateSummaryCommand({ TemplateBody }));
    expect(byText).toMatchObject({
      Description: "d",
      Metadata: '{"a":1}',
      ResourceTypes: ["AWS::SNS::Topic", "AWS::S3::Bucket"],
      Parameters: [
        {
          ParameterKey: "P",
          ParameterType: "String",
          DefaultValue: "x",
          NoEcho: true,
          Description: "p",
          ParameterConstraints: { AllowedValues: ["x", "y"] },
        },
      ],
      ResourceIdentifierSummaries: [
        { ResourceType: "AWS::SNS::Topic", LogicalResourceIds: ["T"], ResourceIdentifiers: ["TopicArn"] },
        {
          ResourceType: "AWS::S3::Bucket",
          LogicalResourceIds: ["B", "C"],
          ResourceIdentifiers: ["BucketName"],
        },
      ],
    });
    const TreatUnrecognizedResourceTypesAsWarnings = true;
    const TemplateSummaryConfig = { TreatUnrecognizedResourceTypesAsWarnings };
    const odd = JSON.stringify({ Resources: { X: { Type: "AWS::No::Thing" } } });
    expect(await refusal(client.send(new GetTemplateSummaryCommand({ TemplateBody: odd })))).toBe(
      "ValidationError: Template format error: Unrecognized resource types: [AWS::No::Thing]",
    );
    const warned = new GetTemplateSummaryCommand({ TemplateBody: odd, TemplateSummaryConfig });
    expect((await client.send(warned)).Warnings).toEqual({ UnrecognizedResourceTypes: ["AWS::No::Thing"] });
    await create({ StackName: "summed", TemplateBody });
    const byStack = await client.send(new GetTemplateSummaryCommand({ StackName: "summed" }));
    expect({ ...byStack, $metadata: undefined }).toEqual({ ...byText, $metadata: undefined });
  });
});

describe("what breaks a constraint of the API is refused in AWS's words", () => {
  const pattern = "[a-zA-Z][-a-zA-Z0-9]*|arn:[-a-zA-Z0-9:/._+]*";
  const failed = (value: string, member: string) =>
    `Value '${value}' at '${member}' failed to satisfy constraint: Member must`;

  test.each([
    {
      name: "a stack's name",
      input: { StackName: "no_underscores" },
      text: `1 validation error detected: ${failed("no_underscores", "stackName")} satisfy regular expression pattern: ${pattern}`,
    },
    {
      name: "a word that isn't one of a few",
      input: { StackName: "a", OnFailure: "PANIC" },
      text: `1 validation error detected: ${failed("PANIC", "onFailure")} satisfy enum value set: [DO_NOTHING, ROLLBACK, DELETE]`,
    },
    {
      name: "such a word in a list",
      input: { StackName: "a", Capabilities: ["CAPABILITY_IAM", "ALL"] },
      text: `1 validation error detected: ${failed("[CAPABILITY_IAM, ALL]", "capabilities")} satisfy constraint: [Member must satisfy enum value set: [CAPABILITY_IAM, CAPABILITY_NAMED_IAM, CAPABILITY_AUTO_EXPAND]]`,
    },
    {
      name: "a number",
      input: { StackName: "a", TimeoutInMinutes: 0 },
      text: `1 validation error detected: ${failed("0", "timeoutInMinutes")} have value greater than or equal to 1`,
    },
    {
      name: "several at once",
      input: { StackName: "a", ClientRequestToken: "-", RoleARN: "role" },
      text: `2 validation errors detected: ${failed("role", "roleARN")} have length greater than or equal to 20; ${failed("-", "clientRequestToken")} satisfy regular expression pattern: [a-zA-Z0-9][-a-zA-Z0-9]*`,
    },
    {
      name: "a role that is none",
      input: { StackName: "a", RoleARN: "arn:aws:sns:us-east-1:123456789012:topic" },
      text: "Role arn:aws:sns:us-east-1:123456789012:topic is invalid or cannot be assumed",
    },
  ])("$name", async ({ input, text }) => {
    const call = client.send(
      new CreateStackCommand({ TemplateBody: topic("x"), ...(input as CreateStackCommandInput) }),
    );
    expect(await refusal(call)).toBe(`ValidationError: ${text}`);
  });
});

test("a role that goes on with or undoes what failed is shown from then on", async () => {
  await create({ StackName: "stopped", TemplateBody: topic("one") });
  await client.send(
    new UpdateStackCommand({ StackName: "stopped", TemplateBody: failing("two"), DisableRollback: true }),
  );
  expect(await described("stopped")).toMatchObject({ StackStatus: "UPDATE_FAILED" });
  const { OperationId } = await client.send(
    new RollbackStackCommand({ StackName: "stopped", RoleARN: roleArn }),
  );
  expect(await described("stopped")).toMatchObject({
    StackStatus: "UPDATE_ROLLBACK_COMPLETE",
    RoleARN: roleArn,
    LastOperations: [{ OperationType: "ROLLBACK", OperationId }, { OperationType: "UPDATE_STACK" }],
  });
  expect(await refusal(client.send(new ContinueUpdateRollbackCommand({ StackName: "stopped" })))).toBe(
    "ValidationError: RollbackUpdatedStack cannot be called from current stack status",
  );
  expect(await refusal(client.send(new CancelUpdateStackCommand({ StackName: "stopped" })))).toBe(
    "ValidationError: CancelUpdateStack cannot be called from current stack status",
  );
});

describe("texts by URL, and pages", () => {
  const url = (key: string) => `${endpoint.url}/texts/${key}`;

  beforeAll(async () => {
    await endpoint.send("/texts", { method: "PUT", service: "s3" });
    await endpoint.send("/texts/template.json", { method: "PUT", service: "s3", body: topic("by URL") });
  });

  test("a template is taken from our own S3, whatever is asked of it", async () => {
    const TemplateURL = url("template.json");
    const { StackStatus } = await create({ StackName: "by-url", TemplateURL });
    expect(StackStatus).toBe("CREATE_COMPLETE");
    const summary = await client.send(new GetTemplateSummaryCommand({ TemplateURL }));
    expect(summary.ResourceTypes).toEqual(["AWS::SNS::Topic"]);
  });

  test.each([
    { name: "one that isn't there", input: { TemplateURL: "/texts/none.json" }, text: "S3 error:" },
    {
      name: "one of elsewhere",
      input: { TemplateURL: "https://example.com/template.json" },
      text: "TemplateURL must be a supported URL.",
    },
    {
      name: "one beside a text",
      input: { TemplateURL: "/texts/template.json", TemplateBody: topic("x") },
      text: "Either Template URL or Template Body must be specified.",
    },
    {
      name: "a policy's beside its text",
      input: { TemplateBody: topic("x"), StackPolicyBody: "{}", StackPolicyURL: "/texts/policy.json" },
      text: "You cannot specify both StackPolicyURL and StackPolicyBody",
    },
  ])("$name is refused", async ({ input, text }) => {
    const here = Object.fromEntries(
      Object.entries(input).map(([name, value]) => [
        name,
        value.startsWith("/") ? endpoint.url + value : value,
      ]),
    );
    const call = client.send(new CreateStackCommand({ StackName: "refused", ...here }));
    expect(await refusal(call)).toContain(`ValidationError: ${text}`);
  });

  test("an import is refused, with what to do instead", async () => {
    const call = changeSet({ StackName: "imported", ChangeSetName: "a", ChangeSetType: "IMPORT" });
    expect(await refusal(call)).toContain("Use the change set type CREATE or UPDATE.");
  });

  test("a token that no page gave is refused", async () => {
    const NextToken = "made-up";
    for (const call of [
      client.send(new ListStacksCommand({ NextToken })),
      client.send(new DescribeStackEventsCommand({ StackName: "by-url", NextToken })),
      client.send(new DescribeEventsCommand({ StackName: "by-url", NextToken })),
    ])
      expect(await refusal(call)).toBe("ValidationError: The specified NextToken is invalid.");
  });
});
