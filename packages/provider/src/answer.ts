/**
 * From a request to its answer.
 *
 * Invariants
 * S1: every request gets exactly one answer, whatever the author's code does, as long as the process lives and the
 *     response URL can be reached.
 * S2: the first outcome wins. A failed delivery never changes it; the invocation then rejects, so that whoever invoked
 *     delivers the request again.
 */
import { type Call, encodeFailure, encodeSuccess, log, type Work } from "./call.ts";
import { type Clock, systemClock } from "./clock.ts";
import { deliver } from "./deliver.ts";
import type { Encoded } from "./encode.ts";
import { guardCrashes } from "./guard.ts";
import { type Latch, latch } from "./latch.ts";
import { isTombstone, tombstone } from "./physical-id.ts";
import type { ParsedRequest, ProviderRequest } from "./protocol/request.ts";
import { directTransport, type Transport } from "./transport.ts";
import { type Write, writeLog } from "./write-log.ts";

/** What the core takes. */
export interface CoreOptions {
  /** Where log lines go. Default: stdout, as JSON. */
  readonly write?: Write;
  /** How a PUT is made. Default: `node:https`. */
  readonly transport?: Transport;
  readonly clock?: Clock;
  /** Told of each answer, for metrics. */
  onOutcome?(outcome: Outcome, request: ProviderRequest): void;
}

/** One answer, as metrics see it. */
export interface Outcome {
  readonly status: "SUCCESS" | "FAILED";
  readonly physicalId: string;
  readonly durationMs: number;
  /** PUTs that it took. */
  readonly attempts: number;
}

/** Where and since when a request is worked on. */
export interface Situation {
  /** Milliseconds until the process is stopped. */
  remaining(): number;
  /** When the first delivery came, if this isn't it. */
  readonly startedAt?: number;
}

type Refused = Extract<ParsedRequest, { ok: false }>;

/** Works on a request and delivers the answer. Rejects with a `DeliveryError` when that fails. */
export async function answer(
  request: ProviderRequest,
  work: Work,
  options: Situation & CoreOptions,
): Promise<void> {
  const result = latch<Encoded | undefined>();
  const over = new AbortController();
  const call = await openCall(request, options, { result, over: over.signal });
  const { left, clock } = call;
  const outOfTime = new Error("Out of time");
  try {
    await guardCrashes(call.fail, async () => {
      const warnAt = clock.now() + left - share(left, Math.max(2000, left * 0.05), 0.5);
      call.alarm(warnAt, () => call.cancel.abort(outOfTime));
      call.alarm(call.deadline, () => call.fail(outOfTime));
      start(call, work).then(result.settle, call.fail);
      const encoded = await result.settled;
      if (encoded !== undefined) await send(call, encoded, options);
    });
  } finally {
    over.abort();
  }
}

async function openCall(
  request: ProviderRequest,
  options: Situation & CoreOptions,
  { result, over }: { result: Latch<Encoded | undefined>; over: AbortSignal },
): Promise<Call> {
  const clock = options.clock ?? systemClock;
  const left = options.remaining();
  const end = clock.now() + left;
  const call: Call = {
    request,
    clock,
    startedAt: options.startedAt ?? clock.now(),
    left,
    tombstone: await tombstone(request),
    cancel: new AbortController(),
    write: options.write ?? writeLog,
    // Work that ends a second before the limit still succeeds.
    deadline: end - share(left, 900, 0.3),
    step: request.requestType.toLowerCase(),
    adopted: undefined,
    scrub: (text) => text.replaceAll(request.responseUrl, "«URL»"),
    alarm: (at, ring) => {
      clock.sleep(Math.max(0, at - clock.now()), over).then(ring, () => undefined);
    },
    fail: (error) => {
      log(call, "error", {
        msg: "failed",
        step: call.step,
        error: call.scrub(String((error as Error)?.stack ?? error)),
      });
      result.settle(encodeFailure(call, error));
    },
  };
  return call;
}

/** A Delete of what was never created succeeds without any work. */
async function start(call: Call, work: Work): Promise<Encoded | undefined> {
  const { request } = call;
  if (request.requestType !== "Delete" || !isTombstone(request.physicalId)) return work(call);
  return encodeSuccess(call, request.physicalId);
}

async function send(
  call: Call,
  { bytes, response }: Encoded,
  options: Situation & CoreOptions,
): Promise<void> {
  const { request, clock } = call;
  const attempts = await deliver(request.responseUrl, bytes, {
    clock,
    transport: options.transport ?? directTransport,
    remaining: () => options.remaining(),
    onFailure: (attempt, problem) => log(call, "warn", { msg: "not delivered", attempt, problem }),
  });
  const { status, physicalId } = response;
  const outcome = { status, physicalId, attempts, durationMs: clock.now() - call.startedAt };
  log(call, "info", { msg: "answered", ...outcome });
  options.onOutcome?.(outcome, request);
}

/** Answers what is no good as a request, as far as it says where to; the author's code isn't run. */
export async function refuse(
  { complaint, addressee }: Refused,
  options: Situation & CoreOptions,
): Promise<void> {
  const refusal = new TypeError(complaint);
  if (addressee === undefined) throw refusal;
  const base = {
    serviceToken: "",
    resourceType: "",
    properties: {},
    oldProperties: {},
    physicalId: "",
    ...addressee,
  };
  const requestType = base.physicalId === "" ? "Create" : "Update";
  await answer({ ...base, requestType }, () => Promise.reject(refusal), options);
}

/** `wanted` ms, but at most this part of what is left. */
function share(left: number, wanted: number, part: number): number {
  return Math.min(wanted, left * part);
}
