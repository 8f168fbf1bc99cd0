import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openServicesOf } from "../../packages/custard/src/reader.ts";
import { custardEnds, deploy, storyOf } from "./support/custard.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// A first stack makes macros, others use them; included files lie in S3 or beside the template.

/** Its macro adds a parameter of the store whose value is what the macro was told, or does what `Mode` says. */
const macros = `
Resources:
  Function:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: python3.11
      Handler: index.handler
      Role: arn:aws:iam::123456789012:role/test
      Code:
        ZipFile: |
          import json

          def handler(event, context):
              fragment = event["fragment"]
              params = event["params"]
              mode = params.get("Mode", event["templateParameterValues"].get("Mode"))
              answer = {"requestId": event["requestId"], "status": "success", "fragment": fragment}
              if mode == "raise":
                  raise ValueError("no idea")
              if mode == "fail":
                  return {**answer, "status": "failed", "errorMessage": "not today"}
              if mode == "fail silently":
                  return {**answer, "status": "failed"}
              if mode == "invalid":
                  return {**answer, "fragment": "no template"}
              if mode == "value":
                  return {**answer, "fragment": {"Value": params["Value"].upper(), **fragment}}
              told = {key: value for key, value in event.items() if key not in ("requestId", "fragment")}
              fragment["Resources"]["Told"] = {
                  "Type": "AWS::SSM::Parameter",
                  "Properties": {"Name": "told", "Type": "String", "Value": json.dumps(told, sort_keys=True)},
              }
              return answer
  Macro:
    Type: AWS::CloudFormation::Macro
    Properties: { Name: Mine, FunctionName: !GetAtt Function.Arn }
`;

async function withMacro(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = temporaryFolder({ "macros.yaml": macros, ...files });
  await custardEnds(0, folder, ["deploy", "macros.yaml"]);
  return folder;
}

const transformed = `
Transform: Mine
Parameters:
  Mode: { Type: String, Default: add }
  Names: { Type: CommaDelimitedList, Default: "a,b" }
Resources:
  Kept:
    Type: AWS::SSM::Parameter
    Properties: { Name: kept, Type: String, Value: !Sub "\${Mode}" }
Outputs: { Told: { Value: !GetAtt Told.Value } }
`;

test("a macro makes the template of another stack, and is told who asks (fact 107)", async () => {
  const folder = await withMacro({ "template.yaml": transformed });
  const { outputs, events } = await deploy(folder, 0);
  expect(storyOf(events, "Kept").at(-1)).toBe("CREATE_COMPLETE");
  expect(JSON.parse(outputs["Told"] ?? "")).toEqual({
    accountId: "123456789012",
    region: "us-east-1",
    transformId: "123456789012::Mine",
    params: {},
    templateParameterValues: { Mode: "add", Names: ["a", "b"] },
  });
});

test("Fn::Transform works on the map around it", async () => {
  const template = `
Resources:
  Loud:
    Type: AWS::SSM::Parameter
    Properties:
      Name: loud
      Type: String
      Fn::Transform: { Name: Mine, Parameters: { Mode: value, Value: hello } }
`;
  const folder = await withMacro({ "template.yaml": template });
  await deploy(folder, 0);
  expect((await custardEnds(0, folder, ["ssm", "get", "loud"])).stdout).toBe("HELLO\n");
});

test.each([
  { mode: "raise", reason: "Received malformed response from transform 123456789012::Mine" },
  { mode: "fail", reason: "Transform 123456789012::Mine failed with: not today" },
  { mode: "fail silently", reason: "Transform 123456789012::Mine failed without an error message." },
  { mode: "invalid", reason: "Template format error: unsupported structure." },
])("a macro that ends by $mode fails the stack (fact 108)", async ({ mode, reason }) => {
  const folder = await withMacro({ "template.yaml": transformed });
  const { events } = await deploy(folder, 1, "--parameters", `Mode=${mode}`);
  expect(storyOf(events, "test")).toContain(`ROLLBACK_IN_PROGRESS ${reason}. Rollback requested by user.`);
  const logs = await custardEnds(0, folder, ["logs", "test"]);
  expect(logs.stdout.includes("ValueError: no idea")).toBe(mode === "raise");
});

test("a macro that nobody has made, or that is gone", async () => {
  const folder = await withMacro({ "template.yaml": transformed });
  await custardEnds(0, folder, ["delete", "macros"]);
  const { events } = await deploy(folder, 1);
  expect(storyOf(events, "test")).toContain(
    "ROLLBACK_IN_PROGRESS No transform named 123456789012::Mine found.. Rollback requested by user.",
  );
});

const including = (location: string) => `
Resources:
  Fn::Transform: { Name: AWS::Include, Parameters: { Location: "${location}" } }
  Own:
    Type: AWS::SSM::Parameter
    Properties: { Name: own, Type: String, Value: own }
`;
const included = `
Included:
  Type: AWS::SSM::Parameter
  Properties: { Name: included, Type: String, Value: !Sub "from \${AWS::Region}" }
`;

test("AWS::Include reads a file beside the template", async () => {
  const folder = temporaryFolder({ "template.yaml": including("parts/more.yaml") });
  mkdirSync(join(folder, "parts"));
  writeFileSync(join(folder, "parts/more.yaml"), included);
  await deploy(folder, 0);
  expect((await custardEnds(0, folder, ["ssm", "get", "included"])).stdout).toBe("from us-east-1\n");
});

test("AWS::Include reads the local S3, and says what isn't there", async () => {
  const folder = temporaryFolder({
    "template.yaml": including("s3://parts/more.yaml"),
    "other.yaml": including("s3://parts/other.yaml"),
  });
  const opened = openServicesOf(join(folder, ".custard"));
  const { s3 } = opened.services;
  const bucket = { partition: "aws", bucket: "parts" };
  await s3.buckets.create({ ...bucket, account: "123456789012", region: "us-east-1" });
  await s3.objects.put({ ...bucket, key: "more.yaml" }, { body: [Buffer.from(included)] });
  await opened.close();
  await deploy(folder, 0);
  expect((await custardEnds(0, folder, ["ssm", "get", "included"])).stdout).toBe("from us-east-1\n");
  const { lines } = await custardEnds(1, folder, ["deploy", "other.yaml", "--json"]);
  expect(storyOf(lines, "other")).toContain(
    "ROLLBACK_IN_PROGRESS Transform AWS::Include failed with: The specified key does not exist.. Rollback requested by user.",
  );
});
