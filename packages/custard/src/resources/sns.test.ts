import { expect, test } from "vitest";
import { createTask } from "../../../../tests/support/resource-task.ts";
import { resourceWorld } from "../../../../tests/support/resource-world.ts";
import type { LogicalId, PhysicalId } from "../engine/ids.ts";
import type { ResourceTask } from "../engine/ports.ts";
import type { ValueMap } from "../template/value.ts";

type World = ReturnType<typeof resourceWorld>;

const topicArn = "arn:aws:sns:us-east-1:123456789012:my-stack-Thing-Kdps7TfbhFx5";
const functionArn = "arn:aws:lambda:us-east-1:123456789012:function:f";

async function act(world: World, type: string, task: Partial<ResourceTask>) {
  const outcome = await world.perform(createTask(type, task));
  if (outcome.kind === "failed") throw new Error(outcome.reason);
  return outcome;
}

async function make(world: World, type: string, properties: ValueMap) {
  return await act(world, type, { properties });
}

async function change(world: World, type: string, task: Partial<ResourceTask>) {
  return await act(world, type, { action: "update", token: "update-1", ...task });
}

test("a topic exists with its attributes and tags", async () => {
  const world = resourceWorld();
  const made = await make(world, "AWS::SNS::Topic", {
    DisplayName: "Requests",
    SignatureVersion: 2,
    Tags: [{ Key: "team", Value: "a" }],
  });
  expect(made).toEqual({
    kind: "done",
    physicalId: topicArn,
    attributes: { TopicArn: topicArn, TopicName: "my-stack-Thing-Kdps7TfbhFx5" },
  });
  expect(await world.topics.get(topicArn)).toEqual({
    arn: topicArn,
    attributes: { DisplayName: "Requests", SignatureVersion: "2" },
    tags: { team: "a" },
  });
});

test("a topic is changed, what left the template goes back to its default, and it is deleted", async () => {
  const world = resourceWorld();
  await make(world, "AWS::SNS::Topic", { DisplayName: "Requests", SignatureVersion: "2" });
  const physicalId = topicArn as PhysicalId;
  await change(world, "AWS::SNS::Topic", { physicalId, properties: { DisplayName: "Other" } });
  expect((await world.topics.get(topicArn)).attributes).toEqual({ DisplayName: "Other" });
  await act(world, "AWS::SNS::Topic", { action: "delete", physicalId });
  expect(await world.topics.find(topicArn)).toBeUndefined();
});

test("a topic of another stack isn't taken over or deleted", async () => {
  const world = resourceWorld();
  const properties = { TopicName: "t" };
  await make(world, "AWS::SNS::Topic", properties);
  const other = { logicalId: "Other" as LogicalId };
  const refused = await world.perform(createTask("AWS::SNS::Topic", { properties, ...other }));
  expect(refused).toMatchObject({ kind: "failed", reason: expect.stringContaining("already exists") });
  const physicalId = "arn:aws:sns:us-east-1:123456789012:t" as PhysicalId;
  await act(world, "AWS::SNS::Topic", { action: "delete", properties, physicalId, ...other });
  expect(await world.topics.find(physicalId)).toBeDefined();
});

test("a topic's own subscriptions follow its property", async () => {
  const world = resourceWorld();
  const physicalId = topicArn as PhysicalId;
  const first = { Subscription: [{ Protocol: "lambda", Endpoint: functionArn }] };
  await make(world, "AWS::SNS::Topic", first);
  const second = { Subscription: [{ Protocol: "lambda", Endpoint: `${functionArn}2` }] };
  await change(world, "AWS::SNS::Topic", { physicalId, properties: second, oldProperties: first });
  const endpoints = (await world.topics.subscriptionsOf(topicArn)).map(({ endpoint }) => endpoint);
  expect(endpoints).toEqual([`${functionArn}2`]);
});

