/** SQS through AWS's own client, and in the words of older ones. */
import { PublishCommand, CreateTopicCommand, SNSClient, SubscribeCommand } from "@aws-sdk/client-sns";
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListDeadLetterSourceQueuesCommand,
  ListQueuesCommand,
  ListQueueTagsCommand,
  PurgeQueueCommand,
  QueueDoesNotExist,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deploy, openTestEndpoint, settingsOf, type TestEndpoint } from "./support.ts";

let endpoint: TestEndpoint;
let sqs: SQSClient;

beforeAll(async () => {
  endpoint = await openTestEndpoint();
  sqs = new SQSClient(settingsOf(endpoint));
});

afterAll(async () => {
  sqs.destroy();
  await endpoint.close();
});

async function queue(QueueName: string, Attributes: Record<string, string> = {}): Promise<string> {
  const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
  return QueueUrl;
}

test("messages are sent, received once, and deleted", async () => {
  const QueueUrl = await queue("plain");
  expect(QueueUrl).toBe(`${endpoint.url}/123456789012/plain`);
  const MessageAttributes = {
    word: { DataType: "String", StringValue: "é" },
    bytes: { DataType: "Binary", BinaryValue: Buffer.from([1, 2]) },
  };
  // The client checks the digest of the body, here and when it receives.
  const sent = await sqs.send(
    new SendMessageCommand({ QueueUrl, MessageBody: "hello & goodbye", MessageAttributes }),
  );
  const receive = new ReceiveMessageCommand({
    QueueUrl,
    MessageAttributeNames: ["All"],
    MessageSystemAttributeNames: ["ApproximateReceiveCount"],
  });
  const { Messages = [] } = await sqs.send(receive);
  expect(Messages).toMatchObject([
    {
      MessageId: sent.MessageId,
      Body: "hello & goodbye",
      MD5OfMessageAttributes: sent.MD5OfMessageAttributes,
      Attributes: { ApproximateReceiveCount: "1" },
      MessageAttributes: { word: { StringValue: "é" } },
    },
  ]);
  expect([...(Messages[0]?.MessageAttributes?.["bytes"]?.BinaryValue ?? [])]).toEqual([1, 2]);
  expect((await sqs.send(receive)).Messages).toBeUndefined();
  const ReceiptHandle = Messages[0]?.ReceiptHandle;
  await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
  const again = (await sqs.send(receive)).Messages?.[0];
  expect(again?.Attributes).toEqual({ ApproximateReceiveCount: "2" });
  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: again?.ReceiptHandle }));
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }));
  expect(Attributes).toMatchObject({
    QueueArn: "arn:aws:sqs:us-east-1:123456789012:plain",
    ApproximateNumberOfMessages: "0",
    ApproximateNumberOfMessagesNotVisible: "0",
    VisibilityTimeout: "30",
  });
});

test("a batch says of each entry what became of it", async () => {
  const QueueUrl = await queue("batch");
  const sent = await sqs.send(
    new SendMessageBatchCommand({
      QueueUrl,
      Entries: [
        { Id: "a", MessageBody: "1" },
        { Id: "b", MessageBody: "\u0001" },
      ],
    }),
  );
  expect(sent.Successful).toMatchObject([{ Id: "a" }]);
  expect(sent.Failed).toMatchObject([{ Id: "b", Code: "InvalidMessageContents", SenderFault: true }]);
  await expect(sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries: [] }))).rejects.toMatchObject({
    name: "EmptyBatchRequest",
  });
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
  const Entries = Messages.map(({ ReceiptHandle }) => ({ Id: "x", ReceiptHandle }));
  const deleted = await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  expect(deleted.Successful).toEqual([{ Id: "x" }]);
});

test("a receiver waits for a message", async () => {
  const QueueUrl = await queue("waiting");
  const waiting = sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 10 }));
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "at last" }));
  expect((await waiting).Messages).toMatchObject([{ Body: "at last" }]);
});

