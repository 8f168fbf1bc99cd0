/**
 * Delivers requests to topics on this machine, and whatever else is published to them.
 *
 * Owns how a request becomes a message and who gets it, confirmation of endpoints, and when a topic counts as silent.
 *
 * Invariants
 * S1. "silent" is said only when every subscriber has certainly got nothing, or has certainly ended without an answer.
 * S2. An endpoint that has not confirmed gets nothing but the request to confirm.
 * S3. Neither notes nor reasons contain a response URL, a token, or the query of an endpoint.
 */
import { randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import { formatRequest, type ProviderRequest } from "@custard/provider/protocol";
import type { RequestId, StackId } from "../../engine/ids.ts";
import type { Clock, Delivery, Documents, TraceEntry, Traces, Transport } from "../../engine/ports.ts";
import { letsThrough, type MessageAttribute, parseFilterPolicy } from "../../services/filter-policy.ts";
import type { OperationSettings } from "../../services/operation-settings.ts";
import type { QueueRegistry } from "../../services/queues.ts";
import { parseTopicArn } from "../../services/topic-arn.ts";
import { invalidParameter } from "../../services/topic-error.ts";
import type { Subscription, Topic } from "../../services/topic-record.ts";
import type { TopicRegistry } from "../../services/topics.ts";
import { Confirmations } from "./confirmations.ts";
import { nobodySubscribed, nobodyWanted, type SubscriberEnd, unconfirmed } from "./diagnosis.ts";
import type { Publication } from "./message.ts";
import { openSigner, type Signer, type SigningPair } from "./signer.ts";
import { isSnsHost, snsSite } from "./site.ts";
import { type FunctionCaller, type SendingOptions, sendTo } from "./subscribers.ts";

/** What the transport needs. */
export interface SnsTransportOptions {
  readonly topics: TopicRegistry;
  readonly queues: QueueRegistry;
  readonly documents: Documents;
  readonly traces: Traces;
  readonly clock: Clock;
  /** The Lambda transport. */
  readonly functions: FunctionCaller;
  /** Makes the key that signs; asked once in a state directory's life. */
  readonly issue: () => Promise<SigningPair>;
  /** Has an answer for this request been received? */
  readonly answered: (request: ProviderRequest) => boolean | Promise<boolean>;
  /** Factor on SNS's delays before retries. Default 1: SNS's own, 20 s. */
  readonly retryScale?: number;
  /** Hosts besides this machine's own that may be called; `*` for all. Default: none. */
  readonly subscriberHosts?: readonly string[];
  /** Ends a request at once that certainly stays unanswered. Default true. */
  readonly failFast?: boolean;
  /** What holds for one request instead of these, as far as it says so. */
  readonly settingsOf?: (
    request: ProviderRequest,
  ) => Promise<Partial<Pick<OperationSettings, "snsRetryScale" | "failFast">>>;
}

/** Something to publish. */
export interface NewMessage {
  readonly topicArn: string;
  readonly message: string;
  readonly subject?: string;
  readonly attributes?: Readonly<Record<string, MessageAttribute>>;
}

/** The transport, and what else can be done with topics. */
export interface SnsTransport extends Transport {
  /** Publishes as anybody may. Resolves when the message is accepted. Throws `TopicError`. */
  publish(message: NewMessage): Promise<{ readonly messageId: string }>;
  /** What SNS's host names serve: certificates, and the links in messages. */
  readonly site: { readonly matches: (host: string) => boolean; readonly listener: RequestListener };
  /** Ends deliveries; those of requests go on with the engine. */
  close(): Promise<void>;
}

/** CloudFormation's own subject (fact 20); providers dispatch on it. */
const subject = "AWS CloudFormation custom resource request";
/** Milliseconds that deliveries get to end when there are no more. */
const closingTime = 1000;
/** SNS's limit for message and attributes together. */
const messageBytes = 262_144;

/** Makes a transport; nothing is signed or sent before it is needed. */
export function createSnsTransport(options: SnsTransportOptions): SnsTransport {
  return new LocalSns(options);
}

class LocalSns implements SnsTransport {
  readonly site: SnsTransport["site"];
  readonly #options: SnsTransportOptions;
  readonly #sending: SendingOptions;
  readonly #confirmations: Confirmations;
  readonly #closing = new AbortController();
  readonly #background = new Set<Promise<unknown>>();
  #signer: Promise<Signer> | undefined;

  constructor(options: SnsTransportOptions) {
    this.#options = options;
    const { functions, queues, clock, retryScale = 1, subscriberHosts = [] } = options;
    const mayCall = (url: URL) => isAllowed(url, subscriberHosts);
    this.#sending = { functions, queues, clock, mayCall, retryScale };
    const signer = () => this.#openSigner();
    this.#confirmations = new Confirmations(
      { topics: options.topics, sending: this.#sending, signer },
      this.#closing.signal,
    );
    options.topics.attend((pending) => this.#confirmations.invite(pending));
    this.site = { matches: isSnsHost, listener: snsSite({ topics: options.topics, signer }) };
  }

  serves(serviceToken: string): boolean {
    return /^arn:[^:]*:sns:/u.test(serviceToken);
  }

  async deliver(request: ProviderRequest, signal: AbortSignal): Promise<Delivery> {
    const message = JSON.stringify(formatRequest(request));
    const topic = await this.#address(request, message);
    if (typeof topic === "string") return { kind: "refused", reason: topic };
    const note = this.#noterOf(request);
    note("delivered", `${request.requestType} of ${request.logicalId} is published to topic ${topic.arn}.`);
    const publication = this.#publicationOf(topic, { message, subject });
    const ends = await this.#spread(
      publication,
      { request, note },
      AbortSignal.any([signal, this.#closing.signal]),
    );
    return await this.#judge(request, ends, note);
  }

  async publish(input: NewMessage): Promise<{ readonly messageId: string }> {
    const topic = await this.#options.topics.get(input.topicArn);
    if (input.message === "") throw invalidParameter("Empty message");
    if (sizeOf(input) > messageBytes) throw invalidParameter("Message too long");
    const publication = this.#publicationOf(topic, input);
    this.#inBackground(this.#spread(publication, { note: () => undefined }, this.#closing.signal));
    return { messageId: publication.messageId };
  }

  async close(): Promise<void> {
    await Promise.race([
      Promise.allSettled(this.#background),
      this.#options.clock.sleep(closingTime, this.#closing.signal).catch(() => undefined),
    ]);
    this.#closing.abort(new Error("topics are no longer served"));
    this.#confirmations.close();
    await Promise.allSettled(this.#background);
  }

  /** The topic, or SNS's own words why the request can't go to it. */
  async #address(request: ProviderRequest, message: string): Promise<Topic | string> {
    const details = (status: number, code: string) =>
      `(Service: AmazonSNS; Status Code: ${status}; Error Code: ${code}; Request ID: ${request.requestId})`;
    const reference = parseTopicArn(request.serviceToken);
    // Fact 17.
    if (reference === undefined || reference.region !== request.stackId.split(":")[3])
      return `Invalid parameter: TopicArn ${details(400, "InvalidParameter")}`;
    const topic = await this.#options.topics.find(request.serviceToken);
    if (topic === undefined) return `Topic does not exist ${details(404, "NotFound")}`;
    const size = Buffer.byteLength(message);
    if (size <= messageBytes) return topic;
    return `Invalid parameter: Message too long ${details(400, "InvalidParameter")}: the request has ${size} bytes, a message at most ${messageBytes}`;
  }

  #publicationOf(topic: Topic, input: Pick<NewMessage, "message" | "subject" | "attributes">): Publication {
    const { message, attributes = {} } = input;
    return {
      topic,
      messageId: randomUUID(),
      message,
      attributes,
      at: this.#options.clock.now(),
      ...(input.subject === undefined ? {} : { subject: input.subject }),
    };
  }

  /** To all subscribers at once. */
  async #spread(
    publication: Publication,
    about: { readonly request?: ProviderRequest; readonly note: Noter },
    signal: AbortSignal,
  ): Promise<readonly SubscriberEnd[]> {
    const { arn } = publication.topic;
    const subscriptions = await this.#confirmations.settle(publication.topic, signal);
    if (subscriptions.length === 0) return [{ kind: "missed", why: nobodySubscribed(arn) }];
    const wanting = subscriptions.filter((subscription) => wants(subscription, publication));
    if (wanting.length === 0) return [{ kind: "missed", why: nobodyWanted(arn) }];
    const signer = await this.#openSigner();
    const { request } = about;
    const settings = request === undefined ? {} : await this.#options.settingsOf?.(request);
    const sending = { ...this.#sending, retryScale: settings?.snsRetryScale ?? this.#sending.retryScale };
    return await Promise.all(
      wanting.map(async (subscription): Promise<SubscriberEnd> => {
        // S2.
        if (subscription.status === "pending")
          return {
            kind: "missed",
            why: unconfirmed(subscription, this.#confirmations.outcomeOf(subscription)),
          };
        return await sendTo(sending, { publication, subscription, signer, ...about }, signal);
      }),
    );
  }

  /** S1. */
  async #judge(request: ProviderRequest, ends: readonly SubscriberEnd[], note: Noter): Promise<Delivery> {
    if (await this.#options.answered(request)) return { kind: "over" };
    const complaints = ends.flatMap((end) => (end.kind === "handed" ? [] : [end.why]));
    if (complaints.length === 0) return { kind: "over" };
    const advice = complaints.join(" ");
    note("advice", advice);
    const isCertain = ends.every((end) => end.kind === "missed");
    const { failFast = this.#options.failFast ?? true } = (await this.#options.settingsOf?.(request)) ?? {};
    return isCertain && failFast ? { kind: "silent", advice } : { kind: "over" };
  }

  #openSigner(): Promise<Signer> {
    const { documents, issue } = this.#options;
    this.#signer ??= openSigner(documents, issue);
    return this.#signer;
  }

  #inBackground(work: Promise<unknown>): void {
    const quiet = work.catch(() => undefined).finally(() => this.#background.delete(quiet));
    this.#background.add(quiet);
  }

  #noterOf(request: ProviderRequest): Noter {
    const { traces, clock } = this.#options;
    // Requests carry plain strings, since providers see them too; inside they have brands.
    const owner = { requestId: request.requestId as RequestId, stackId: request.stackId as StackId };
    return (kind, text) => traces.note({ at: clock.now(), ...owner, kind, text });
  }
}

type Noter = (kind: Extract<TraceEntry["kind"], "delivered" | "failed" | "advice">, text: string) => void;

function wants(subscription: Subscription, publication: Publication): boolean {
  const { FilterPolicy: policy, FilterPolicyScope: scope } = subscription.attributes;
  return letsThrough(parseFilterPolicy(policy, scope), publication);
}

function sizeOf({ message, attributes = {} }: NewMessage): number {
  const texts = Object.entries(attributes).flatMap(([name, { type, value }]) => [name, type, value]);
  return [message, ...texts].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** A template may name real endpoints of others: they get nothing from here unless the user says so. */
function isAllowed({ hostname }: URL, hosts: readonly string[]): boolean {
  const isLocal =
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127(?:\.\d+){3}$/u.test(hostname);
  return isLocal || hosts.includes("*") || hosts.includes(hostname);
}
