/** Why the function registry refuses a call. The endpoint maps each to Lambda's code and status. */
export type FunctionErrorCode =
  /** ResourceNotFoundException */
  | "NotFound"
  /** ResourceConflictException */
  | "Conflict"
  /** InvalidParameterValueException */
  | "InvalidParameter";

/** A refusal in Lambda's own words where Lambda has some. */
export class FunctionError extends Error {
  override readonly name = "FunctionError";
  readonly code: FunctionErrorCode;

  constructor(code: FunctionErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
