import { expect, test } from "vitest";
import { closedPort, member, openConfirmed, openSns, openSubscriber, scope } from "./support.ts";

const region = "us-east-1";
const requestId = "6a1b2c3d-0000-4000-8000-000000000001";

test.each<{ name: string; token: string; reason: string }>([
  {
    name: "a topic of another region",
    token: `arn:aws:sns:eu-west-1:123456789012:requests`,
    reason: `Invalid parameter: TopicArn (Service: AmazonSNS; Status Code: 400; Error Code: InvalidParameter; Request ID: ${requestId})`,
  },
  {
    name: "what is no topic",
    token: `arn:aws:sns:${region}:123456789012:requests:more`,
    reason: `Invalid parameter: TopicArn (Service: AmazonSNS; Status Code: 400; Error Code: InvalidParameter; Request ID: ${requestId})`,
  },
  {
    name: "a topic that doesn't exist",
    token: `arn:aws:sns:${region}:123456789012:other`,
    reason: `Topic does not exist (Service: AmazonSNS; Status Code: 404; Error Code: NotFound; Request ID: ${requestId})`,
  },
])("$name is refused in SNS's words", async ({ token, reason }) => {
  const world = await openSns();
  expect(await world.deliver(world.request({ serviceToken: token }))).toEqual({ kind: "refused", reason });
});

test("a request that is too large is refused with its size", async () => {
  const world = await openSns();
  const request = world.request({ properties: { Text: "x".repeat(262_144) } });
  const delivery = await world.deliver(request);
  expect(delivery).toEqual({
    kind: "refused",
    reason: expect.stringMatching(
      /^Invalid parameter: Message too long \(Service: AmazonSNS; Status Code: 400; .*\): the request has 26\d{4} bytes, a message at most 262144$/,
    ),
  });
});

test("retries come at SNS's pace until the endpoint takes the message", async () => {
  const world = await openSns();
  const { topics, topicArn } = world;
  let failures = 2;
  const subscriber = await openConfirmed(world, (_, response) => {
    response.statusCode = failures-- > 0 ? 503 : 200;
    response.end();
  });
  await topics.subscribe({ topicArn, protocol: "http", endpoint: subscriber.url });
  expect(await world.deliver()).toEqual({ kind: "over" });
  expect(subscriber.notifications()).toHaveLength(3);
  expect(world.clock.slept).toEqual([20_000, 20_000]);
  const ids = new Set(subscriber.notifications().map(({ json }) => json["MessageId"]));
  expect(ids.size).toBe(1);
});

test("a subscription's own delivery policy decides about retries", async () => {
  const world = await openSns();
  const { topics, topicArn } = world;
  const DeliveryPolicy = JSON.stringify({
    healthyRetryPolicy: { numRetries: 1, minDelayTarget: 3, maxDelayTarget: 3 },
  });
  const endpoint = `http://127.0.0.1:${await closedPort()}/`;
  const { token } = await topics.subscribe({
    topicArn,
    protocol: "http",
    endpoint,
    attributes: { DeliveryPolicy },
  });
  await topics.confirm(topicArn, token);
  await world.deliver();
  expect(world.clock.slept.filter((delay) => delay === 3000).length).toBeGreaterThanOrEqual(1);
  expect(world.traces.filter(({ kind }) => kind === "failed")).toHaveLength(2);
});

test("a client's error isn't tried again, and the message goes to the dead letters", async () => {
  const world = await openSns();
  const { topics, queues, topicArn } = world;
  const dead = await queues.create(scope, { name: "dead" });
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.arn });
  const subscriber = await openConfirmed(world, (_, response) => {
    response.statusCode = 404;
    response.end();
  });
  await topics.subscribe({
    topicArn,
    protocol: "http",
    endpoint: subscriber.url,
    attributes: { RedrivePolicy },
  });
  expect(await world.deliver()).toEqual({ kind: "over" });
  expect(subscriber.notifications()).toHaveLength(1);
  const [letter] = await queues.receive(dead.arn);
  expect(JSON.parse(letter?.body ?? "")).toEqual(subscriber.notifications()[0]?.json);
});

test("raw delivery sends the request itself", async () => {
  const world = await openSns();
  const { topics, queues, topicArn } = world;
  const attributes = { RawMessageDelivery: "true" };
  const subscriber = await openConfirmed(world);
  await topics.subscribe({ topicArn, protocol: "http", endpoint: subscriber.url, attributes });
  const queue = await queues.create(scope, { name: "q" });
  await topics.subscribe({ topicArn, protocol: "sqs", endpoint: queue.arn, attributes });
  expect(await world.deliver()).toEqual({ kind: "over" });
  const [got] = subscriber.notifications();
  expect(got?.headers["x-amz-sns-rawdelivery"]).toBe("true");
  expect(got?.json["RequestType"]).toBe("Create");
  const [received] = await queues.receive(queue.arn);
  expect(JSON.parse(received?.body ?? "")).toEqual(got?.json);
});

test("filter policies decide who gets the request", async () => {
  const world = await openSns();
  const { topics, queues, topicArn } = world;
  const wanted = await queues.create(scope, { name: "creates" });
  const unwanted = await queues.create(scope, { name: "deletes" });
  const filter = (type: string) => ({
    FilterPolicyScope: "MessageBody",
    FilterPolicy: JSON.stringify({ RequestType: [type] }),
  });
  await topics.subscribe({ topicArn, protocol: "sqs", endpoint: wanted.arn, attributes: filter("Create") });
  await topics.subscribe({ topicArn, protocol: "sqs", endpoint: unwanted.arn, attributes: filter("Delete") });
  expect(await world.deliver()).toEqual({ kind: "over" });
  expect(await queues.depth(wanted.arn)).toEqual({ visible: 1, hidden: 0 });
  expect(await queues.depth(unwanted.arn)).toEqual({ visible: 0, hidden: 0 });
});

test("a provider that starts late confirms when the next request comes, and gets it", async () => {
  const world = await openSns();
  const { topics, topicArn } = world;
  let isReady = false;
  const subscriber = await openSubscriber(async ({ json }, response) => {
    response.statusCode = isReady ? 200 : 500;
    if (isReady && json["Type"] === "SubscriptionConfirmation") await world.get(member(json, "SubscribeURL"));
    response.end();
  });
  const DeliveryPolicy = JSON.stringify({ healthyRetryPolicy: { numRetries: 0 } });
  const { status } = await topics.subscribe({
    topicArn,
    protocol: "http",
    endpoint: subscriber.url,
    attributes: { DeliveryPolicy },
  });
  expect(status).toBe("pending");
  isReady = true;
  expect(await world.deliver()).toEqual({ kind: "over" });
  expect(subscriber.notifications()).toHaveLength(1);
});

test("a delivery that is aborted rejects, and makes no further attempt", async () => {
  const world = await openSns();
  const { topics, topicArn } = world;
  const stop = new AbortController();
  const subscriber = await openConfirmed(world, () => stop.abort(new Error("enough")));
  await topics.subscribe({ topicArn, protocol: "http", endpoint: subscriber.url });
  await expect(world.sns.deliver(world.request(), stop.signal)).rejects.toThrow("enough");
  expect(subscriber.notifications()).toHaveLength(1);
});
