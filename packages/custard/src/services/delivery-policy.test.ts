import { expect, test } from "vitest";
import { checkDeliveryPolicy, retryDelaysOf } from "./delivery-policy.ts";

const seconds = (subscription?: object, topic?: object): readonly number[] =>
  retryDelaysOf(
    subscription === undefined ? undefined : JSON.stringify(subscription),
    topic === undefined ? undefined : JSON.stringify(topic),
  ).map((delay) => delay / 1000);

test("three retries, 20 seconds apart, unless a policy says otherwise", () => {
  expect(seconds()).toEqual([20, 20, 20]);
});

test("immediate retries, then short, growing and long delays", () => {
  const healthyRetryPolicy = {
    numRetries: 8,
    numNoDelayRetries: 1,
    numMinDelayRetries: 2,
    numMaxDelayRetries: 2,
    minDelayTarget: 10,
    maxDelayTarget: 30,
    backoffFunction: "linear",
  };
  expect(seconds({ healthyRetryPolicy })).toEqual([0, 10, 10, 10, 20, 30, 30, 30]);
});

test.each(["linear", "arithmetic", "geometric", "exponential"])(
  "%s grows from the shortest to the longest",
  (backoffFunction) => {
    const delays = seconds({
      healthyRetryPolicy: { numRetries: 5, minDelayTarget: 1, maxDelayTarget: 60, backoffFunction },
    });
    expect([delays[0], delays[4]]).toEqual([1, 60]);
    expect(delays).toEqual(delays.toSorted((one, other) => one - other));
  },
);

test("a topic's policy counts where the subscription has none, or may have none", () => {
  const topic = {
    http: { defaultHealthyRetryPolicy: { numRetries: 1, minDelayTarget: 5, maxDelayTarget: 5 } },
  };
  expect(seconds(undefined, topic)).toEqual([5]);
  const own = { healthyRetryPolicy: { numRetries: 2 } };
  expect(seconds(own, topic)).toEqual([5, 5]);
  const fixed = { http: { ...topic.http, disableSubscriptionOverrides: true } };
  expect(seconds(own, fixed)).toEqual([5]);
});

test("no more than an hour in all", () => {
  const delays = seconds({
    healthyRetryPolicy: { numRetries: 100, minDelayTarget: 600, maxDelayTarget: 600 },
  });
  expect(delays).toEqual([600, 600, 600, 600, 600, 600]);
});

test.each([
  { policy: "{", says: "failed to parse JSON" },
  { policy: '{"healthyRetryPolicy":{"numRetries":101}}', says: "numRetries" },
  { policy: '{"healthyRetryPolicy":{"minDelayTarget":9,"maxDelayTarget":8}}', says: "maxDelayTarget" },
  { policy: '{"healthyRetryPolicy":{"backoffFunction":"random"}}', says: "random" },
])("$policy is refused", ({ policy, says }) => {
  expect(() => checkDeliveryPolicy(policy)).toThrow(says);
});
