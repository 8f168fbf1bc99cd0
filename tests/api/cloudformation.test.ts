import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestEndpoint, type TestEndpoint } from "./support.ts";

let endpoint: TestEndpoint;

beforeAll(async () => {
  endpoint = await openTestEndpoint({ hold: "all" });
});

afterAll(async () => {
  await endpoint.close();
});

const topic = JSON.stringify({
  Resources: { Topic: { Type: "AWS::SNS::Topic" } },
  Outputs: { Arn: { Value: { Ref: "Topic" }, Export: { Name: "the-topic" } } },
});

test("a stack is created, described, and gone when it was deleted", async () => {
  const created = await endpoint.query({ Action: "CreateStack", StackName: "one", TemplateBody: topic });
  expect(created.status).toBe(200);
  const stackId = /<StackId>(.*?)<\/StackId>/.exec(created.text)?.[1] ?? "";
  expect(stackId).toMatch(/^arn:aws:cloudformation:us-east-1:123456789012:stack\/one\//);

  const described = await endpoint.query({ Action: "DescribeStacks", StackName: "one" });
  expect(described.text).toContain("<StackStatus>CREATE_COMPLETE</StackStatus>");
  expect(described.text).toContain("<ExportName>the-topic</ExportName>");

  const deleted = await endpoint.query({ Action: "DeleteStack", StackName: stackId });
  expect(deleted.text).toContain("<DeleteStackResponse");
  const gone = await endpoint.query({ Action: "DescribeStacks", StackName: stackId });
  expect(gone.text).toContain("<StackStatus>DELETE_COMPLETE</StackStatus>");
  const unknown = await endpoint.query({ Action: "DescribeStacks", StackName: "one" });
  expect(unknown.status).toBe(400);
  expect(unknown.text).toContain(
    "<Code>ValidationError</Code><Message>Stack with id one does not exist</Message>",
  );
});

test.each([
  { action: "DescribeStacks", text: "Stack with id nope does not exist" },
  { action: "GetTemplate", text: "Stack with id nope does not exist" },
  { action: "DescribeStackEvents", text: "Stack [nope] does not exist" },
  { action: "ListChangeSets", text: "Stack [nope] does not exist" },
  { action: "DescribeStackResource", text: "Stack 'nope' does not exist", LogicalResourceId: "Topic" },
])("$action says in its own words that there is no such stack", async ({ action, text, ...more }) => {
  const answer = await endpoint.query({ Action: action, StackName: "nope", ...more });
  expect(answer.status).toBe(400);
  expect(answer.text).toContain(`<Message>${text}</Message>`);
});

test("deleting what isn't there succeeds", async () => {
  expect((await endpoint.query({ Action: "DeleteStack", StackName: "nope" })).status).toBe(200);
});

test("regions and accounts know nothing of each other's stacks, by whatever name", async () => {
  const call = { Action: "CreateStack", StackName: "placed", TemplateBody: topic };
  const created = await endpoint.query(call, { region: "eu-west-1", accessKeyId: "999999999999" });
  const stackId = /<StackId>(.*?)<\/StackId>/.exec(created.text)?.[1] ?? "";
  expect(stackId).toMatch(/^arn:aws:cloudformation:eu-west-1:999999999999:stack\/placed\//);
  for (const how of [{ region: "eu-west-1" }, { accessKeyId: "999999999999" }, {}]) {
    for (const StackName of ["placed", stackId])
      expect((await endpoint.query({ Action: "DescribeStacks", StackName }, how)).status).toBe(400);
  }
});

test("what a template needs must be acknowledged", async () => {
  const Properties = { RoleName: "r", AssumeRolePolicyDocument: {} };
  const TemplateBody = JSON.stringify({ Resources: { R: { Type: "AWS::IAM::Role", Properties } } });
  const answer = await endpoint.query({ Action: "CreateStack", StackName: "role", TemplateBody });
  expect(answer.text).toContain("<Code>InsufficientCapabilitiesException</Code>");
  expect(answer.text).toContain("<Message>Requires capabilities : [CAPABILITY_NAMED_IAM]</Message>");
  const validated = await endpoint.query({ Action: "ValidateTemplate", TemplateBody });
  expect(validated.text).toContain("<Capabilities><member>CAPABILITY_NAMED_IAM</member></Capabilities>");
});

test("a branch that isn't taken may refer to what a condition has switched off", async () => {
  const TemplateBody = JSON.stringify({
    Conditions: { Never: { "Fn::Equals": ["a", "b"] } },
    Resources: {
      Gone: { Type: "AWS::SNS::Topic", Condition: "Never" },
      There: {
        Type: "AWS::SNS::Topic",
        Properties: { DisplayName: { "Fn::If": ["Never", { Ref: "Gone" }, "there"] } },
      },
    },
  });
  await endpoint.query({ Action: "CreateStack", StackName: "branches", TemplateBody });
  const { text } = await endpoint.query({ Action: "DescribeStacks", StackName: "branches" });
  expect(text).toContain("<StackStatus>CREATE_COMPLETE</StackStatus>");
});

test("events come newest first, in pages, until there are no more", async () => {
  const Resources = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`Topic${index}`, { Type: "AWS::SNS::Topic" }]),
  );
  await endpoint.query({
    Action: "CreateStack",
    StackName: "many",
    TemplateBody: JSON.stringify({ Resources }),
  });
  await endpoint.query({ Action: "DescribeStacks", StackName: "many" });
  const ids: string[] = [];
  let token: string | undefined;
  do {
    const more = token === undefined ? {} : { NextToken: token };
    const { text } = await endpoint.query({ Action: "DescribeStackEvents", StackName: "many", ...more });
    ids.push(...[...text.matchAll(/<EventId>(.*?)<\/EventId>/g)].map(([, id]) => id ?? ""));
    token = /<NextToken>(.*?)<\/NextToken>/.exec(text)?.[1];
  } while (token !== undefined);
  expect(ids.length).toBe(new Set(ids).size);
  // Three for each topic, two for the stack.
  expect(ids.length).toBe(122);
});

test("drift is answered: nothing has drifted, and what is custom isn't checked", async () => {
  await endpoint.query({
    Action: "CreateStack",
    StackName: "drifting",
    TemplateBody: topic.replace("the-topic", "other"),
  });
  await endpoint.query({ Action: "DescribeStacks", StackName: "drifting" });
  const { text } = await endpoint.query({ Action: "DetectStackDrift", StackName: "drifting" });
  const id = /<StackDriftDetectionId>(.*?)</.exec(text)?.[1] ?? "";
  const status = await endpoint.query({
    Action: "DescribeStackDriftDetectionStatus",
    StackDriftDetectionId: id,
  });
  expect(status.text).toContain("<StackDriftStatus>IN_SYNC</StackDriftStatus>");
});
