/** What S3 says when it refuses, by code: status and exact text. Source: S3's error responses page and recorded ones. */
const s3Errors = {
  AccessDenied: { status: 403, message: "Access Denied" },
  AuthorizationQueryParametersError: {
    status: 400,
    message:
      "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.",
  },
  BadRequest: { status: 400, message: "An error occurred when parsing the HTTP request." },
  InternalError: { status: 500, message: "We encountered an internal error. Please try again." },
  InvalidAccessKeyId: {
    status: 403,
    message: "The AWS Access Key Id you provided does not exist in our records.",
  },
  InvalidArgument: {
    status: 400,
    message:
      "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified",
  },
  InvalidURI: { status: 400, message: "Couldn't parse the specified URI." },
  MethodNotAllowed: {
    status: 405,
    message: "The specified method is not allowed against this resource.",
  },
  MissingContentLength: {
    status: 411,
    message: "You must provide the Content-Length HTTP header.",
  },
  NoSuchBucket: { status: 404, message: "The specified bucket does not exist" },
  NotImplemented: {
    status: 501,
    message: "A header you provided implies functionality that is not implemented",
  },
  RequestHeaderSectionTooLarge: {
    status: 400,
    message: "Your request header section exceeds the maximum allowed size.",
  },
  RequestTimeout: {
    status: 400,
    message:
      "Your socket connection to the server was not read from or written to within the timeout period. Idle connections will be closed.",
  },
  SignatureDoesNotMatch: {
    status: 403,
    message:
      "The request signature we calculated does not match the signature you provided. Check your key and signing method.",
  },
  SlowDown: { status: 503, message: "Please reduce your request rate." },
} as const satisfies Record<string, { status: number; message: string }>;

/** A code of S3. */
export type S3ErrorCode = keyof typeof s3Errors;

/** A request that S3 refuses. */
export interface S3Error {
  readonly code: S3ErrorCode;
  readonly status: number;
  readonly message: string;
  /** The elements that S3 puts beside the message, in order. */
  readonly details: Readonly<Record<string, string>>;
}

/** A refusal with S3's status and text for `code`; `message` where S3 has several texts for one code. */
export function s3Error(
  code: S3ErrorCode,
  details: Readonly<Record<string, string>> = {},
  message: string = s3Errors[code].message,
): S3Error {
  return { code, status: s3Errors[code].status, message, details };
}

/** The XML body of a refusal. */
export function formatS3Error(error: S3Error, ids: { requestId: string; hostId: string }): string {
  const elements = {
    Code: error.code,
    Message: error.message,
    ...error.details,
    RequestId: ids.requestId,
    HostId: ids.hostId,
  };
  const content = Object.entries(elements).map(([name, text]) => `<${name}>${escapeXml(text)}</${name}>`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${content.join("")}</Error>`;
}

const xmlEscapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function escapeXml(text: string): string {
  // Control characters can't be written in XML 1.0 at all.
  return text
    .replace(/[&<>]/gu, (character) => xmlEscapes[character] ?? character)
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
}
