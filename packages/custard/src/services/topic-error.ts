/** Why the topic registry refuses a call: SNS's own codes. The endpoint maps each to SNS's status. */
export type TopicErrorCode = "NotFound" | "InvalidParameter" | "AuthorizationError";

/** A refusal in SNS's own words. */
export class TopicError extends Error {
  override readonly name = "TopicError";
  readonly code: TopicErrorCode;

  constructor(code: TopicErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** `Invalid parameter: …`, as SNS begins most of its refusals. */
export function invalidParameter(what: string, options?: ErrorOptions): TopicError {
  return new TopicError("InvalidParameter", `Invalid parameter: ${what}`, options);
}
