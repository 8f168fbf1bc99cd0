/**
 * Requests that no stack makes: one is sent, its answer is taken, and that is all. Nothing of them is kept.
 *
 * Invariant SR1: an answer belongs to the one request that it names; the first that counts ends it.
 */
import { randomUUID } from "node:crypto";
import {
  type JsonObject,
  parseResponse,
  type ProviderRequest,
  type RequestType,
  type ResponseVerdict,
  stringifyScalars,
} from "@custard/provider/protocol";
import type { LogicalId, RequestId, StackId } from "../engine/ids.ts";
import type {
  ArrivedResponse,
  Clock,
  Delivery,
  ResponseUrls,
  TraceEntry,
  Traces,
  Transport,
} from "../engine/ports.ts";
import type { FunctionScope } from "./function-arn.ts";

/** What to send. */
export interface WantedRequest {
  readonly requestType: RequestType;
  readonly serviceToken: string;
  readonly resourceType: string;
  /** Scalars become texts, as CloudFormation makes them (fact 10). */
  readonly properties: JsonObject;
  /** Update only. */
  readonly oldProperties?: JsonObject;
  /** Update and Delete. */
  readonly physicalId?: string;
  readonly timeoutSeconds: number;
  /** As which stack's and which resource's request it goes; of its own, when absent. */
  readonly stackId?: string;
  readonly logicalId?: string;
  /** Where the stack would be. */
  readonly scope: FunctionScope;
}

/** What became of it. */
export type SingleOutcome =
  | { readonly kind: "answered"; readonly verdict: Exclude<ResponseVerdict, { kind: "foreign" }> }
  /** The service didn't take it. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Nobody will answer it. */
  | { readonly kind: "silent"; readonly advice: string }
  | { readonly kind: "timed-out" };

/** A request that has ended. */
export interface EndedRequest {
  readonly request: ProviderRequest;
  readonly outcome: SingleOutcome;
  readonly trace: readonly TraceEntry[];
  readonly tookMs: number;
}

/** What sending needs. */
export interface SingleRequestOptions {
  readonly transports: readonly Transport[];
  readonly urls: ResponseUrls;
  readonly traces: Traces;
  readonly clock: Clock;
}

interface Pending {
  readonly request: ProviderRequest;
  readonly settle: (outcome: SingleOutcome) => void;
}

/** How long a provider that has answered may go on, in ms. */
const lastWords = 1000;
const stackName = "custard-invoke";
const logicalId = "Invoked";

/** The requests under way. */
export class SingleRequests {
  readonly #options: SingleRequestOptions;
  readonly #pending = new Map<string, Pending>();
  readonly #known = new Set<string>();

  constructor(options: SingleRequestOptions) {
    this.#options = options;
  }

  /** Is it one of these, and unanswered? */
  isPending(requestId: string): boolean {
    return this.#pending.has(requestId);
  }

  /** Is it one of these, answered or not? */
  isSingle(requestId: string): boolean {
    return this.#known.has(requestId);
  }

  /** Takes an answer; false when it is for a stack. */
  receive(arrived: ArrivedResponse): boolean {
    if (!this.isSingle(arrived.requestId)) return false;
    const pending = this.#pending.get(arrived.requestId);
    if (pending === undefined) return true;
    const verdict = parseResponse(arrived.body, arrived.length, pending.request);
    if (verdict.kind === "foreign") this.#note(pending.request, "failed", `${verdict.reason}.`);
    else pending.settle({ kind: "answered", verdict });
    return true;
  }

