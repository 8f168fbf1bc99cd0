import { expect, test } from "vitest";
import { closedPort, openConfirmed, openSns, openSubscriber, type SnsWorld } from "./support.ts";

// Each way in which a request to a topic stays unanswered ends in one sentence of advice.

/** What is said, and whether the request ends at once. */
async function advice(world: SnsWorld) {
  const delivery = await world.deliver();
  const noted = world.traces.findLast(({ kind }) => kind === "advice")?.text;
  expect(delivery).toEqual(delivery.kind === "silent" ? { kind: "silent", advice: noted } : { kind: "over" });
  return { kind: delivery.kind, advice: noted };
}

test("no subscription", async () => {
  expect(await advice(await openSns())).toEqual({
    kind: "silent",
    advice:
      "Topic requests has no subscription, so that nobody got the request: subscribe its provider (AWS::SNS::Subscription), and let the custom resource depend on that.",
  });
});

test("a subscription that isn't confirmed", async () => {
  const world = await openSns();
  const subscriber = await openSubscriber();
  await world.topics.subscribe({
    topicArn: world.topicArn,
    protocol: "http",
    endpoint: `${subscriber.url}?key=secret`,
  });
  expect(await advice(world)).toEqual({
    kind: "silent",
    advice: `The subscription of ${subscriber.url} to topic requests isn't confirmed, so that SNS sends it no request: it got the SubscriptionConfirmation message (and answered 200), and must GET the SubscribeURL in it. A provider that you run yourself gets there when it is started by custard exec -- COMMAND.`,
  });
  expect(subscriber.notifications()).toEqual([]);
});

test("a subscriber that was never up", async () => {
  const world = await openSns();
  const endpoint = `http://127.0.0.1:${await closedPort()}/`;
  await world.topics.subscribe({ topicArn: world.topicArn, protocol: "http", endpoint });
  const said = await advice(world);
  expect(said.kind).toBe("silent");
  expect(said.advice).toMatch(
    /^The subscription of http:\/\/127\.0\.0\.1:\d+\/ to topic requests isn't confirmed, .*: it can't be reached \(connect ECONNREFUSED 127\.0\.0\.1:\d+\)\. Start the provider \(custard exec -- COMMAND/,
  );
});

test("a subscriber that is down", async () => {
  const world = await openSns();
  const { topics, topicArn } = world;
  const endpoint = `http://127.0.0.1:${await closedPort()}/`;
  const { token } = await topics.subscribe({ topicArn, protocol: "http", endpoint });
  await topics.confirm(topicArn, token);
  const said = await advice(world);
  expect(said.kind).toBe("silent");
  expect(said.advice).toMatch(
    /^Subscriber http:\/\/127\.0\.0\.1:\d+\/ of topic requests can't be reached \(4 attempts\): connect ECONNREFUSED 127\.0\.0\.1:\d+\. Start the provider/,
  );
});

test("a subscriber that fails", async () => {
  const world = await openSns();
  const subscriber = await openConfirmed(world, (_, response) => {
    response.statusCode = 500;
    response.end();
  });
  await world.topics.subscribe({ topicArn: world.topicArn, protocol: "http", endpoint: subscriber.url });
  // It may have got the request and may still answer, so that the request stays open.
  expect(await advice(world)).toEqual({
    kind: "over",
    advice: `Subscriber ${subscriber.url} of topic requests answered 500 to the request (4 attempts): look into its log.`,
  });
});

test("a subscriber that breaks off", async () => {
  const world = await openSns();
  const subscriber = await openConfirmed(world, (_, response) => void response.destroy());
  await world.topics.subscribe({ topicArn: world.topicArn, protocol: "http", endpoint: subscriber.url });
  const said = await advice(world);
  expect(said).toEqual({
    kind: "over",
    advice: expect.stringContaining("took the request without an answer (4 attempts)"),
  });
});

test("a function behind the topic that returns without answering", async () => {
  const world = await openSns();
  const endpoint = await world.lambda.create("mute", "exports.handler = async () => {};");
  await world.topics.subscribe({ topicArn: world.topicArn, protocol: "lambda", endpoint });
  expect(await advice(world)).toEqual({
    kind: "silent",
    advice: expect.stringMatching(
      /^Function mute returned without answering: send the response to the ResponseURL/,
    ),
  });
});

test("a function behind the topic that doesn't exist", async () => {
  const world = await openSns();
  const endpoint = "arn:aws:lambda:us-east-1:123456789012:function:gone";
  await world.topics.subscribe({ topicArn: world.topicArn, protocol: "lambda", endpoint });
  expect(await advice(world)).toEqual({
    kind: "silent",
    advice: expect.stringContaining(`couldn't be invoked: Function not found: ${endpoint}`),
  });
});

test("a queue that doesn't exist", async () => {
  const world = await openSns();
  const endpoint = "arn:aws:sqs:us-east-1:123456789012:gone";
  await world.topics.subscribe({ topicArn: world.topicArn, protocol: "sqs", endpoint });
  expect(await advice(world)).toEqual({ kind: "silent", advice: expect.stringContaining("doesn't exist") });
});

test("a filter policy that lets nothing through", async () => {
  const world = await openSns();
  const subscriber = await openConfirmed(world);
  const FilterPolicy = JSON.stringify({ colour: ["red"] });
  await world.topics.subscribe({
    topicArn: world.topicArn,
    protocol: "http",
    endpoint: subscriber.url,
    attributes: { FilterPolicy },
  });
  expect(await advice(world)).toEqual({
    kind: "silent",
    advice: expect.stringContaining("No filter policy of topic requests"),
  });
});

test("a subscriber on another machine is not called", async () => {
  const world = await openSns();
  await world.topics.subscribe({
    topicArn: world.topicArn,
    protocol: "https",
    endpoint: "https://hooks.example.com/x?key=secret",
  });
  expect(await advice(world)).toEqual({
    kind: "silent",
    advice:
      "Subscriber https://hooks.example.com/x of topic requests isn't on this machine, so that nothing is sent to it: run the provider here, or allow its host (--subscriber-hosts).",
  });
});

test("an e-mail address gets nothing", async () => {
  const world = await openSns();
  await world.topics.subscribe({
    topicArn: world.topicArn,
    protocol: "email",
    endpoint: "someone@example.com",
  });
  expect(await advice(world)).toEqual({
    kind: "silent",
    advice: expect.stringContaining("The email subscription of topic requests gets no messages here"),
  });
});

test("one subscriber that took the request keeps it open", async () => {
  const world = await openSns();
  const { topics, topicArn } = world;
  const subscriber = await openConfirmed(world);
  await topics.subscribe({ topicArn, protocol: "http", endpoint: subscriber.url });
  await topics.subscribe({ topicArn, protocol: "email", endpoint: "someone@example.com" });
  expect(await world.deliver()).toEqual({ kind: "over" });
});

test("an answered request needs no advice", async () => {
  const world = await openSns({ answered: true });
  expect(await world.deliver()).toEqual({ kind: "over" });
  expect(world.traces.filter(({ kind }) => kind === "advice")).toEqual([]);
});
