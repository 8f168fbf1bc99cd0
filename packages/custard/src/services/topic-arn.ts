import type { FunctionScope } from "./function-arn.ts";

/** Names one topic. */
export interface TopicReference extends FunctionScope {
  readonly name: string;
}

/** SNS's rule: up to 256 characters; those of a FIFO topic end in `.fifo`. */
const topicName = "[A-Za-z0-9_-]{1,256}(?:\\.fifo)?";
const nameForm = new RegExp(`^${topicName}$`, "u");
const topicForm = new RegExp(`^arn:(aws[a-z-]*):sns:([a-z0-9-]+):(\\d{12}):(${topicName})$`, "u");
const subscriptionForm = new RegExp(
  `^(arn:aws[a-z-]*:sns:[a-z0-9-]+:\\d{12}:${topicName}):([0-9a-f-]{36})$`,
  "u",
);

/** Can a topic have this name? */
export function isTopicName(text: string): boolean {
  return nameForm.test(text) && text.length <= 256;
}

/** Takes a topic's ARN apart; undefined when it is none. */
export function parseTopicArn(text: string): TopicReference | undefined {
  const [, partition, region, account, name] = topicForm.exec(text) ?? [];
  if (partition === undefined || region === undefined || account === undefined || name === undefined)
    return undefined;
  return { partition, region, account, name };
}

/** `arn:aws:sns:us-east-1:123456789012:name` */
export function formatTopicArn({ partition, region, account, name }: TopicReference): string {
  return `arn:${partition}:sns:${region}:${account}:${name}`;
}

/** The topic of a subscription's ARN; undefined when it is none. */
export function topicOfSubscription(subscriptionArn: string): TopicReference | undefined {
  const [, topicArn] = subscriptionForm.exec(subscriptionArn) ?? [];
  return topicArn === undefined ? undefined : parseTopicArn(topicArn);
}
