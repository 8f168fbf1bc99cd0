/** Step Functions' own error codes; all of them come with status 400. */
export type StateMachineErrorCode =
  | "ExecutionAlreadyExists"
  | "ExecutionDoesNotExist"
  | "InvalidArn"
  | "InvalidDefinition"
  | "InvalidExecutionInput"
  | "InvalidName"
  | "StateMachineAlreadyExists"
  | "StateMachineDoesNotExist";

/** A refusal in Step Functions' words. */
export class StateMachineError extends Error {
  override readonly name = "StateMachineError";
  readonly code: StateMachineErrorCode;

  constructor(code: StateMachineErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
