import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { bin, custardEnds } from "./support/custard.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// What is wrong with a template or a call is told before anything starts: exit code 2, what, and where.

const token = "arn:aws:lambda:us-east-1:123456789012:function:thing";
const longName = "x".repeat(61);

const thing = (more = ""): string => `Resources:
  Thing:
    Type: Custom::Thing
    Properties:
      ServiceToken: ${token}
${more}`;

const cases: readonly {
  readonly name: string;
  readonly template: string | Uint8Array;
  readonly says: RegExp;
  readonly at?: string;
}[] = [
  { name: "an empty file", template: "", says: /Template format error|empty/i },
  { name: "a file of nothing but blanks", template: "\n \n", says: /Template format error|empty/i },
  { name: "no text", template: new Uint8Array([0xff, 0xfe, 0x00, 0x80]), says: /not UTF-8/ },
  {
    name: "YAML with a tab",
    template: "Resources:\n\tThing:\n\t\tType: Custom::Thing\n",
    says: /YAML not well-formed/,
    at: "template.yaml:2:1",
  },
  { name: "JSON that ends early", template: '{\n  "Resources": {\n', says: /JSON not well-formed/ },
  {
    name: "Resources missing",
    template: "Outputs:\n  A:\n    Value: a\n",
    says: /At least one Resources member must be defined/,
  },
  {
    name: "a cycle",
    template: `Resources:
  A:
    Type: Custom::Thing
    Properties:
      ServiceToken: ${token}
      Other: !Ref B
  B:
    Type: Custom::Thing
    DependsOn: A
    Properties:
      ServiceToken: ${token}
`,
    says: /Circular dependency between resources: \[A, B\]/,
  },
  {
    name: "Ref to nothing",
    template: thing("      Other: !Ref Nothing\n"),
    says: /Unresolved resource dependencies \[Nothing\] in the Resources block/,
    at: "template.yaml:6:",
  },
  {
    name: "GetAtt of nothing",
    template: thing("      Other: !GetAtt Nothing.Arn\n"),
    says: /Template error: instance of Fn::GetAtt references undefined resource Nothing/,
    at: "template.yaml:6:",
  },
  {
    name: "an unknown function",
    template: thing("      Other: !Frobnicate x\n"),
    says: /Frobnicate/,
    at: "template.yaml:6:",
  },
  {
    name: "an unknown long function",
    template: thing("      Other:\n        Fn::Frobnicate: x\n"),
    says: /Frobnicate/,
    at: "template.yaml:7:",
  },
  {
    name: "a type of 61 characters",
    template: thing().replace("Custom::Thing", `Custom::${longName}`),
    says: /Custom::x{61}/,
    at: "template.yaml:3:",
  },
  {
    name: "no ServiceToken",
    template: "Resources:\n  Thing:\n    Type: Custom::Thing\n",
    says: /ServiceToken/,
    at: "template.yaml:2:",
  },
  {
    name: "a null",
    template: thing("      Other: null\n"),
    says: /\[\/Resources\/Thing\/Properties\/Other\] 'null' values are not allowed in templates/,
    at: "template.yaml:6:",
  },
];

test.each(cases)("$name", async ({ template, says, at }) => {
  const folder = temporaryFolder({ "template.yaml": template });
  const ended = await custardEnds(2, folder, ["deploy", "template.yaml"]);
  expect(ended.stderr).toMatch(says);
  expect(ended.stdout).toBe("");
  expect(ended.stderr).not.toMatch(/\n +at .*\.js:/);
  const places = at === undefined ? [] : [at, "^"];
  for (const place of places) expect(ended.stderr).toContain(place);

  const asJson = await custardEnds(2, folder, ["deploy", "template.yaml", "--json"]);
  const error = asJson.lines.at(-1);
  expect(error).toMatchObject({ kind: "error" });
  expect(error?.message).toMatch(says);
  const line = error?.diagnostics?.[0]?.position?.line;
  expect(`template.yaml:${line}:`).toContain(at?.split(":")[1] ?? "template.yaml");
});

