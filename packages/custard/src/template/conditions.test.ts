import { describe, expect, test } from "vitest";
import { dedent, faultsOf, knownFor, parseOk } from "../../../../tests/support/template.ts";
import { checkConditional } from "./check-conditional.ts";
import { evaluateConditions } from "./evaluate.ts";
import { evaluateRules } from "./evaluate-rules.ts";

function conditions(source: string): Record<string, boolean> {
  const template = parseOk(`${source}\nResources: { A: { Type: AWS::SNS::Topic } }`);
  const evaluation = evaluateConditions(template, knownFor(template));
  if (evaluation.kind !== "value") throw new Error(JSON.stringify(evaluation));
  return Object.fromEntries(evaluation.value);
}

const condition = (expression: string): unknown =>
  conditions(dedent`
    Parameters:
      Env: { Type: String, Default: prod }
      Flag: { Type: String, Default: "true" }
      Names: { Type: CommaDelimitedList, Default: "a,b" }
      Empty: { Type: String, Default: "" }
      Secret: { Type: String, Default: pw, NoEcho: true }
    Mappings: { M: { prod: { Size: "3" } } }
    Conditions:
      X: ${expression}
      Yes: !Equals [a, a]
      No: !Equals [a, b]
  `)["X"];

describe("Fn::Equals", () => {
  test.each([
    ["!Equals [a, a]", true],
    ["!Equals [a, A]", false],
    ["!Equals [!Ref Env, prod]", true],
    ["!Equals [!Ref Flag, true]", true],
    ["!Equals [3, '3']", true],
    ["!Equals [3.0, 3]", false],
    ["!Equals ['', !Ref Empty]", true],
    ["!Equals [!Ref Secret, pw]", true],
    ["!Equals [!Ref Names, [a, b]]", true],
    ["!Equals [!Join [',', !Ref Names], 'a,b']", true],
    ["!Equals [!Select [1, !Ref Names], b]", true],
    ["!Equals [!FindInMap [M, !Ref Env, Size], 3]", true],
    ["!Equals [!Sub '${Env}-${AWS::Region}', prod-eu-west-1]", true],
    ["!Equals [!Ref AWS::Partition, aws-cn]", false],
    ["!Equals [{ a: b }, { a: b }]", true],
  ])("%s is %s", (expression, holds) => {
    expect(condition(expression)).toBe(holds);
  });
});

describe("Fn::And, Fn::Or, Fn::Not and Condition", () => {
  test.each([
    ["!Condition Yes", true],
    ["{ Condition: No }", false],
    ["!Not [!Condition No]", true],
    ["!Not [!Not [!Equals [a, a]]]", true],
    ["!And [!Condition Yes, !Condition Yes]", true],
    ["!And [!Condition Yes, !Condition No]", false],
    ["!Or [!Condition No, !Condition Yes]", true],
    ["!Or [!Condition No, !Condition No]", false],
    ["!And [!Or [!Condition No, !Condition Yes], !Not [!Condition No], !Equals [1, 1]]", true],
    [`!And [${Array.from({ length: 10 }, () => "!Condition Yes").join(", ")}]`, true],
    ["!Equals [!If [Yes, x, y], x]", true],
  ])("%s is %s", (expression, holds) => {
    expect(condition(expression)).toBe(holds);
  });

  const decided = (expression: string): string =>
    `Resources: { A: { Type: AWS::SNS::Topic } }\nConditions: { C: ${expression} }`;
  const tenAtMost = "object requires a list of at least 2 and at most 10 boolean parameters.";
  test.each([
    [
      `!And [${Array.from({ length: 11 }, () => "!Equals [a, b]").join(", ")}]`,
      `Template error: every Fn::And ${tenAtMost}`,
    ],
    ["!And text", `Template error: every Fn::And ${tenAtMost}`],
    ["!And { a: b }", `Template error: every Fn::And ${tenAtMost}`],
    ["!And [!Sub a, !Sub b]", `Template error: every Fn::And ${tenAtMost}`],
    ["!Or []", `Template error: every Fn::Or ${tenAtMost}`],
    ["!Or [!Equals [a, b]]", `Template error: every Fn::Or ${tenAtMost}`],
    ["!Not []", "Template error: every Fn::Not object requires one boolean parameter."],
    ["!Not text", "Template error: every Fn::Not object requires one boolean parameter."],
    ["!Not [text]", "Template error: every Fn::Not object requires one boolean parameter."],
    ["!Equals text", "Template error: every Fn::Equals object requires a list of 2 string parameters."],
    ["!Equals [a, b, c]", "Template error: every Fn::Equals object requires a list of 2 string parameters."],
    ["!Condition [a]", "Template format error: Every Condition member must be a string."],
  ])("%s is refused", (expression, message) => {
    expect(faultsOf(decided(expression))).toEqual([message]);
  });
});

test("conditions may refer to later ones", () => {
  expect(
    conditions("Conditions: { A: !Not [!Condition B], B: !Not [!Condition C], C: !Equals [a, a] }"),
  ).toEqual({ A: true, B: false, C: true });
});

