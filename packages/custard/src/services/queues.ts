/**
 * Queues on this machine, as much of SQS as subscribers and dead letters need.
 *
 * Invariants
 * Q1. A message is given to one receiver at a time: it is invisible to others until its visibility timeout has passed.
 * Q2. A message is gone only when it was deleted, its retention has passed, or it went to the queue's dead letters.
 */
import { createHash, randomUUID } from "node:crypto";
import type { Json } from "@custard/provider/protocol";
import type { Clock, Documents } from "../engine/ports.ts";
import type { FunctionScope } from "./function-arn.ts";
import { formatQueueArn, isQueueName, parseQueueArn, type QueueReference, queueUrlOf } from "./queue-arn.ts";
import { systemClock } from "./system-clock.ts";

/** Why the queue registry refuses a call: SQS's codes. */
export type QueueErrorCode =
  | "QueueDoesNotExist"
  | "QueueNameExists"
  | "InvalidParameterValue"
  | "ReceiptHandleIsInvalid";

/** A refusal in SQS's own words. */
export class QueueError extends Error {
  override readonly name = "QueueError";
  readonly code: QueueErrorCode;

  constructor(code: QueueErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A queue. */
export interface Queue {
  readonly arn: string;
  readonly url: string;
  /** As SQS names them: `VisibilityTimeout` (seconds), `RedrivePolicy` … */
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

/** A message for a queue. */
export interface NewMessage {
  readonly body: string;
  readonly attributes?: Readonly<Record<string, { readonly type: string; readonly value: string }>>;
  /** Default: the queue's `DelaySeconds`. */
  readonly delaySeconds?: number;
}

/** A message as a receiver gets it. */
export interface ReceivedMessage {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly md5: string;
  readonly attributes: Readonly<Record<string, { readonly type: string; readonly value: string }>>;
  readonly sentAt: number;
  /** This time included. */
  readonly receiveCount: number;
}

/** How a receiver asks. */
export interface Reception {
  /** 1 to 10; default 1. */
  readonly limit?: number;
  /** Default: the queue's. */
  readonly visibilitySeconds?: number;
  /** How long to wait for a message; default: the queue's. */
  readonly waitSeconds?: number;
}

interface StoredMessage {
  readonly messageId: string;
  readonly body: string;
  readonly attributes: ReceivedMessage["attributes"];
  readonly sentAt: number;
  readonly visibleAt: number;
  readonly receiveCount: number;
  readonly receiptHandle: string;
}

const defaults = {
  VisibilityTimeout: "30",
  DelaySeconds: "0",
  ReceiveMessageWaitTimeSeconds: "0",
  MessageRetentionPeriod: "345600",
};
/** SQS's limit since 2025: 1 MiB. */
const messageBytes = 1_048_576;

/** Queues by account, region and name, kept in `Documents`. Throws `QueueError`. */
export class QueueRegistry {
  readonly #documents: Documents;
  readonly #clock: Clock;
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #arrivals = new Map<string, Set<() => void>>();
  #count = 0;

  constructor(documents: Documents, clock: Clock = systemClock) {
    this.#documents = documents;
    this.#clock = clock;
  }

  /** Making it a second time gives the first one, when the attributes are the same. */
  async create(
    scope: FunctionScope,
    input: {
      readonly name: string;
      readonly attributes?: Queue["attributes"];
      readonly tags?: Queue["tags"];
    },
  ): Promise<Queue> {
    if (!isQueueName(input.name))
      throw new QueueError(
        "InvalidParameterValue",
        "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length",
      );
    const reference = { ...scope, name: input.name };
    const { attributes = {}, tags = {} } = input;
    const existing = await this.find(formatQueueArn(reference));
    if (existing !== undefined) return sameQueue(existing, attributes);
    return await this.#save(reference, attributes, tags);
  }

  /** Replaces all attributes and tags. */
  async update(queueArn: string, attributes: Queue["attributes"], tags: Queue["tags"]): Promise<Queue> {
    await this.get(queueArn);
    return await this.#save(referenceOf(queueArn), attributes, tags);
  }

  async find(queueArn: string): Promise<Queue | undefined> {
    const reference = parseQueueArn(queueArn);
    const value = reference === undefined ? undefined : await this.#documents.get(queueKey(reference));
    return value === undefined ? undefined : parseQueue(value, queueArn);
  }

  async get(queueArn: string): Promise<Queue> {
    const queue = await this.find(queueArn);
    if (queue === undefined) throw new QueueError("QueueDoesNotExist", "The specified queue does not exist.");
    return queue;
  }

  async list(scope: FunctionScope): Promise<readonly Queue[]> {
    const entries = await this.#documents.list(queuePrefix(scope));
    return entries.map(({ key, value }) => parseQueue(value, key));
  }

  /** Deletes a queue with its messages; harmless when there is none. */
  async delete(queueArn: string): Promise<void> {
    const reference = referenceOf(queueArn);
    await this.purge(queueArn);
    await this.#documents.delete(queueKey(reference));
  }

  async purge(queueArn: string): Promise<void> {
    const entries = await this.#documents.list(messagePrefix(referenceOf(queueArn)));
    for (const { key } of entries) await this.#documents.delete(key);
  }

  async send(
    queueArn: string,
    message: NewMessage,
  ): Promise<{ readonly messageId: string; readonly md5: string }> {
    const queue = await this.get(queueArn);
    if (Buffer.byteLength(message.body) > messageBytes)
      throw new QueueError(
        "InvalidParameterValue",
        `One or more parameters are invalid. Reason: Message must be shorter than ${messageBytes} bytes.`,
      );
    const now = this.#clock.now();
    const delay = message.delaySeconds ?? secondsOf(queue, "DelaySeconds");
    const stored: StoredMessage = {
      messageId: randomUUID(),
      body: message.body,
      attributes: message.attributes ?? {},
      sentAt: now,
      visibleAt: now + delay * 1000,
      receiveCount: 0,
      receiptHandle: "",
    };
    await this.#documents.put(this.#newKey(queueArn, now), { ...stored });
    for (const arrived of this.#arrivals.get(queueArn) ?? []) arrived();
    return { messageId: stored.messageId, md5: md5Of(message.body) };
  }

  /** Messages in about the order in which they were sent; none when none has come in the waiting time. */
  async receive(
    queueArn: string,
    reception: Reception = {},
    signal?: AbortSignal,
  ): Promise<readonly ReceivedMessage[]> {
    const queue = await this.get(queueArn);
    const wait = reception.waitSeconds ?? secondsOf(queue, "ReceiveMessageWaitTimeSeconds");
    const until = this.#clock.now() + wait * 1000;
    for (;;) {
      const received = await this.#inTurn(queueArn, () => this.#take(queue, reception));
      const left = until - this.#clock.now();
      if (received.length > 0 || left <= 0) return received;
      await this.#arrival(queueArn, left, signal);
    }
  }

  /** Deletes what was received. */
  async deleteMessage(queueArn: string, receiptHandle: string): Promise<void> {
    await this.get(queueArn);
    const found = await this.#findReceived(queueArn, receiptHandle);
    if (found !== undefined) await this.#documents.delete(found.key);
  }

  /** Makes a received message visible again after so many seconds. */
  async changeVisibility(queueArn: string, receiptHandle: string, seconds: number): Promise<void> {
    await this.get(queueArn);
    const found = await this.#findReceived(queueArn, receiptHandle);
    if (found === undefined)
      throw new QueueError("ReceiptHandleIsInvalid", "The input receipt handle is invalid.");
    await this.#documents.put(found.key, { ...found.message, visibleAt: this.#clock.now() + seconds * 1000 });
  }

  /** How many messages can be received now, and how many are with a receiver or delayed. */
  async depth(queueArn: string): Promise<{ readonly visible: number; readonly hidden: number }> {
    const messages = await this.#messages(queueArn);
    const visible = messages.filter(({ message }) => message.visibleAt <= this.#clock.now()).length;
    return { visible, hidden: messages.length - visible };
  }

  async #take(queue: Queue, reception: Reception): Promise<readonly ReceivedMessage[]> {
    const now = this.#clock.now();
    const limit = Math.min(10, Math.max(1, reception.limit ?? 1));
    const hiddenMs = (reception.visibilitySeconds ?? secondsOf(queue, "VisibilityTimeout")) * 1000;
    const taken: ReceivedMessage[] = [];
    for (const { key, message } of await this.#messages(queue.arn)) {
      if (taken.length === limit) break;
      if (message.visibleAt > now || (await this.#isSpent(queue, { key, message }))) continue;
      const receiptHandle = randomUUID();
      const receiveCount = message.receiveCount + 1;
      await this.#documents.put(key, { ...message, receiptHandle, receiveCount, visibleAt: now + hiddenMs });
      const { messageId, body, attributes, sentAt } = message;
      taken.push({ messageId, receiptHandle, body, md5: md5Of(body), attributes, sentAt, receiveCount });
    }
    return taken;
  }

  /** Q2. Too old, or received too often: then it goes to the dead letters. */
  async #isSpent(queue: Queue, { key, message }: KeptMessage): Promise<boolean> {
    const age = this.#clock.now() - message.sentAt;
    const { target, maxReceiveCount } = redriveOf(queue);
    const isOld = age >= secondsOf(queue, "MessageRetentionPeriod") * 1000;
    const isDead =
      target !== undefined &&
      message.receiveCount >= maxReceiveCount &&
      (await this.find(target)) !== undefined;
    if (!isOld && !isDead) return false;
    if (isDead && target !== undefined)
      await this.send(target, { body: message.body, attributes: message.attributes });
    await this.#documents.delete(key);
    return true;
  }

  async #messages(queueArn: string): Promise<readonly KeptMessage[]> {
    const entries = await this.#documents.list(messagePrefix(referenceOf(queueArn)));
    return entries.map(({ key, value }) => ({ key, message: parseMessage(value, key) }));
  }

  async #findReceived(queueArn: string, receiptHandle: string): Promise<KeptMessage | undefined> {
    if (receiptHandle === "") return undefined;
    return (await this.#messages(queueArn)).find(({ message }) => message.receiptHandle === receiptHandle);
  }

  /** Q1: receivers of one queue take turns. */
  async #inTurn<T>(queueArn: string, act: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(queueArn) ?? Promise.resolve()).then(act, act);
    this.#turns.set(queueArn, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(queueArn) === turn) this.#turns.delete(queueArn);
    }
  }

  /** Waits for a message to be sent, at most `delay` ms; also looks again after a second, as messages become visible. */
  async #arrival(queueArn: string, delay: number, signal: AbortSignal | undefined): Promise<void> {
    const waiting = new AbortController();
    const wake = (): void => waiting.abort();
    const waiters = this.#arrivals.get(queueArn) ?? new Set();
    this.#arrivals.set(queueArn, waiters.add(wake));
    signal?.addEventListener("abort", wake);
    await this.#clock.sleep(Math.min(delay, 1000), waiting.signal).catch(() => undefined);
    signal?.removeEventListener("abort", wake);
    waiters.delete(wake);
    signal?.throwIfAborted();
  }

  /** Keys sort in the order of sending. */
  #newKey(queueArn: string, now: number): string {
    this.#count += 1;
    return `${messagePrefix(referenceOf(queueArn))}${String(now).padStart(15, "0")}-${String(this.#count).padStart(9, "0")}-${randomUUID().slice(0, 8)}`;
  }