test("a type of 60 characters is none of them", async () => {
  const template = thing().replace("Custom::Thing", `Custom::${longName.slice(1)}`);
  const folder = temporaryFolder({ "template.yaml": template });
  // Nothing stands behind the token, so the stack fails; but it was started.
  const ended = await custardEnds(1, folder, ["deploy", "template.yaml"]);
  expect(ended.stdout).toContain("CREATE_IN_PROGRESS");
});

test.each([
  { argv: ["help", "delpoy"], says: "unknown command 'delpoy'" },
  { argv: ["validate", ""], says: "The template's path is empty" },
  { argv: ["list", "--state", ""], says: "--state names no folder: it is empty" },
])("custard $argv", async ({ argv, says }) => {
  const ended = await custardEnds(2, temporaryFolder(), argv);
  expect(ended.stderr).toContain(says);
});

test("a state directory that can't be made is told, not tried for ever", async () => {
  const folder = temporaryFolder({ "template.yaml": thing() });
  const ended = await custardEnds(1, folder, ["deploy", "template.yaml", "--state", "/proc/state"]);
  expect(ended.stderr).toContain("The state directory /proc/state can't be made: ENOENT");
});

test("a working directory that is gone is told", () => {
  const folder = temporaryFolder();
  const command = `mkdir gone && cd gone && rm -r ../gone && exec "${process.execPath}" "${bin}" list`;
  const { status, stderr } = spawnSync("sh", ["-c", command], { cwd: folder, encoding: "utf8" });
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: "error: The folder that you are in is gone\nGo to another one, or make it again.\n",
  });
});

test("a template that comes through a pipe has its stacks in the working directory", async () => {
  const folder = temporaryFolder();
  const command = `"${process.execPath}" "${bin}" deploy /dev/stdin --stack-name piped`;
  const input = "Resources: { Topic: { Type: 'AWS::SNS::Topic' } }";
  const { status, stdout } = spawnSync("sh", ["-c", command], { cwd: folder, encoding: "utf8", input });
  expect(stdout).toContain("✓ piped CREATE_COMPLETE");
  expect(status).toBe(0);
  expect((await custardEnds(0, folder, ["list"])).stdout).toContain("piped");
});

test.each(["^(a+)+$", "(\\p{Alpha}+)+", "(?:a|aa)+", "([a-z]+)*[0-9]"])(
  "AllowedPattern %s can't hang anything",
  async (pattern) => {
    const folder = temporaryFolder({
      "template.yaml": `Parameters:\n  Word: { Type: String, AllowedPattern: '${pattern}' }\n${thing()}`,
    });
    const ended = await custardEnds(2, folder, [
      "evaluate",
      "template.yaml",
      "--parameters",
      `Word=${"a".repeat(60)}!`,
    ]);
    expect(ended.stderr).toContain(`Parameter 'Word' must match pattern ${pattern}`);
  },
);

test("no such file", async () => {
  const ended = await custardEnds(2, temporaryFolder(), ["deploy", "absent.yaml"]);
  expect(ended.stderr).toContain("There is no file absent.yaml");
});

test("a parameter without a value, and one that the template does not have", async () => {
  const folder = temporaryFolder({ "template.yaml": `Parameters:\n  Size:\n    Type: Number\n${thing()}` });
  const missing = await custardEnds(2, folder, ["deploy", "template.yaml"]);
  expect(missing.stderr).toContain("Parameters: [Size] must have values");
  const wrong = await custardEnds(2, folder, ["deploy", "template.yaml", "--parameters", "Size=big"]);
  expect(wrong.stderr).toContain("Parameter 'Size' must be a number.");
  const unknown = await custardEnds(2, folder, [
    "deploy",
    "template.yaml",
    "--parameters",
    "Size=1",
    "Color=red",
  ]);
  expect(unknown.stderr).toContain("Color");
});

test("a state directory that is none", async () => {
  const folder = temporaryFolder({ "template.yaml": thing(), state: "a file" });
  const ended = await custardEnds(2, folder, ["list", "--state", "state"]);
  expect(ended.stderr).toContain("--state state is a file, not a folder");
});
