import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { courseOf, custardEnds, deploy } from "./support/custard.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// AWS's own transforms, in templates whose functions run.

const echo = `
import json
import urllib.request

def handler(event, context):
    answer = {key: event[key] for key in ("RequestId", "StackId", "LogicalResourceId")}
    said = event["ResourceProperties"]["Say"] + "!"
    answer.update(Status="SUCCESS", PhysicalResourceId="echo", Data={"Said": said})
    body = json.dumps(answer).encode()
    request = urllib.request.Request(event["ResponseURL"], body, {"content-type": ""}, method="PUT")
    urllib.request.urlopen(request).close()
`;
const indented = (text: string, by: number) => text.trim().replaceAll("\n", `\n${" ".repeat(by)}`);

test("AWS::Serverless functions, inline and from a folder, answer for custom resources", async () => {
  const folder = temporaryFolder({
    "template.yaml": `
Transform: AWS::Serverless-2016-10-31
Globals:
  Function: { Runtime: python3.11, Handler: index.handler, Timeout: 20 }
Resources:
  Inline:
    Type: AWS::Serverless::Function
    Properties:
      InlineCode: |
        ${indented(echo, 8)}
  Folder:
    Type: AWS::Serverless::Function
    Properties: { CodeUri: src/, Handler: app.handler }
  One:
    Type: Custom::Echo
    Properties: { ServiceToken: !GetAtt Inline.Arn, Say: one }
  Two:
    Type: Custom::Echo
    Properties: { ServiceToken: !GetAtt Folder.Arn, Say: !GetAtt One.Said }
Outputs:
  Said: { Value: !GetAtt Two.Said }
  Role: { Value: !Ref InlineRole }
`,
  });
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src/app.py"), echo);
  const { outputs, events } = await deploy(folder, 0);
  expect(outputs["Said"]).toBe("one!!");
  expect(outputs["Role"]).toMatch(/^test-InlineRole-/);
  expect(courseOf(events)).toContain("FolderRole CREATE_COMPLETE");
  writeFileSync(join(folder, "src/app.py"), echo.replace('"!"', '"?"'));
  await custardEnds(0, folder, ["delete", "test"]);
  expect((await deploy(folder, 0)).outputs["Said"]).toBe("one!?");
});

test("AWS::LanguageExtensions: Fn::ForEach, Fn::Length and Fn::ToJsonString", async () => {
  const folder = temporaryFolder({
    "template.yaml": `
Transform: AWS::LanguageExtensions
Parameters:
  Names: { Type: CommaDelimitedList, Default: "A,B" }
Resources:
  Fn::ForEach::Settings:
    - Name
    - !Ref Names
    - Setting\${Name}:
        Type: AWS::SSM::Parameter
        Properties: { Name: !Sub "setting-\${Name}", Type: String, Value: !Sub "is \${Name}" }
  Count:
    Type: AWS::SSM::Parameter
    Properties:
      Name: count
      Type: String
      Value:
        Fn::ToJsonString: { count: { Fn::Length: !Ref Names } }
Outputs:
  Fn::ForEach::Values:
    - Name
    - !Ref Names
    - Value\${Name}: { Value: !GetAtt [!Sub "Setting\${Name}", Value] }
`,
  });
  const { outputs } = await deploy(folder, 0);
  expect(outputs).toEqual({ ValueA: "is A", ValueB: "is B" });
  expect(JSON.parse((await custardEnds(0, folder, ["ssm", "get", "count"])).stdout)).toEqual({ count: 2 });
  const { outputs: more, events } = await deploy(folder, 0, "--parameters", "Names=B,C");
  expect(more).toEqual({ ValueB: "is B", ValueC: "is C" });
  expect(courseOf(events)).toContain("SettingA DELETE_COMPLETE");
  expect(courseOf(events)).not.toContain("SettingB UPDATE_COMPLETE");
});
