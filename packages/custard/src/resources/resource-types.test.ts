import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createTask } from "../../../../tests/support/resource-task.ts";
import { resourceWorld } from "../../../../tests/support/resource-world.ts";
import type { LogicalId, PhysicalId, StackId } from "../engine/ids.ts";
import type { TaskOutcome } from "../engine/ports.ts";
import { type ValueMap } from "../template/value.ts";

type Done = Extract<TaskOutcome, { kind: "done" }>;

async function done(outcome: Promise<TaskOutcome>): Promise<Done> {
  const ended = await outcome;
  if (ended.kind !== "done") throw new Error(ended.reason);
  return ended;
}

function publishedTypes(): readonly {
  type: string;
  attributes: readonly string[];
  required: readonly string[];
}[] {
  const text = readFileSync(new URL("../../dist/resource-schemas.txt", import.meta.url), "utf8");
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.map((line) => {
    const [type = "", json = "{}"] = line.split("\t");
    const schema = JSON.parse(json);
    return { type, attributes: Object.keys(schema.attributes), required: schema.required ?? [] };
  });
}

/** Types that more stands behind than their schema; each has tests of its own. */
const byOthers =
  /^AWS::Lambda::(?:Function|LayerVersion|Version|Alias|Permission|EventInvokeConfig)$|^AWS::S3::Bucket(?:Policy)?$|^AWS::SNS::|^AWS::SQS::Queue|^AWS::SSM::Parameter$|^AWS::SecretsManager::|^AWS::StepFunctions::StateMachine$|^AWS::CloudFormation::(?:Stack|Macro|WaitCondition|WaitConditionHandle|CustomResource)$/;

