import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { main } from "../../packages/custard/src/cli/main.ts";
import { temporaryDirectory } from "../support/state-directory.ts";
import { recordingIo } from "./support/recording-io.ts";

// What the stores hold reaches stacks: dynamic references, SSM parameter types, code and definitions.

function project(template: string) {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "template.yaml"), template);
  return async (...argv: readonly string[]) => {
    const io = recordingIo(directory);
    const code = await main(argv, io);
    return { code, ...io.written };
  };
}

const template = `
Parameters:
  Size: { Type: "AWS::SSM::Parameter::Value<String>", Default: /app/size }
Resources:
  Copy:
    Type: AWS::SSM::Parameter
    Properties:
      Name: copy
      Type: String
      Value: !Sub "\${Size} {{resolve:ssm:/app/color:1}} {{resolve:secretsmanager:db:SecretString:user}}"
`;

test("parameters and secrets are resolved when a stack is deployed", async () => {
  const custard = project(template);
  await custard("ssm", "put", "/app/size", "small");
  await custard("ssm", "put", "/app/color", "red");
  await custard("ssm", "put", "/app/color", "blue");
  await custard("secrets", "put", "db", '{"user":"me"}');
  expect(await custard("deploy", "template.yaml", "--stack-name", "s")).toMatchObject({ code: 0 });
  expect((await custard("ssm", "get", "copy")).stdout).toBe("small red me\n");
});

test("what isn't there is told in AWS's words", async () => {
  const custard = project(template);
  const without = await custard("deploy", "template.yaml", "--stack-name", "s");
  expect(without).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      "Unable to fetch parameters [/app/size] from parameter store for this account.",
    ) as string,
  });
  await custard("ssm", "put", "/app/size", "small");
  const failing = await custard("deploy", "template.yaml", "--stack-name", "s");
  expect(failing.code).not.toBe(0);
  expect(failing.stdout + failing.stderr).toContain("Parameters: [ssm:/app/color:1] cannot be found.");
});
