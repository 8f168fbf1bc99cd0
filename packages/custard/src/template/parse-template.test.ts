import { describe, expect, test } from "vitest";
import { dedent, faultsOf, parseOk } from "../../../../tests/support/template.ts";
import { dependenciesOf } from "./dependencies.ts";
import { diagnosticCodes } from "./diagnostic-codes.ts";
import { formatDiagnostic } from "./excerpt.ts";
import { parseTemplate } from "./parse-template.ts";

const resource = "Resources: { A: { Type: AWS::SNS::Topic } }";
const custom = (properties: string): string =>
  `Resources: { A: { Type: Custom::A, Properties: { ServiceToken: t, ${properties} } } }`;
const many = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join("\n");

describe("what CloudFormation refuses, in its words", () => {
  test.each([
    ["an empty file", "", "Template format error: unsupported structure."],
    ["blanks", " \n\n", "Template format error: unsupported structure."],
    ["a list", "[a]", "Template format error: unsupported structure."],
    ["a text", "hello", "Template format error: unsupported structure."],
    [
      "no resources",
      "Description: x",
      "Template format error: At least one Resources member must be defined.",
    ],
    [
      "empty resources",
      "Resources: {}",
      "Template format error: At least one Resources member must be defined.",
    ],
    ["an unknown section", `${resource}\nFoo: 1`, "Invalid template property or properties [Foo]"],
    [
      "another version",
      `AWSTemplateFormatVersion: 2011-01-01\n${resource}`,
      "Template format error: unsupported value for AWSTemplateFormatVersion.",
    ],
    [
      "no type",
      "Resources: { Foo: { Properties: {} } }",
      "Template format error: [/Resources/Foo] Every Resources object must contain a Type member.",
    ],
    [
      "an unknown attribute",
      "Resources: { A: { Type: AWS::SNS::Topic, Invalid: 10 } }",
      "Invalid template resource property 'Invalid'",
    ],
    [
      "a resource that is no map",
      "Resources: { A: text }",
      "Template format error: Any Resources member must be an object.",
    ],
    [
      "a name with dashes",
      "Resources: { my-bad-resource-id: { Type: AWS::SNS::Topic } }",
      "Template format error: Resource name my-bad-resource-id is non alphanumeric.",
    ],
    [
      "a resource AWS::NoValue",
      "Resources: { AWS::NoValue: { Type: AWS::SNS::Topic } }",
      "Template format error: Resource name AWS::NoValue is non alphanumeric.",
    ],
    [
      "a parameter AWS::NoValue",
      `Parameters: { AWS::NoValue: { Type: String } }\n${resource}`,
      "Template format error: Parameter name AWS::NoValue is non alphanumeric.",
    ],
    [
      "an output without value",
      `${resource}\nOutputs: { O: {} }`,
      "Template format error: Every Outputs member must contain a Value object",
    ],
    [
      "an output of null",
      `${resource}\nOutputs: { O: { Value: } }`,
      "[/Outputs/O/Value] 'null' values are not allowed in templates",
    ],
    [
      "a property of null",
      custom("N: null"),
      "Template format error: [/Resources/A/Properties/N] 'null' values are not allowed in templates",
    ],
    [
      "a list item of null",
      custom("N: [a, ~]"),
      "Template format error: [/Resources/A/Properties/N/1] 'null' values are not allowed in templates",
    ],
    [
      "a section of null",
      `${resource}\nParameters:`,
      "Template format error: [/Parameters] 'null' values are not allowed in templates",
    ],
    [
      "an output that is a list",
      `${resource}\nOutputs: { O: { Value: [a] } }`,
      "Template format error: Output O is malformed. The Value field of every Outputs member must evaluate to a String and not a List.",
    ],
    [
      "an output that is a map",
      `${resource}\nOutputs: { O: { Value: { a: b } } }`,
      "Template format error: Output O is malformed. The Value field of every Outputs member must evaluate to a String and not a Map.",
    ],
    [
      "an export without name",
      `${resource}\nOutputs: { O: { Value: a, Export: {} } }`,
      "Template format error: The Name field of every Export member must be specified and consist only of alphanumeric characters, colons, or hyphens.",
    ],
    [
      "an export named after a resource",
      `${resource}\nOutputs: { O: { Value: a, Export: { Name: !Ref A } } }`,
      "Template format error: Output O is malformed. The Name field of Export must not depend on any resources, imported values, or Fn::GetAZs.",
    ],
    [
      "a mapping that is no map",
      `${resource}\nMappings: { A: text }`,
      "Template format error: Every Mappings member A must be a map",
    ],
    [
      "a mapping key that is no map",
      `${resource}\nMappings: { A: { B: text } }`,
      "Template format error: Every Mappings member B must be a map",
    ],
    [
      "a mapping of maps",
      `${resource}\nMappings: { A: { B: { C: { D: e } } } }`,
      "Template format error: Every Mappings attribute must be a String or a List.",
    ],
    [
      "a function in a mapping",
      `${resource}\nMappings: { A: { B: { C: !Ref X } } }`,
      "Template format error: Every Mappings attribute must be a String or a List.",
    ],
    [
      "a parameter without type",
      `${resource}\nParameters: { P: { Default: a } }`,
      "Template format error: Every Parameters object must contain a Type member.",
    ],
    [
      "an unknown parameter type",
      `${resource}\nParameters: { P: { Type: Boolean } }`,
      "Template format error: Unrecognized parameter type: Boolean",
    ],
    [
      "an unknown parameter key",
      `${resource}\nParameters: { P: { Type: String, Foo: a } }`,
      "Invalid template parameter property 'Foo'",
    ],
    [
      "a default that is a list",
      `${resource}\nParameters: { P: { Type: String, Default: [a] } }`,
      "Template format error: Every Default member must be a string.",
    ],
    [
      "bounds the wrong way",
      `${resource}\nParameters: { P: { Type: String, MinLength: 3, MaxLength: 2 } }`,
      "Template error: Parameter 'P' MinLength must be less than MaxLength.",
    ],
    [
      "a pattern that is none",
      `${resource}\nParameters: { P: { Type: String, AllowedPattern: '(' } }`,
      "Template error: Parameter 'P' AllowedPattern must be a valid regular expression.",
    ],
    [
      "a name for two things",
      `Parameters: { A: { Type: String } }\n${resource}`,
      "Template error: all resources and parameters must have unique names. Common name(s):[A]",
    ],
    [
      "a reference to nothing",
      custom("X: !Ref InvalidRef"),
      "Template format error: Unresolved resource dependencies [InvalidRef] in the Resources block of the template",
    ],
    [
      "a dependency on nothing",
      "Resources: { A: { Type: AWS::SNS::Topic, DependsOn: NonExistingResource } }",
      "Template format error: Unresolved resource dependencies [NonExistingResource] in the Resources block of the template",
    ],
    [
      "an output's reference to nothing",
      `${resource}\nOutputs: { O: { Value: !Ref MyTopic } }`,
      "Unresolved resource dependencies [MyTopic] in the Outputs block of the template",
    ],
    [
      "a dependency that is a map",
      "Resources: { A: { Type: AWS::SNS::Topic, DependsOn: { a: b } } }",
      "Template format error: DependsOn must be a string or list of strings.",
    ],
    [
      "a resource that waits for itself",
      "Resources: { A: { Type: AWS::SNS::Topic, DependsOn: A } }",
      "Circular dependency between resources: [A]",
    ],
    [
      "an unknown condition",
      "Resources: { A: { Type: AWS::SNS::Topic, Condition: Gone } }",
      "Template format error: Condition Gone is not defined.",
    ],
    [
      "an unknown condition of an output",
      `${resource}\nOutputs: { O: { Value: a, Condition: Gone } }`,
      "Template format error: Condition Gone is not defined.",
    ],
    [
      "an unknown condition in Fn::If",
      custom("X: !If [MissingCondition, a, b]"),
      "Template error: unresolved condition dependency MissingCondition in Fn::If",
    ],
    [
      "an unknown condition in a condition",
      `${resource}\nConditions: { C: !Not [!Condition Gone] }`,
      "Template error: unresolved condition dependency Gone in C",
    ],
    [
      "a resource in a condition",
      `${resource}\nConditions: { C: !Equals [!Ref A, b] }`,
      "Template format error: Unresolved dependencies [A]. Cannot reference resources in the Conditions block of the template",
    ],
    [
      "Fn::GetAtt in a condition",
      `${resource}\nConditions: { C: !Equals [!GetAtt A.B, b] }`,
      "Template error: Cannot use Fn::GetAtt in Conditions.",
    ],
    [
      "Fn::ImportValue in a condition",
      `${resource}\nConditions: { C: !Equals [!ImportValue x, b] }`,
      "Template error: Cannot use Fn::ImportValue in Conditions.",
    ],
    [
      "conditions in a circle",
      `${resource}\nConditions: { C: !Not [!Condition D], D: !Not [!Condition C] }`,
      "Template error: Found circular condition dependency: [C, D]",
    ],
    [
      "a condition that is a text",
      `${resource}\nConditions: { C: yes }`,
      "Template format error: Every Conditions member must be a condition function: Fn::And, Fn::Equals, Fn::Not, Fn::Or or Condition.",
    ],
    [
      "Fn::Equals of one",
      `${resource}\nConditions: { C: !Equals [a] }`,
      "Template error: every Fn::Equals object requires a list of 2 string parameters.",
    ],
    [
      "Fn::And of one",
      `${resource}\nConditions: { C: !And [!Equals [a, b]] }`,
      "Template error: every Fn::And object requires a list of at least 2 and at most 10 boolean parameters.",
    ],
    [
      "Fn::Or of texts",
      `${resource}\nConditions: { C: !Or [a, b] }`,
      "Template error: every Fn::Or object requires a list of at least 2 and at most 10 boolean parameters.",
    ],
    [
      "Fn::Not of two",
      `${resource}\nConditions: { C: !Not [!Equals [a, b], !Equals [a, b]] }`,
      "Template error: every Fn::Not object requires one boolean parameter.",
    ],
    [
      "an unknown deletion policy",
      "Resources: { A: { Type: AWS::SNS::Topic, DeletionPolicy: Keep } }",
      "Template format error: Unrecognized DeletionPolicy Keep for resource A",
    ],
    [
      "RetainExceptOnCreate on replacement",
      "Resources: { A: { Type: AWS::SNS::Topic, UpdateReplacePolicy: RetainExceptOnCreate } }",
      "Template format error: Unrecognized UpdateReplacePolicy RetainExceptOnCreate for resource A",
    ],
    [
      "a transform without a name",
      `Transform: { Parameters: {} }\n${resource}`,
      "Key Name of transform definition must be a string.",
    ],
    [
      "a rule without assertions",
      `${resource}\nRules: { R: { RuleCondition: !Equals [a, b] } }`,
      "Template format error: Rule R must have a list of Assertions.",
    ],
    [
      "501 resources",
      `Resources:\n${many(501, (index) => `  R${index}: { Type: AWS::SNS::Topic }`)}`,
      "Template format error: Number of resources, 501, is greater than maximum allowed, 500",
    ],
    [
      "201 parameters",
      `${resource}\nParameters:\n${many(201, (index) => `  P${index}: { Type: String }`)}`,
      "Template format error: Number of parameters, 201, is greater than maximum allowed, 200",
    ],
    [
      "201 outputs",
      `${resource}\nOutputs:\n${many(201, (index) => `  O${index}: { Value: a }`)}`,
      "Template format error: Number of outputs, 201, is greater than maximum allowed, 200",
    ],
    [
      "201 mappings",
      `${resource}\nMappings:\n${many(201, (index) => `  M${index}: { a: { b: c } }`)}`,
      "Template format error: Number of mappings, 201, is greater than maximum allowed, 200",
    ],
    [
      "a long name",
      `Resources: { ${"A".repeat(256)}: { Type: AWS::SNS::Topic } }`,
      `Template format error: Resource name ${"A".repeat(256)} is longer than 255 characters.`,
    ],
    [
      "a long description",
      `Description: ${"x".repeat(1025)}\n${resource}`,
      "Template format error: 'Description' length is greater than 1024.",
    ],
    [
      "a secure reference where it isn't taken",
      custom("P: '{{resolve:ssm-secure:name:1}}'"),
      "SSM Secure reference is not supported in: [Custom::A/Properties/P]",
    ],
    [
      "a dynamic reference to nothing known",
      custom("P: '{{resolve:vault:name}}'"),
      "Dynamic reference service is not supported: [{{resolve:vault:name}}]",
    ],
    [
      "a malformed SSM reference",
      custom("P: '{{resolve:ssm:/name:}}'"),
      "Incorrect format is used in the following SSM reference: [{{resolve:ssm:/name:}}]",
    ],
  ])("%s", (_, body, message) => {
    expect(faultsOf(body)).toEqual([message]);
  });
});

