import type { Json } from "@custard/provider/protocol";

/** What can subscribe. Only the first four get messages here; the others are kept and told about. */
export const protocols = [
  "lambda",
  "http",
  "https",
  "sqs",
  "email",
  "email-json",
  "sms",
  "application",
  "firehose",
] as const;

/** How a subscriber is reached. */
export type Protocol = (typeof protocols)[number];

/** A topic as kept. */
export interface Topic {
  readonly arn: string;
  /** As SNS names them: `DisplayName`, `SignatureVersion`, `DeliveryPolicy` … */
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

/** A subscription as kept. */
export interface Subscription {
  readonly arn: string;
  readonly topicArn: string;
  readonly protocol: Protocol;
  /** ARN, URL or address. */
  readonly endpoint: string;
  /** Account that subscribed. */
  readonly owner: string;
  /** `FilterPolicy`, `FilterPolicyScope`, `RawMessageDelivery`, `RedrivePolicy`, `DeliveryPolicy` … */
  readonly attributes: Readonly<Record<string, string>>;
  /** `pending`: its endpoint has not confirmed yet, and gets nothing but the request to do so. */
  readonly status: "confirmed" | "pending";
  /** Confirms the subscription: whoever has it speaks for the endpoint. Never log it. */
  readonly token: string;
}

/** Reads what the registry wrote itself; another value is a bug or a damaged state directory. */
export function parseTopic(value: Json, key: string): Topic {
  if (!isTopic(value)) throw new Error(`The stored topic ${key} is damaged.`);
  return value;
}

/** The same for a subscription. */
export function parseSubscription(value: Json, key: string): Subscription {
  if (!isSubscription(value)) throw new Error(`The stored subscription ${key} is damaged.`);
  return value;
}

function isTopic(value: unknown): value is Topic {
  return has(value, ["arn", "attributes", "tags"]);
}

function isSubscription(value: unknown): value is Subscription {
  return has(value, ["arn", "topicArn", "protocol", "endpoint", "owner", "attributes", "status", "token"]);
}

function has(value: unknown, members: readonly string[]): boolean {
  return typeof value === "object" && value !== null && members.every((member) => member in value);
}
