/**
 * Messages in the shapes in which SNS sends them: signed JSON for endpoints and queues, records for functions.
 * Source: SNS's pages on message formats and on verifying signatures; fact 20 for CloudFormation's own.
 */
import { randomUUID } from "node:crypto";
import { type JsonObject, urlSuffixOf } from "@custard/provider/protocol";
import type { MessageAttribute } from "../../services/filter-policy.ts";
import { parseTopicArn } from "../../services/topic-arn.ts";
import type { Subscription, Topic } from "../../services/topic-record.ts";
import type { SignatureVersion, Signer } from "./signer.ts";

/** What is published. */
export interface Publication {
  readonly topic: Topic;
  readonly messageId: string;
  readonly message: string;
  readonly subject?: string;
  readonly attributes: Readonly<Record<string, MessageAttribute>>;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A message for one subscriber. */
export interface SignedMessage {
  readonly type: "Notification" | "SubscriptionConfirmation";
  readonly messageId: string;
  readonly fields: JsonObject;
}

/** Where SNS of a topic's region is: `https://sns.us-east-1.amazonaws.com`. */
function serviceUrlOf(topicArn: string): string {
  const topic = parseTopicArn(topicArn);
  if (topic === undefined) throw new Error("SN1: a kept topic has an ARN that is none");
  return `https://sns.${topic.region}.${urlSuffixOf(topic.partition)}`;
}

/** The message that a subscriber gets of a publication. */
export function formatNotification(
  publication: Publication,
  subscription: Subscription,
  signer: Signer,
): SignedMessage {
  const { topic, messageId, message, subject, at } = publication;
  const base = serviceUrlOf(topic.arn);
  const signed = {
    Type: "Notification",
    MessageId: messageId,
    TopicArn: topic.arn,
    ...(subject === undefined ? {} : { Subject: subject }),
    Message: message,
    Timestamp: new Date(at).toISOString(),
  };
  const fields = {
    ...signed,
    ...signature(signed, topic, signer),
    UnsubscribeURL: `${base}/?Action=Unsubscribe&SubscriptionArn=${subscription.arn}`,
    ...attributesOf(publication),
  };
  return { type: "Notification", messageId, fields };
}

/** The message that asks an endpoint to confirm. */
export function formatConfirmation(
  topic: Topic,
  subscription: Subscription,
  by: { readonly signer: Signer; readonly at: number },
): SignedMessage {
  const messageId = randomUUID();
  const query = `Action=ConfirmSubscription&TopicArn=${topic.arn}&Token=${subscription.token}`;
  const signed = {
    Type: "SubscriptionConfirmation",
    MessageId: messageId,
    Token: subscription.token,
    TopicArn: topic.arn,
    Message: `You have chosen to subscribe to the topic ${topic.arn}.\nTo confirm the subscription, visit the SubscribeURL included in this message.`,
    SubscribeURL: `${serviceUrlOf(topic.arn)}/?${query}`,
    Timestamp: new Date(by.at).toISOString(),
  };
  const fields = { ...signed, ...signature(signed, topic, by.signer) };
  return { type: "SubscriptionConfirmation", messageId, fields };
}

/** The event that a subscribed function gets. Its names of two members differ from the JSON's. */
export function formatLambdaEvent(notification: SignedMessage, subscription: Subscription): JsonObject {
  const { SigningCertURL, UnsubscribeURL, Subject, MessageAttributes, ...fields } = notification.fields;
  return {
    Records: [
      {
        EventSource: "aws:sns",
        EventVersion: "1.0",
        EventSubscriptionArn: subscription.arn,
        Sns: {
          ...fields,
          Subject: Subject ?? null,
          SigningCertUrl: SigningCertURL ?? "",
          UnsubscribeUrl: UnsubscribeURL ?? "",
          MessageAttributes: MessageAttributes ?? {},
        },
      },
    ],
  };
}

function signature(signed: Readonly<Record<string, string>>, topic: Topic, signer: Signer) {
  const version: SignatureVersion = topic.attributes["SignatureVersion"] === "2" ? "2" : "1";
  return {
    SignatureVersion: version,
    Signature: signer.sign(stringToSign(signed), version),
    SigningCertURL: `${serviceUrlOf(topic.arn)}${signer.certificatePath}`,
  };
}

/** All members that are signed, by name in alphabetical order: name and value on a line each. */
function stringToSign(signed: Readonly<Record<string, string>>): string {
  const names = Object.keys(signed).toSorted();
  return names.map((name) => `${name}\n${signed[name]}\n`).join("");
}

function attributesOf({ attributes }: Publication): JsonObject {
  const entries = Object.entries(attributes).map(([name, { type, value }]): [string, JsonObject] => [
    name,
    { Type: type, Value: value },
  ]);
  return entries.length === 0 ? {} : { MessageAttributes: Object.fromEntries(entries) };
}
