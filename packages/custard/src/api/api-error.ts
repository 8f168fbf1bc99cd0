/** A refusal in the form of AWS: what the codecs turn into an error answer. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** As on the wire, e.g. `ValidationError`. */
  readonly code: string;
  readonly status: number;
  /** Further members of the error, e.g. S3's `BucketName`. */
  readonly details: Readonly<Record<string, string>>;

  constructor(
    code: string,
    message: string,
    { status = 400, details = {} }: { status?: number; details?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
  }
}

/** The request can't be read as its protocol says. */
export function malformed(message: string): ApiError {
  return new ApiError("MalformedInput", message);
}

/** What AWS says when something is wrong on its own side; what it was goes to the log, not to the caller. */
export function internalFailure(): ApiError {
  return new ApiError(
    "InternalFailure",
    "The request processing has failed because of an unknown error, exception or failure.",
    { status: 500 },
  );
}
