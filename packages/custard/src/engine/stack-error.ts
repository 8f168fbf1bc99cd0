/** Why the engine refuses a call. The endpoint maps each to AWS's code, status and text. */
export type StackErrorCode =
  | "StackNotFound"
  | "StackAlreadyExists"
  | "StackBusy"
  | "StackNotUpdatable"
  | "NoUpdates"
  | "InvalidTemplate"
  | "InvalidParameters"
  | "InvalidInput"
  | "TerminationProtected"
  | "InvalidOperation"
  | "InsufficientCapabilities"
  | "ChangeSetNotFound"
  | "ChangeSetAlreadyExists"
  | "InvalidChangeSetStatus"
  | "ExportInUse"
  | "TokenAlreadyExists";

/** A refusal: the caller asked for what is not allowed now. Not thrown for a failing stack operation. */
export class StackError extends Error {
  override readonly name = "StackError";
  readonly code: StackErrorCode;

  constructor(code: StackErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
