import { expect, test } from "vitest";
import { custardEnds, deploy, storyOf } from "./support/custard.ts";
import { requestsIn, scripted, templateOf } from "./support/scripted-provider.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// Values from outside of the template: SSM parameter types, dynamic references, other stacks' exports.

test("values from the stores reach a provider; secrets aren't shown", async () => {
  const properties = {
    Size: { Ref: "Size" },
    Zones: { Ref: "Zones" },
    Plain: "{{resolve:ssm:/app/color}}",
    Old: "{{resolve:ssm:/app/color:1}}",
    Secret: { "Fn::Sub": "${Size}-{{resolve:secretsmanager:db:SecretString:user}}" },
    Whole: "{{resolve:secretsmanager:db}}",
  };
  const parameters = {
    Size: { Type: "AWS::SSM::Parameter::Value<String>", Default: "/app/size" },
    Zones: { Type: "AWS::SSM::Parameter::Value<List<String>>", Default: "/app/zones" },
  };
  const script = { OnCreate: { words: ["made"] } };
  const folder = temporaryFolder({
    "template.yaml": templateOf({ Thing: scripted(script, properties) }, {}, { Parameters: parameters }),
  });
  await custardEnds(0, folder, ["ssm", "put", "/app/size", "small"]);
  await custardEnds(0, folder, ["ssm", "put", "/app/zones", "a,b", "--type", "StringList"]);
  await custardEnds(0, folder, ["ssm", "put", "/app/color", "red"]);
  await custardEnds(0, folder, ["ssm", "put", "/app/color", "blue"]);
  await custardEnds(0, folder, ["secrets", "put", "db", '{"user":"hidden-name"}']);
  const { stdout } = await deploy(folder, 0);
  expect(stdout).not.toContain("hidden-name");
  const [request] = await requestsIn(folder);
  expect(request?.ResourceProperties).toMatchObject({
    Size: "small",
    Zones: ["a", "b"],
    Plain: "blue",
    Old: "red",
    Secret: "small-hidden-name",
    Whole: '{"user":"hidden-name"}',
  });
});

test("one stack imports what another exports, which then can't go", async () => {
  const folder = temporaryFolder({
    "network.json": JSON.stringify({
      Resources: { Topic: { Type: "AWS::SNS::Topic", Properties: { TopicName: "shared" } } },
      Outputs: {
        Topic: { Value: { Ref: "Topic" }, Export: { Name: { "Fn::Sub": "${AWS::StackName}-topic" } } },
      },
    }),
    "template.yaml": templateOf({
      Thing: scripted({}, { Topic: { "Fn::ImportValue": "network-topic" } }),
    }),
  });
  const early = await deploy(folder, 1);
  expect(storyOf(early.events, "test").join("\n")).toContain("No export named network-topic found");
  await custardEnds(0, folder, ["delete", "test"]);
  await custardEnds(0, folder, ["deploy", "network.json"]);
  await deploy(folder, 0);
  const requests = await requestsIn(folder);
  expect(requests.at(-1)?.ResourceProperties["Topic"]).toBe("arn:aws:sns:us-east-1:123456789012:shared");
  const refused = await custardEnds(2, folder, ["delete", "network"]);
  expect(refused.stderr).toContain("Export network-topic cannot be deleted as it is in use by test");
  await custardEnds(0, folder, ["delete", "test"]);
  await custardEnds(0, folder, ["delete", "network"]);
});
