/** SQS's types: queues on this machine, for subscribers and dead letters. */
import { formatQueueArn, parseQueueArn, queueUrlOf, type QueueReference } from "../services/queue-arn.ts";
import { QueueError, type QueueRegistry } from "../services/queues.ts";
import { serviceFailure } from "./failure.ts";
import { generatedName } from "./generated-name.ts";
import type { Handler, Made } from "./handler.ts";
import type { KeptRecords } from "./kept-records.ts";
import { scopeOf } from "./lambda-function.ts";
import { tagsOf } from "./properties.ts";
import { type Subject, textProperty, toText } from "./subject.ts";

/** `AWS::SQS::Queue`. */
export function sqsQueue(queues: QueueRegistry, records: KeptRecords): Handler {
  return {
    async create(subject) {
      const { task, properties } = subject;
      const reference = { ...scopeOf(subject), name: queueNameOf(subject) };
      const made = describe(reference);
      await records.create(task, made.physicalId, { properties, attributes: {} });
      const { name } = reference;
      await asSqs(subject, queues.create(reference, { name, ...contentsOf(subject) }));
      return made;
    },
    async update(subject) {
      const { task, properties } = subject;
      const reference = referenceOf(task.physicalId, subject);
      const { attributes, tags } = contentsOf(subject);
      await asSqs(subject, queues.update(formatQueueArn(reference), attributes, tags));
      await records.update(task, { properties, attributes: {} });
      return describe(reference);
    },
    async delete(subject) {
      const { task } = subject;
      if (await records.owns(task))
        await queues.delete(formatQueueArn(referenceOf(task.physicalId, subject)));
      await records.delete(task);
    },
  };
}

/** `AWS::SQS::QueuePolicy`: its queues must exist; nothing here asks it. */
export function sqsQueuePolicy(queues: QueueRegistry): Handler {
  async function check(subject: Subject): Promise<Made> {
    const urls = subject.properties["Queues"];
    for (const url of Array.isArray(urls) ? urls : [])
      await asSqs(subject, queues.get(formatQueueArn(referenceOf(toText(url) ?? "", subject))));
    const { physicalId } = subject.task;
    return { physicalId, attributes: { Id: physicalId } };
  }
  return { create: check, update: check, async delete() {} };
}

function queueNameOf(subject: Subject): string {
  const name = textProperty(subject, "QueueName") ?? generatedName(subject);
  return textProperty(subject, "FifoQueue") === "true" && !name.endsWith(".fifo") ? `${name}.fifo` : name;
}

/** By URL, ARN or name. */
function referenceOf(text: string, subject: Subject): QueueReference {
  const fromArn = parseQueueArn(text);
  if (fromArn !== undefined) return fromArn;
  const [, account, name] = /^https?:\/\/[^/]+\/(\d{12})\/([^/]+)$/u.exec(text) ?? [];
  const scope = scopeOf(subject);
  return { ...scope, account: account ?? scope.account, name: name ?? text };
}

function describe(reference: QueueReference): Made {
  const url = queueUrlOf(reference);
  const attributes = { Arn: formatQueueArn(reference), QueueName: reference.name, QueueUrl: url };
  return { physicalId: url, attributes };
}

const queueProperties = [
  "ContentBasedDeduplication",
  "DeduplicationScope",
  "DelaySeconds",
  "FifoQueue",
  "FifoThroughputLimit",
  "KmsDataKeyReusePeriodSeconds",
  "KmsMasterKeyId",
  "MaximumMessageSize",
  "MessageRetentionPeriod",
  "ReceiveMessageWaitTimeSeconds",
  "RedriveAllowPolicy",
  "RedrivePolicy",
  "SqsManagedSseEnabled",
  "VisibilityTimeout",
] as const;

function contentsOf({ task, properties }: Subject) {
  const entries = queueProperties.flatMap((name): [string, string][] => {
    const value = properties[name];
    if (value === undefined || value === null) return [];
    return [[name, toText(value) ?? JSON.stringify(value)]];
  });
  const attributes: Readonly<Record<string, string>> = Object.fromEntries(entries);
  return { attributes, tags: { ...task.tags, ...tagsOf(properties["Tags"]) } };
}

/** What SQS's refusal becomes as a resource's reason. */
async function asSqs<T>({ task }: Subject, call: Promise<T>): Promise<T> {
  return await call.catch((error: unknown) => {
    if (!(error instanceof QueueError)) throw error;
    const isMissing = error.code === "QueueDoesNotExist";
    throw serviceFailure(
      {
        service: "Sqs",
        message: error.message,
        httpStatus: 400,
        handlerErrorCode: isMissing ? "NotFound" : "InvalidRequest",
      },
      task.token,
      { cause: error },
    );
  });
}
