import { expect, test } from "vitest";
import { custom, parameter, scenario, token } from "../support/scenario.ts";

test("a custom resource is created in three events (facts 61, 85, 58)", async () => {
  const s = scenario();
  const stack = await s.create({
    Resources: { A: custom({ Size: 3 }) },
    Outputs: { Id: { Value: { Ref: "A" } } },
  });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "A CREATE_IN_PROGRESS",
      "A CREATE_IN_PROGRESS (A-1) Resource creation Initiated",
      "A CREATE_COMPLETE (A-1)",
      "my-stack CREATE_COMPLETE",
    ]
  `);
  expect(s.requests()).toMatchInlineSnapshot(`
    [
      "Create A {"Size":"3"}",
    ]
  `);
  expect(stack.outputs).toEqual([{ name: "Id", value: "A-1" }]);
});

test("the request names everything that a provider needs (facts 1 to 4, 7, 8, 15)", async () => {
  const s = scenario();
  await s.create({ Resources: { A: { ...custom(), Type: "AWS::CloudFormation::CustomResource" } } });
  const { requestId, stackId, ...request } = s.request();
  expect(stackId).toBe(s.stackId);
  expect(requestId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(request).toEqual({
    requestType: "Create",
    serviceToken: token,
    responseUrl: `https://response.invalid/${requestId}`,
    logicalId: "A",
    resourceType: "AWS::CloudFormation::CustomResource",
    properties: { ServiceToken: token },
  });
});

test("scalars arrive as strings at any depth; empty values and shapes stay (facts 3, 10, 11)", async () => {
  const s = scenario();
  const properties = {
    Flag: true,
    Count: 3,
    Ratio: 1.5,
    Empty: "",
    List: [1, [false]],
    Map: { a: { b: 2 } },
    No: [],
    None: {},
  };
  await s.create({ Resources: { A: custom({ ...properties, ServiceTimeout: 60 }) } });
  expect(s.request().properties).toEqual({
    ServiceToken: token,
    ServiceTimeout: "60",
    Flag: "true",
    Count: "3",
    Ratio: "1.5",
    Empty: "",
    List: ["1", ["false"]],
    Map: { a: { b: "2" } },
    No: [],
    None: {},
  });
});

test("AWS::NoValue takes a key away (fact 13)", async () => {
  const s = scenario();
  await s.create({
    Resources: { A: custom({ Only: { Ref: "AWS::NoValue" }, List: ["x", { Ref: "AWS::NoValue" }] }) },
  });
  expect(s.request().properties).toEqual({ ServiceToken: token, List: ["x"] });
});

test("a null is refused before anything starts (fact 12)", async () => {
  const s = scenario();
  await expect(s.create({ Resources: { A: custom({ Nothing: null }) } })).rejects.toThrow(
    "[/Resources/A/Properties/Nothing] 'null' values are not allowed in templates",
  );
  expect(s.requests()).toEqual([]);
});

test("a NoEcho parameter reaches the provider in clear (fact 14)", async () => {
  const s = scenario();
  const template = {
    Parameters: { Secret: { Type: "String", NoEcho: true } },
    Resources: { A: custom({ Password: { Ref: "Secret" } }) },
  };
  const stack = await s.create(template, { parameters: { Secret: "hunter2" } });
  expect(s.request().properties["Password"]).toBe("hunter2");
  expect(stack.parameters).toEqual([{ name: "Secret", value: "****" }]);
  expect(JSON.stringify(await s.rawEvents())).not.toContain("hunter2");
});

test("creates follow the dependencies, whatever the order in the template (fact 98)", async () => {
  const s = scenario();
  await s.create({
    Resources: {
      C: custom({ Uses: { Ref: "B" } }),
      B: custom({}, { DependsOn: "A" }),
      A: custom(),
      Other: custom(),
    },
  });
  expect(s.requests()).toEqual(["Create A {}", "Create Other {}", "Create B {}", 'Create C {"Uses":"B-1"}']);
});

test("all that is ready starts at once", async () => {
  const s = scenario({ Create: "silence" });
  await s.begin({ Resources: { A: custom(), B: custom(), C: custom({ Uses: { Ref: "A" } }) } });
  expect(s.requests()).toEqual(["Create A {}", "Create B {}"]);
});

test("made-up physical ids and the stack's id have CloudFormation's form (fact 100)", async () => {
  const s = scenario();
  const stack = await s.create({ Resources: { P: parameter() } });
  expect(stack.stackId).toMatch(
    /^arn:aws:cloudformation:us-east-1:123456789012:stack\/my-stack\/[0-9a-f]{8}-[0-9a-f]{4}-1[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  expect(stack.resources[0]?.physicalId).toMatch(/^my-stack-P-[A-Za-z0-9]{12}$/);
});

test("a stack in China has its partition's names (fact 16)", async () => {
  const s = scenario();
  await s.create(
    {
      Resources: {
        A: custom({
          ServiceToken: "arn:aws-cn:lambda:cn-north-1:123456789012:function:f",
          Suffix: { Ref: "AWS::URLSuffix" },
          Partition: { Ref: "AWS::Partition" },
        }),
      },
    },
    { region: "cn-north-1" },
  );
  expect(s.stackId).toMatch(/^arn:aws-cn:cloudformation:cn-north-1:/);
  expect(s.request().properties).toMatchObject({ Suffix: "amazonaws.com.cn", Partition: "aws-cn" });
});

test("a delivery that is refused fails the resource at once, in the service's own words (facts 17, 18)", async () => {
  const reason =
    "Invalid parameter: TopicArn (Service: AmazonSNS; Status Code: 400; Error Code: InvalidParameter; Request ID: 1)";
  const s = scenario({ Create: { delivery: { kind: "refused", reason } } });
  await s.create({ Resources: { A: custom() } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "A CREATE_IN_PROGRESS",
      "A CREATE_FAILED Invalid parameter: TopicArn (Service: AmazonSNS; Status Code: 400; Error Code: InvalidParameter; Request ID: 1)",
      "my-stack ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [A]. Rollback requested by user.",
      "A DELETE_COMPLETE",
      "my-stack ROLLBACK_COMPLETE",
    ]
  `);
  expect(s.requests()).toEqual(["Create A {}"]);
});

test("what a function returns counts for nothing, only the answer does (fact 19)", async () => {
  const s = scenario({
    Create: { delivery: { kind: "silent", advice: "The function returned without answering." } },
  });
  await s.begin({ Resources: { A: custom() } });
  expect((await s.view()).status).toBe("CREATE_IN_PROGRESS");
});

test("with fail-fast, a provider that has certainly ended is not waited for", async () => {
  const silent = {
    delivery: { kind: "silent", advice: "The function returned without answering." },
  } as const;
  const s = scenario({ Create: silent }, { failFast: true });
  await s.begin({ Resources: { A: custom() } });
  await s.settle();
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "A CREATE_IN_PROGRESS",
      "A CREATE_FAILED (my-stack-A-<random>) The function returned without answering.",
      "my-stack ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [A]. Rollback requested by user.",
      "A DELETE_IN_PROGRESS (my-stack-A-<random>)",
      "A DELETE_COMPLETE (my-stack-A-<random>)",
      "my-stack ROLLBACK_COMPLETE",
    ]
  `);
});
