/** Sentences about requests that no subscriber has answered, or ever will: what happened and what to do. */
import { parseTopicArn } from "../../services/topic-arn.ts";
import type { Subscription } from "../../services/topic-record.ts";
import { type CallOutcome, shownEndpoint } from "./call-endpoint.ts";

/** What became of a request at one subscriber. */
export type SubscriberEnd =
  /** Somebody has it who may answer. */
  | { readonly kind: "handed" }
  /** Somebody may have it, and something went wrong. */
  | { readonly kind: "troubled"; readonly why: string }
  /** It has certainly got nothing, or has certainly ended without an answer. */
  | { readonly kind: "missed"; readonly why: string };

/** A topic's name as people know it. */
export function topicName(topicArn: string): string {
  return parseTopicArn(topicArn)?.name ?? topicArn;
}

/** A topic that nobody listens to. */
export function nobodySubscribed(topicArn: string): string {
  return `Topic ${topicName(topicArn)} has no subscription, so that nobody got the request: subscribe its provider (AWS::SNS::Subscription), and let the custom resource depend on that.`;
}

/** A topic all of whose subscriptions want other messages. */
export function nobodyWanted(topicArn: string): string {
  return `No filter policy of topic ${topicName(topicArn)}'s subscriptions lets the request through, so that nobody got it: CloudFormation's requests have no message attributes; remove FilterPolicy, or filter by MessageBody.`;
}

/** A subscription that was not confirmed. `asked` is how its endpoint took the request to confirm. */
export function unconfirmed(subscription: Subscription, asked: CallOutcome | undefined): string {
  const endpoint = shownEndpoint(subscription.endpoint);
  const topic = topicName(subscription.topicArn);
  const start = `The subscription of ${endpoint} to topic ${topic} isn't confirmed, so that SNS sends it no request`;
  if (asked === undefined) return isUrl(endpoint) ? elsewhere(subscription) : unserved(subscription);
  switch (asked.kind) {
    case "answered":
      return `${start}: it got the SubscriptionConfirmation message (and answered ${asked.status}), and must GET the SubscribeURL in it. A provider that you run yourself gets there when it is started by custard exec -- COMMAND.`;
    case "unreachable":
      return `${start}: it can't be reached (${asked.reason}). ${startProvider}`;
    case "unanswered":
      return `${start}: it took the SubscriptionConfirmation message without an answer (${asked.reason}).`;
  }
}

/** An endpoint that could not be reached, or did not take the message. */
export function undelivered(subscription: Subscription, last: CallOutcome, attempts: number): SubscriberEnd {
  const who = `Subscriber ${shownEndpoint(subscription.endpoint)} of topic ${topicName(subscription.topicArn)}`;
  const times = attempts === 1 ? "" : ` (${attempts} attempts)`;
  switch (last.kind) {
    case "answered":
      return {
        kind: "troubled",
        why: `${who} answered ${last.status} to the request${times}: look into its log.`,
      };
    case "unanswered":
      return { kind: "troubled", why: `${who} took the request without an answer${times}: ${last.reason}.` };
    case "unreachable":
      return { kind: "missed", why: `${who} can't be reached${times}: ${last.reason}. ${startProvider}` };
  }
}

/** A subscriber on another machine. */
export function elsewhere(subscription: Subscription): string {
  return `Subscriber ${shownEndpoint(subscription.endpoint)} of topic ${topicName(subscription.topicArn)} isn't on this machine, so that nothing is sent to it: run the provider here, or allow its host (--subscriber-hosts).`;
}

/** A kind of subscriber that gets nothing here. */
export function unserved(subscription: Subscription): string {
  return `The ${subscription.protocol} subscription of topic ${topicName(subscription.topicArn)} gets no messages here: only lambda, http, https and sqs do.`;
}

function isUrl(endpoint: string): boolean {
  return /^https?:/u.test(endpoint);
}

const startProvider =
  "Start the provider (custard exec -- COMMAND lets its answers come back), then try again.";
