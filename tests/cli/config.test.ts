import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { main } from "../../packages/custard/src/cli/main.ts";
import { temporaryDirectory } from "../support/state-directory.ts";
import { recordingIo } from "./support/recording-io.ts";

// What a user says in custard.config reaches stacks, and what is wrong in it is told by name.

const template = `
Resources:
  Network:
    Type: AWS::EC2::VPC
    Properties:
      CidrBlock: 10.0.0.0/16
  Other:
    Type: AWS::EC2::VPC
Outputs:
  Network: { Value: !Ref Network }
  Range: { Value: !GetAtt Network.CidrBlock }
  Other: { Value: !Ref Other }
`;

function project(files: Readonly<Record<string, string>>) {
  const directory = temporaryDirectory();
  for (const [name, text] of Object.entries({ "template.yaml": template, ...files }))
    writeFileSync(join(directory, name), text);
  return {
    directory,
    custard: async (...argv: readonly string[]) => {
      const io = recordingIo(directory);
      const code = await main(argv, io);
      return { code, ...io.written };
    },
  };
}

test.each([
  {
    name: "custard.config.yaml",
    text: "resources:\n  logicalIds:\n    Network: { physicalId: vpc-mine, attributes: { CidrBlock: 10.9.0.0/16 } }\n  types:\n    AWS::EC2::VPC: { physicalId: vpc-typed }\n",
  },
  {
    name: "custard.config.json",
    text: '{"resources":{"logicalIds":{"Network":{"physicalId":"vpc-mine","attributes":{"CidrBlock":"10.9.0.0/16"}}},"types":{"AWS::EC2::VPC":{"physicalId":"vpc-typed"}}}}',
  },
  {
    name: "custard.config.mjs",
    text: 'const Network = { physicalId: "vpc-mine", attributes: { CidrBlock: "10.9.0.0/16" } }; export default { resources: { logicalIds: { Network }, types: { "AWS::EC2::VPC": { physicalId: "vpc-typed" } } } };',
  },
])("$name gives simulated resources exact values", async ({ name, text }) => {
  const { custard } = project({ [name]: text });
  expect(await custard("deploy", "template.yaml", "--stack-name", "s")).toMatchObject({ code: 0 });
  const { stdout } = await custard("outputs", "s", "--json");
  expect(JSON.parse(stdout)).toEqual({ Network: "vpc-mine", Range: "10.9.0.0/16", Other: "vpc-typed" });
});

test("parameters and secrets are there once a template is deployed", async () => {
  const { custard } = project({
    "custard.config.yaml": "parameters: { /app/size: small }\nsecrets: { app/db: { user: me } }\n",
  });
  expect((await custard("deploy", "template.yaml", "--stack-name", "s")).code).toBe(0);
  expect((await custard("ssm", "get", "/app/size")).stdout).toBe("small\n");
  expect((await custard("secrets", "list")).stdout).toContain("app/db");
});

test.each([
  { text: "resorces: {}", says: "custard.config.yaml is wrong:\nresorces is no key" },
  { text: "a: [", says: "custard.config.yaml can't be read" },
  { text: "python: no-such-python", says: "the interpreter no-such-python, and there is none" },
  {
    text: "resources: { types: { AWS::SSM::Parameter: { physicalId: x } } }",
    says: "custard.config gives values to what isn't simulated: AWS::SSM::Parameter",
  },
  {
    text: "resources: { types: { AWS::No::Such: { physicalId: x } } }",
    says: "custard.config gives values to what isn't simulated: AWS::No::Such",
  },
])("$text is refused", async ({ text, says }) => {
  const { custard } = project({ "custard.config.yaml": text });
  const ended = await custard("deploy", "template.yaml", "--stack-name", "s");
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(says) });
});

test("two configurations in one folder are refused", async () => {
  const { custard } = project({ "custard.config.yaml": "{}", "custard.config.json": "{}" });
  expect(await custard("deploy", "template.yaml")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("There are two configurations"),
  });
});

test("--strict refuses simulated resources by name, and starts nothing", async () => {
  const { custard } = project({});
  expect(await custard("deploy", "template.yaml", "--stack-name", "s", "--strict")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      "--strict refuses resources that are only simulated: Network (AWS::EC2::VPC), Other (AWS::EC2::VPC)",
    ),
  });
  expect((await custard("list", "--json")).stdout.trim()).toBe("[]");
});

test("--strict takes what is real", async () => {
  const real =
    "Resources:\n  Size:\n    Type: AWS::SSM::Parameter\n    Properties: { Type: String, Value: a }\n";
  const { custard } = project({ "template.yaml": real });
  expect((await custard("deploy", "template.yaml", "--stack-name", "s", "--strict")).code).toBe(0);
});