  async #save(
    reference: QueueReference,
    attributes: Queue["attributes"],
    tags: Queue["tags"],
  ): Promise<Queue> {
    const queue = { arn: formatQueueArn(reference), url: queueUrlOf(reference), attributes, tags };
    await this.#documents.put(queueKey(reference), queue);
    return queue;
  }
}

interface KeptMessage {
  readonly key: string;
  readonly message: StoredMessage;
}

function sameQueue(existing: Queue, attributes: Queue["attributes"]): Queue {
  const differing = Object.entries(attributes).find(([name, value]) => existing.attributes[name] !== value);
  if (differing === undefined) return existing;
  throw new QueueError(
    "QueueNameExists",
    `A queue already exists with the same name and a different value for attribute ${differing[0]}`,
  );
}

function redriveOf(queue: Queue): { readonly target: string | undefined; readonly maxReceiveCount: number } {
  const policy: unknown = JSON.parse(queue.attributes["RedrivePolicy"] ?? "{}");
  const { deadLetterTargetArn: target, maxReceiveCount = 10 } = { ...Object(policy) };
  return {
    target: typeof target === "string" ? target : undefined,
    maxReceiveCount: Number(maxReceiveCount),
  };
}

function secondsOf(queue: Queue, name: keyof typeof defaults): number {
  return Number(queue.attributes[name] ?? defaults[name]);
}

