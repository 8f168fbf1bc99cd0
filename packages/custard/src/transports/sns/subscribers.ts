/**
 * Brings a publication to one subscriber, with the retries that SNS makes, and to its dead letters in the end.
 *
 * Invariant S1: "missed" is said only of a subscriber that has certainly got nothing.
 */
import type { ProviderRequest } from "@custard/provider/protocol";
import type { Clock, Delivery } from "../../engine/ports.ts";
import { retryDelaysOf } from "../../services/delivery-policy.ts";
import { type FunctionReference, parseFunctionArn } from "../../services/function-arn.ts";
import type { QueueRegistry } from "../../services/queues.ts";
import { deadLetterQueueOf } from "../../services/topic-rules.ts";
import type { Subscription, Topic } from "../../services/topic-record.ts";
import { type CallOutcome, callEndpoint, shownEndpoint } from "./call-endpoint.ts";
import { elsewhere, type SubscriberEnd, topicName, undelivered, unserved } from "./diagnosis.ts";
import { formatLambdaEvent, formatNotification, type Publication, type SignedMessage } from "./message.ts";
import type { Signer } from "./signer.ts";

/** What runs functions: the Lambda transport. */
export interface FunctionCaller {
  deliverTo(
    request: ProviderRequest,
    to: { readonly functionArn: string; readonly payload: Uint8Array },
    signal: AbortSignal,
  ): Promise<Delivery>;
  invokeLater(call: {
    readonly reference: FunctionReference;
    readonly payload: Uint8Array;
  }): Promise<{ readonly requestId: string }>;
}

/** What sending needs of the world. */
export interface SendingOptions {
  readonly functions: FunctionCaller;
  readonly queues: QueueRegistry;
  readonly clock: Clock;
  /** May an HTTP endpoint be called? */
  readonly mayCall: (url: URL) => boolean;
  /** Factor on the delays before retries; 1 is SNS's own pace. */
  readonly retryScale: number;
}

/** One message on its way to one subscriber. */
export interface Sending {
  readonly publication: Publication;
  readonly subscription: Subscription;
  readonly signer: Signer;
  /** When CloudFormation is who publishes. */
  readonly request?: ProviderRequest;
  readonly note: Note;
}

/** Writes down what was seen. */
export type Note = (kind: "delivered" | "failed", text: string) => void;

const agent = "Amazon Simple Notification Service Agent";
const contentType = "text/plain; charset=UTF-8";

/** Sends. Rejects when aborted. */
export async function sendTo(
  options: SendingOptions,
  sending: Sending,
  signal: AbortSignal,
): Promise<SubscriberEnd> {
  const { subscription } = sending;
  const notification = formatNotification(sending.publication, subscription, sending.signer);
  switch (subscription.protocol) {
    case "lambda":
      return await sendToFunction(options, { ...sending, notification }, signal);
    case "sqs":
      return await sendToQueue(options, { ...sending, notification });
    case "http":
    case "https":
      return await sendToEndpoint(options, { ...sending, notification }, signal);
    case "email":
    case "email-json":
    case "sms":
    case "application":
    case "firehose":
      return { kind: "missed", why: unserved(subscription) };
  }
}

/** Asks an HTTP endpoint once to confirm. Undefined when it may not be called. */
export async function askToConfirm(
  options: SendingOptions,
  ask: { readonly subscription: Subscription; readonly confirmation: SignedMessage },
  signal: AbortSignal,
): Promise<CallOutcome | undefined> {
  const { subscription, confirmation } = ask;
  if (!options.mayCall(new URL(subscription.endpoint))) return undefined;
  const body = JSON.stringify(confirmation.fields, undefined, 2);
  return await callEndpoint(
    { url: subscription.endpoint, headers: headersOf(confirmation, subscription), body },
    signal,
  );
}

/** How long SNS waits before each retry at this endpoint, in milliseconds. */
export function retryDelays(
  options: SendingOptions,
  topic: Topic,
  subscription: Subscription,
): readonly number[] {
  const delays = retryDelaysOf(subscription.attributes["DeliveryPolicy"], topic.attributes["DeliveryPolicy"]);
  return delays.map((delay) => delay * options.retryScale);
}

/** Did the endpoint take it? 2xx, and 3xx, which SNS doesn't follow. */
export function isTaken(outcome: CallOutcome): boolean {
  return outcome.kind === "answered" && outcome.status >= 200 && outcome.status < 400;
}

interface Notifying extends Sending {
  readonly notification: SignedMessage;
}

async function sendToFunction(
  options: SendingOptions,
  sending: Notifying,
  signal: AbortSignal,
): Promise<SubscriberEnd> {
  const { subscription, request } = sending;
  const payload = Buffer.from(JSON.stringify(formatLambdaEvent(sending.notification, subscription)));
  if (request === undefined) return await invokeFunction(options, sending, payload);
  const delivery = await options.functions.deliverTo(
    request,
    { functionArn: subscription.endpoint, payload },
    signal,
  );
  switch (delivery.kind) {
    case "over":
      return { kind: "handed" };
    case "silent":
      return { kind: "missed", why: delivery.advice };
    case "refused":
      return await giveUp(options, sending, delivery.reason);
  }
}

