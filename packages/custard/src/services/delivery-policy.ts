/** How often and how soon SNS tries again to reach an HTTP endpoint. Source: SNS's page on delivery retries. */
import type { Json, JsonObject } from "@custard/provider/protocol";
import { invalidParameter } from "./topic-error.ts";

/** A retry policy; seconds, as SNS states it. */
interface RetryPolicy {
  readonly numRetries: number;
  readonly numNoDelayRetries: number;
  readonly numMinDelayRetries: number;
  readonly numMaxDelayRetries: number;
  readonly minDelayTarget: number;
  readonly maxDelayTarget: number;
  readonly backoffFunction: string;
}

const defaults: RetryPolicy = {
  numRetries: 3,
  numNoDelayRetries: 0,
  numMinDelayRetries: 0,
  numMaxDelayRetries: 0,
  minDelayTarget: 20,
  maxDelayTarget: 20,
  backoffFunction: "linear",
};

/** Longest that all retries together may take. */
const longestSeconds = 3600;

/** How far a delay has come from the shortest to the longest, at `part` (0 to 1) of the way. SNS shows curves, no formulas. */
const backoffs: Readonly<Record<string, (part: number) => number>> = {
  linear: (part) => part,
  arithmetic: (part) => part ** 2,
  geometric: (part) => part ** 3,
  exponential: (part) => (2 ** (10 * part) - 1) / (2 ** 10 - 1),
};

/** The delays before each retry, in milliseconds, by the subscription's policy, else by the topic's, else by SNS's default. */
export function retryDelaysOf(
  subscription: string | undefined,
  topic: string | undefined,
): readonly number[] {
  const ofTopic = member(parse(topic), "http");
  const isFixed = ofTopic["disableSubscriptionOverrides"] === true;
  const own = isFixed ? {} : member(parse(subscription), "healthyRetryPolicy");
  return delaysOf({ ...defaults, ...member(ofTopic, "defaultHealthyRetryPolicy"), ...own });
}

/** Throws `TopicError` when the text is no delivery policy. */
export function checkDeliveryPolicy(text: string): void {
  const policy = parse(text);
  const http = member(policy, "http");
  for (const retries of [member(policy, "healthyRetryPolicy"), member(http, "defaultHealthyRetryPolicy")])
    checkRetries({ ...defaults, ...retries });
}

function checkRetries(policy: RetryPolicy): void {
  const { numRetries, minDelayTarget, maxDelayTarget, backoffFunction } = policy;
  if (!isWhole(numRetries, 0, 100)) throw faulty("numRetries must be an integer between 0 and 100");
  if (!isWhole(minDelayTarget, 1, longestSeconds))
    throw faulty("minDelayTarget must be between 1 and maxDelayTarget");
  if (!isWhole(maxDelayTarget, minDelayTarget, longestSeconds))
    throw faulty("maxDelayTarget must be between minDelayTarget and 3600");
  if (!Object.hasOwn(backoffs, backoffFunction))
    throw faulty(`backoffFunction ${backoffFunction} is none of ${Object.keys(backoffs).join(", ")}`);
}

function delaysOf(policy: RetryPolicy): readonly number[] {
  const { numRetries, numNoDelayRetries: none, numMinDelayRetries: least, numMaxDelayRetries: most } = policy;
  const growing = Math.max(0, numRetries - none - least - most);
  const curve = backoffs[policy.backoffFunction] ?? ((part: number) => part);
  const between = (index: number): number =>
    policy.minDelayTarget +
    (policy.maxDelayTarget - policy.minDelayTarget) * curve(growing > 1 ? index / (growing - 1) : 1);
  const seconds = [
    ...Array<number>(none).fill(0),
    ...Array<number>(least).fill(policy.minDelayTarget),
    ...Array.from({ length: growing }, (_, index) => between(index)),
    ...Array<number>(most).fill(policy.maxDelayTarget),
  ];
  return withinLimit(seconds).map((delay) => Math.round(delay * 1000));
}

function withinLimit(seconds: readonly number[]): readonly number[] {
  let sum = 0;
  return seconds.filter((delay) => {
    sum += delay;
    return sum <= longestSeconds;
  });
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

function parse(text: string | undefined): JsonObject {
  if (text === undefined || text === "") return {};
  try {
    const value: Json = JSON.parse(text);
    if (isObject(value)) return value;
  } catch (cause) {
    throw invalidParameter("DeliveryPolicy: failed to parse JSON.", { cause });
  }
  throw faulty("it must be an object");
}

function member(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return value !== undefined && isObject(value) ? value : {};
}

function faulty(reason: string): Error {
  return invalidParameter(`DeliveryPolicy: ${reason}`);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
