import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { author, showing } from "./support.ts";

// Public reports of what a provider is asked, and when. Each test has the report's small input, in our words.

const echo = `const response = require("cfn-response");
exports.handler = (event, context) => {
  ${showing.javascript}
  response.send(event, context, "SUCCESS", { Seen: JSON.stringify(event.ResourceProperties) }, "thing");
};
`;

test("B30: numbers and booleans arrive as strings, at all depths", async () => {
  const { deploy, requests } = author();
  await deploy({ code: echo, properties: { Flag: true, Count: 14, Deep: { List: [1, { Off: false }] } } });
  const [create] = await requests();
  expect(create?.ResourceProperties).toMatchObject({
    Flag: "true",
    Count: "14",
    Deep: { List: ["1", { Off: "false" }] },
  });
});

test("B31: a property that is false is the text false, which is true for a language that asks", async () => {
  const { deploy } = author();
  const { text } = await deploy({
    code: `import cfnresponse
def handler(event, context):
    enabled = "yes" if event["ResourceProperties"]["EnableSend"] else "no"
    cfnresponse.send(event, context, "SUCCESS", {"Enabled": enabled}, "thing")
`,
    properties: { EnableSend: false },
    outputs: { Enabled: { Value: { "Fn::GetAtt": ["Thing", "Enabled"] } } },
  });
  expect(text).toMatch(/Enabled +yes\n/);
});

test("B34: an Update brings the new properties and the old ones", async () => {
  const { deploy, requests } = author();
  await deploy({ code: echo, properties: { Size: "1" } });
  await deploy({ code: echo, properties: { Size: "2" } });
  expect((await requests())[1]).toMatchObject({
    RequestType: "Update",
    ResourceProperties: { Size: "2" },
    OldResourceProperties: { Size: "1" },
  });
});

test("B35: changed code alone sends no Update, as on AWS; the author is told so", async () => {
  const { deploy, requests } = author();
  await deploy({ code: echo });
  const { text } = await deploy({ code: `${echo}// changed\n` });
  expect((await requests()).map(({ RequestType }) => RequestType)).toEqual(["Create"]);
  expect(text).toContain(
    "Note: The function behind Thing has changed, but was not called: an Update is sent only when the resource's own properties change.",
  );
});

test("B36: another ServiceToken is refused, in AWS's words, with two ways out", async () => {
  const { deploy } = author();
  const Other = {
    Type: "AWS::Lambda::Function",
    Properties: {
      Runtime: "nodejs22.x",
      Handler: "index.handler",
      Role: "arn:aws:iam::123456789012:role/none",
      Code: { ZipFile: echo },
    },
  };
  await deploy({ code: echo, resources: { Other } });
  const { events, text } = await deploy({
    code: echo,
    resources: { Other },
    properties: { ServiceToken: { "Fn::GetAtt": ["Other", "Arn"] } },
  });
  expect(events).toContain("Thing UPDATE_FAILED Modifying service token is not allowed.");
  expect(text).toContain("Put the old ServiceToken back, or give the resource a new logical id");
});

test("B39: what a failed deletion depends on is deleted all the same; the author is told that trying again can't help", async () => {
  const { deploy, remove } = author();
  const code = `const response = require("cfn-response");
exports.handler = (event, context) =>
  response.send(event, context, event.RequestType === "Delete" ? "FAILED" : "SUCCESS", {}, "thing");
`;
  await deploy({ code });
  const { events, text } = await remove();
  expect(events).toContain("Maker DELETE_COMPLETE");
  expect(text).toContain(
    "The function that answers for Thing has been deleted, so that trying again can't help.",
  );
  expect(text).toContain("custard delete test --retain Thing");
  expect((await remove("--retain", "Thing")).code).toBe(0);
});

test("B42: what a function wrote about a Delete can be read when function and stack are gone", async () => {
  const { deploy, remove, requests } = author();
  await deploy({ code: echo });
  await remove();
  expect((await requests()).map(({ RequestType }) => RequestType)).toEqual(["Create", "Delete"]);
});

test("B45: id and attributes reach those who ask for them, of simulated types too", async () => {
  const { deploy } = author();
  const arn = "arn:aws:kafka:us-east-1:123456789012:cluster/c/1";
  const { code, events } = await deploy({
    code: `const response = require("cfn-response");
exports.handler = (event, context) => response.send(event, context, "SUCCESS", { Arn: "${arn}" }, "thing");
`,
    resources: {
      Mapping: {
        Type: "AWS::Lambda::EventSourceMapping",
        Properties: {
          FunctionName: { Ref: "Maker" },
          EventSourceArn: { "Fn::GetAtt": ["Thing", "Arn"] },
          Topics: [{ Ref: "Thing" }],
        },
      },
    },
  });
  expect(code).toBe(0);
  expect(events).toContain("Mapping CREATE_COMPLETE");
});

test("B46: a topic is a ServiceToken; the request comes as a text in its message", async () => {
  const { folder, custard } = author();
  const template = {
    Resources: {
      Topic: { Type: "AWS::SNS::Topic" },
      Listener: {
        Type: "AWS::Lambda::Function",
        Properties: {
          Runtime: "nodejs22.x",
          Handler: "index.handler",
          Role: "arn:aws:iam::123456789012:role/none",
          Code: {
            ZipFile: `const response = require("cfn-response");
exports.handler = (event, context) => {
  const { Message, Subject } = event.Records[0].Sns;
  const request = JSON.parse(Message);
  response.send(request, context, "SUCCESS", { Subject }, "thing");
};
`,
          },
        },
      },
      Subscription: {
        Type: "AWS::SNS::Subscription",
        Properties: {
          TopicArn: { Ref: "Topic" },
          Protocol: "lambda",
          Endpoint: { "Fn::GetAtt": ["Listener", "Arn"] },
        },
      },
      Permission: {
        Type: "AWS::Lambda::Permission",
        Properties: {
          FunctionName: { Ref: "Listener" },
          Action: "lambda:InvokeFunction",
          Principal: "sns.amazonaws.com",
        },
      },
      Thing: {
        Type: "Custom::Thing",
        DependsOn: ["Subscription", "Permission"],
        Properties: { ServiceToken: { Ref: "Topic" } },
      },
    },
    Outputs: { Subject: { Value: { "Fn::GetAtt": ["Thing", "Subject"] } } },
  };
  writeFileSync(join(folder, "topic.json"), JSON.stringify(template));
  const { code, text } = await custard("deploy", "topic.json", "--stack-name", "test");
  expect(code).toBe(0);
  expect(text).toMatch(/Subject +AWS CloudFormation custom resource request\n/);
});
