import { expect, test } from "vitest";
import { describeAttempt } from "./describe-attempt.ts";
import type { Attempt, AttemptEnd } from "./describe-attempt.ts";

const attempt: Attempt = {
  method: "PUT",
  received: 312,
  announced: 312,
  surplus: 0,
  contentType: "",
  signature: "v4",
};

function refused(
  status: number,
  code: "SlowDown" | "AccessDenied" | "NotImplemented" | "SignatureDoesNotMatch",
  message = "",
): AttemptEnd {
  return { kind: "refused", status, code, message };
}

test.each<[Partial<Attempt>, AttemptEnd, string]>([
  [{}, { kind: "accepted" }, "PUT of 312 bytes: 200"],
  [
    { received: 36, surplus: 1 },
    { kind: "accepted" },
    "PUT of 36 bytes: 200, content-length is 1 byte short and the rest was cut off",
  ],
  [
    {},
    { kind: "accepted", ignored: "its RequestId is not the request's", fault: "it is not JSON" },
    "PUT of 312 bytes: 200, ignored: its RequestId is not the request's",
  ],
  [{}, { kind: "accepted", fault: "it is not JSON" }, "PUT of 312 bytes: 200, it is not JSON"],
  [{ received: 12 }, { kind: "broken-off" }, "PUT broken off after 12 of 312 bytes"],
  [
    { method: "GET" },
    refused(403, "SignatureDoesNotMatch"),
    "GET: 403 SignatureDoesNotMatch, the response must be sent by PUT, not by GET",
  ],
  [
    { signature: "none" },
    refused(403, "AccessDenied"),
    "PUT: 403 AccessDenied, the query of the ResponseURL was dropped: send to the whole URL as it came",
  ],
  [
    {},
    refused(403, "AccessDenied", "Request has expired"),
    "PUT: 403 AccessDenied, request has expired: a ResponseURL is valid for 2 hours",
  ],
  [
    {},
    refused(403, "SignatureDoesNotMatch"),
    "PUT: 403 SignatureDoesNotMatch, the ResponseURL was changed: send to it exactly as it came",
  ],
  [
    { signature: "v2", contentType: "application/json" },
    refused(403, "SignatureDoesNotMatch"),
    "PUT: 403 SignatureDoesNotMatch, the URL is signed for an empty content-type, but application/json was sent: send an empty one",
  ],
  [
    {},
    refused(501, "NotImplemented"),
    "PUT: 501 NotImplemented, S3 takes no chunked body: send a content-length",
  ],
])("%j, %j: %s", (changes, end, text) => {
  expect(describeAttempt({ ...attempt, ...changes }, end)).toBe(text);
});
