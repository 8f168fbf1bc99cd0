import { describe, expect, test } from "vitest";
import { main } from "../../packages/custard/src/cli/main.ts";
import { recordingIo } from "./support/recording-io.ts";
import { scriptedLocal } from "./support/scripted-local.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// Commands that look at a template and start nothing.

const right = `Parameters:
  Size: { Type: String }
  Secret: { Type: String, NoEcho: true, Default: hunter2 }
Resources:
  Thing:
    Type: Custom::Thing
    Properties:
      ServiceToken: !Sub "arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:\${AWS::StackName}"
      Size: !Ref Size
      Secret: !Ref Secret
Outputs:
  Id: { Value: !Ref Thing }
`;
const wrong =
  "Resources:\n  A:\n    Type: Custom::A\n    Properties:\n      ServiceToken: t\n      X: !Ref Gone\n      Y: !Foo 1\n";

async function run(
  template: string,
  argv: readonly string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = recordingIo(temporaryFolder({ "template.yaml": template }));
  const code = await main(argv, io, scriptedLocal().doors);
  return { code, ...io.written };
}

describe("custard validate", () => {
  test("says that a template is valid", async () => {
    expect(await run(right, ["validate", "template.yaml"])).toEqual({
      code: 0,
      stdout: "template.yaml is valid.\n",
      stderr: "",
    });
  });

  test("tells every fault with its place, and ends with 2", async () => {
    const { code, stdout } = await run(wrong, ["validate", "template.yaml"]);
    expect(code).toBe(2);
    expect(stdout).toMatch(
      /^template\.yaml:6:\d+: Template format error: Unresolved resource dependencies \[Gone\]/,
    );
    expect(stdout).toContain("    6 |       X: !Ref Gone\n");
    expect(stdout).toMatch(/template\.yaml:7:\d+: Template error: Encountered unsupported function: Fn::Foo/);
    expect(stdout).toMatch(/\ntemplate\.yaml has 2 faults\.\n$/);
  });

  test("as JSON", async () => {
    const { code, stdout } = await run(wrong, ["validate", "template.yaml", "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      file: "template.yaml",
      valid: false,
      diagnostics: [
        { code: "UnresolvedReference", path: "/Resources/A/Properties/X/Ref", position: { line: 6 } },
        { code: "UnknownFunction" },
      ],
    });
  });

  test("a warning is no fault", async () => {
    const { code, stdout } = await run(`Transform: Macro\n${right}`, ["validate", "template.yaml"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/warning: What the macro Macro makes .*\ntemplate\.yaml is valid\.\n$/);
  });

  test("a file that isn't there", async () => {
    const { code, stderr } = await run(right, ["validate", "other.yaml"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("There is no file other.yaml")]);
  });
});

describe("custard evaluate", () => {
  test("shows the resolved template, without secrets", async () => {
    const { code, stdout } = await run(right, [
      "evaluate",
      "template.yaml",
      "--parameters",
      "Size=big",
      "--region",
      "cn-north-1",
      "--stack-name",
      "shop",
    ]);
    expect(code).toBe(0);
    expect(stdout).toBe(
      `Parameters:
  Size: big
  Secret: "*****"
Resources:
  Thing:
    Type: Custom::Thing
    Properties:
      ServiceToken: arn:aws-cn:lambda:cn-north-1:123456789012:function:shop
      Size: big
      Secret: "*****"
Outputs:
  Id:
    Value:
      Ref: Thing
`,
    );
  });

  test("as JSON", async () => {
    const { stdout } = await run(right, ["evaluate", "template.yaml", "--parameters", "Size=big", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ Resources: { Thing: { Properties: { Size: "big" } } } });
  });

  test("refuses what is wrong, with 2", async () => {
    const { code, stderr } = await run(right, ["evaluate", "template.yaml"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("Parameters: [Size] must have values")]);
  });
});
