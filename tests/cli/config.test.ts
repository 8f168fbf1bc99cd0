import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { main } from "../../packages/custard/src/cli/main.ts";
import { temporaryDirectory } from "../support/state-directory.ts";
import { startCustard } from "./support/custard.ts";
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

const retired = `
Resources:
  Echo:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: python3.7
      Handler: index.handler
      Role: arn:aws:iam::123456789012:role/none
      Code:
        ZipFile: |
          import os, cfnresponse
          def handler(event, context):
              data = {"Environment": os.environ["AWS_EXECUTION_ENV"]}
              cfnresponse.send(event, context, cfnresponse.SUCCESS, data, "echo")
  Thing:
    Type: Custom::Thing
    Properties: { ServiceToken: !GetAtt Echo.Arn }
Outputs:
  Environment: { Value: !GetAtt Thing.Environment }
`;

test("a runtime that AWS has retired is refused by name, with two ways out; one is to run the function on another", async () => {
  const { directory, custard } = project({ "template.yaml": retired });
  const refused = await custard("deploy", "template.yaml", "--stack-name", "s");
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stdout).toContain("The runtime python3.7 doesn't run here");
  expect(refused.stdout).toContain("runtimes: { python3.7: python3.13 } in custard.config");
  expect((await custard("delete", "s")).code).toBe(0);
  writeFileSync(join(directory, "custard.config.yaml"), "runtimes: { python3.7: python3.13 }\n");
  const deployed = await custard("deploy", "template.yaml", "--stack-name", "s");
  expect(deployed).toMatchObject({ code: 0 });
  expect(deployed.stdout).toContain("Runs Echo (python3.13 in place of python3.7) as you");
  const { stdout } = await custard("outputs", "s", "--json");
  expect(JSON.parse(stdout)).toEqual({ Environment: "AWS_Lambda_python3.13" });
});

// Not inline, so that AWS's helper isn't there.
const own = `
import json, urllib.request
def handler(event, context):
    answer = {key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")}
    answer.update(Status="SUCCESS", PhysicalResourceId="own", Data={"Environment": "own"})
    request = urllib.request.Request(event["ResponseURL"], json.dumps(answer).encode(), {"content-type": ""}, method="PUT")
    urllib.request.urlopen(request)
`;

test("functions are announced with the code that the configuration puts in their place", async () => {
  const { custard } = project({
    "template.yaml": retired,
    "own.py": own,
    "custard.config.yaml": "functions: { Echo: own.py }\nruntimes: { python3.7: python3.12 }\n",
  });
  const deployed = await custard("deploy", "template.yaml", "--stack-name", "s");
  expect(deployed.stdout).toMatch(/Runs Echo \(python3\.12 in place of python3\.7\) as you, from \S*own\.py/);
  expect(deployed.stdout).toMatch(/Environment\s+own/);
});

test("custard serve takes the configuration of its working directory", async () => {
  const { directory, custard } = project({ "custard.config.yaml": "parameters: { /app/size: small }\n" });
  const server = startCustard(directory, ["serve", "--port", "0"]);
  await vi.waitUntil(() => server.output().includes("http://"), { timeout: 30_000 });
  server.child.kill("SIGTERM");
  await server.ended;
  expect((await custard("ssm", "get", "/app/size")).stdout).toBe("small\n");
});
