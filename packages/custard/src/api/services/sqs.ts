/** SQS: its operations, over the local queues: what subscribers and dead letters left there can be read. */
import { QueueError, type Queue, type QueueRegistry } from "../../services/queues.ts";
import { formatQueueArn } from "../../services/queue-arn.ts";
import { ApiError } from "../api-error.ts";
import { definedOf } from "../defined.ts";
import type { Input } from "../input.ts";
import { pageOf } from "../pages.ts";
import type { ApiCall, Handler, Scope, Service } from "../service.ts";
import type { WireObject } from "../wire.ts";
import { digestOf, messageIn, toMessage } from "./sqs/messages.ts";

/** What SQS works on. */
export interface SqsWorld {
  readonly queues: QueueRegistry;
}

type Handle = Handler<SqsWorld>;

const createQueue: Handle = async (call, { queues }) => {
  const { input, scope } = call;
  const name = input.need("QueueName");
  const attributes = attributesIn(input);
  if ((attributes["FifoQueue"] === "true") !== name.endsWith(".fifo"))
    throw new ApiError(
      "InvalidParameterValue",
      "The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length.",
    );
  await queues.create(scope, { name, attributes, tags: input.map("tags") ?? {} });
  return { QueueUrl: urlOf(call, name) };
};

const getQueueUrl: Handle = async (call, { queues }) => {
  const { input, scope } = call;
  const name = input.need("QueueName");
  const account = input.text("QueueOwnerAWSAccountId") ?? scope.account;
  await queues.get(formatQueueArn({ ...scope, account, name }));
  return { QueueUrl: urlOf(call, name, account) };
};

const listQueues: Handle = async (call, { queues }) => {
  const prefix = call.input.text("QueueNamePrefix") ?? "";
  const names = (await queues.list(call.scope)).map(nameOf).filter((name) => name.startsWith(prefix));
  const { items, next } = pageOf(names, {
    keyOf: (name) => name,
    size: call.input.number("MaxResults") ?? 1000,
    token: call.input.text("NextToken"),
    code: "InvalidParameterValue",
  });
  return { QueueUrls: items.map((name) => urlOf(call, name)), NextToken: next };
};

const deleteQueue: Handle = async ({ input, scope }, { queues }) => {
  const arn = queueIn(input, scope);
  await queues.get(arn);
  await queues.delete(arn);
  return {};
};

const purgeQueue: Handle = async ({ input, scope }, { queues }) => {
  const arn = queueIn(input, scope);
  await queues.get(arn);
  await queues.purge(arn);
  return {};
};

const getQueueAttributes: Handle = async ({ input, scope }, { queues }) => {
  const queue = await queues.get(queueIn(input, scope));
  const wanted = input.texts("AttributeNames") ?? [];
  const { visible, hidden } = await queues.depth(queue.arn);
  const all: Readonly<Record<string, string>> = {
    ...usualAttributes,
    ...queue.attributes,
    QueueArn: queue.arn,
    ApproximateNumberOfMessages: String(visible),
    ApproximateNumberOfMessagesNotVisible: String(hidden),
    ApproximateNumberOfMessagesDelayed: "0",
  };
  const unknown = wanted.find((name) => name !== "All" && !(name in all) && !knownAttributes.has(name));
  if (unknown !== undefined) throw new ApiError("InvalidAttributeName", `Unknown Attribute ${unknown}.`);
  const shown = Object.entries(all).filter(([name]) => wanted.includes("All") || wanted.includes(name));
  return shown.length === 0 ? {} : { Attributes: Object.fromEntries(shown) };
};

const setQueueAttributes: Handle = async ({ input, scope }, { queues }) => {
  const { arn, attributes, tags } = await queues.get(queueIn(input, scope));
  await queues.update(arn, { ...attributes, ...attributesIn(input) }, tags);
  return {};
};

const tagQueue: Handle = async ({ input, scope }, { queues }) => {
  const { arn, attributes, tags } = await queues.get(queueIn(input, scope));
  await queues.update(arn, attributes, { ...tags, ...input.map("Tags") });
  return {};
};

