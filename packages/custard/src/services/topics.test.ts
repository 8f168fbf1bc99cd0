import { expect, test } from "vitest";
import { MemoryDocuments } from "../storage/memory-documents.ts";
import { TopicError } from "./topic-error.ts";
import type { Subscription } from "./topic-record.ts";
import { TopicRegistry } from "./topics.ts";

const scope = { partition: "aws", account: "123456789012", region: "us-east-1" };
const topicArn = "arn:aws:sns:us-east-1:123456789012:requests";

async function start() {
  const topics = new TopicRegistry(new MemoryDocuments());
  await topics.create(scope, { name: "requests", attributes: { SignatureVersion: "2" } });
  return topics;
}

async function refusal(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof TopicError)) throw new Error("nothing was refused", { cause: error });
  return `${error.code}: ${error.message}`;
}

test("making a topic again gives the first one, unless it is to be another", async () => {
  const topics = await start();
  expect((await topics.create(scope, { name: "requests" })).attributes).toEqual({ SignatureVersion: "2" });
  expect(
    await refusal(topics.create(scope, { name: "requests", attributes: { SignatureVersion: "1" } })),
  ).toBe(
    "InvalidParameter: Invalid parameter: Attributes Reason: Topic already exists with different attributes",
  );
});

const other = "arn:aws:sns:us-east-1:123456789012:other";
const endpoint = "http://127.0.0.1:9/";

test.each<{ name: string; act: (topics: TopicRegistry) => Promise<unknown>; says: string }>([
  {
    name: "a bad name",
    act: (topics) => topics.create(scope, { name: "a b" }),
    says: "InvalidParameter: Invalid parameter: Topic Name",
  },
  {
    name: "a topic that is none",
    act: (topics) => topics.get(other),
    says: "NotFound: Topic does not exist",
  },
  {
    name: "an ARN that is none",
    act: (topics) => topics.get("requests"),
    says: "InvalidParameter: Invalid parameter: TopicArn Reason: An ARN must have at least 6 elements, not 1",
  },
  {
    name: "an unknown attribute",
    act: (topics) => topics.setAttribute(topicArn, "Colour", "red"),
    says: "InvalidParameter: Invalid parameter: AttributeName",
  },
  {
    name: "subscribing to nothing",
    act: (topics) => topics.subscribe({ topicArn: other, protocol: "http", endpoint }),
    says: "NotFound: Topic does not exist",
  },
  {
    name: "an unknown protocol",
    act: (topics) => topics.subscribe({ topicArn, protocol: "pigeon", endpoint }),
    says: "InvalidParameter: Invalid parameter: Amazon SNS does not support this protocol string: pigeon",
  },
  {
    name: "a URL of another protocol",
    act: (topics) => topics.subscribe({ topicArn, protocol: "https", endpoint }),
    says: "InvalidParameter: Invalid parameter: Endpoint must match the specified protocol",
  },
  {
    name: "a function that is none",
    act: (topics) => topics.subscribe({ topicArn, protocol: "lambda", endpoint: "f" }),
    says: "InvalidParameter: Invalid parameter: Lambda endpoint ARN",
  },
  {
    name: "a queue that is none",
    act: (topics) => topics.subscribe({ topicArn, protocol: "sqs", endpoint: "q" }),
    says: "InvalidParameter: Invalid parameter: SQS endpoint ARN",
  },
  {
    name: "a wrong token",
    act: (topics) => topics.confirm(topicArn, "0".repeat(256)),
    says: "InvalidParameter: Invalid parameter: Token",
  },
  {
    name: "a subscription that is none",
    act: (topics) => topics.subscription(`${topicArn}:51af3dc0-da77-11e4-872e-1234567db123`),
    says: "NotFound: Subscription does not exist",
  },
  {
    name: "a redrive policy that is none",
    act: (topics) =>
      topics.subscribe({ topicArn, protocol: "http", endpoint, attributes: { RedrivePolicy: "{" } }),
    says: "InvalidParameter: Invalid parameter: Attributes Reason: RedrivePolicy: failed to parse JSON.",
  },
  {
    name: "raw delivery that is neither",
    act: (topics) =>
      topics.subscribe({ topicArn, protocol: "http", endpoint, attributes: { RawMessageDelivery: "maybe" } }),
    says: "InvalidParameter: Invalid parameter: Attributes Reason: RawMessageDelivery: Invalid value [maybe]. Must be true or false.",
  },
])("$name is refused in SNS's words", async ({ act, says }) => {
  expect(await refusal(act(await start()))).toBe(says);
});

