import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/state-directory.ts";
import { member, openConfirmed, openSns, openSubscriber, type SnsWorld, validate } from "./support.ts";

/** A function that subscribes and keeps what it gets in a file: logs hide signatures. */
async function subscribeFunction(world: SnsWorld) {
  const file = join(temporaryDirectory(), "event.json");
  const source = `exports.handler = async (event) => require("node:fs").writeFileSync(process.env.FILE, JSON.stringify(event));`;
  const endpoint = await world.lambda.create("subscriber", source, { environment: { FILE: file } });
  const { arn } = await world.topics.subscribe({ topicArn: world.topicArn, protocol: "lambda", endpoint });
  return { arn, event: () => JSON.parse(readFileSync(file, "utf8")) };
}

test.each(["1", "2"])("AWS's validator accepts what is signed with version %s", async (version) => {
  const world = await openSns({ topic: { SignatureVersion: version } });
  const { topics, topicArn } = world;
  const subscriber = await openConfirmed(world);
  await topics.subscribe({ topicArn, protocol: "http", endpoint: subscriber.url });
  const { event } = await subscribeFunction(world);
  await world.deliver();

  const [confirmation, notification] = subscriber.got.map(({ json }) => json);
  const forged = { ...notification, Message: "{}" };
  expect([confirmation?.["SignatureVersion"], notification?.["SignatureVersion"]]).toEqual([
    version,
    version,
  ]);
  expect(
    await validate(world.response, [confirmation, notification, event().Records[0].Sns, forged]),
  ).toEqual(["valid", "valid", "valid", "The message signature is invalid."]);
});

