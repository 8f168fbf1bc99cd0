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
