/**
 * One custom resource, driven without a stack: the same requests, the same reading of answers, the same replacement
 * and clean-up as in a stack, and nothing kept.
 *
 * V1: one request at a time; the next call waits for no other.
 * V2: what was ever asked for can be deleted: by the id that was answered, or else by one that is made up (fact 63).
 * V3: another id in an Update's answer, failed or not, is adopted (facts 67, 71); after a success the id before it is
 *     deleted, with up to three tries (fact 76).
 */
import type { JsonObject, ResponseVerdict } from "@custard/provider/protocol";
import type { ValueMap } from "../template/value.ts";
import { faultOfCustomProperties, sameProperties } from "./issue-request.ts";
import {
  creationCancelled,
  noResponse,
  providerFailed,
  serviceTokenModified,
  updateCancelled,
} from "./messages.ts";
import type { RequestId } from "./ids.ts";

/** One request to send. */
export interface DrivenRequest {
  readonly requestType: "Create" | "Update" | "Delete";
  readonly properties: JsonObject;
  readonly oldProperties?: JsonObject;
  readonly physicalId?: string;
}

/** What became of a request. */
export type DrivenEnd =
  | { readonly kind: "answered"; readonly verdict: Exclude<ResponseVerdict, { kind: "foreign" }> }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "silent"; readonly advice: string }
  | { readonly kind: "timed-out" };

/** Sends a request and waits for its end. Rejects with the signal's reason when it is aborted. */
export type Send = (
  request: DrivenRequest,
  signal: AbortSignal,
) => Promise<{ readonly requestId: string; readonly end: DrivenEnd }>;

/** How an act on the resource ended. A failure of the provider is a value, not an error. */
export type DrivenOutcome =
  | {
      readonly status: "SUCCESS";
      readonly physicalId: string;
      readonly attributes: JsonObject;
      /** The provider wants its attributes hidden from whoever looks. */
      readonly noEcho: boolean;
      /** Of an update: the id that was given up for this one, and whether it could be deleted. */
      readonly replaced?: { readonly physicalId: string; readonly deleted: boolean };
    }
  | {
      readonly status: "FAILED";
      /** As a stack's event would say it. */
      readonly reason: string;
      readonly cause: "answered" | "malformed" | "refused" | "silent" | "timed-out" | "aborted" | "not-sent";
      readonly physicalId?: string;
    };

/** Options of each act. */
export interface DriveOptions {
  /** Stops waiting; the answer is then ignored, as that of a cancelled request in a stack. */
  readonly signal?: AbortSignal;
}

interface Known {
  readonly physicalId: string;
  /** What was sent last. */
  readonly properties: JsonObject;
  readonly attributes: JsonObject;
  /** Is it there and unharmed? */
  readonly live: boolean;
}

const cleanupAttempts = 3;

/** A custom resource of its own. Acts throw when they make no sense now: a second create, an update of nothing. */
export class DrivenResource {
  readonly #send: Send;
  readonly #madeUpId: string;
  readonly #serviceToken: string;
  #known: Known | undefined;
  #busy = false;

  /** `madeUpId`: what a delete names when no answer ever brought an id. */
  constructor(options: { readonly send: Send; readonly madeUpId: string; readonly serviceToken: string }) {
    this.#send = options.send;
    this.#madeUpId = options.madeUpId;
    this.#serviceToken = options.serviceToken;
  }

  /** The id in force; undefined when there is nothing that could be deleted. */
  get physicalId(): string | undefined {
    return this.#known?.physicalId;
  }

  /** `Data` of the newest successful answer. */
  get attributes(): JsonObject {
    return this.#known?.attributes ?? {};
  }