describe("custom resources", () => {
  const typed = (type: string): string =>
    `Resources: { A: { Type: '${type}', Properties: { ServiceToken: t } } }`;

  test.each([
    `Custom::${"x".repeat(60)}`,
    "Custom::My_Type@1-b",
    "Custom::1",
    "AWS::CloudFormation::CustomResource",
  ])("the type %s is taken", (type) => {
    expect(faultsOf(typed(type))).toEqual([]);
  });

  test.each([`Custom::${"x".repeat(61)}`, "Custom::", "Custom::a b", "Custom::A::B", "Custom::ä"])(
    "the type %s is refused",
    (type) => {
      expect(faultsOf(typed(type))).toEqual([
        `Template format error: Unrecognized resource types: [${type}]`,
      ]);
    },
  );

  test.each([
    "Resources: { A: { Type: Custom::A } }",
    "Resources: { A: { Type: Custom::A, Properties: { X: y } } }",
    "Resources: { A: { Type: AWS::CloudFormation::CustomResource, Properties: {} } }",
  ])("one without a service token is refused: %s", (body) => {
    expect(faultsOf(body)).toEqual([
      "Template format error: [/Resources/A/Properties] Every custom resource must have a ServiceToken property.",
    ]);
  });

  test("one that a condition may switch off needs none yet", () => {
    expect(
      faultsOf("Conditions: { No: !Equals [a, b] }\nResources: { A: { Type: Custom::Null, Condition: No } }"),
    ).toEqual([]);
  });
});

