import { expect, test } from "vitest";
import type { LogicalId, RequestId, StackId } from "../engine/ids.ts";
import { createResponseUrls } from "./response-url.ts";
import { createWaitUrls, isWaitHost, waitHost } from "./wait-url.ts";

const secret = "a secret of the tests";
const urls = createWaitUrls({ secret });
const target = {
  stackId:
    "arn:aws:cloudformation:us-east-2:123456789012:stack/shop/51af3dc0-da77-11e4-872e-1234567db123" as StackId,
  logicalId: "Handle" as LogicalId,
  region: "us-east-2",
  partition: "aws",
  issuedAt: Date.UTC(2026, 11, 1, 12),
};

function put(url: string, now: number, method = "PUT") {
  const { hostname, pathname, search } = new URL(url);
  return urls.verify({ method, host: hostname, target: pathname + search, headers: {}, now });
}

test.each([
  ["us-east-1", "aws", "us-east-1.s3.amazonaws.com"],
  ["eu-west-1", "aws", "eu-west-1.s3-eu-west-1.amazonaws.com"],
  ["eu-central-1", "aws", "eu-central-1.s3.eu-central-1.amazonaws.com"],
  ["cn-north-1", "aws-cn", "cn-north-1.s3.cn-north-1.amazonaws.com.cn"],
])("the bucket of %s is at its family's host", (region, partition, host) => {
  expect(waitHost(region, partition)).toBe(`cloudformation-waitcondition-${host}`);
  expect(isWaitHost(waitHost(region, partition))).toBe(true);
});

test("a URL looks as CloudFormation's, and is the same each time", () => {
  const url = urls.urlFor(target);
  expect(createWaitUrls({ secret }).urlFor(target)).toBe(url);
  expect(url.replace(/AKIA[A-Z2-7]{16}/u, "AKIA…").replace(/[0-9a-f]{64}$/u, "…")).toBe(
    "https://cloudformation-waitcondition-us-east-2.s3.us-east-2.amazonaws.com/" +
      "arn%3Aaws%3Acloudformation%3Aus-east-2%3A123456789012%3Astack/shop/51af3dc0-da77-11e4-872e-1234567db123/Handle" +
      "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20261201T120000Z&X-Amz-SignedHeaders=host&X-Amz-Expires=86399" +
      "&X-Amz-Credential=AKIA…%2F20261201%2Fus-east-2%2Fs3%2Faws4_request&X-Amz-Signature=…",
  );
});

test("a signal is taken until the URL expires, by PUT and as it was signed", () => {
  const url = urls.urlFor(target);
  const { stackId, logicalId, issuedAt } = target;
  const inTime = issuedAt + 86_398_000;
  expect(put(url, inTime)).toEqual({ ok: true, target: { stackId, logicalId } });
  expect(put(url, issuedAt + 86_400_000)).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("expired") as string },
  });
  expect(put(url, inTime, "DELETE")).toMatchObject({ ok: false, error: { code: "SignatureDoesNotMatch" } });
  const other = url.replace("/Handle?", "/Another?");
  expect(put(other, inTime)).toMatchObject({ ok: false, error: { code: "SignatureDoesNotMatch" } });
});

test("a response URL is no handle's", () => {
  const url = createResponseUrls({ secret }).urlFor({ ...target, requestId: "r" as RequestId });
  expect(put(url, target.issuedAt)).toMatchObject({ ok: false, error: { code: "AccessDenied" } });
});
