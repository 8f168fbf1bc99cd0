import { expect, test } from "vitest";
import { temporaryFolder } from "../cli/support/temporary-folder.ts";
import { deploy } from "./support.ts";

/** A function that fails for good leaves its event in a queue, whose reader answers in its stead. */
test("a provider's dead-letter topic leads to a function that answers FAILED", async () => {
  const role = "arn:aws:iam::123456789012:role/none";
  const rescue = `const response = require("cfn-response");
exports.handler = (event, context) => {
  const [{ Sns: { Message, MessageAttributes } }] = event.Records;
  response.send(JSON.parse(Message), context, "SUCCESS", { Size: MessageAttributes.ErrorMessage.Value }, "thing");
};`;
  const named = (ZipFile: string, more: object = {}) => ({
    Type: "AWS::Lambda::Function",
    Properties: { Runtime: "nodejs22.x", Handler: "index.handler", Role: role, Code: { ZipFile }, ...more },
  });
  const outputs = await deploy(
    temporaryFolder(),
    {
      Resources: {
        Rescue: named(rescue),
        Dead: {
          Type: "AWS::SNS::Topic",
          Properties: {
            Subscription: [{ Protocol: "lambda", Endpoint: { "Fn::GetAtt": ["Rescue", "Arn"] } }],
          },
        },
        Provider: named("exports.handler = async () => { throw new Error('no room'); };", {
          DeadLetterConfig: { TargetArn: { Ref: "Dead" } },
        }),
        Thing: {
          Type: "Custom::Thing",
          Properties: { ServiceToken: { "Fn::GetAtt": ["Provider", "Arn"] } },
        },
      },
      Outputs: { Size: { Value: { "Fn::GetAtt": ["Thing", "Size"] } } },
    },
    { retryDelays: [0, 0] },
  );
  expect(outputs).toEqual({ Size: "no room" });
});
