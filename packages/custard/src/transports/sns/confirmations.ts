/** Gets endpoints to confirm their subscriptions. */
import type { Subscription, Topic } from "../../services/topic-record.ts";
import type { TopicRegistry } from "../../services/topics.ts";
import type { CallOutcome } from "./call-endpoint.ts";
import { formatConfirmation } from "./message.ts";
import type { Signer } from "./signer.ts";
import { askToConfirm, isTaken, retryDelays, type SendingOptions } from "./subscribers.ts";

/** What confirmations need. */
export interface ConfirmationOptions {
  readonly topics: TopicRegistry;
  readonly sending: SendingOptions;
  readonly signer: () => Promise<Signer>;
}

/** How long an endpoint that took the request to confirm may take to do so, in ms, before a message goes past it. */
const patience = 2000;

/** Asks, and remembers how it was taken. */
export class Confirmations {
  readonly #options: ConfirmationOptions;
  readonly #signal: AbortSignal;
  readonly #outcomes = new Map<string, CallOutcome>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #stopListening: () => void;

  constructor(options: ConfirmationOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#stopListening = options.topics.onConfirmation((arn) => {
      for (const confirmed of this.#waiting.get(arn) ?? []) confirmed();
    });
  }

  close(): void {
    this.#stopListening();
  }

  /** How the endpoint took the last request to confirm; undefined when it was not asked. */
  outcomeOf(subscription: Subscription): CallOutcome | undefined {
    return this.#outcomes.get(subscription.arn);
  }

  /** Asks the endpoint of a new subscription. Resolves after the first attempt; further ones follow on their own. */
  async invite(pending: Subscription): Promise<void> {
    try {
      const topic = await this.#options.topics.get(pending.topicArn);
      if (await this.#ask(topic, pending, this.#signal)) return;
      void this.#insist(topic, pending).catch(() => undefined);
    } catch {
      // Nobody waits for an endpoint to confirm; a message that would go to it tells.
    }
  }

  /**
   * A topic's subscriptions, after those of endpoints that have not confirmed had one more chance: a provider that
   * was started late would otherwise hang, and on AWS there are always some seconds between the two.
   */
  async settle(topic: Topic, signal: AbortSignal): Promise<readonly Subscription[]> {
    const { topics } = this.#options;
    const pending = (await topics.subscriptionsOf(topic.arn)).filter(({ status }) => status === "pending");
    await Promise.all(pending.map((subscription) => this.#chance(topic, subscription, signal)));
    return await topics.subscriptionsOf(topic.arn);
  }

  async #chance(topic: Topic, subscription: Subscription, signal: AbortSignal): Promise<void> {
    const patient = new AbortController();
    const confirmed = this.#confirmationOf(subscription, patient.signal);
    if (await this.#ask(topic, subscription, signal)) {
      const tired = this.#options.sending.clock.sleep(patience, AbortSignal.any([signal, patient.signal]));
      await Promise.race([confirmed, tired]).catch(() => undefined);
    }
    patient.abort();
    signal.throwIfAborted();
  }

  async #confirmationOf({ arn }: Subscription, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(arn) ?? new Set();
      this.#waiting.set(arn, waiting.add(resolve));
      signal.addEventListener("abort", () => {
        waiting.delete(resolve);
        if (waiting.size === 0) this.#waiting.delete(arn);
      });
    });
  }

  async #insist(topic: Topic, pending: Subscription): Promise<void> {
    const { sending, topics } = this.#options;
    for (const delay of retryDelays(sending, topic, pending)) {
      await sending.clock.sleep(delay, this.#signal);
      const subscription = await topics.subscription(pending.arn);
      if (subscription.status === "confirmed" || (await this.#ask(topic, subscription, this.#signal))) return;
    }
  }

  /** Whether the endpoint took the message. */
  async #ask(topic: Topic, subscription: Subscription, signal: AbortSignal): Promise<boolean> {
    if (subscription.protocol !== "http" && subscription.protocol !== "https") return false;
    const { sending, signer } = this.#options;
    const confirmation = formatConfirmation(topic, subscription, {
      signer: await signer(),
      at: sending.clock.now(),
    });
    const outcome = await askToConfirm(sending, { subscription, confirmation }, signal);
    if (outcome === undefined) return false;
    this.#outcomes.set(subscription.arn, outcome);
    return isTaken(outcome);
  }
}
