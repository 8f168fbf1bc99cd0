// The public entry `@custard/provider/cdk`: handlers for CDK's `Provider` framework, which does the answering itself.
import { answer, type CoreOptions } from "./answer.ts";
import type { Driver, Rest } from "./driver.ts";
import { memoryJournal } from "./journal.ts";
import type { LambdaContext } from "./lambda-handler.ts";
import { jsonLogger, writeTo } from "./log.ts";
import type { Json, JsonObject } from "./protocol/json.ts";
import { parseRequest } from "./protocol/request.ts";
import { parseResponse, type ProviderResponse } from "./protocol/response.ts";
import type { Options, Shared, Worker } from "./provider.ts";

/** What `onEvent` gives the framework. */
export interface OnEventResult {
  readonly PhysicalResourceId: string;
  readonly Data?: JsonObject;
  readonly NoEcho?: boolean;
  /** Work that isn't done: the framework hands it to `isComplete`. */
  readonly CustardRest?: { readonly state: Json; readonly startedAt: number };
}

/** What `isComplete` gives the framework. */
export interface IsCompleteResult {
  readonly IsComplete: boolean;
  readonly Data?: JsonObject;
}

/** Both handlers of one resource. */
export interface CdkHandlers {
  onEvent(event: unknown, context: LambdaContext): Promise<OnEventResult>;
  isComplete(event: unknown, context: LambdaContext): Promise<IsCompleteResult>;
}

/**
 * The handlers for `new Provider(this, "P", { onEventHandler, isCompleteHandler })`. Use them instead of `lambdaHandler`:
 * the framework answers CloudFormation, so these return and throw. Its `isComplete` gets the same state each time: the
 * framework can't hand on what a poll returns.
 */
export function cdkHandlers(
  resource: Worker,
  options: Omit<Options, "driver" | "transport"> = {},
): CdkHandlers {
  const journal = options.journal ?? memoryJournal();
  const run = async (event: unknown, context: LambdaContext): Promise<Ended> => {
    let ended: Ended | undefined;
    const driver: Driver = {
      shortestWait: 0,
      handOver: async (rest) => void (ended = { kind: "pending", rest }),
      resume: async () => undefined,
    };
    const shared: Shared = { options: { ...options, journal, driver }, running: new Map() };
    const parsed = parseRequest(event);
    if (!parsed.ok) throw new TypeError(parsed.complaint);
    const { request } = parsed;
    const core: CoreOptions = {
      ...options,
      write: writeTo(options.logger ?? jsonLogger()),
      // The answer goes to the framework instead of the response URL.
      transport: async (_url, body) => {
        const verdict = parseResponse(body, body.length, request);
        if (verdict.kind === "answer") ended = { kind: "answered", response: verdict.response };
        return { status: 200, body: "" };
      },
    };
    const { CustardRest: rest, PhysicalResourceId: id } = Object(event) as Partial<OnEventResult>;
    const continued = rest === undefined ? undefined : { id: String(id), state: rest.state };
    await answer(request, (call) => resource.work(call, shared, continued), {
      ...core,
      remaining: () => context.getRemainingTimeInMillis(),
      ...(rest !== undefined && { startedAt: rest.startedAt }),
    });
    if (ended === undefined) throw new Error("Another delivery of this request is at work");
    return ended;
  };
  return {
    async onEvent(event, context) {
      const ended = await run(event, context);
      if (ended.kind === "answered") return toResult(ended.response);
      const { continued, startedAt } = ended.rest;
      return { PhysicalResourceId: continued.id, CustardRest: { state: continued.state, startedAt } };
    },
    async isComplete(event, context) {
      const { CustardRest: rest } = Object(event) as Partial<OnEventResult>;
      if (rest === undefined) return { IsComplete: true };
      const ended = await run(event, context);
      if (ended.kind === "pending") return { IsComplete: false };
      const { Data } = toResult(ended.response);
      return { IsComplete: true, ...(Data !== undefined && { Data }) };
    },
  };
}

type Ended =
  | { readonly kind: "answered"; readonly response: ProviderResponse }
  | { readonly kind: "pending"; readonly rest: Rest };

function toResult(response: ProviderResponse): OnEventResult {
  if (response.status === "FAILED") throw new Error(response.reason);
  const { physicalId, data, noEcho } = response;
  return {
    PhysicalResourceId: physicalId,
    ...(Object.keys(data).length > 0 && { Data: data }),
    NoEcho: noEcho,
  };
}
