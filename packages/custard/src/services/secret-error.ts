/** Secrets Manager's own error codes; all of them come with status 400. */
export type SecretErrorCode =
  | "InvalidParameterException"
  | "InvalidRequestException"
  | "ResourceExistsException"
  | "ResourceNotFoundException"
  | "ValidationException";

/** A refusal of the secret store in Secrets Manager's words. */
export class SecretError extends Error {
  override readonly name = "SecretError";
  readonly code: SecretErrorCode;

  constructor(code: SecretErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
