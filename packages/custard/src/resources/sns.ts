/** SNS's types: topics that requests are published to, and their subscriptions. */
import type { Json } from "@custard/provider/protocol";
import { formatTopicArn } from "../services/topic-arn.ts";
import { TopicError } from "../services/topic-error.ts";
import type { TopicRegistry } from "../services/topics.ts";
import { serviceFailure } from "./failure.ts";
import { generatedName } from "./generated-name.ts";
import type { Handler, Made } from "./handler.ts";
import type { KeptRecords } from "./kept-records.ts";
import { scopeOf } from "./lambda-function.ts";
import { membersOf, mismatch, tagsOf, textListProperty } from "./properties.ts";
import { type Subject, textProperty, toText } from "./subject.ts";

/** `AWS::SNS::Topic`. */
export function snsTopic(topics: TopicRegistry, records: KeptRecords): Handler {
  return {
    async create(subject) {
      const { task, properties } = subject;
      const name = topicNameOf(subject);
      const made = describe(formatTopicArn({ ...scopeOf(subject), name }));
      await records.create(task, made.physicalId, { properties, attributes: {} });
      const tags = { ...task.tags, ...tagsOf(properties["Tags"]) };
      await asSns(
        subject,
        topics.create(scopeOf(subject), { name, attributes: attributesOf(subject), tags }),
      );
      await subscribeAll(topics, subject);
      return made;
    },
    async update(subject) {
      const { task, properties } = subject;
      const wanted = attributesOf(subject);
      const topic = await asSns(subject, topics.get(task.physicalId));
      const names = new Set([...Object.keys(topic.attributes), ...Object.keys(wanted)]);
      names.delete("Policy");
      for (const name of names)
        await asSns(subject, topics.setAttribute(topic.arn, name, wanted[name] ?? ""));
      await topics.setTags(topic.arn, { ...task.tags, ...tagsOf(properties["Tags"]) });
      await subscribeAll(topics, subject);
      await unsubscribeOthers(topics, subject);
      await records.update(task, { properties, attributes: {} });
      return describe(task.physicalId);
    },
    async delete({ task }) {
      if (await records.owns(task)) await topics.delete(task.physicalId);
      await records.delete(task);
    },
  };
}

/** `AWS::SNS::Subscription`. HTTP endpoints are asked to confirm; the resource doesn't wait until they have. */
export function snsSubscription(topics: TopicRegistry): Handler {
  return {
    async create(subject) {
      const subscription = {
        topicArn: textProperty(subject, "TopicArn") ?? "",
        protocol: textProperty(subject, "Protocol") ?? "",
        endpoint: textProperty(subject, "Endpoint") ?? "",
        attributes: subscriptionAttributesOf(subject),
      };
      const { arn } = await asSns(subject, topics.subscribe(subscription));
      return { physicalId: arn, attributes: { Arn: arn } };
    },
    async update(subject) {
      const { physicalId } = subject.task;
      const wanted = subscriptionAttributesOf(subject);
      const { attributes } = await asSns(subject, topics.subscription(physicalId));
      for (const name of new Set([...Object.keys(attributes), ...Object.keys(wanted)]))
        await asSns(subject, topics.setSubscriptionAttribute(physicalId, name, wanted[name] ?? ""));
      return { physicalId, attributes: { Arn: physicalId } };
    },
    async delete(subject) {
      await asSns(subject, topics.unsubscribe(subject.task.physicalId));
    },
  };
}

/** `AWS::SNS::TopicPolicy`: kept with its topics; nothing here asks it. */
export function snsTopicPolicy(topics: TopicRegistry): Handler {
  async function put(subject: Subject): Promise<Made> {
    const policy = JSON.stringify(membersOf(subject.properties["PolicyDocument"], "PolicyDocument"));
    for (const arn of textListProperty(subject, "Topics"))
      await asSns(subject, topics.setAttribute(arn, "Policy", policy));
    const { physicalId } = subject.task;
    return { physicalId, attributes: { Id: physicalId } };
  }
  return {
    create: put,
    update: put,
    async delete(subject) {
      for (const arn of textListProperty(subject, "Topics"))
        if ((await topics.find(arn)) !== undefined) await topics.setAttribute(arn, "Policy", "");
    },
  };
}

