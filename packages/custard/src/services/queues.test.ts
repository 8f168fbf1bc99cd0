import { expect, test } from "vitest";
import { MemoryDocuments } from "../storage/memory-documents.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { QueueRegistry } from "./queues.ts";

const scope = { partition: "aws", account: "123456789012", region: "eu-west-1" };

async function start(attributes: Record<string, string> = {}) {
  const clock = new VirtualClock();
  const queues = new QueueRegistry(new MemoryDocuments(), clock);
  const { arn, url } = await queues.create(scope, { name: "letters", attributes });
  return { clock, queues, arn, url };
}

test("a queue has SQS's names", async () => {
  const { arn, url } = await start();
  expect(arn).toBe("arn:aws:sqs:eu-west-1:123456789012:letters");
  expect(url).toBe("https://sqs.eu-west-1.amazonaws.com/123456789012/letters");
});

test("what was sent is received in order, once, and is gone when it is deleted", async () => {
  const { queues, arn } = await start();
  for (const body of ["one", "two", "three"]) await queues.send(arn, { body });
  const first = await queues.receive(arn, { limit: 2 });
  expect(first.map(({ body, receiveCount }) => [body, receiveCount])).toEqual([
    ["one", 1],
    ["two", 1],
  ]);
  expect((await queues.receive(arn)).map(({ body }) => body)).toEqual(["three"]);
  expect(await queues.receive(arn)).toEqual([]);
  for (const { receiptHandle } of first) await queues.deleteMessage(arn, receiptHandle);
  expect(await queues.depth(arn)).toEqual({ visible: 0, hidden: 1 });
});

test("receivers at the same time never get the same message", async () => {
  const { queues, arn } = await start();
  for (let count = 0; count < 20; count += 1) await queues.send(arn, { body: String(count) });
  const received = await Promise.all(Array.from({ length: 20 }, () => queues.receive(arn)));
  expect(new Set(received.flat().map(({ body }) => body)).size).toBe(20);
});

test("what isn't deleted in time comes again, with a new receipt", async () => {
  const { clock, queues, arn } = await start({ VisibilityTimeout: "10" });
  await queues.send(arn, { body: "one" });
  const [first] = await queues.receive(arn);
  clock.advance(9_999);
  expect(await queues.receive(arn)).toEqual([]);
  clock.advance(1);
  const [second] = await queues.receive(arn);
  expect(second).toMatchObject({ body: "one", receiveCount: 2, messageId: first?.messageId });
  await queues.deleteMessage(arn, first?.receiptHandle ?? "");
  expect(await queues.depth(arn)).toEqual({ visible: 0, hidden: 1 });
});

test("a message that was received too often goes to the dead letters", async () => {
  const { clock, queues } = await start();
  const dead = await queues.create(scope, { name: "dead" });
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.arn, maxReceiveCount: 1 });
  const source = await queues.create(scope, {
    name: "source",
    attributes: { RedrivePolicy, VisibilityTimeout: "1" },
  });
  await queues.send(source.arn, { body: "poison" });
  await queues.receive(source.arn);
  clock.advance(1000);
  expect(await queues.receive(source.arn)).toEqual([]);
  expect((await queues.receive(dead.arn)).map(({ body }) => body)).toEqual(["poison"]);
});

test("a waiting receiver gets what is sent meanwhile", async () => {
  const { queues, arn } = await start();
  const waiting = queues.receive(arn, { waitSeconds: 20 });
  await new Promise((resolve) => setImmediate(resolve));
  await queues.send(arn, { body: "late" });
  expect((await waiting).map(({ body }) => body)).toEqual(["late"]);
});

test("a queue that is none, and a name that is taken", async () => {
  const { queues, arn } = await start({ VisibilityTimeout: "10" });
  await expect(queues.send(`${arn}2`, { body: "x" })).rejects.toThrow("The specified queue does not exist.");
  await expect(
    queues.create(scope, { name: "letters", attributes: { VisibilityTimeout: "11" } }),
  ).rejects.toThrow(
    "A queue already exists with the same name and a different value for attribute VisibilityTimeout",
  );
  await queues.delete(arn);
  expect(await queues.find(arn)).toBeUndefined();
});
