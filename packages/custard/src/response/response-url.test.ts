import { describe, expect, test } from "vitest";
import type { LogicalId, RequestId, StackId } from "../engine/ids.ts";
import { createResponseUrls, isResponseHost, parseResponseKey, responseHost } from "./response-url.ts";

const urls = createResponseUrls({ secret: "a secret of the tests" });
const target = {
  stackId:
    "arn:aws:cloudformation:us-east-2:123456789012:stack/shop/51af3dc0-da77-11e4-872e-1234567db123" as StackId,
  logicalId: "Table" as LogicalId,
  requestId: "5d478078-13e9-baf0-464a-7ef285ecc786" as RequestId,
  region: "us-east-2",
  partition: "aws",
  issuedAt: Date.UTC(2026, 11, 1, 12, 0, 0, 999),
};

test.each([
  ["us-east-1", "aws", "useast1.s3.amazonaws.com"],
  ["us-west-2", "aws", "uswest2.s3-us-west-2.amazonaws.com"],
  ["eu-west-1", "aws", "euwest1.s3-eu-west-1.amazonaws.com"],
  ["ap-southeast-2", "aws", "apsoutheast2.s3-ap-southeast-2.amazonaws.com"],
  ["ap-northeast-1", "aws", "apnortheast1.s3-ap-northeast-1.amazonaws.com"],
  ["us-east-2", "aws", "useast2.s3.us-east-2.amazonaws.com"],
  ["eu-central-1", "aws", "eucentral1.s3.eu-central-1.amazonaws.com"],
  ["cn-north-1", "aws-cn", "cnnorth1.s3.cn-north-1.amazonaws.com.cn"],
  ["us-gov-east-1", "aws-us-gov", "usgoveast1.s3.us-gov-east-1.amazonaws.com"],
  ["us-iso-east-1", "aws-iso", "usisoeast1.s3.us-iso-east-1.c2s.ic.gov"],
])("the response bucket of %s is at its family's host (facts 23 and 25)", (region, partition, host) => {
  expect(responseHost(region, partition)).toBe(`cloudformation-custom-resource-response-${host}`);
  expect(isResponseHost(responseHost(region, partition))).toBe(true);
});

test("a URL looks as recorded (fact 23)", () => {
  const redacted = urls
    .urlFor(target)
    .replace(/AKIA[A-Z2-7]{16}/u, "AKIA…")
    .replace(/[0-9a-f]{64}$/u, "…");
  expect(redacted).toBe(
    "https://cloudformation-custom-resource-response-useast2.s3.us-east-2.amazonaws.com/" +
      "arn%3Aaws%3Acloudformation%3Aus-east-2%3A123456789012%3Astack/shop/51af3dc0-da77-11e4-872e-1234567db123" +
      "%7CTable%7C5d478078-13e9-baf0-464a-7ef285ecc786" +
      "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20261201T120000Z&X-Amz-SignedHeaders=host&X-Amz-Expires=7200" +
      "&X-Amz-Credential=AKIA…%2F20261201%2Fus-east-2%2Fs3%2Faws4_request&X-Amz-Signature=…",
  );
});

test("a URL in the older style looks as recorded (fact 25)", () => {
  const { search } = new URL(
    createResponseUrls({ secret: "a secret of the tests", style: "v2" }).urlFor(target),
  );
  expect(search).toMatch(/^\?AWSAccessKeyId=AKIA[A-Z2-7]{16}&Expires=1796133600&Signature=[\w%]+$/u);
});

describe("verify", () => {
  const { hostname, pathname, search } = new URL(urls.urlFor(target));
  const request = {
    method: "PUT",
    host: hostname,
    target: pathname + search,
    headers: {},
    now: target.issuedAt,
  };

  test("tells whose URL it is, also after a restart and in another style", () => {
    const { stackId, logicalId, requestId } = target;
    const restarted = createResponseUrls({ secret: "a secret of the tests", style: "v2" });
    expect(restarted.verify(request)).toEqual({ ok: true, target: { stackId, logicalId, requestId } });
  });

  test("knows no URL of another secret", () => {
    const other = createResponseUrls({ secret: "another secret of tests" });
    expect(other.verify(request)).toMatchObject({ ok: false, error: { code: "InvalidAccessKeyId" } });
  });
});

test.each(["", "file.json", "arn:aws:x|Table", "arn:aws:x|Table|r|s", "arn:aws:x||r"])(
  "%j is no key of a response",
  (key) => {
    expect(parseResponseKey(key)).toBeUndefined();
  },
);
