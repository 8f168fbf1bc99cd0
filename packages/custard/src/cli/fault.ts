/**
 * How the process ends. 0 done; 1 the stack operation failed, or trouble outside; 2 template or call is wrong;
 * 130 interrupted. `custard exec` ends as its program does.
 */
export type ExitCode = number;

/** Something that the person at the keyboard can put right. Its message says what is wrong, its advice what to do. */
export class CliFault extends Error {
  override readonly name = "CliFault";
  readonly exitCode: ExitCode;
  readonly advice: string | undefined;

  constructor(
    message: string,
    options: { readonly exitCode?: ExitCode; readonly advice?: string; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.exitCode = options.exitCode ?? 2;
    this.advice = options.advice;
  }
}
