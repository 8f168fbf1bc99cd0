/** What services say of a request that isn't signed as it should be: each family of protocols in its own words. */
import { ApiError } from "./api-error.ts";
import type { ProtocolName } from "./model.ts";

/** What is wrong with a signature. */
export type SignatureFault =
  | { readonly kind: "missing" | "malformed" | "unknown-key" | "wrong" }
  /** Of a time far from ours, or of a link that has had its day. */
  | { readonly kind: "expired"; readonly signed: string; readonly now: number; readonly tolerance: number }
  | { readonly kind: "early"; readonly signed: string; readonly now: number; readonly tolerance: number };

type Words = Readonly<Record<SignatureFault["kind"], { readonly code: string; readonly text?: string }>>;

const mismatch =
  "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.";

const query: Words = {
  missing: { code: "MissingAuthenticationToken", text: "Request is missing Authentication Token" },
  malformed: {
    code: "IncompleteSignature",
    text: "The request signature does not conform to AWS standards.",
  },
  "unknown-key": {
    code: "InvalidClientTokenId",
    text: "The security token included in the request is invalid.",
  },
  wrong: { code: "SignatureDoesNotMatch", text: mismatch },
  expired: { code: "SignatureDoesNotMatch" },
  early: { code: "SignatureDoesNotMatch" },
};

const json: Words = {
  missing: { code: "MissingAuthenticationTokenException", text: "Missing Authentication Token" },
  malformed: {
    code: "IncompleteSignatureException",
    text: "The request signature does not conform to AWS standards.",
  },
  "unknown-key": {
    code: "UnrecognizedClientException",
    text: "The security token included in the request is invalid.",
  },
  wrong: { code: "InvalidSignatureException", text: mismatch },
  expired: { code: "InvalidSignatureException" },
  early: { code: "InvalidSignatureException" },
};

const skewed = "The difference between the request time and the current time is too large.";

const s3: Words = {
  missing: { code: "AccessDenied", text: "Access Denied" },
  malformed: {
    code: "AuthorizationHeaderMalformed",
    text: "The authorization header that you provided is not valid.",
  },
  "unknown-key": {
    code: "InvalidAccessKeyId",
    text: "The AWS Access Key Id you provided does not exist in our records.",
  },
  wrong: {
    code: "SignatureDoesNotMatch",
    text: "The request signature we calculated does not match the signature you provided. Check your key and signing method.",
  },
  expired: { code: "RequestTimeTooSkewed", text: skewed },
  early: { code: "RequestTimeTooSkewed", text: skewed },
};

/** The refusal of a fault in the words of a service's protocol. */
export function signatureRefusal(fault: SignatureFault, protocol: ProtocolName): ApiError {
  const { code, text } = wordsOf(protocol)[fault.kind];
  const status = fault.kind === "malformed" ? 400 : 403;
  return new ApiError(code, text ?? timeText(fault), { status });
}

function wordsOf(protocol: ProtocolName): Words {
  switch (protocol) {
    case "awsQuery":
      return query;
    case "restXml":
      return s3;
    case "awsJson1.0":
    case "awsJson1.1":
    case "restJson":
      return json;
  }
}

function timeText(fault: SignatureFault): string {
  if (fault.kind !== "expired" && fault.kind !== "early") return "";
  const { signed, now, tolerance } = fault;
  const expired = fault.kind === "expired";
  const bound = basicTime(now + (expired ? -tolerance : tolerance));
  const minutes = tolerance / 60_000;
  return expired
    ? `Signature expired: ${signed} is now earlier than ${bound} (${basicTime(now)} - ${minutes} min.)`
    : `Signature not yet current: ${signed} is still later than ${bound} (${basicTime(now)} + ${minutes} min.)`;
}

/** `20261201T101500Z` */
function basicTime(time: number): string {
  return new Date(time).toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
}