describe("every published type", () => {
  const published = publishedTypes().filter(({ type }) => !byOthers.test(type));

  test("there are as many as CloudFormation has", () => {
    expect(published.length).toBeGreaterThan(1500);
  });

  test("is made with an id and all its attributes, the same for the same task", async () => {
    const { perform } = resourceWorld();
    for (const { type, attributes, required } of published) {
      const properties = Object.fromEntries(required.map((name) => [name, `given-${name}`]));
      const task = createTask(type, { properties });
      const made = await done(perform(task));
      expect(`${type} ${made.physicalId}`).toMatch(/^\S+ \S.{0,1023}$/);
      expect([type, Object.keys(made.attributes)]).toEqual([type, expect.arrayContaining([...attributes])]);
      expect(JSON.stringify(made)).not.toMatch(/undefined|\$\{|NaN/);
      expect(await perform(task)).toEqual(made);
    }
  });

  test("keeps its id and attributes in an update that changes nothing, and is deleted", async () => {
    const { perform } = resourceWorld();
    for (const { type, required } of published) {
      const properties = Object.fromEntries(required.map((name) => [name, `given-${name}`]));
      const made = await done(perform(createTask(type, { properties })));
      const existing = { properties, oldProperties: properties, physicalId: made.physicalId };
      expect(await perform(createTask(type, { ...existing, action: "update", token: "update-1" }))).toEqual(
        made,
      );
      const gone = await done(
        perform(createTask(type, { ...existing, action: "delete", token: "delete-1" })),
      );
      expect(gone.physicalId).toBe(made.physicalId);
    }
  });

  test("another resource gets another id, unless a property tells it", async () => {
    const { perform } = resourceWorld();
    const other = {
      logicalId: "Other" as LogicalId,
      physicalId: "my-stack-Other-aaaaaaaaaaaa" as PhysicalId,
    };
    for (const type of [
      "AWS::EC2::VPC",
      "AWS::SNS::Topic",
      "AWS::S3::Bucket",
      "AWS::KMS::Key",
      "AWS::IAM::Role",
    ]) {
      const properties = { AssumeRolePolicyDocument: {} };
      const [one, two] = await Promise.all([
        done(perform(createTask(type, { properties }))),
        done(perform(createTask(type, { properties, ...other }))),
      ]);
      expect(one.physicalId).not.toBe(two.physicalId);
    }
  });
});

const hex17 = "0[0-9a-f]{16}";

test.each<{ type: string; properties?: ValueMap; id: RegExp; attributes?: Record<string, unknown> }>([
  {
    type: "AWS::EC2::VPC",
    id: new RegExp(`^vpc-${hex17}$`),
    properties: { CidrBlock: "10.1.0.0/16" },
    attributes: { CidrBlock: "10.1.0.0/16" },
  },
  { type: "AWS::EC2::SecurityGroup", id: new RegExp(`^sg-${hex17}$`), properties: { GroupDescription: "x" } },
  { type: "AWS::EC2::Instance", id: new RegExp(`^i-${hex17}$`) },
  {
    type: "AWS::S3::Bucket",
    id: /^my-stack-thing-kdps7tfbhfx5$/,
    attributes: { Arn: "arn:aws:s3:::my-stack-thing-kdps7tfbhfx5" },
  },
  {
    type: "AWS::S3::Bucket",
    properties: { BucketName: "mine" },
    id: /^mine$/,
    attributes: { DomainName: "mine.s3.amazonaws.com" },
  },
  {
    type: "AWS::SQS::Queue",
    properties: { FifoQueue: true },
    id: /^https:\/\/sqs\.us-east-1\.amazonaws\.com\/123456789012\/my-stack-Thing-Kdps7TfbhFx5\.fifo$/,
    attributes: {
      QueueName: "my-stack-Thing-Kdps7TfbhFx5.fifo",
      Arn: "arn:aws:sqs:us-east-1:123456789012:my-stack-Thing-Kdps7TfbhFx5.fifo",
    },
  },
  {
    type: "AWS::SNS::Topic",
    properties: { TopicName: "t" },
    id: /^arn:aws:sns:us-east-1:123456789012:t$/,
    attributes: { TopicName: "t" },
  },
  {
    type: "AWS::Events::Rule",
    properties: { Name: "r" },
    id: /^r$/,
    attributes: { Arn: "arn:aws:events:us-east-1:123456789012:rule/r" },
  },
  { type: "AWS::Events::Rule", properties: { Name: "r", EventBusName: "b" }, id: /^b\|r$/ },
  {
    type: "AWS::CertificateManager::Certificate",
    properties: { DomainName: "d" },
    id: /^arn:aws:acm:us-east-1:123456789012:certificate\/[0-9a-f-]{36}$/,
  },
  { type: "AWS::KMS::Key", id: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/ },
  {
    type: "AWS::RDS::DBInstance",
    properties: { Engine: "postgres" },
    id: /^my-stack-thing-kdps7tfbhfx5$/,
    attributes: { "Endpoint.Port": "5432" },
  },
  {
    type: "AWS::IAM::Role",
    properties: { AssumeRolePolicyDocument: {}, Path: "/app/" },
    id: /^my-stack-Thing-Kdps7TfbhFx5$/,
    attributes: {
      Arn: "arn:aws:iam::123456789012:role/app/my-stack-Thing-Kdps7TfbhFx5",
      RoleId: expect.stringMatching(/^AROA[A-Z2-7]{17}$/),
    },
  },
  {
    type: "AWS::SSM::Parameter",
    properties: { Name: "/a/b", Type: "String", Value: 5 },
    id: /^\/a\/b$/,
    attributes: { Type: "String", Value: "5", Arn: "arn:aws:ssm:us-east-1:123456789012:parameter/a/b" },
  },
  {
    type: "AWS::Logs::LogGroup",
    properties: { LogGroupName: "/x" },
    id: /^\/x$/,
    attributes: { Arn: "arn:aws:logs:us-east-1:123456789012:log-group:/x:*" },
  },
])(
  "$type $properties has an id and attributes of the real form",
  async ({ type, properties = {}, id, attributes = {} }) => {
    const made = await done(resourceWorld().perform(createTask(type, { properties })));
    expect(made.physicalId).toMatch(id);
    expect(made.attributes).toMatchObject(attributes);
  },
);

test("other partitions show in ARNs and host names", async () => {
  const china = { region: "cn-north-1", partition: "aws-cn" };
  const topic = await done(
    resourceWorld().perform(createTask("AWS::SNS::Topic", { ...china, properties: { TopicName: "t" } })),
  );
  expect(topic.physicalId).toBe("arn:aws-cn:sns:cn-north-1:123456789012:t");
  const queue = await done(
    resourceWorld().perform(createTask("AWS::SQS::Queue", { ...china, properties: { QueueName: "q" } })),
  );
  expect(queue.physicalId).toBe("https://sqs.cn-north-1.amazonaws.com.cn/123456789012/q");
});

test("a name that is too long for its service keeps its unique end", async () => {
  const physicalId = `${"stack".repeat(20)}-Thing-Kdps7TfbhFx5` as PhysicalId;
  const role = await done(
    resourceWorld().perform(
      createTask("AWS::IAM::Role", { physicalId, properties: { AssumeRolePolicyDocument: {} } }),
    ),
  );
  expect(role.physicalId).toHaveLength(64);
  expect(role.physicalId).toMatch(/-Kdps7TfbhFx5$/);
});

test("a required property that is missing fails the resource in CloudFormation's words (fact 102)", async () => {
  const { perform } = resourceWorld();
  expect(await perform(createTask("AWS::SSM::Parameter", { properties: { Value: "v" } }))).toEqual({
    kind: "failed",
    reason: "Property validation failure: [The property {/Type} is required]",
  });
});

test("facts tell what is simulated, and which properties replace", () => {
  const { types } = resourceWorld();
  expect(types.facts("AWS::EC2::VPC")).toMatchObject({ kind: "simulated", snapshots: false });
  expect(types.facts("AWS::EC2::Volume")).toMatchObject({ kind: "simulated", snapshots: true });
  expect(types.facts("AWS::Lambda::Function")?.kind).toBe("builtin");
  expect(types.facts("AWS::IAM::Role")?.kind).toBe("builtin");
  expect(types.facts("AWS::SNS::Topic")?.createOnly).toEqual(new Set(["TopicName", "FifoTopic"]));
  expect(types.facts("AWS::SSM::Parameter")?.createOnly).toEqual(new Set(["Name"]));
  expect(types.facts("Custom::Thing")).toBeUndefined();
  expect(types.facts("AWS::No::Thing")).toBeUndefined();
});

test.each([
  ["AWS::SNS::Topic", true],
  ["Alexa::ASK::Skill", true],
  ["AWS::CDK::Metadata", true],
  ["Custom::Thing", true],
  ["AWS::CloudFormation::CustomResource", true],
  ["AWS::SNS::Topi", false],
  ["SNS::Topic", false],
  ["AWS::Serverless::Function", false],
  ["AWS::SNS::Topic\t{", false],
  ["", false],
])("is %j known: %s", (type, known) => {
  expect(resourceWorld().types.isKnownType(type)).toBe(known);
});

test("types whose work a placeholder would misrepresent are refused by name", async () => {
  const { perform } = resourceWorld();
  expect(await perform(createTask("AWS::CloudFormation::Stack"))).toEqual({
    kind: "failed",
    reason: "Custard doesn't make resources of type AWS::CloudFormation::Stack yet.",
  });
  expect(await perform(createTask("AWS::CloudFormation::Stack", { action: "delete" }))).toMatchObject({
    kind: "done",
  });
});

describe("records", () => {
  const parameter = { Name: "/p", Type: "String", Value: "v" };

  test("a name that another stack's resource holds is refused", async () => {
    const { perform } = resourceWorld();
    const first = createTask("AWS::SSM::Parameter", { properties: parameter });
    await done(perform(first));
    const other = { ...first, stackId: "arn:other" as StackId, token: "other" };
    expect(await perform(other)).toEqual({
      kind: "failed",
      reason: `/p already exists in stack ${first.stackId}`,
    });
    await done(perform({ ...other, action: "delete", physicalId: "/p" as PhysicalId }));
    expect(await perform(other)).toMatchObject({ kind: "failed" });
    await done(perform({ ...first, action: "delete", physicalId: "/p" as PhysicalId }));
    expect(await perform(other)).toMatchObject({ kind: "done" });
  });

  test("a replacement that keeps its custom name is refused", async () => {
    const { perform } = resourceWorld();
    const task = createTask("AWS::IAM::Role", {
      properties: { RoleName: "r", AssumeRolePolicyDocument: {} },
    });
    await done(perform(task));
    expect(await perform({ ...task, token: "replace" })).toEqual({
      kind: "failed",
      reason:
        "CloudFormation cannot update a stack when a custom-named resource requires replacing. Rename r and update the stack again.",
    });
  });

  test("what is kept follows the template", async () => {
    const { perform, documents } = resourceWorld();
    const task = createTask("AWS::SSM::Parameter", { properties: parameter });
    await done(perform(task));
    const changed = { ...parameter, Value: "changed" };
    const update = {
      ...task,
      action: "update",
      properties: changed,
      physicalId: "/p" as PhysicalId,
      token: "update-1",
    } as const;
    expect((await done(perform(update))).attributes["Value"]).toBe("changed");
    const key = "resource/aws/123456789012/us-east-1/AWS::SSM::Parameter//p";
    expect(await documents.get(key)).toMatchObject({ logicalId: "Thing", properties: changed });
    await done(perform({ ...update, action: "delete" }));
    expect(await documents.list("resource/")).toEqual([]);
  });

  test("the Delete of a cancelled creation carries the generated id, and finds what was made", async () => {
    const { perform, documents } = resourceWorld();
    const tasks = [
      createTask("AWS::SSM::Parameter", { properties: parameter, logicalId: "A" as LogicalId }),
      createTask("AWS::IAM::Role", {
        properties: { RoleName: "r", AssumeRolePolicyDocument: {} },
        logicalId: "B" as LogicalId,
      }),
      createTask("AWS::SNS::Topic", { properties: { TopicName: "t" }, logicalId: "C" as LogicalId }),
      createTask("AWS::SQS::Queue", { properties: { QueueName: "q" }, logicalId: "D" as LogicalId }),
      createTask("AWS::CloudFormation::Macro", {
        properties: { Name: "M", FunctionName: "f" },
        logicalId: "E" as LogicalId,
      }),
    ];
    for (const task of tasks) await done(perform(task));
    for (const task of tasks) await done(perform({ ...task, action: "delete", token: "delete-1" }));
    expect(await documents.list("")).toEqual([]);
  });
});
