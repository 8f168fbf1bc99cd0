/** An error within an execution, by the name that `Retry` and `Catch` know it by. */
export class StateFault extends Error {
  override readonly name = "StateFault";
  /** E.g. `States.Timeout`, or what a function's error is called. */
  readonly error: string;
  /** For a function's error its whole payload, as JSON. */
  readonly detail: string;

  constructor(error: string, cause: string) {
    super(cause === "" ? error : `${error}: ${cause}`);
    this.error = error;
    this.detail = cause;
  }
}

/** A fault of the definition or its data that nothing catches but `States.ALL` by name. */
export function runtimeFault(cause: string): StateFault {
  return new StateFault("States.Runtime", cause);
}
