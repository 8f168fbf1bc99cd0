import { expect, test } from "vitest";
import { formatFunctionArn, parseFunctionArn, parseFunctionName } from "./function-arn.ts";

const scope = { partition: "aws", account: "123456789012", region: "us-east-1" };

test.each([
  { text: "arn:aws:lambda:us-east-1:123456789012:function:f", reference: { ...scope, name: "f" } },
  {
    text: "arn:aws:lambda:us-east-1:123456789012:function:f:7",
    reference: { ...scope, name: "f", qualifier: "7" },
  },
  {
    text: "arn:aws:lambda:us-east-1:123456789012:function:f:$LATEST",
    reference: { ...scope, name: "f", qualifier: "$LATEST" },
  },
  {
    text: "arn:aws:lambda:us-east-1:123456789012:function:f:live",
    reference: { ...scope, name: "f", qualifier: "live" },
  },
  {
    text: "arn:aws-cn:lambda:cn-north-1:123456789012:function:f",
    reference: { partition: "aws-cn", account: "123456789012", region: "cn-north-1", name: "f" },
  },
])("$text is read and written", ({ text, reference }) => {
  expect(parseFunctionArn(text)).toEqual(reference);
  expect(formatFunctionArn(reference)).toBe(text);
});

test.each([
  "f",
  "arn:aws:sns:us-east-1:123456789012:topic",
  "arn:aws:lambda:us-east-1:1:function:f",
  "arn:aws:lambda:us-east-1:123456789012:function:a b",
  "arn:aws:lambda:us-east-1:123456789012:function:f:1:2",
])("%s is no function's ARN", (text) => expect(parseFunctionArn(text)).toBeUndefined());

test.each([
  { text: "f", reference: { ...scope, name: "f" } },
  { text: "f:live", reference: { ...scope, name: "f", qualifier: "live" } },
  { text: "210987654321:function:f", reference: { ...scope, account: "210987654321", name: "f" } },
  {
    text: "arn:aws:lambda:eu-west-1:123456789012:function:f",
    reference: { ...scope, region: "eu-west-1", name: "f" },
  },
  { text: "a b", reference: undefined },
])("$text names a function in a scope", ({ text, reference }) =>
  expect(parseFunctionName(text, scope)).toEqual(reference),
);