test("an HTTP endpoint is asked, and confirmed by the token alone", async () => {
  const topics = await start();
  const asked: Subscription[] = [];
  topics.attend(async (pending) => void asked.push(pending));
  const confirmed: string[] = [];
  topics.onConfirmation((arn) => confirmed.push(arn));

  const pending = await topics.subscribe({ topicArn, protocol: "http", endpoint });
  expect(pending.status).toBe("pending");
  expect(asked).toEqual([pending]);

  expect((await topics.confirm(topicArn, pending.token)).status).toBe("confirmed");
  expect((await topics.subscription(pending.arn)).status).toBe("confirmed");
  expect(confirmed).toEqual([pending.arn]);
  expect((await topics.confirm(topicArn, pending.token)).arn).toBe(pending.arn);
});

test("an endpoint that confirms while it is asked is confirmed when subscribing ends", async () => {
  const topics = await start();
  topics.attend(async (pending) => void (await topics.confirm(pending.topicArn, pending.token)));
  expect((await topics.subscribe({ topicArn, protocol: "http", endpoint })).status).toBe("confirmed");
});

test("functions and queues need not confirm", async () => {
  const topics = await start();
  const lambda = "arn:aws:lambda:us-east-1:123456789012:function:f";
  expect((await topics.subscribe({ topicArn, protocol: "lambda", endpoint: lambda })).status).toBe(
    "confirmed",
  );
  const queue = "arn:aws:sqs:us-east-1:123456789012:q";
  expect((await topics.subscribe({ topicArn, protocol: "sqs", endpoint: queue })).status).toBe("confirmed");
});

test("subscribing an endpoint again gives the first subscription, unless it is to be another", async () => {
  const topics = await start();
  const first = await topics.subscribe({ topicArn, protocol: "http", endpoint });
  expect((await topics.subscribe({ topicArn, protocol: "http", endpoint })).arn).toBe(first.arn);
  const attributes = { RawMessageDelivery: "true" };
  expect(await refusal(topics.subscribe({ topicArn, protocol: "http", endpoint, attributes }))).toBe(
    "InvalidParameter: Invalid parameter: Attributes Reason: Subscription already exists with different attributes",
  );
});

test("attributes of a subscription are set and taken back", async () => {
  const topics = await start();
  const { arn } = await topics.subscribe({ topicArn, protocol: "http", endpoint });
  await topics.setSubscriptionAttribute(arn, "RawMessageDelivery", "true");
  expect((await topics.subscription(arn)).attributes).toEqual({ RawMessageDelivery: "true" });
  await topics.setSubscriptionAttribute(arn, "RawMessageDelivery", "");
  expect((await topics.subscription(arn)).attributes).toEqual({});
  expect(await refusal(topics.setSubscriptionAttribute(arn, "FilterPolicy", "{"))).toContain("FilterPolicy");
});

test("a topic takes its subscriptions along, and another one of a longer name keeps its own", async () => {
  const topics = await start();
  const longer = await topics.create(scope, { name: "requests-2" });
  const kept = await topics.subscribe({ topicArn: longer.arn, protocol: "http", endpoint });
  await topics.subscribe({ topicArn, protocol: "http", endpoint });
  await topics.delete(topicArn);
  expect(await topics.subscriptionsOf(topicArn)).toEqual([]);
  expect(await topics.subscriptionsOf(longer.arn)).toEqual([kept]);
  expect((await topics.list(scope)).map((topic) => topic.arn)).toEqual([longer.arn]);
  await topics.delete(topicArn);
});
