import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openServicesOf } from "../../packages/custard/src/reader.ts";
import { custardEnds } from "./support/custard.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// Stack events go to topics that another stack has made, and from there to whoever has subscribed.

const topicStack = `
Resources:
  Topic:
    Type: AWS::SNS::Topic
    Properties: { TopicName: events }
  Queue:
    Type: AWS::SQS::Queue
    Properties: { QueueName: events }
  ToQueue:
    Type: AWS::SNS::Subscription
    Properties:
      TopicArn: !Ref Topic
      Protocol: sqs
      Endpoint: !GetAtt Queue.Arn
`;
const shop = `
Parameters: { Size: { Type: String, Default: small } }
Resources:
  Setting:
    Type: AWS::SSM::Parameter
    Properties: { Name: setting, Type: String, Value: !Ref Size }
`;
const topic = "arn:aws:sns:us-east-1:123456789012:events";
const queue = "arn:aws:sqs:us-east-1:123456789012:events";

/** `LogicalId STATUS` of the notifications that have come since the last look. */
async function received(folder: string): Promise<readonly string[]> {
  const opened = openServicesOf(join(folder, ".custard"));
  const { queues } = opened.services;
  try {
    const messages = await queues.receive(queue, { limit: 10 });
    const stories = messages.map(({ body }) => {
      const { Subject, Message }: { Subject: string; Message: string } = JSON.parse(body);
      expect(Subject).toBe("AWS CloudFormation Notification");
      const member = (name: string) => new RegExp(`^${name}='(.*)'$`, "m").exec(Message)?.[1];
      return `${member("LogicalResourceId")} ${member("ResourceStatus")}`;
    });
    for (const { receiptHandle } of messages) await queues.deleteMessage(queue, receiptHandle);
    return stories;
  } finally {
    await opened.close();
  }
}

test("a topic's subscribers get a stack's events, also of later updates", async () => {
  const folder = temporaryFolder({ "topic.yaml": topicStack, "shop.yaml": shop });
  await custardEnds(0, folder, ["deploy", "topic.yaml"]);
  await custardEnds(0, folder, ["deploy", "shop.yaml", "--notification-arns", topic]);
  expect([...(await received(folder))].sort()).toEqual([
    "Setting CREATE_COMPLETE",
    "Setting CREATE_IN_PROGRESS",
    "Setting CREATE_IN_PROGRESS",
    "shop CREATE_COMPLETE",
    "shop CREATE_IN_PROGRESS",
  ]);
  await custardEnds(0, folder, ["deploy", "shop.yaml", "--parameters", "Size=large"]);
  expect(await received(folder)).toContain("shop UPDATE_COMPLETE");
});

test("a topic that isn't there stops nothing", async () => {
  const folder = temporaryFolder({ "shop.yaml": shop });
  const ended = await custardEnds(0, folder, ["deploy", "shop.yaml", "--notification-arns", topic]);
  expect(ended.stdout).toContain("CREATE_COMPLETE");
});

test("a function that gets them may end its work before the command line ends", async () => {
  const folder = temporaryFolder();
  const diary = join(folder, "diary");
  writeFileSync(
    join(folder, "topic.yaml"),
    `
Resources:
  Role: { Type: AWS::IAM::Role, Properties: { AssumeRolePolicyDocument: { Version: "2012-10-17", Statement: [] } } }
  Listener:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: nodejs20.x
      Handler: index.handler
      Role: !GetAtt Role.Arn
      Code:
        ZipFile: |
          exports.handler = async ({ Records: [{ Sns }] }) => {
            await new Promise((done) => setTimeout(done, 1000));
            require("fs").appendFileSync(${JSON.stringify(diary)}, Sns.Message);
          };
  Topic: { Type: AWS::SNS::Topic, Properties: { TopicName: events } }
  ToListener:
    Type: AWS::SNS::Subscription
    Properties: { TopicArn: !Ref Topic, Protocol: lambda, Endpoint: !GetAtt Listener.Arn }
`,
  );
  writeFileSync(join(folder, "shop.yaml"), shop);
  await custardEnds(0, folder, ["deploy", "topic.yaml"]);
  await custardEnds(0, folder, ["deploy", "shop.yaml", "--notification-arns", topic]);
  const told = readFileSync(diary, "utf8");
  expect(told).toMatch(/^LogicalResourceId='shop'$[^]*^ResourceStatus='CREATE_COMPLETE'$/m);
});
