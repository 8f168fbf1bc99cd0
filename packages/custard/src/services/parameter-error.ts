/** Parameter Store's own error codes; all of them come with status 400. */
export type ParameterErrorCode =
  | "HierarchyLevelLimitExceededException"
  | "InvalidFilterKey"
  | "ParameterAlreadyExists"
  | "ParameterLimitExceeded"
  | "ParameterMaxVersionLimitExceeded"
  | "ParameterNotFound"
  | "ParameterPatternMismatchException"
  | "ParameterVersionLabelLimitExceeded"
  | "ParameterVersionNotFound"
  | "ValidationException";

/** A refusal of the parameter store in SSM's words. `ParameterNotFound` has none: neither has SSM. */
export class ParameterError extends Error {
  override readonly name = "ParameterError";
  readonly code: ParameterErrorCode;

  constructor(code: ParameterErrorCode, message = "") {
    super(message);
    this.code = code;
  }
}