const untagQueue: Handle = async ({ input, scope }, { queues }) => {
  const { arn, attributes, tags } = await queues.get(queueIn(input, scope));
  const removed = input.texts("TagKeys") ?? [];
  const kept = Object.entries(tags).filter(([key]) => !removed.includes(key));
  await queues.update(arn, attributes, Object.fromEntries(kept));
  return {};
};

const listQueueTags: Handle = async ({ input, scope }, { queues }) => ({
  Tags: (await queues.get(queueIn(input, scope))).tags,
});

const listDeadLetterSourceQueues: Handle = async (call, { queues }) => {
  const { arn } = await queues.get(queueIn(call.input, call.scope));
  const sources = (await queues.list(call.scope)).filter(({ attributes }) =>
    (attributes["RedrivePolicy"] ?? "").includes(`"${arn}"`),
  );
  return { queueUrls: sources.map((queue) => urlOf(call, nameOf(queue))) };
};

const sendMessage: Handle = async ({ input, scope }, { queues }) =>
  await sent(queues, queueIn(input, scope), input);

const sendMessageBatch: Handle = async ({ input, scope }, { queues }) => {
  const arn = queueIn(input, scope);
  await queues.get(arn);
  return await eachOf(input, async (entry) => await sent(queues, arn, entry));
};

const receiveMessage: Handle = async ({ input, scope, signal }, { queues }) => {
  const received = await queues.receive(
    queueIn(input, scope),
    definedOf({
      limit: between(input, "MaxNumberOfMessages", [1, 10]),
      visibilitySeconds: between(input, "VisibilityTimeout", [0, 43_200]),
      waitSeconds: between(input, "WaitTimeSeconds", [0, 20]),
    }),
    signal,
  );
  if (received.length === 0) return {};
  return { Messages: received.map((message) => toMessage(message, input, scope.account)) };
};

const deleteMessage: Handle = async ({ input, scope }, { queues }) => {
  await queues.deleteMessage(queueIn(input, scope), input.need("ReceiptHandle"));
  return {};
};

const deleteMessageBatch: Handle = async ({ input, scope }, { queues }) => {
  const arn = queueIn(input, scope);
  await queues.get(arn);
  return await eachOf(input, async (entry) => {
    await queues.deleteMessage(arn, entry.need("ReceiptHandle"));
    return {};
  });
};

const changeMessageVisibility: Handle = async ({ input, scope }, { queues }) => {
  const seconds = between(input, "VisibilityTimeout", [0, 43_200]) ?? 0;
  await queues.changeVisibility(queueIn(input, scope), input.need("ReceiptHandle"), seconds);
  return {};
};

const changeMessageVisibilityBatch: Handle = async ({ input, scope }, { queues }) => {
  const arn = queueIn(input, scope);
  await queues.get(arn);
  return await eachOf(input, async (entry) => {
    const seconds = between(entry, "VisibilityTimeout", [0, 43_200]) ?? 0;
    await queues.changeVisibility(arn, entry.need("ReceiptHandle"), seconds);
    return {};
  });
};

export const sqs: Service<SqsWorld> = {
  name: "sqs",
  operations: {
    ChangeMessageVisibility: changeMessageVisibility,
    ChangeMessageVisibilityBatch: changeMessageVisibilityBatch,
    CreateQueue: createQueue,
    DeleteMessage: deleteMessage,
    DeleteMessageBatch: deleteMessageBatch,
    DeleteQueue: deleteQueue,
    GetQueueAttributes: getQueueAttributes,
    GetQueueUrl: getQueueUrl,
    ListDeadLetterSourceQueues: listDeadLetterSourceQueues,
    ListQueueTags: listQueueTags,
    ListQueues: listQueues,
    PurgeQueue: purgeQueue,
    ReceiveMessage: receiveMessage,
    SendMessage: sendMessage,
    SendMessageBatch: sendMessageBatch,
    SetQueueAttributes: setQueueAttributes,
    TagQueue: tagQueue,
    UntagQueue: untagQueue,
  },
  explain: (error) => (error instanceof QueueError ? new ApiError(error.code, error.message) : undefined),
};