test("all faults are found, in the order of the text, each at its place", () => {
  const body = dedent`
    Parameters:
      P: { Type: Nope }
    Resources:
      A:
        Type: AWS::SNS::Topic
        Properties:
          One: !Ref Gone
          Two: !Select [x]
          Three: !Sub "\${Gone}"
    Outputs:
      O: {}
  `;
  const { diagnostics } = parseTemplate(body);
  expect(
    diagnostics.map(({ code, path, position }) => [code, path, position?.line, position?.column]),
  ).toEqual([
    ["InvalidParameter", "/Parameters/P/Type", 2, 14],
    ["UnresolvedReference", "/Resources/A/Properties/One/Ref", 7, 17],
    ["InvalidFunction", "/Resources/A/Properties/Two/Fn::Select", 8, 20],
    ["UnresolvedReference", "/Resources/A/Properties/Three/Fn::Sub", 9, 19],
    ["InvalidOutput", "/Outputs/O", 11, 3],
  ]);
});

test("an excerpt shows the line with a caret below the place", () => {
  const body = "Resources:\n  A:\n    Type: AWS::SNS::Topic\n    Foo: bar\n";
  const [first] = parseTemplate(body).diagnostics;
  expect(first && formatDiagnostic(first, body, "template.yaml")).toBe(
    [
      "template.yaml:4:5: Invalid template resource property 'Foo'",
      "    4 |     Foo: bar",
      "      |     ^",
    ].join("\n"),
  );
});