  /** Asks for the resource to be created. */
  async create(properties: JsonObject, options: DriveOptions = {}): Promise<DrivenOutcome> {
    if (this.#known !== undefined) throw new Error("The resource was created already.");
    return this.#act(async () => {
      const sent = this.#complete(properties);
      const fault = faultOf(sent);
      if (fault !== undefined) return fault;
      const end = await this.#ask({ requestType: "Create", properties: sent }, options);
      const outcome = outcomeOf(end, creationCancelled);
      if (isUnreached(outcome)) return outcome;
      const physicalId = outcome.physicalId ?? this.#madeUpId;
      this.#known = {
        physicalId,
        properties: sent,
        attributes: attributesOf(outcome),
        live: isSuccess(outcome),
      };
      return outcome;
    });
  }

  /** Asks for other properties. What doesn't change sends nothing, and succeeds (fact 21). */
  async update(properties: JsonObject, options: DriveOptions = {}): Promise<DrivenOutcome> {
    const before = this.#mustExist();
    return this.#act(async () => {
      if (properties["ServiceToken"] !== undefined && properties["ServiceToken"] !== this.#serviceToken)
        return { status: "FAILED", cause: "not-sent", reason: serviceTokenModified };
      const sent = this.#complete(properties);
      const fault = faultOf(sent);
      if (fault !== undefined) return fault;
      if (before.live && same(before.properties, sent)) return unchanged(before);
      const { physicalId, properties: oldProperties } = before;
      const end = await this.#ask(
        { requestType: "Update", properties: sent, oldProperties, physicalId },
        options,
      );
      const outcome = outcomeOf(end, updateCancelled);
      if (isUnreached(outcome)) return outcome;
      this.#adopt(outcome, { before, sent });
      return isSuccess(outcome) && outcome.physicalId !== physicalId
        ? { ...outcome, replaced: await this.#cleanUp(before, options) }
        : outcome;
    });
  }

  /** Asks for the resource to be deleted. After a failure it can be asked again. */
  async delete(options: DriveOptions = {}): Promise<DrivenOutcome> {
    const { physicalId, properties } = this.#mustExist();
    return this.#act(async () => {
      const end = await this.#ask({ requestType: "Delete", properties, physicalId }, options);
      const outcome = outcomeOf(end, "Resource deletion cancelled");
      if (isSuccess(outcome)) this.#known = undefined;
      // Another id in a Delete's answer means nothing (fact 59).
      return isSuccess(outcome) ? { ...outcome, physicalId, attributes: {}, noEcho: false } : outcome;
    });
  }

  #mustExist(): Known {
    if (this.#known === undefined) throw new Error("There is no resource: create it first.");
    return this.#known;
  }

  /** V1 */
  async #act(work: () => Promise<DrivenOutcome>): Promise<DrivenOutcome> {
    if (this.#busy) throw new Error("The resource is busy: wait for the act before, or abort it.");
    this.#busy = true;
    try {
      return await work();
    } finally {
      this.#busy = false;
    }
  }

  #complete(properties: JsonObject): JsonObject {
    return { ...properties, ServiceToken: this.#serviceToken };
  }

  async #ask(request: DrivenRequest, { signal }: DriveOptions): Promise<Asked> {
    try {
      return await this.#send(request, signal ?? new AbortController().signal);
    } catch (error) {
      if (signal?.aborted === true) return "aborted";
      throw error;
    }
  }

  /** V3 */
  #adopt(outcome: DrivenOutcome, { before, sent }: { before: Known; sent: JsonObject }): void {
    this.#known = {
      physicalId: outcome.physicalId ?? before.physicalId,
      properties: sent,
      attributes: isSuccess(outcome) ? outcome.attributes : before.attributes,
      live: isSuccess(outcome),
    };
  }

  async #cleanUp(
    { physicalId, properties }: Known,
    options: DriveOptions,
  ): Promise<{ readonly physicalId: string; readonly deleted: boolean }> {
    for (let attempt = 0; attempt < cleanupAttempts; attempt += 1) {
      const end = await this.#ask({ requestType: "Delete", properties, physicalId }, options);
      if (isSuccess(outcomeOf(end, "Resource deletion cancelled"))) return { physicalId, deleted: true };
    }
    return { physicalId, deleted: false };
  }
}

type Asked = Awaited<ReturnType<Send>> | "aborted";

function outcomeOf(asked: Asked, cancelled: string): DrivenOutcome {
  if (asked === "aborted") return { status: "FAILED", cause: "aborted", reason: cancelled };
  const { end } = asked;
  const requestId = asked.requestId as RequestId;
  switch (end.kind) {
    case "refused":
      return { status: "FAILED", cause: "refused", reason: end.reason };
    case "silent":
      return { status: "FAILED", cause: "silent", reason: end.advice };
    case "timed-out":
      return { status: "FAILED", cause: "timed-out", reason: noResponse(requestId) };
    case "answered":
      return answered(end.verdict, requestId);
  }
}

function answered(
  verdict: Extract<DrivenEnd, { kind: "answered" }>["verdict"],
  requestId: RequestId,
): DrivenOutcome {
  if (verdict.kind === "malformed") return { status: "FAILED", cause: "malformed", reason: verdict.reason };
  const { response } = verdict;
  const { physicalId } = response;
  switch (response.status) {
    case "FAILED":
      return {
        status: "FAILED",
        cause: "answered",
        reason: providerFailed(response.reason, requestId),
        physicalId,
      };
    case "SUCCESS":
      return { status: "SUCCESS", physicalId, attributes: response.data, noEcho: response.noEcho };
  }
}

/** Nobody was asked: nothing has changed, and nothing is to be deleted. */
function isUnreached(outcome: DrivenOutcome): boolean {
  return outcome.status === "FAILED" && (outcome.cause === "refused" || outcome.cause === "not-sent");
}

function isSuccess(outcome: DrivenOutcome): outcome is Extract<DrivenOutcome, { status: "SUCCESS" }> {
  return outcome.status === "SUCCESS";
}

function attributesOf(outcome: DrivenOutcome): JsonObject {
  return isSuccess(outcome) ? outcome.attributes : {};
}

function unchanged({ physicalId, attributes }: Known): DrivenOutcome {
  return { status: "SUCCESS", physicalId, attributes, noEcho: false };
}

function faultOf(properties: JsonObject): DrivenOutcome | undefined {
  const reason = faultOfCustomProperties(valuesOf(properties));
  return reason === undefined ? undefined : { status: "FAILED", cause: "not-sent", reason };
}

function same(a: JsonObject, b: JsonObject): boolean {
  return sameProperties(valuesOf(a), valuesOf(b));
}

/** JSON is made of values. */
function valuesOf(properties: JsonObject): ValueMap {
  return { ...properties };
}
