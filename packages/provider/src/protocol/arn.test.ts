import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatArn, parseArn, parseServiceToken, partitionOf, urlSuffixOf } from "./arn.ts";

describe("service tokens", () => {
  test.each([
    {
      token: "arn:aws:lambda:us-east-1:123456789012:function:provider",
      points: { kind: "lambda", functionName: "provider", region: "us-east-1", partition: "aws" },
    },
    {
      token: "arn:aws-cn:lambda:cn-north-1:123456789012:function:provider:7",
      points: { kind: "lambda", functionName: "provider", qualifier: "7", partition: "aws-cn" },
    },
    {
      token: "arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:provider:live",
      points: { kind: "lambda", qualifier: "live", region: "us-gov-west-1" },
    },
    {
      token: "arn:aws:lambda:us-east-1:123456789012:function:provider:$LATEST",
      points: { kind: "lambda", functionName: "provider", qualifier: "$LATEST" },
    },
    {
      token: "arn:aws-cn:sns:cn-north-1:123456789012:Topic_1",
      points: { kind: "sns", topicName: "Topic_1", account: "123456789012", partition: "aws-cn" },
    },
    {
      token: "arn:aws:sns:us-east-1:123456789012:Topic.fifo",
      points: { kind: "sns", topicName: "Topic.fifo" },
    },
  ])("$token", ({ token, points }) => {
    expect(parseServiceToken(token)).toMatchObject({ arn: token, ...points });
  });

  test.each([
    "",
    "provider",
    "arn:aws:lambda:us-east-1:123456789012:provider",
    "arn:aws:lambda:us-east-1:1234:function:provider",
    "arn:aws:lambda::123456789012:function:provider",
    "arn:aws:lambda:us-east-1:123456789012:function:provider:live:more",
    "arn:aws:lambda:us-east-1:123456789012:function:pro vider",
    "arn:aws:sqs:us-east-1:123456789012:queue",
    "arn:aws:sns:us-east-1:123456789012:topic:8a21d249-4329-4871-acc6-7be709c6ea7f",
    "arn:aws:lambda:us-east-1:123456789012:function:provider\n",
  ])("%j is none", (token) => {
    expect(parseServiceToken(token)).toBeUndefined();
  });
});

test("formatting an ARN is the inverse of parsing it", () => {
  const part = fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/);
  const arn = fc.record({
    partition: part,
    service: part,
    region: part,
    account: fc.stringMatching(/^\d{12}$/),
    resource: fc.string({ minLength: 1 }),
  });
  fc.assert(
    fc.property(arn, (parts) => {
      expect(parseArn(formatArn(parts))).toEqual(parts);
    }),
  );
});

test.each([
  { region: "us-east-1", partition: "aws", urlSuffix: "amazonaws.com" },
  { region: "il-central-1", partition: "aws", urlSuffix: "amazonaws.com" },
  { region: "cn-northwest-1", partition: "aws-cn", urlSuffix: "amazonaws.com.cn" },
  { region: "us-gov-east-1", partition: "aws-us-gov", urlSuffix: "amazonaws.com" },
  { region: "us-iso-east-1", partition: "aws-iso", urlSuffix: "c2s.ic.gov" },
  { region: "us-isob-east-1", partition: "aws-iso-b", urlSuffix: "sc2s.sgov.gov" },
  { region: "eusc-de-east-1", partition: "aws-eusc", urlSuffix: "amazonaws.eu" },
])("$region is in $partition", ({ region, partition, urlSuffix }) => {
  expect(partitionOf(region)).toBe(partition);
  expect(urlSuffixOf(partition)).toBe(urlSuffix);
});

test("a partition that isn't known ends in amazonaws.com, whatever its name", () => {
  expect(urlSuffixOf("constructor")).toBe("amazonaws.com");
});
