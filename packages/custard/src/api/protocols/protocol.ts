import type { ApiError } from "../api-error.ts";
import type { Operation, ServiceModel } from "../model.ts";
import type { BufferedRequest, WireAnswer, WireObject, WireRequest } from "../wire.ts";

/** A request whose operation is known. The body is left unread when the operation takes it as a stream. */
export interface Addressed {
  readonly operation: Operation;
  /** What the path names, and the bucket, which may stand in the host's name. */
  readonly labels: Readonly<Record<string, string>>;
}

/** How a family of services speaks. Throws `ApiError`, and nothing else, for whatever a request may hold. */
export interface Protocol {
  /** Which operation is asked for. Refuses what the service doesn't have. */
  address(model: ServiceModel, request: BufferedRequest): Addressed;
  /** The operation's input. */
  parse(call: ParseCall): WireObject;
  answer(call: AnswerCall): WireAnswer;
  refuse(call: RefuseCall): WireAnswer;
}

/** What a codec reads. */
export interface ParseCall {
  readonly model: ServiceModel;
  readonly request: BufferedRequest;
  readonly addressed: Addressed;
}

/** What a codec writes. */
export interface AnswerCall {
  readonly model: ServiceModel;
  readonly operation: Operation;
  readonly output: WireObject;
  readonly requestId: string;
}

/** A refusal to be written. */
export interface RefuseCall {
  readonly model: ServiceModel;
  readonly request: WireRequest;
  readonly error: ApiError;
  readonly requestId: string;
}