describe("what conditions switch off", () => {
  const template = parseOk(dedent`
    Conditions: { On: !Equals [a, a], Off: !Equals [a, b] }
    Resources:
      Gone: { Type: AWS::SNS::Topic, Condition: Off }
      Null: { Type: Custom::Null, Condition: Off }
      Fine: { Type: AWS::SNS::Topic, DependsOn: Gone, Properties: { X: !If [Off, !Ref Gone, a] } }
      AlsoGone: { Type: AWS::SNS::Topic, Condition: Off, Properties: { X: !Ref Gone } }
      Wrong: { Type: AWS::SNS::Topic, Properties: { X: !If [On, !Ref Gone, a] } }
      NoToken: { Type: Custom::X, Condition: On }
    Outputs:
      Fine: { Condition: Off, Value: !Ref Gone }
      Wrong: { Value: !GetAtt Gone.Arn }
  `);

  test("may not be referred to by what there is (fact 117)", () => {
    const faults = checkConditional(
      template,
      new Map([
        ["On", true],
        ["Off", false],
      ]),
    );
    expect(faults.map(({ message, path }) => [path, message])).toEqual([
      [
        "/Resources/NoToken/Properties",
        "Template format error: [/Resources/NoToken/Properties] Every custom resource must have a ServiceToken property.",
      ],
      [
        "/Resources/Wrong/Properties/X/Fn::If/1/Ref",
        "Template format error: Unresolved resource dependencies [Gone] in the Resources block of the template",
      ],
      [
        "/Outputs/Wrong/Value/Fn::GetAtt",
        "Unresolved resource dependencies [Gone] in the Outputs block of the template",
      ],
    ]);
  });
});

describe("rules", () => {
  const judge = (rule: string): unknown => {
    const template = parseOk(dedent`
      Parameters:
        Env: { Type: String, Default: prod }
        Names: { Type: CommaDelimitedList, Default: "a,b" }
        VpcA: { Type: AWS::EC2::VPC::Id, Default: vpc-1 }
        VpcB: { Type: AWS::EC2::VPC::Id, Default: vpc-2 }
      Rules: { R: ${rule} }
      Resources: { A: { Type: AWS::SNS::Topic } }
    `);
    return evaluateRules(template, knownFor(template)).map(({ message }) => message);
  };
  const assert = (expression: string): string =>
    `{ Assertions: [{ Assert: ${expression}, AssertDescription: no }] }`;
  const failed = ["Template error: Rule R failed: no"];

  test.each([
    ["{ Fn::Contains: [[dev, prod], !Ref Env] }", []],
    ["{ Fn::Contains: [[dev], !Ref Env] }", failed],
    ["{ Fn::Contains: [[1, 2], '2'] }", []],
    ["{ Fn::Contains: [!Ref Names, b] }", []],
    ["!Not [{ Fn::Contains: [[dev], !Ref Env] }]", []],
    ["{ Fn::EachMemberEquals: [!Ref Names, a] }", failed],
    ["{ Fn::EachMemberEquals: [[a, a], a] }", []],
    ["{ Fn::EachMemberIn: [!Ref Names, [a, b, c]] }", []],
    ["{ Fn::EachMemberIn: [!Ref Names, [a]] }", failed],
    ["{ Fn::EachMemberIn: [{ Fn::RefAll: AWS::EC2::VPC::Id }, [vpc-1, vpc-2]] }", []],
    ["{ Fn::EachMemberIn: [{ Fn::RefAll: AWS::EC2::VPC::Id }, [vpc-1]] }", failed],
    ["!And [!Equals [!Ref Env, prod], !Or [!Equals [a, b], !Equals [b, b]]]", []],
  ])("%s", (expression, messages) => {
    expect(judge(assert(expression))).toEqual(messages);
  });

  test.each([
    "{ Fn::EachMemberIn: [{ Fn::ValueOfAll: [AWS::EC2::VPC::Id, Tags.Department] }, [it]] }",
    "!Equals [{ Fn::ValueOf: [VpcA, DefaultNetworkAcl] }, acl]",
  ])("what only AWS knows isn't judged: %s", (expression) => {
    expect(judge(assert(expression))).toEqual([
      "The rule R is not checked: it asks for what only AWS knows.",
    ]);
  });

  test("a rule counts only when its condition holds", () => {
    const rule = (env: string): string =>
      `{ RuleCondition: !Equals [!Ref Env, ${env}], Assertions: [{ Assert: !Equals [a, b] }] }`;
    expect(judge(rule("dev"))).toEqual([]);
    expect(judge(rule("prod"))).toEqual(["Template error: Rule R failed: assertion 1 doesn't hold"]);
  });

  const refused = (expression: string): readonly string[] =>
    faultsOf(
      `Rules: { R: { Assertions: [{ Assert: ${expression} }] } }\nResources: { A: { Type: AWS::SNS::Topic } }`,
    );
  test.each([
    ["{ Fn::Contains: [a] }", "Template error: every Fn::Contains object requires a list with two elements."],
    [
      "{ Fn::EachMemberIn: a }",
      "Template error: every Fn::EachMemberIn object requires a list with two elements.",
    ],
    [
      "{ Fn::EachMemberEquals: [a, b, c] }",
      "Template error: every Fn::EachMemberEquals object requires a list with two elements.",
    ],
    [
      "!Equals [{ Fn::RefAll: [a] }, b]",
      "Template error: every Fn::RefAll object must have a single String value.",
    ],
    [
      "!Equals [{ Fn::ValueOf: [a] }, b]",
      "Template error: every Fn::ValueOf object requires a list with two string elements.",
    ],
    [
      "!Equals [{ Fn::ValueOfAll: a }, b]",
      "Template error: every Fn::ValueOfAll object requires a list with two string elements.",
    ],
    [
      "!Equals [{ Fn::ValueOf: [Gone, VpcId] }, b]",
      "Template format error: Unresolved dependencies [Gone]. Cannot reference resources in the Rules block of the template",
    ],
    [
      "!Equals [!Ref A, b]",
      "Template format error: Unresolved dependencies [A]. Cannot reference resources in the Rules block of the template",
    ],
    ["!Equals [!GetAtt A.B, b]", "Template error: Cannot use Fn::GetAtt in Rules."],
    ["text", "Template format error: Rules must be made of functions that give true or false."],
  ])("%s is refused", (expression, message) => {
    expect(refused(expression)).toEqual([message]);
  });
});