  /** Sends one request and waits for what becomes of it. Rejects when aborted. */
  async send(wanted: WantedRequest, signal: AbortSignal): Promise<EndedRequest> {
    const request = this.#make(wanted);
    const startedAt = this.#options.clock.now();
    const ended = new AbortController();
    const both = AbortSignal.any([signal, ended.signal]);
    try {
      const outcome = await this.#settle(request, wanted.timeoutSeconds * 1000, both);
      const trace = await this.#options.traces.ofRequest(toRequestId(request));
      return { request, outcome, trace, tookMs: this.#options.clock.now() - startedAt };
    } finally {
      this.#pending.delete(request.requestId);
      ended.abort(new Error("the request has ended"));
    }
  }

  async #settle(request: ProviderRequest, timeout: number, signal: AbortSignal): Promise<SingleOutcome> {
    const { clock } = this.#options;
    const delivering = this.#deliver(request, signal);
    const outcome = await new Promise<SingleOutcome>((resolve, reject) => {
      // SR1
      const settle = (settled: SingleOutcome): void => {
        this.#pending.delete(request.requestId);
        resolve(settled);
      };
      this.#pending.set(request.requestId, { request, settle });
      const abort = (): void => reject(signal.reason);
      signal.addEventListener("abort", abort);
      // A provider in this process may have aborted it while it was being handed over.
      if (signal.aborted) abort();
      const timedOut = clock.sleep(timeout, signal);
      timedOut.then(
        () => settle({ kind: "timed-out" }),
        () => undefined,
      );
      delivering.then((delivery) => settleBy(delivery, settle), reject);
    });
    // What the provider still writes after its answer belongs into the trace.
    await Promise.race([delivering, clock.sleep(lastWords, signal)]).catch(() => undefined);
    return outcome;
  }

  async #deliver(request: ProviderRequest, signal: AbortSignal): Promise<Delivery> {
    const transport = this.#options.transports.find((one) => one.serves(request.serviceToken));
    if (transport !== undefined) return await transport.deliver(request, signal);
    return {
      kind: "refused",
      reason: `${request.serviceToken} is no ARN of a Lambda function or an SNS topic.`,
    };
  }

  #make(wanted: WantedRequest): ProviderRequest {
    const { region, account, partition } = wanted.scope;
    const requestId = randomUUID();
    this.#known.add(requestId);
    const ownStack = `arn:${partition}:cloudformation:${region}:${account}:stack/${stackName}/${randomUUID()}`;
    const target = {
      stackId: (wanted.stackId ?? ownStack) as StackId,
      logicalId: (wanted.logicalId ?? logicalId) as LogicalId,
      requestId: requestId as RequestId,
    };
    const issuedAt = this.#options.clock.now();
    const base = {
      ...target,
      serviceToken: wanted.serviceToken,
      responseUrl: this.#options.urls.urlFor({ ...target, region, partition, issuedAt }),
      resourceType: wanted.resourceType,
      properties: propertiesOf(wanted, wanted.properties),
    };
    const { requestType, physicalId = "custard-invoke" } = wanted;
    switch (requestType) {
      case "Create":
        return { ...base, requestType };
      case "Delete":
        return { ...base, requestType, physicalId };
      case "Update":
        return {
          ...base,
          requestType,
          physicalId,
          oldProperties: propertiesOf(wanted, wanted.oldProperties ?? {}),
        };
    }
  }

  #note(request: ProviderRequest, kind: "failed", text: string): void {
    const owner = { requestId: toRequestId(request), stackId: request.stackId as StackId };
    this.#options.traces.note({ at: this.#options.clock.now(), ...owner, kind, text });
  }
}

function settleBy(delivery: Delivery, settle: (outcome: SingleOutcome) => void): void {
  switch (delivery.kind) {
    case "over":
      // The answer is still to come.
      return;
    case "silent":
    case "refused":
      settle(delivery);
  }
}

function propertiesOf({ serviceToken }: WantedRequest, properties: JsonObject): JsonObject {
  const sent: JsonObject = { ServiceToken: serviceToken };
  return Object.assign(sent, stringifyScalars(properties));
}

/** Requests carry plain strings, since providers see them too; inside they have brands. */
function toRequestId(request: ProviderRequest): RequestId {
  return request.requestId as RequestId;
}