test("an excerpt of a long line is cut around the place", () => {
  const body = `{"Resources": {"A": {"Type": "${"x".repeat(500)}", "Foo": 1}}}`;
  const [first] = parseTemplate(body).diagnostics;
  const [, line = "", caret = ""] = (first ? formatDiagnostic(first, body) : "").split("\n");
  expect(line.length).toBeLessThan(140);
  expect(line.slice(caret.length - 1)).toMatch(/^"Foo"/);
});

describe("dependencies", () => {
  const body = dedent`
    Parameters: { P: { Type: String, Default: a } }
    Conditions: { C: !Equals [!Ref P, a] }
    Resources:
      A: { Type: AWS::SNS::Topic }
      B: { Type: AWS::SNS::Topic, DependsOn: A }
      C1: { Type: AWS::SNS::Topic, DependsOn: [A, B] }
      D: { Type: AWS::SNS::Topic, Properties: { X: !If [C, !Ref A, !GetAtt B.Y], P: !Ref P, R: !Ref AWS::Region } }
      E: { Type: AWS::SNS::Topic, Properties: { X: [!Sub "\${A}-\${B.Y}-\${!D}"], Y: { Fn::Base64: !Join ["", [!Ref C1]] } } }
      F: { Type: AWS::SNS::Topic, Metadata: { M: !Ref D } }
  `;

  test("are explicit and implicit, in all branches", () => {
    const found = [...dependenciesOf(parseOk(body))].map(([name, on]) => `${name}: ${[...on].join(" ")}`);
    expect(found).toEqual(["A: ", "B: A", "C1: A B", "D: A B", "E: A B C1", "F: D"]);
  });

  test("circles are told once each, by the names that are in them", () => {
    const ring = dedent`
      Resources:
        Out: { Type: AWS::SNS::Topic, DependsOn: A }
        A: { Type: AWS::SNS::Topic, DependsOn: B }
        B: { Type: AWS::SNS::Topic, Properties: { X: !Ref C } }
        C: { Type: AWS::SNS::Topic, Properties: { X: !GetAtt A.X }, DependsOn: In }
        In: { Type: AWS::SNS::Topic }
        X: { Type: AWS::SNS::Topic, DependsOn: Y }
        Y: { Type: AWS::SNS::Topic, DependsOn: [X, A] }
    `;
    expect(faultsOf(ring)).toEqual([
      "Circular dependency between resources: [A, B, C]",
      "Circular dependency between resources: [X, Y]",
    ]);
  });
});