test("a subscription is made, changed and ended", async () => {
  const world = resourceWorld();
  await make(world, "AWS::SNS::Topic", {});
  const properties = { TopicArn: topicArn, Protocol: "lambda", Endpoint: functionArn };
  const made = await make(world, "AWS::SNS::Subscription", {
    ...properties,
    FilterPolicy: { colour: ["red"] },
  });
  const { physicalId } = made;
  expect(physicalId).toMatch(new RegExp(`^${topicArn}:[0-9a-f-]{36}$`, "u"));
  expect(made.attributes).toEqual({ Arn: physicalId });
  expect((await world.topics.subscription(physicalId)).attributes).toEqual({
    FilterPolicy: '{"colour":["red"]}',
  });
  await change(world, "AWS::SNS::Subscription", {
    physicalId,
    properties: { ...properties, RawMessageDelivery: true },
  });
  expect((await world.topics.subscription(physicalId)).attributes).toEqual({ RawMessageDelivery: "true" });
  await act(world, "AWS::SNS::Subscription", { action: "delete", properties, physicalId });
  expect(await world.topics.subscriptionsOf(topicArn)).toEqual([]);
});

test("a task that comes twice makes one subscription", async () => {
  const world = resourceWorld();
  await make(world, "AWS::SNS::Topic", {});
  const task = createTask("AWS::SNS::Subscription", {
    properties: { TopicArn: topicArn, Protocol: "lambda", Endpoint: functionArn },
  });
  expect(await world.perform(task)).toEqual(await world.perform(task));
});

test("SNS's refusal is the resource's reason", async () => {
  const properties = { TopicArn: topicArn, Protocol: "lambda", Endpoint: functionArn };
  const outcome = await resourceWorld().perform(createTask("AWS::SNS::Subscription", { properties }));
  expect(outcome).toMatchObject({
    kind: "failed",
    reason: expect.stringMatching(
      /^Resource handler returned message: "Topic does not exist \(Service: Sns, Status Code: 404, /,
    ),
  });
});

test("a topic policy is kept with its topics, and taken back", async () => {
  const world = resourceWorld();
  await make(world, "AWS::SNS::Topic", {});
  const properties = { Topics: [topicArn], PolicyDocument: { Version: "2012-10-17", Statement: [] } };
  const { physicalId } = await make(world, "AWS::SNS::TopicPolicy", properties);
  expect((await world.topics.get(topicArn)).attributes).toEqual({
    Policy: '{"Version":"2012-10-17","Statement":[]}',
  });
  await act(world, "AWS::SNS::TopicPolicy", { action: "delete", properties, physicalId });
  expect((await world.topics.get(topicArn)).attributes).toEqual({});
});

test("a queue is made with its attributes, changed and deleted", async () => {
  const world = resourceWorld();
  const made = await make(world, "AWS::SQS::Queue", {
    VisibilityTimeout: 60,
    RedrivePolicy: { maxReceiveCount: 3 },
  });
  const arn = "arn:aws:sqs:us-east-1:123456789012:my-stack-Thing-Kdps7TfbhFx5";
  const url = "https://sqs.us-east-1.amazonaws.com/123456789012/my-stack-Thing-Kdps7TfbhFx5";
  expect(made).toMatchObject({ physicalId: url, attributes: { Arn: arn, QueueUrl: url } });
  expect((await world.queues.get(arn)).attributes).toEqual({
    VisibilityTimeout: "60",
    RedrivePolicy: '{"maxReceiveCount":3}',
  });
  const physicalId = url as PhysicalId;
  await change(world, "AWS::SQS::Queue", { physicalId, properties: { DelaySeconds: 5 } });
  expect((await world.queues.get(arn)).attributes).toEqual({ DelaySeconds: "5" });
  await make(world, "AWS::SQS::QueuePolicy", { Queues: [url], PolicyDocument: {} });
  await act(world, "AWS::SQS::Queue", { action: "delete", physicalId });
  expect(await world.queues.find(arn)).toBeUndefined();
});

test("a policy of a queue that doesn't exist fails", async () => {
  const properties = { Queues: ["https://sqs.us-east-1.amazonaws.com/123456789012/q"], PolicyDocument: {} };
  const outcome = await resourceWorld().perform(createTask("AWS::SQS::QueuePolicy", { properties }));
  expect(outcome).toMatchObject({
    kind: "failed",
    reason: expect.stringContaining("The specified queue does not exist."),
  });
});