async function invokeFunction(
  options: SendingOptions,
  sending: Notifying,
  payload: Uint8Array,
): Promise<SubscriberEnd> {
  const reference = parseFunctionArn(sending.subscription.endpoint);
  if (reference === undefined) return await giveUp(options, sending, "Lambda endpoint ARN");
  try {
    await options.functions.invokeLater({ reference, payload });
    return { kind: "handed" };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "FunctionError") throw error;
    return await giveUp(options, sending, error.message);
  }
}

/** A function that can't be invoked isn't tried again: SNS calls that a client error. */
async function giveUp(options: SendingOptions, sending: Notifying, reason: string): Promise<SubscriberEnd> {
  await bury(options, sending);
  const { topicArn } = sending.subscription;
  return {
    kind: "missed",
    why: `A subscriber of topic ${topicName(topicArn)} couldn't be invoked: ${reason}`,
  };
}

async function sendToQueue(options: SendingOptions, sending: Notifying): Promise<SubscriberEnd> {
  const { subscription, note } = sending;
  if ((await options.queues.find(subscription.endpoint)) === undefined) {
    await bury(options, sending);
    return {
      kind: "missed",
      why: `The queue ${subscription.endpoint}, subscribed to topic ${topicName(subscription.topicArn)}, doesn't exist.`,
    };
  }
  await options.queues.send(subscription.endpoint, queueMessageOf(sending));
  note("delivered", `The queue ${subscription.endpoint} got the message.`);
  return { kind: "handed" };
}

async function sendToEndpoint(
  options: SendingOptions,
  sending: Notifying,
  signal: AbortSignal,
): Promise<SubscriberEnd> {
  const { subscription } = sending;
  if (!options.mayCall(new URL(subscription.endpoint)))
    return { kind: "missed", why: elsewhere(subscription) };
  const attempts = await attempt(options, sending, signal);
  const last = attempts.at(-1);
  if (last === undefined) throw new Error("SN2: an endpoint was never called");
  if (attempts.some(isTaken)) return { kind: "handed" };
  await bury(options, sending);
  const hasConnected = attempts.find((outcome) => outcome.kind !== "unreachable");
  return undelivered(subscription, hasConnected ?? last, attempts.length);
}

async function attempt(
  options: SendingOptions,
  sending: Notifying,
  signal: AbortSignal,
): Promise<readonly CallOutcome[]> {
  const { subscription, notification, publication, note } = sending;
  const isRaw = subscription.attributes["RawMessageDelivery"] === "true";
  const body = isRaw ? publication.message : JSON.stringify(notification.fields, undefined, 2);
  const headers = {
    ...headersOf(notification, subscription),
    ...(isRaw ? { "x-amz-sns-rawdelivery": "true" } : {}),
  };
  const outcomes: CallOutcome[] = [];
  for (const delay of [0, ...retryDelays(options, publication.topic, subscription)]) {
    if (outcomes.length > 0) await options.clock.sleep(delay, signal);
    const outcome = await callEndpoint({ url: subscription.endpoint, headers, body }, signal);
    outcomes.push(outcome);
    note(
      isTaken(outcome) ? "delivered" : "failed",
      `POST to ${shownEndpoint(subscription.endpoint)}: ${describe(outcome)}`,
    );
    if (isTaken(outcome) || isFinal(outcome)) break;
  }
  return outcomes;
}

/** Client errors aren't tried again. */
function isFinal(outcome: CallOutcome): boolean {
  return outcome.kind === "answered" && outcome.status >= 400 && outcome.status < 500;
}

function describe(outcome: CallOutcome): string {
  return outcome.kind === "answered" ? String(outcome.status) : outcome.reason;
}

function headersOf({ type, messageId }: SignedMessage, subscription: Subscription): Record<string, string> {
  return {
    "content-type": contentType,
    "user-agent": agent,
    "x-amz-sns-message-type": type,
    "x-amz-sns-message-id": messageId,
    "x-amz-sns-topic-arn": subscription.topicArn,
    ...(type === "Notification" ? { "x-amz-sns-subscription-arn": subscription.arn } : {}),
  };
}

/** What can't be delivered goes to the queue of the subscription's redrive policy. */
async function bury(options: SendingOptions, sending: Notifying): Promise<void> {
  const { subscription, note } = sending;
  const queue = deadLetterQueueOf(subscription.attributes["RedrivePolicy"]);
  if (queue === undefined) return;
  if ((await options.queues.find(queue)) === undefined) {
    note("failed", `The dead-letter queue ${queue} doesn't exist.`);
    return;
  }
  await options.queues.send(queue, queueMessageOf(sending));
  note("delivered", `The message went to the dead-letter queue ${queue}.`);
}

function queueMessageOf({ subscription, publication, notification }: Notifying) {
  const isRaw = subscription.attributes["RawMessageDelivery"] === "true";
  return isRaw
    ? { body: publication.message, attributes: publication.attributes }
    : { body: JSON.stringify(notification.fields) };
}
