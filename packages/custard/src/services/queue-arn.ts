import { urlSuffixOf } from "@custard/provider/protocol";
import type { FunctionScope } from "./function-arn.ts";

/** Names one queue. */
export interface QueueReference extends FunctionScope {
  readonly name: string;
}

const queueName = "[A-Za-z0-9_-]{1,80}(?:\\.fifo)?";
const nameForm = new RegExp(`^${queueName}$`, "u");
const arnForm = new RegExp(`^arn:(aws[a-z-]*):sqs:([a-z0-9-]+):(\\d{12}):(${queueName})$`, "u");

/** Can a queue have this name? SQS's rule: up to 80 characters. */
export function isQueueName(text: string): boolean {
  return nameForm.test(text) && text.length <= 80;
}

/** Takes a queue's ARN apart; undefined when it is none. */
export function parseQueueArn(text: string): QueueReference | undefined {
  const [, partition, region, account, name] = arnForm.exec(text) ?? [];
  if (partition === undefined || region === undefined || account === undefined || name === undefined)
    return undefined;
  return { partition, region, account, name };
}

/** `arn:aws:sqs:us-east-1:123456789012:name` */
export function formatQueueArn({ partition, region, account, name }: QueueReference): string {
  return `arn:${partition}:sqs:${region}:${account}:${name}`;
}

/** `https://sqs.us-east-1.amazonaws.com/123456789012/name` */
export function queueUrlOf({ partition, region, account, name }: QueueReference): string {
  return `https://sqs.${region}.${urlSuffixOf(partition)}/${account}/${name}`;
}