test("a stack's queue is read by its own URL, and what a topic sent there is in it", async () => {
  await deploy(
    endpoint,
    "q",
    "Resources: { Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName: of-stack } } }",
  );
  const QueueUrl = "https://sqs.us-east-1.amazonaws.com/123456789012/of-stack";
  const sns = new SNSClient(settingsOf(endpoint));
  const { TopicArn } = await sns.send(new CreateTopicCommand({ Name: "to-queue" }));
  await sns.send(
    new SubscribeCommand({
      TopicArn,
      Protocol: "sqs",
      Endpoint: "arn:aws:sqs:us-east-1:123456789012:of-stack",
      Attributes: { RawMessageDelivery: "true" },
    }),
  );
  await sns.send(new PublishCommand({ TopicArn, Message: "from a topic" }));
  sns.destroy();
  const client = new SQSClient({ ...settingsOf(endpoint), useQueueUrlAsEndpoint: false });
  const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 10 }));
  client.destroy();
  expect(Messages).toMatchObject([{ Body: "from a topic" }]);
});

test("queues are listed with their dead letters' sources, changed, emptied and deleted", async () => {
  const dead = await queue("dead");
  const redrive = { deadLetterTargetArn: "arn:aws:sqs:us-east-1:123456789012:dead", maxReceiveCount: 3 };
  const source = await queue("source", { RedrivePolicy: JSON.stringify(redrive) });
  const { queueUrls } = await sqs.send(new ListDeadLetterSourceQueuesCommand({ QueueUrl: dead }));
  expect(queueUrls).toEqual([source]);
  const { QueueUrls } = await sqs.send(new ListQueuesCommand({ QueueNamePrefix: "d" }));
  expect(QueueUrls).toEqual([dead]);
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl: dead, Attributes: { VisibilityTimeout: "5" } }));
  await sqs.send(new SendMessageCommand({ QueueUrl: dead, MessageBody: "x" }));
  await sqs.send(new PurgeQueueCommand({ QueueUrl: dead }));
  const AttributeNames = ["ApproximateNumberOfMessages" as const, "VisibilityTimeout" as const];
  expect(
    (await sqs.send(new GetQueueAttributesCommand({ QueueUrl: dead, AttributeNames }))).Attributes,
  ).toEqual({ ApproximateNumberOfMessages: "0", VisibilityTimeout: "5" });
  expect((await sqs.send(new ListQueueTagsCommand({ QueueUrl: dead }))).Tags ?? {}).toEqual({});
  await sqs.send(new DeleteQueueCommand({ QueueUrl: dead }));
  const missing = sqs.send(new GetQueueUrlCommand({ QueueName: "dead" }));
  await expect(missing).rejects.toThrow(QueueDoesNotExist);
  await expect(missing).rejects.toThrow("The specified queue does not exist.");
});

test("older clients speak to it in forms", async () => {
  const ask = async (parameters: Record<string, string>) =>
    await endpoint.query({ Version: "2012-11-05", ...parameters }, { service: "sqs" });
  const made = await ask({
    Action: "CreateQueue",
    QueueName: "old",
    "Attribute.1.Name": "DelaySeconds",
    "Attribute.1.Value": "0",
  });
  expect(made.text).toContain(`<QueueUrl>${endpoint.url}/123456789012/old</QueueUrl>`);
  const QueueUrl = `${endpoint.url}/123456789012/old`;
  await ask({ Action: "SendMessage", QueueUrl, MessageBody: "form" });
  const received = await ask({ Action: "ReceiveMessage", QueueUrl, "AttributeName.1": "All" });
  expect(received.text).toMatch(/<Message><MessageId>.*<Body>form<\/Body><Attribute><Name>/);
  const missing = await ask({ Action: "GetQueueUrl", QueueName: "nope" });
  expect(missing).toMatchObject({
    status: 400,
    text: expect.stringContaining("<Code>AWS.SimpleQueueService.NonExistentQueue</Code>"),
  });
});

test("clients that know the older codes are told them beside the newer ones", async () => {
  const { status, headers, text } = await endpoint.send("/", {
    method: "POST",
    service: "sqs",
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.GetQueueUrl" },
    body: '{"QueueName":"nope"}',
  });
  expect(status).toBe(400);
  expect(headers.get("x-amzn-query-error")).toBe("AWS.SimpleQueueService.NonExistentQueue;Sender");
  expect(JSON.parse(text)).toMatchObject({ __type: "QueueDoesNotExist" });
});
