import { describe, expect, test } from "vitest";
import { dedent } from "../../../../tests/support/template.ts";
import { evaluateTemplate } from "./evaluate-template.ts";
import { formatYaml } from "./format-yaml.ts";
import type { ParameterInput } from "./parameters.ts";
import { examplePseudo, validateTemplate } from "./validate-template.ts";

const body = dedent`
  Parameters:
    Env: { Type: String }
    Secret: { Type: String, Default: hunter2, NoEcho: true }
    Ami: { Type: AWS::SSM::Parameter::Value<String>, Default: /ami }
  Conditions: { IsProd: !Equals [!Ref Env, prod] }
  Resources:
    A:
      Type: Custom::A
      DeletionPolicy: Retain
      Properties:
        ServiceToken: !Sub "arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:f"
        Size: !If [IsProd, 3, !Ref AWS::NoValue]
        Hidden: !Sub "pw-\${Secret}"
        Image: !Ref Ami
    B:
      Type: Custom::B
      Condition: IsProd
      DependsOn: A
      Properties: { ServiceToken: t, Of: !If [IsProd, [!GetAtt A.X, !Ref Env], x], Import: !ImportValue other }
  Outputs:
    O: { Value: !Ref A, Export: { Name: !Sub "\${Env}-o" } }
    OnlyProd: { Condition: IsProd, Value: x }
`;

const evaluate = (
  source: string,
  parameters: Record<string, string>,
): ReturnType<typeof evaluateTemplate> => {
  const given = Object.entries(parameters).map(([name, value]): [string, ParameterInput] => [
    name,
    { kind: "value", value },
  ]);
  return evaluateTemplate(source, { parameters: new Map(given), pseudo: examplePseudo });
};

describe("custard evaluate", () => {
  test("shows what is known, and leaves what only a deployment knows", () => {
    const evaluated = evaluate(body, { Env: "prod" });
    expect(evaluated.ok && evaluated.value).toEqual({
      Parameters: { Env: "prod", Secret: "*****", Ami: "{{resolve:ssm:/ami}}" },
      Conditions: { IsProd: true },
      Resources: {
        A: {
          Type: "Custom::A",
          DeletionPolicy: "Retain",
          Properties: {
            ServiceToken: "arn:aws:lambda:us-east-1:123456789012:function:f",
            Size: 3,
            Hidden: "*****",
            Image: "{{resolve:ssm:/ami}}",
          },
        },
        B: {
          Type: "Custom::B",
          DependsOn: ["A"],
          Properties: {
            ServiceToken: "t",
            Of: [{ "Fn::GetAtt": "A.X" }, "prod"],
            Import: { "Fn::ImportValue": "other" },
          },
        },
      },
      Outputs: { O: { Value: { Ref: "A" }, Export: { Name: "prod-o" } }, OnlyProd: { Value: "x" } },
    });
  });

  test("leaves out what conditions switch off", () => {
    const evaluated = evaluate(body, { Env: "dev" });
    expect(evaluated.ok && Object.keys(evaluated.value["Resources"] ?? {})).toEqual(["A"]);
    expect(evaluated.ok && evaluated.value["Outputs"]).not.toHaveProperty("OnlyProd");
    expect(JSON.stringify(evaluated)).not.toContain("hunter2");
  });

  test.each([
    ["a parameter without value", body, ["Parameters: [Env] must have values"]],
    [
      "a wrong template",
      "Resources: {}",
      ["Template format error: At least one Resources member must be defined."],
    ],
    [
      "a macro",
      "Transform: M\nResources: { A: { Type: AWS::SNS::Topic } }",
      ["The macro M runs only in a deployment."],
    ],
    [
      "an index that is too large",
      "Resources: { A: { Type: AWS::SNS::Topic, Properties: { X: !Select [1, [a]], Y: !Select [2, [a]] } } }",
      [
        "Template error: Fn::Select cannot select nonexistent value at index 1",
        "Template error: Fn::Select cannot select nonexistent value at index 2",
      ],
    ],
    [
      "a condition that can't be evaluated",
      "Conditions: { C: !Equals [!Select [3, [a]], b] }\nResources: { A: { Type: AWS::SNS::Topic } }",
      ["Template error: Fn::Select cannot select nonexistent value at index 3"],
    ],
    [
      "a rule that doesn't hold",
      "Rules: { R: { Assertions: [{ Assert: !Equals [a, b], AssertDescription: never }] } }\nResources: { A: { Type: AWS::SNS::Topic } }",
      ["Template error: Rule R failed: never"],
    ],
  ])("refuses %s", (_, source, messages) => {
    expect(evaluate(source, {}).diagnostics.map(({ message }) => message)).toEqual(messages);
  });

  test("runs the transforms that need no one else", () => {
    const loop =
      "Transform: AWS::LanguageExtensions\nResources: { Fn::ForEach::L: [N, [A, B], { 'R${N}': { Type: AWS::SNS::Topic, Properties: { T: !Ref N } } }] }";
    const evaluated = evaluate(loop, {});
    expect(evaluated.ok && evaluated.value).toEqual({
      Resources: {
        RA: { Type: "AWS::SNS::Topic", Properties: { T: "A" } },
        RB: { Type: "AWS::SNS::Topic", Properties: { T: "B" } },
      },
    });
  });

  test("its YAML is for people", () => {
    const same = { a: "x".repeat(200) };
    expect(formatYaml({ b: same, c: same })).toBe(
      `b:\n  a: ${"x".repeat(200)}\nc:\n  a: ${"x".repeat(200)}\n`,
    );
  });
});

describe("custard validate", () => {
  test.each([
    ["a right template", body, []],
    [
      "a default that its declaration refuses",
      "Parameters: { P: { Type: Number, Default: x } }\nResources: { A: { Type: AWS::SNS::Topic } }",
      ["Parameter 'P' must be a number."],
    ],
    [
      "what a loop makes",
      "Transform: AWS::LanguageExtensions\nParameters: { Names: { Type: CommaDelimitedList } }\nResources: { Fn::ForEach::L: [N, !Ref Names, { 'R${N}': { Foo: 1 } }] }",
      [
        "Template format error: [/Resources/RExampleA] Every Resources object must contain a Type member.",
        "Template format error: [/Resources/RExampleB] Every Resources object must contain a Type member.",
        "Invalid template resource property 'Foo'",
        "Invalid template resource property 'Foo'",
      ],
    ],
    [
      "a macro",
      "Transform: M\nResources: { A: { Type: AWS::SNS::Topic } }",
      ["What the macro M makes of the template is not checked: it is known only in a deployment."],
    ],
  ])("%s", (_, source, messages) => {
    expect(validateTemplate(source).map(({ message }) => message)).toEqual(messages);
  });
});
