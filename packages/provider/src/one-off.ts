import { encodeSuccess, type Work } from "./call.ts";
import { validId } from "./encode.ts";
import { isNotFound } from "./not-found.ts";
import { defaultPhysicalId } from "./physical-id.ts";
import type { JsonObject } from "./protocol/json.ts";
import type { RequestType } from "./protocol/request.ts";

/** What a one-off function gets: properties as they came (every scalar is a string). */
export interface OneOffCall {
  readonly type: RequestType;
  readonly properties: JsonObject;
  /** On Update only. */
  readonly oldProperties: JsonObject | undefined;
  /** Undefined on Create. */
  readonly id: string | undefined;
  /** Aborted when time runs out. */
  readonly signal: AbortSignal;
}

/** What a one-off function gives. The id counts on Create only. */
export interface OneOffResult {
  readonly id?: string;
  readonly attributes?: JsonObject;
}

/** The smallest provider: one function for all three request types. */
export type OneOff = (call: OneOffCall) => Promise<OneOffResult | undefined | void>;

/** The work of a one-off function. */
export function oneOff(run: OneOff): Work {
  return async (call) => {
    const { request } = call;
    const { requestType: type, properties } = request;
    const id = type === "Create" ? undefined : request.physicalId;
    const oldProperties = type === "Update" ? request.oldProperties : undefined;
    const result = await run({ type, properties, oldProperties, id, signal: call.cancel.signal }).catch(
      (error: unknown) => {
        if (type !== "Delete" || !isNotFound(error)) throw error;
      },
    );
    const physicalId = id ?? validId(result?.id ?? (await defaultPhysicalId(request, request.requestId)));
    call.adopted = physicalId;
    return encodeSuccess(call, physicalId, result?.attributes);
  };
}