function topicNameOf(subject: Subject): string {
  const name = textProperty(subject, "TopicName") ?? generatedName(subject);
  return textProperty(subject, "FifoTopic") === "true" && !name.endsWith(".fifo") ? `${name}.fifo` : name;
}

function describe(arn: string): Made {
  return { physicalId: arn, attributes: { TopicArn: arn, TopicName: arn.split(":").at(-1) ?? arn } };
}

const topicProperties = [
  "ArchivePolicy",
  "ContentBasedDeduplication",
  "DataProtectionPolicy",
  "DisplayName",
  "FifoThroughputScope",
  "FifoTopic",
  "KmsMasterKeyId",
  "SignatureVersion",
  "TracingConfig",
] as const;

const subscriptionProperties = [
  "DeliveryPolicy",
  "FilterPolicy",
  "FilterPolicyScope",
  "RawMessageDelivery",
  "RedrivePolicy",
  "ReplayPolicy",
  "SubscriptionRoleArn",
] as const;

function attributesOf(subject: Subject): Record<string, string> {
  return pick(subject, topicProperties);
}

function subscriptionAttributesOf(subject: Subject): Record<string, string> {
  return pick(subject, subscriptionProperties);
}

/** Structures become JSON texts, as the service takes them. */
function pick({ properties }: Subject, names: readonly string[]): Record<string, string> {
  const entries = names.flatMap((name): [string, string][] => {
    const value = properties[name];
    if (value === undefined || value === null) return [];
    return [[name, toText(value) ?? JSON.stringify(value)]];
  });
  return Object.fromEntries(entries);
}

/** The topic's own `Subscription` property. */
async function subscribeAll(topics: TopicRegistry, subject: Subject): Promise<void> {
  const topicArn = formatTopicArn({ ...scopeOf(subject), name: topicNameOf(subject) });
  for (const { protocol, endpoint } of inlineSubscriptions(subject.properties["Subscription"]))
    await asSns(subject, topics.subscribe({ topicArn: physicalOr(subject, topicArn), protocol, endpoint }));
}

/** On create the task's id is a proposal, on update it is the topic. */
function physicalOr({ task }: Subject, topicArn: string): string {
  return task.action === "update" ? task.physicalId : topicArn;
}

async function unsubscribeOthers(topics: TopicRegistry, subject: Subject): Promise<void> {
  const { oldProperties, physicalId } = subject.task;
  const key = ({ protocol, endpoint }: Inline): string => `${protocol} ${endpoint}`;
  const kept = new Set(inlineSubscriptions(subject.properties["Subscription"]).map(key));
  const before = inlineSubscriptions(oldProperties?.["Subscription"] as Json | undefined);
  const gone = new Set(before.map(key).filter((name) => !kept.has(name)));
  for (const subscription of await topics.subscriptionsOf(physicalId))
    if (gone.has(key(subscription))) await topics.unsubscribe(subscription.arn);
}

interface Inline {
  readonly protocol: string;
  readonly endpoint: string;
}

function inlineSubscriptions(value: Json | undefined): readonly Inline[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw mismatch("Subscription", "List");
  return value.map((item: Json) => {
    const members = membersOf(item, "Subscription");
    return { protocol: toText(members["Protocol"]) ?? "", endpoint: toText(members["Endpoint"]) ?? "" };
  });
}

/** What SNS's refusal becomes as a resource's reason. */
async function asSns<T>({ task }: Subject, call: Promise<T>): Promise<T> {
  return await call.catch((error: unknown) => {
    if (!(error instanceof TopicError)) throw error;
    const isMissing = error.code === "NotFound";
    throw serviceFailure(
      {
        service: "Sns",
        message: error.message,
        httpStatus: isMissing ? 404 : 400,
        handlerErrorCode: isMissing ? "NotFound" : "InvalidRequest",
      },
      task.token,
      { cause: error },
    );
  });
}