/** What a queue has that doesn't say otherwise. */
const usualAttributes: Readonly<Record<string, string>> = {
  DelaySeconds: "0",
  MaximumMessageSize: "1048576",
  MessageRetentionPeriod: "345600",
  ReceiveMessageWaitTimeSeconds: "0",
  SqsManagedSseEnabled: "true",
  VisibilityTimeout: "30",
};

const knownAttributes = new Set([
  ...Object.keys(usualAttributes),
  "ContentBasedDeduplication",
  "DeduplicationScope",
  "FifoQueue",
  "FifoThroughputLimit",
  "KmsDataKeyReusePeriodSeconds",
  "KmsMasterKeyId",
  "Policy",
  "RedriveAllowPolicy",
  "RedrivePolicy",
]);

function attributesIn(input: Input): Readonly<Record<string, string>> {
  const attributes = input.map("Attributes") ?? {};
  const unknown = Object.keys(attributes).find((name) => !knownAttributes.has(name));
  if (unknown === undefined) return attributes;
  throw new ApiError("InvalidAttributeName", `Unknown Attribute ${unknown}.`);
}

/**
 * At this endpoint: some clients send a queue's calls to the host of its URL. AWS's own URLs are taken as well.
 */
function urlOf({ request, scope }: ApiCall, name: string, account = scope.account): string {
  return `http://${request.headers["host"] ?? "localhost"}/${account}/${name}`;
}

/** Whatever its host, a queue's URL ends with account and name. */
function queueIn(input: Input, scope: Scope): string {
  const [name = "", account] = input.need("QueueUrl").replace(/\/$/, "").split("/").toReversed();
  const isAccount = account !== undefined && /^\d{12}$/.test(account);
  return formatQueueArn({ ...scope, account: isAccount ? account : scope.account, name });
}

function nameOf({ arn }: Queue): string {
  return arn.split(":").at(-1) ?? "";
}

async function sent(queues: QueueRegistry, arn: string, input: Input): Promise<WireObject> {
  if (arn.endsWith(".fifo") && input.text("MessageGroupId") === undefined)
    throw new ApiError("MissingParameter", "The request must contain the parameter MessageGroupId.");
  const message = messageIn(input);
  const { messageId, md5 } = await queues.send(arn, message);
  return {
    MessageId: messageId,
    MD5OfMessageBody: md5,
    MD5OfMessageAttributes: digestOf(message.attributes ?? {}),
  };
}

/** What became of each entry of a batch. */
async function eachOf(input: Input, act: (entry: Input) => Promise<WireObject>): Promise<WireObject> {
  const entries = input.objects("Entries");
  checkBatch(entries);
  const [successful, failed]: [WireObject[], WireObject[]] = [[], []];
  for (const entry of entries) {
    const Id = entry.need("Id");
    try {
      successful.push({ Id, ...(await act(entry)) });
    } catch (error) {
      if (!(error instanceof QueueError) && !(error instanceof ApiError)) throw error;
      failed.push({ Id, SenderFault: true, Code: error.code, Message: error.message });
    }
  }
  return { Successful: successful, Failed: failed };
}

function checkBatch(entries: readonly Input[]): void {
  if (entries.length === 0)
    throw new ApiError("EmptyBatchRequest", "There should be at least one BatchRequestEntry in the request.");
  if (entries.length > 10)
    throw new ApiError(
      "TooManyEntriesInBatchRequest",
      `Maximum number of entries per request are 10. You have sent ${entries.length}.`,
    );
  const ids = entries.map((entry) => entry.need("Id"));
  const again = ids.find((id, index) => ids.indexOf(id) !== index);
  if (again !== undefined) throw new ApiError("BatchEntryIdsNotDistinct", `Id ${again} repeated.`);
}

function between(input: Input, name: string, [least, most]: readonly [number, number]): number | undefined {
  const value = input.number(name);
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return value;
  throw new ApiError(
    "InvalidParameterValue",
    `Value ${value} for parameter ${name} is invalid. Reason: Must be >= ${least} and <= ${most}, if provided.`,
  );
}
