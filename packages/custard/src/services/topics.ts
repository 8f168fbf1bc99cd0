/**
 * The topic registry: what `AWS::SNS::*` and the endpoint make, and what the SNS transport publishes to.
 *
 * Owns topics, their attributes, subscriptions and confirmation. Leaves sending to `transports/sns/`.
 *
 * Invariants
 * N1. Making a topic, or a subscription of one endpoint, a second time gives the first one, as with SNS.
 * N2. An HTTP endpoint gets nothing until somebody who knows its token has confirmed.
 */
import { randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import type { Documents } from "../engine/ports.ts";
import type { FunctionScope } from "./function-arn.ts";
import {
  formatTopicArn,
  isTopicName,
  parseTopicArn,
  type TopicReference,
  topicOfSubscription,
} from "./topic-arn.ts";
import { invalidParameter, TopicError } from "./topic-error.ts";
import {
  parseSubscription,
  parseTopic,
  type Protocol,
  type Subscription,
  type Topic,
} from "./topic-record.ts";
import { checkEndpoint, checkSubscriptionAttributes, checkTopicAttribute } from "./topic-rules.ts";

/** A new topic. */
export interface NewTopic {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly tags?: Readonly<Record<string, string>>;
}

/** A new subscription. */
export interface NewSubscription {
  readonly topicArn: string;
  readonly protocol: string;
  readonly endpoint: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** Asks the endpoint of a pending subscription to confirm. Never rejects. */
export type Usher = (pending: Subscription) => Promise<void>;

/** Topics by account, region and name, kept in `Documents`. Throws `TopicError` with SNS's own texts. */
export class TopicRegistry {
  readonly #documents: Documents;
  readonly #confirmations = new Set<(subscriptionArn: string) => void>();
  #usher: Usher = async () => undefined;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Says who asks endpoints to confirm: whoever can reach them. */
  attend(usher: Usher): void {
    this.#usher = usher;
  }

  async create(scope: FunctionScope, input: NewTopic): Promise<Topic> {
    if (!isTopicName(input.name)) throw invalidParameter("Topic Name");
    const { attributes = {}, tags = {} } = input;
    for (const [name, value] of Object.entries(attributes)) checkTopicAttribute(name, value);
    const reference = { ...scope, name: input.name };
    const existing = await this.find(formatTopicArn(reference));
    if (existing !== undefined) return sameTopic(existing, attributes);
    const topic = { arn: formatTopicArn(reference), attributes, tags };
    await this.#documents.put(topicKey(reference), topic);
    return topic;
  }

  /** Undefined when there is none of this ARN. */
  async find(topicArn: string): Promise<Topic | undefined> {
    const reference = parseTopicArn(topicArn);
    if (reference === undefined) return undefined;
    const value = await this.#documents.get(topicKey(reference));
    return value === undefined ? undefined : parseTopic(value, topicKey(reference));
  }

  /** The same; refuses an ARN of nothing. */
  async get(topicArn: string): Promise<Topic> {
    if (parseTopicArn(topicArn) === undefined) throw badArn("TopicArn", topicArn);
    const topic = await this.find(topicArn);
    if (topic === undefined) throw new TopicError("NotFound", "Topic does not exist");
    return topic;
  }

  /** All topics of an account and region, by name. */
  async list(scope: FunctionScope): Promise<readonly Topic[]> {
    const entries = await this.#documents.list(topicPrefix(scope));
    return entries.map(({ key, value }) => parseTopic(value, key));
  }

  /** An empty value brings the default back. */
  async setAttribute(topicArn: string, name: string, value: string): Promise<Topic> {
    checkTopicAttribute(name, value === "" && name === "SignatureVersion" ? "1" : value);
    const topic = await this.get(topicArn);
    const { [name]: _, ...others } = topic.attributes;
    const changed = { ...topic, attributes: value === "" ? others : { ...others, [name]: value } };
    await this.#documents.put(topicKey(referenceOf(topicArn)), changed);
    return changed;
  }

  async setTags(topicArn: string, tags: Readonly<Record<string, string>>): Promise<void> {
    const topic = await this.get(topicArn);
    await this.#documents.put(topicKey(referenceOf(topicArn)), { ...topic, tags });
  }

  /** Deletes a topic with its subscriptions. One that doesn't exist is deleted already. */
  async delete(topicArn: string): Promise<void> {
    const reference = parseTopicArn(topicArn);
    if (reference === undefined) throw badArn("TopicArn", topicArn);
    for (const { arn } of await this.subscriptionsOf(topicArn)) await this.unsubscribe(arn);
    await this.#documents.delete(topicKey(reference));
  }

  /**
   * Subscribes an endpoint. HTTP endpoints are pending until they confirm, and have been asked to when this resolves;
   * e-mail addresses stay pending.
   */
  async subscribe(input: NewSubscription): Promise<Subscription> {
    const { topicArn, endpoint, attributes = {} } = input;
    const reference = referenceOf((await this.get(topicArn)).arn);
    const protocol = checkEndpoint(input.protocol, endpoint, topicArn);
    checkSubscriptionAttributes(attributes);
    const existing = (await this.subscriptionsOf(topicArn)).find(
      (one) => one.protocol === protocol && one.endpoint === endpoint,
    );
    if (existing !== undefined) return await this.#again(existing, attributes);
    const subscription = newSubscription(reference, { protocol, endpoint, attributes });
    await this.#save(subscription);
    if (subscription.status === "pending") await this.#usher(subscription);
    return await this.subscription(subscription.arn);
  }

  /** Confirms with the token that the endpoint was sent; harmless when it is confirmed. */
  async confirm(topicArn: string, token: string): Promise<Subscription> {
    await this.get(topicArn);
    const found = (await this.subscriptionsOf(topicArn)).find((one) => isSame(one.token, token));
    if (found === undefined) throw invalidParameter("Token");
    const confirmed: Subscription = { ...found, status: "confirmed" };
    await this.#save(confirmed);
    for (const listener of this.#confirmations) listener(confirmed.arn);
    return confirmed;
  }

  /** Calls back with the ARN of each subscription that is confirmed from now on. Returns a function that ends this. */
  onConfirmation(listener: (subscriptionArn: string) => void): () => void {
    this.#confirmations.add(listener);
    return () => this.#confirmations.delete(listener);
  }

  /** Of a topic, in no particular order; none for a topic that does not exist. */
  async subscriptionsOf(topicArn: string): Promise<readonly Subscription[]> {
    const reference = parseTopicArn(topicArn);
    if (reference === undefined) return [];
    const entries = await this.#documents.list(subscriptionPrefix(reference));
    return entries.map(({ key, value }) => parseSubscription(value, key));
  }

  async subscription(subscriptionArn: string): Promise<Subscription> {
    const key = subscriptionKey(subscriptionArn);
    const value = await this.#documents.get(key);
    if (value === undefined) throw new TopicError("NotFound", "Subscription does not exist");
    return parseSubscription(value, key);
  }

  async setSubscriptionAttribute(subscriptionArn: string, name: string, value: string): Promise<void> {
    const subscription = await this.subscription(subscriptionArn);
    const { [name]: _, ...others } = subscription.attributes;
    const attributes = value === "" ? others : { ...others, [name]: value };
    checkSubscriptionAttributes(attributes);
    await this.#save({ ...subscription, attributes });
  }

  /** A subscription that doesn't exist is ended already. */
  async unsubscribe(subscriptionArn: string): Promise<void> {
    await this.#documents.delete(subscriptionKey(subscriptionArn));
  }

  async #again(existing: Subscription, attributes: Readonly<Record<string, string>>): Promise<Subscription> {
    const differs = Object.entries(attributes).some(([name, value]) => existing.attributes[name] !== value);
    if (differs)
      throw invalidParameter("Attributes Reason: Subscription already exists with different attributes");
    if (existing.status === "confirmed") return existing;
    await this.#usher(existing);
    return await this.subscription(existing.arn);
  }

  async #save(subscription: Subscription): Promise<void> {
    await this.#documents.put(subscriptionKey(subscription.arn), { ...subscription });
  }
}

/** N1. */
function sameTopic(existing: Topic, attributes: Readonly<Record<string, string>>): Topic {
  const differs = Object.entries(attributes).some(([name, value]) => existing.attributes[name] !== value);
  if (differs) throw invalidParameter("Attributes Reason: Topic already exists with different attributes");
  return existing;
}

/** N2. Lambda functions and queues are subscribed by those who own them, so that nobody need be asked. */
const asked: ReadonlySet<Protocol> = new Set(["http", "https", "email", "email-json"]);

function newSubscription(
  reference: TopicReference,
  wanted: Pick<Subscription, "protocol" | "endpoint" | "attributes">,
): Subscription {
  const topicArn = formatTopicArn(reference);
  return {
    arn: `${topicArn}:${randomUUID()}`,
    topicArn,
    ...wanted,
    owner: reference.account,
    status: asked.has(wanted.protocol) ? "pending" : "confirmed",
    token: randomBytes(128).toString("hex"),
  };
}

function isSame(token: string, given: string): boolean {
  const [one, other] = [Buffer.from(token), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function referenceOf(topicArn: string): TopicReference {
  const reference = parseTopicArn(topicArn);
  if (reference === undefined) throw badArn("TopicArn", topicArn);
  return reference;
}

function badArn(parameter: string, arn: string): TopicError {
  const elements = arn.split(":").length;
  return elements < 6
    ? invalidParameter(`${parameter} Reason: An ARN must have at least 6 elements, not ${elements}`)
    : invalidParameter(parameter);
}

function topicPrefix({ partition, account, region }: FunctionScope): string {
  return `topic/${partition}/${account}/${region}/`;
}

function topicKey(reference: TopicReference): string {
  return `${topicPrefix(reference)}${reference.name}`;
}

function subscriptionPrefix({ partition, account, region, name }: TopicReference): string {
  return `subscription/${partition}/${account}/${region}/${name}/`;
}

function subscriptionKey(subscriptionArn: string): string {
  const topic = topicOfSubscription(subscriptionArn);
  if (topic === undefined) throw badArn("SubscriptionArn", subscriptionArn);
  return `${subscriptionPrefix(topic)}${subscriptionArn.slice(-36)}`;
}
