import type { Clock } from "./clock.ts";
import { type Encoded, encodeResponse } from "./encode.ts";
import type { LogFields, LogLevel, Write } from "./write-log.ts";
import type { JsonObject } from "./protocol/json.ts";
import type { ProviderRequest } from "./protocol/request.ts";

/** One request being worked on, as the core and whoever does the work see it. */
export interface Call {
  readonly request: ProviderRequest;
  readonly clock: Clock;
  /** When the first delivery of the request came; milliseconds since the epoch. */
  readonly startedAt: number;
  /** How long this process had when it began; milliseconds. */
  readonly left: number;
  readonly tombstone: string;
  /** Aborted when the author's code has to stop. */
  readonly cancel: AbortController;
  readonly write: Write;
  /** When the answer must be out. */
  deadline: number;
  /** What is going on, for reasons and logs. */
  step: string;
  /** What a failure is cleaned up under, once something exists. */
  adopted: string | undefined;
  /** Takes secrets out of texts. */
  scrub: (text: string) => string;
  /** Does something at a time, unless the request is over by then. */
  readonly alarm: (at: number, ring: () => void) => void;
  /** Answers with a failure, unless there is an outcome already. */
  readonly fail: (error: unknown) => void;
}

/** Works on a request. Undefined: somebody else answers. What it throws is answered as FAILED. */
export type Work = (call: Call) => Promise<Encoded | undefined>;

/** The answer to a success. */
export function encodeSuccess({ request }: Call, physicalId: string, data: JsonObject = {}): Encoded {
  return encodeResponse({ status: "SUCCESS", physicalId, data, noEcho: false }, request);
}

/** The answer to a failure: under what was adopted, else under the id that came, else under a tombstone. */
export function encodeFailure(call: Call, error: unknown): Encoded {
  const { request, adopted, tombstone } = call;
  const { requestType } = request;
  const incoming = requestType === "Create" ? tombstone : request.physicalId;
  const physicalId = requestType === "Delete" ? incoming : (adopted ?? incoming);
  const reason = call.scrub(`${describeError(error)} (in ${call.step})`);
  return encodeResponse({ status: "FAILED", physicalId, reason }, request);
}

/** Logs a line about the request. */
export function log(call: Call, level: LogLevel, fields: LogFields & { msg: string }): void {
  const { requestId, logicalId, requestType } = call.request;
  call.write({ level, ...fields, logicalId, requestId, requestType });
}

/** The text of an error: its message and those of its first causes, no stack. */
export function describeError(error: unknown, causes = 3): string {
  const { message, name, cause } = Object(error) as Partial<Error>;
  const own = message || name || String(error);
  return cause === undefined || causes === 0 ? own : `${own} ← ${describeError(cause, causes - 1)}`;
}