function md5Of(body: string): string {
  return createHash("md5").update(body).digest("hex");
}

function referenceOf(queueArn: string): QueueReference {
  const reference = parseQueueArn(queueArn);
  if (reference === undefined)
    throw new QueueError("QueueDoesNotExist", "The specified queue does not exist.");
  return reference;
}

function queuePrefix({ partition, account, region }: FunctionScope): string {
  return `queue/${partition}/${account}/${region}/`;
}

function queueKey(reference: QueueReference): string {
  return `${queuePrefix(reference)}${reference.name}`;
}

function messagePrefix({ partition, account, region, name }: QueueReference): string {
  return `queue-message/${partition}/${account}/${region}/${name}/`;
}

function parseQueue(value: Json, key: string): Queue {
  if (!has<Queue>(value, ["arn", "url", "attributes", "tags"]))
    throw new Error(`The stored queue ${key} is damaged.`);
  return value;
}

function parseMessage(value: Json, key: string): StoredMessage {
  if (
    !has<StoredMessage>(value, ["messageId", "body", "sentAt", "visibleAt", "receiveCount", "receiptHandle"])
  )
    throw new Error(`The stored message ${key} is damaged.`);
  return value;
}

/** The outline of what this file wrote itself. */
function has<T extends object>(value: unknown, members: readonly (keyof T)[]): value is T {
  return typeof value === "object" && value !== null && members.every((member) => member in value);
}