test("a request comes as CloudFormation publishes it", async () => {
  const world = await openSns();
  const { topics, topicArn } = world;
  const subscriber = await openConfirmed(world);
  const { arn } = await topics.subscribe({ topicArn, protocol: "http", endpoint: subscriber.url });
  expect(await world.deliver()).toEqual({ kind: "over" });

  const [got] = subscriber.notifications();
  expect(got?.headers).toMatchObject({
    "content-type": "text/plain; charset=UTF-8",
    "user-agent": "Amazon Simple Notification Service Agent",
    "x-amz-sns-message-type": "Notification",
    "x-amz-sns-message-id": got?.json["MessageId"],
    "x-amz-sns-topic-arn": topicArn,
    "x-amz-sns-subscription-arn": arn,
  });
  expect(Object.keys(got?.json ?? {})).toEqual([
    "Type",
    "MessageId",
    "TopicArn",
    "Subject",
    "Message",
    "Timestamp",
    "SignatureVersion",
    "Signature",
    "SigningCertURL",
    "UnsubscribeURL",
  ]);
  expect(got?.json).toMatchObject({
    Type: "Notification",
    TopicArn: topicArn,
    Subject: "AWS CloudFormation custom resource request",
    SignatureVersion: "1",
    SigningCertURL: expect.stringMatching(
      /^https:\/\/sns\.us-east-1\.amazonaws\.com\/SimpleNotificationService-[0-9a-f]{32}\.pem$/,
    ),
    UnsubscribeURL: `https://sns.us-east-1.amazonaws.com/?Action=Unsubscribe&SubscriptionArn=${arn}`,
    Timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  const request = JSON.parse(member(got?.json, "Message"));
  expect(request).toMatchObject({
    RequestType: "Create",
    ServiceToken: topicArn,
    ResponseURL: world.request().responseUrl,
  });
});

test("an endpoint is asked to confirm, by a link that confirms", async () => {
  const world = await openSns();
  const { topics, topicArn } = world;
  const subscriber = await openSubscriber();
  const { arn, status } = await topics.subscribe({ topicArn, protocol: "http", endpoint: subscriber.url });
  expect(status).toBe("pending");

  const [got] = subscriber.got;
  expect(got?.headers).toMatchObject({ "x-amz-sns-message-type": "SubscriptionConfirmation" });
  expect(got?.headers).not.toHaveProperty("x-amz-sns-subscription-arn");
  expect(Object.keys(got?.json ?? {}).toSorted()).toEqual([
    "Message",
    "MessageId",
    "Signature",
    "SignatureVersion",
    "SigningCertURL",
    "SubscribeURL",
    "Timestamp",
    "Token",
    "TopicArn",
    "Type",
  ]);
  const link = member(got?.json, "SubscribeURL");
  const wrong = await world.get(link.replace(/Token=.{8}/, "Token=00000000"));
  expect(wrong).toMatchObject({
    status: 400,
    body: expect.stringContaining("<Message>Invalid parameter: Token</Message>"),
  });
  expect((await topics.subscription(arn)).status).toBe("pending");

  const right = await world.get(link);
  expect(right.status).toBe(200);
  expect(right.body).toContain(`<SubscriptionArn>${arn}</SubscriptionArn></ConfirmSubscriptionResult>`);
  expect((await topics.subscription(arn)).status).toBe("confirmed");

  const unsubscribed = await world.get(
    `https://sns.us-east-1.amazonaws.com/?Action=Unsubscribe&SubscriptionArn=${arn}`,
  );
  expect(unsubscribed.status).toBe(200);
  expect(await topics.subscriptionsOf(topicArn)).toEqual([]);
});

test.each([
  { path: "/SimpleNotificationService-00000000000000000000000000000000.pem", status: 404, says: "Not Found" },
  { path: "/?Action=DeleteTopic", status: 400, says: "InvalidAction" },
  { path: "/?Action=Unsubscribe&SubscriptionArn=x", status: 400, says: "at least 6 elements, not 1" },
])("SNS's host answers $status to $path", async ({ path, status, says }) => {
  const world = await openSns();
  const answer = await world.get(`https://sns.us-east-1.amazonaws.com${path}`);
  expect(answer).toEqual({ status, body: expect.stringContaining(says) });
});

test("a function gets a record", async () => {
  const world = await openSns();
  const { topicArn } = world;
  const { arn, event } = await subscribeFunction(world);
  await world.deliver();
  expect(event()).toEqual({
    Records: [
      {
        EventSource: "aws:sns",
        EventVersion: "1.0",
        EventSubscriptionArn: arn,
        Sns: {
          Type: "Notification",
          MessageId: expect.any(String),
          TopicArn: topicArn,
          Subject: "AWS CloudFormation custom resource request",
          Message: expect.stringContaining('"RequestType":"Create"'),
          Timestamp: expect.any(String),
          SignatureVersion: "1",
          Signature: expect.any(String),
          SigningCertUrl: expect.stringContaining(".pem"),
          UnsubscribeUrl: expect.stringContaining("Unsubscribe"),
          MessageAttributes: {},
        },
      },
    ],
  });
});

test("what others publish has no subject of its own, and its attributes", async () => {
  const world = await openSns();
  const { topics, topicArn } = world;
  const queue = await world.queues.create(
    { partition: "aws", account: "123456789012", region: "us-east-1" },
    { name: "q" },
  );
  await topics.subscribe({ topicArn, protocol: "sqs", endpoint: queue.arn });
  const { messageId } = await world.sns.publish({
    topicArn,
    message: "hello",
    attributes: { colour: { type: "String", value: "red" } },
  });
  const [received] = await world.queues.receive(queue.arn, { waitSeconds: 5 });
  const body = JSON.parse(received?.body ?? "");
  expect(body).toMatchObject({
    MessageId: messageId,
    Message: "hello",
    MessageAttributes: { colour: { Type: "String", Value: "red" } },
  });
  expect(body).not.toHaveProperty("Subject");
  expect(await validate(world.response, [body])).toEqual(["valid"]);
});

test("a message that is too long, or empty, isn't published", async () => {
  const { sns, topicArn } = await openSns();
  await expect(sns.publish({ topicArn, message: "x".repeat(262_145) })).rejects.toThrow(
    "Invalid parameter: Message too long",
  );
  await expect(sns.publish({ topicArn, message: "" })).rejects.toThrow("Invalid parameter: Empty message");
});