test("a template keeps what it declares", () => {
  const template = parseOk(dedent`
    AWSTemplateFormatVersion: 2010-09-09
    Description: Shop
    Metadata: { Owner: me }
    Parameters: { P: { Type: Number, Default: 007, NoEcho: true, AllowedValues: [1, 007], MinValue: 1 } }
    Resources:
      A:
        Type: Custom::A
        Version: "1.0"
        Description: a resource
        DeletionPolicy: RetainExceptOnCreate
        UpdateReplacePolicy: Retain
        CreationPolicy: { ResourceSignal: { Count: 1 } }
        Metadata: { Secret: !Ref P }
        Properties: { ServiceToken: t }
    Outputs: { O: { Description: d, Value: 5, Export: { Name: !Sub "\${AWS::StackName}-o" } } }
  `);
  expect(template.description).toBe("Shop");
  expect(template.metadata).toEqual({ Owner: "me" });
  expect(template.parameters.get("P")).toEqual({
    name: "P",
    type: "Number",
    defaultValue: "007",
    noEcho: true,
    allowedValues: ["1", "007"],
    minValue: 1,
    position: { line: 4, column: 15, offset: template.body.indexOf("P: {") },
  });
  expect(template.resources.get("A")).toMatchObject({
    deletionPolicy: "RetainExceptOnCreate",
    updateReplacePolicy: "Retain",
    type: "Custom::A",
  });
  expect(template.outputs.get("O")).toMatchObject({
    description: "d",
    value: { kind: "constant", value: 5 },
  });
});

test("the Hooks section is ignored, with a warning", () => {
  const parsed = parseTemplate(`${resource}\nHooks: { H: { Type: AWS::CodeDeploy::BlueGreen } }`);
  expect(parsed.ok).toBe(true);
  expect(parsed.diagnostics).toMatchObject([{ severity: "warning", path: "/Hooks" }]);
});

test("every code says what it means", () => {
  for (const meaning of Object.values(diagnosticCodes)) expect(meaning).toMatch(/^[A-Z`].*\.$/);
});
