import { expect, test } from "vitest";
import { isWaiter } from "./hold.ts";

test.each([
  {
    is: true,
    agent:
      "aws-cli/2.9.19 Python/3.11.2 Linux/6 exe/x86_64 prompt/off command/cloudformation.wait.stack-create-complete",
  },
  { is: true, agent: "aws-cli/2.9.19 Python/3.11.2 command/cloudformation.deploy" },
  {
    is: true,
    agent:
      "Boto3/1.43.11 md/Botocore#1.43.11 ua/2.1 os/linux lang/python#3.11 m/b,Z,B,D cfg/retry-mode#legacy",
  },
  { is: true, agent: "aws-sdk-js/3.1153.0 ua/2.1 api/cloudformation#3.1153.0 aws-cdk/2.1148.1 (…)" },
  { is: false, agent: "aws-cli/2.9.19 Python/3.11.2 command/cloudformation.describe-stacks" },
  { is: false, agent: "Boto3/1.43.11 md/Botocore#1.43.11 m/b,Z,D" },
  { is: false, agent: "aws-sdk-js/3.1153.0 ua/2.1 m/E,n" },
  { is: false, agent: "" },
])("a client that waits is told from one that looks: $agent", ({ is, agent }) => {
  expect(isWaiter(agent)).toBe(is);
});
