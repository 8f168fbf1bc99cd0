/** What stands between a request and its function, outside of both. */
export type TransportErrorCode =
  /** The machine has no interpreter for the function's runtime. */
  | "NoInterpreter"
  /** The function's directory has been removed. */
  | "NoCode"
  /** Others than the user can write where functions are kept. */
  | "UnsafeDirectory"
  /** A sandbox was asked for, and the machine can't make one. */
  | "NoSandbox"
  /** The transport is closed. */
  | "Closed";

/** Trouble outside: not thrown for what a function does. */
export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly code: TransportErrorCode;

  constructor(code: TransportErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
