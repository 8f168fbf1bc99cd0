/**
 * - `ServerEnded`: the server has ended, or was ended, in the middle of a call.
 * - `ServerFailed`: it met trouble that isn't the caller's; its log says more.
 * - `OtherVersion`: it is of another version of Custard.
 * - `OtherSetting`: it runs functions otherwise than the call asks for.
 */
export type RemoteErrorCode = "ServerEnded" | "ServerFailed" | "OtherVersion" | "OtherSetting";

/** What stands between the command line and the server that works for it. Not thrown for what the server refuses. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  readonly code: RemoteErrorCode;

  constructor(code: RemoteErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
