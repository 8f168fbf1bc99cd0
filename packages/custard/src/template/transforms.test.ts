import { describe, expect, test } from "vitest";
import type { Json } from "@custard/provider/protocol";
import { dedent, pseudo } from "../../../../tests/support/template.ts";
import { resolveParameters, type ParameterInput } from "./parameters.ts";
import { parseTemplate } from "./parse-template.ts";
import { reveal } from "./value.ts";
import { processTemplate, type Processing, type TransformAnswer } from "./process-template.ts";

interface Options {
  readonly parameters?: Readonly<Record<string, string>>;
  readonly answers?: Readonly<Record<string, TransformAnswer>>;
}

function processing(body: string, { parameters = {}, answers = {} }: Options = {}): Processing {
  const parsed = parseTemplate(body);
  if (!parsed.ok) return { kind: "done", template: parsed };
  const given = Object.entries(parameters).map(([name, value]): [string, ParameterInput] => [
    name,
    { kind: "value", value },
  ]);
  const resolved = resolveParameters(parsed.value, new Map(given));
  if (!resolved.ok) throw new Error(resolved.diagnostics[0]?.message);
  return processTemplate(body, {
    pseudo,
    parameters: resolved.value,
    answers: new Map(Object.entries(answers)),
  });
}

/** The processed template, or the messages. */
function processed(body: string, options?: Options): Json {
  const result = processing(body, options);
  if (result.kind === "needs") return { needs: result.needs.map(({ key }) => key) };
  if (!result.template.ok)
    return result.template.diagnostics
      .filter(({ severity }) => severity === "error")
      .map(({ message }) => message);
  // The processed text must be a template by itself.
  expect(
    parseTemplate(result.template.value.body).diagnostics.filter(({ severity }) => severity === "error"),
  ).toEqual([]);
  return JSON.parse(result.template.value.body);
}

const extended = (rest: string): string =>
  `Transform: AWS::LanguageExtensions\n${dedent([rest] as unknown as TemplateStringsArray)}`;
const failure = (why: string): string[] => [`Transform AWS::LanguageExtensions failed with: ${why}`];

describe("Fn::ForEach", () => {
  test("repeats a resource: keys, Ref and Fn::Sub have the identifier", () => {
    const body = extended(`
      Parameters: { Names: { Type: CommaDelimitedList, Default: "a-1,b" } }
      Resources:
        Fn::ForEach::Topics:
          - Name
          - !Ref Names
          - "Topic&{Name}":
              Type: Custom::Topic
              Properties: { ServiceToken: t, Name: !Ref Name, Text: !Sub "\${Name}.\${AWS::Region}", Plain: "\${Name}" }
    `);
    expect(processed(body)).toEqual({
      Parameters: { Names: { Type: "CommaDelimitedList", Default: "a-1,b" } },
      Resources: {
        Topica1: {
          Type: "Custom::Topic",
          Properties: { ServiceToken: "t", Name: "a-1", Text: "a-1.eu-west-1", Plain: "${Name}" },
        },
        Topicb: {
          Type: "Custom::Topic",
          Properties: { ServiceToken: "t", Name: "b", Text: "b.eu-west-1", Plain: "${Name}" },
        },
      },
    });
  });

  test("may stand within a loop", () => {
    const body = extended(`
      Resources:
        Fn::ForEach::TopLevel:
          - Prefix
          - [Foo, Bar]
          - "My\${Prefix}":
              Type: AWS::SSM::Parameter
              Properties: { Value: !Sub "my value \${Prefix}" }
            Fn::ForEach::LowerLevel:
              - Suffix
              - [A, B]
              - "My\${Prefix}\${Suffix}":
                  Type: AWS::SSM::Parameter
                  Properties: { Value: !Sub "\${Prefix} \${Suffix}" }
    `);
    expect(processed(body)).toEqual({
      Resources: Object.fromEntries(
        [
          ["MyFoo", "my value Foo"],
          ["MyFooA", "Foo A"],
          ["MyFooB", "Foo B"],
          ["MyBar", "my value Bar"],
          ["MyBarA", "Bar A"],
          ["MyBarB", "Bar B"],
        ].map(([name, value]) => [name, { Type: "AWS::SSM::Parameter", Properties: { Value: value } }]),
      ),
    });
  });

  test("may stand in conditions, outputs and properties", () => {
    const body = extended(`
      Mappings: { Sets: { all: { names: [A, B] } } }
      Conditions:
        Fn::ForEach::C: [N, [A, B], { "Is\${N}": !Equals [!Ref N, A] }]
      Resources:
        R:
          Type: Custom::R
          Properties:
            ServiceToken: t
            Fn::ForEach::P: [N, !FindInMap [Sets, all, names], { "Prop\${N}": !Ref N }]
      Outputs:
        Fn::ForEach::O: [N, [A], { "Out\${N}": { Value: !GetAtt [R, !Ref N] } }]
    `);
    expect(processed(body)).toEqual({
      Mappings: { Sets: { all: { names: ["A", "B"] } } },
      Conditions: { IsA: { "Fn::Equals": ["A", "A"] }, IsB: { "Fn::Equals": ["B", "A"] } },
      Resources: { R: { Type: "Custom::R", Properties: { ServiceToken: "t", PropA: "A", PropB: "B" } } },
      Outputs: { OutA: { Value: { "Fn::GetAtt": ["R", "A"] } } },
    });
  });

  test("a name may be computed: Ref, Fn::GetAtt, deletion policies", () => {
    const body = extended(`
      Parameters: { Keep: { Type: String, Default: Retain } }
      Resources:
        Fn::ForEach::L:
          - N
          - [A, B]
          - "Bucket\${N}": { Type: AWS::S3::Bucket, DeletionPolicy: !Ref Keep, UpdateReplacePolicy: !Sub "\${Keep}" }
      Outputs:
        Fn::ForEach::O:
          - N
          - [A, B]
          - "Name\${N}": { Value: !Ref { "Fn::Sub": "Bucket\${N}" } }
            "Arn\${N}": { Value: !GetAtt [!Sub "Bucket\${N}", Arn] }
    `);
    expect(processed(body)).toMatchObject({
      Resources: { BucketA: { DeletionPolicy: "Retain", UpdateReplacePolicy: "Retain" } },
      Outputs: {
        NameB: { Value: { Ref: "BucketB" } },
        ArnB: { Value: { "Fn::GetAtt": ["BucketB", "Arn"] } },
      },
    });
  });

  const loop = (value: string): string =>
    extended(`
    Parameters: { P: { Type: String, Default: a } }
    Resources:
      R: { Type: Custom::R, Properties: { ServiceToken: t, Fn::ForEach::L: ${value} } }
  `);

  test.each([
    ["text", "Fn::ForEach layout is incorrect"],
    ["[N, [a]]", "Fn::ForEach layout is incorrect"],
    ["[N, [a], { a: b }, x]", "Fn::ForEach layout is incorrect"],
    ["[N, [a], text]", "Fn::ForEach layout is incorrect"],
    ["[[N], [a], { a: b }]", "Fn::ForEach layout is incorrect"],
    ["[N-1, [a], { a: b }]", "the names of a Fn::ForEach loop and of its identifier must be alphanumeric"],
    ["[N, !Ref P, { a: b }]", "Fn::ForEach could not resolve its collection to a list of strings"],
    ["[N, text, { a: b }]", "Fn::ForEach could not resolve its collection to a list of strings"],
    ["[N, [{ a: b }], { a: b }]", "Fn::ForEach could not resolve its collection to a list of strings"],
    ["[N, !GetAtt R.List, { a: b }]", "Fn::ForEach could not resolve its collection to a list of strings"],
    [
      "[N, [a, b], { Cidr: !Ref N }]",
      "Duplicate key 'Cidr' when merging keys to parent object in Fn::ForEach",
    ],
    [
      "[N, [ServiceToken], { '${N}': !Ref N }]",
      "Duplicate key 'ServiceToken' when merging keys to parent object in Fn::ForEach",
    ],
  ])("%s is refused", (value, why) => {
    expect(processed(loop(value))).toEqual(failure(why));
  });

  test("loops within loops may not grow without bound", () => {
    const ten = "[a, b, c, d, e, f, g, h, i, j]";
    const nested = (level: number): string =>
      level === 0
        ? "{ '${V8}${V7}${V6}${V5}${V4}${V3}${V2}${V1}': x }"
        : `{ Fn::ForEach::L${level}: [V${level}, ${ten}, ${nested(level - 1)}] }`;
    const body = extended(`
      Resources: { R: { Type: Custom::R, Properties: { ServiceToken: t, M: ${nested(8)} } } }
    `);
    expect(processed(body)).toEqual(expect.arrayContaining(failure("its loops make too much")));
  });
});

describe("functions of the language extensions", () => {
  test("are computed as far as is known, and the transform is gone when none is left", () => {
    const body = extended(`
      Parameters: { Names: { Type: CommaDelimitedList, Default: "a,b,c" } }
      Mappings: { M: { k: { v: x } } }
      Resources:
        R:
          Type: Custom::R
          Properties:
            ServiceToken: t
            Length: { Fn::Length: !Ref Names }
            Json: { Fn::ToJsonString: { a: [!Ref Names] } }
            Found: !FindInMap [M, none, v, { DefaultValue: d }]
    `);
    expect(processed(body)).toMatchObject({
      Resources: {
        R: { Properties: { ServiceToken: "t", Length: 3, Json: '{"a":[["a","b","c"]]}', Found: "d" } },
      },
    });
    expect(processed(body)).not.toHaveProperty("Transform");
  });

  test("stay when they ask for a resource or a secret, and so does the transform", () => {
    const body = extended(`
      Parameters: { Secret: { Type: String, NoEcho: true, Default: hunter2 } }
      Resources:
        R: { Type: Custom::R, Properties: { ServiceToken: t } }
        S:
          Type: Custom::S
          Properties:
            ServiceToken: t
            Json: { Fn::ToJsonString: { a: !GetAtt R.X } }
            Hidden: { Fn::ToJsonString: { a: !Ref Secret } }
            Text: !Sub "\${Secret}"
    `);
    const result = processed(body);
    expect(result).toMatchObject({
      Transform: "AWS::LanguageExtensions",
      Resources: {
        S: {
          Properties: {
            Json: { "Fn::ToJsonString": { a: { "Fn::GetAtt": "R.X" } } },
            Text: { "Fn::Sub": "${Secret}" },
          },
        },
      },
    });
    expect(JSON.stringify({ ...(result as object), Parameters: {} })).not.toContain("hunter2");
  });
});

describe("macros", () => {
  const body = dedent`
    Transform: [Global]
    Parameters: { P: { Type: String, Default: v } }
    Resources:
      R:
        Type: Custom::R
        Properties:
          ServiceToken: t
          Sibling: 1
          Inner: { Fn::Transform: { Name: In, Parameters: { A: !Ref P } }, Kept: yes }
          Fn::Transform: { Name: Out }
  `;
  const place = "/Resources/R/Properties";
  const inner: TransformAnswer = { kind: "fragment", value: { made: "inner" } };
  const outer: TransformAnswer = { kind: "fragment", value: { ServiceToken: "t", All: "new" } };

  test("the innermost is asked first, with what stands around it and its parameters", () => {
    expect(processing(body)).toEqual({
      kind: "needs",
      needs: [
        {
          kind: "macro",
          key: `${place}/Inner/Fn::Transform`,
          name: "In",
          fragment: { Kept: "yes" },
          parameters: { A: "v" },
        },
      ],
    });
  });

  test("then the outer, with what the inner has made, and the global ones last, with the whole template", () => {
    const next = processing(body, { answers: { [`${place}/Inner/Fn::Transform`]: inner } });
    expect(next).toMatchObject({
      needs: [
        {
          name: "Out",
          fragment: { ServiceToken: "t", Sibling: 1, Inner: { made: "inner" } },
          parameters: {},
        },
      ],
    });
    const last = processing(body, {
      answers: { [`${place}/Inner/Fn::Transform`]: inner, [`${place}/Fn::Transform`]: outer },
    });
    expect(last).toMatchObject({
      needs: [
        {
          key: "/Transform/0",
          name: "Global",
          fragment: { Resources: { R: { Properties: { All: "new" } } } },
        },
      ],
    });
  });

  test("and what the last one makes is the template", () => {
    const whole = { Resources: { Other: { Type: "AWS::SNS::Topic" } } };
    const answers = {
      [`${place}/Inner/Fn::Transform`]: inner,
      [`${place}/Fn::Transform`]: outer,
      "/Transform/0": { kind: "fragment" as const, value: whole },
    };
    expect(processed(body, { answers })).toEqual(whole);
    const done = processing(body, { answers });
    expect(done.kind === "done" && done.template.ok && done.template.value).toMatchObject({
      original: body,
      transforms: ["Global"],
      unprocessed: false,
    });
  });

  test("a failure is told in the macro's words (fact 108)", () => {
    const message = "Transform 123456789012::In failed with: no";
    expect(
      processed(body, { answers: { [`${place}/Inner/Fn::Transform`]: { kind: "failed", message } } }),
    ).toEqual([message]);
  });

  test("a whole template that is no map is refused (fact 108)", () => {
    const answers = { "/Transform": { kind: "fragment" as const, value: "text" } };
    expect(processed("Transform: M\nResources: { A: { Type: AWS::SNS::Topic } }", { answers })).toEqual([
      "Template format error: unsupported structure.",
    ]);
  });

  test("a list of transforms runs in its order", () => {
    const listed =
      "Resources: { R: { Type: Custom::R, Properties: { ServiceToken: t, V: { Fn::Transform: [{ Name: A }, { Name: B }] } } } }";
    const key = `${place}/V/Fn::Transform`;
    expect(processed(listed)).toEqual({ needs: [`${key}/0`] });
    const first: TransformAnswer = { kind: "fragment", value: { a: 1 } };
    expect(processing(listed, { answers: { [`${key}/0`]: first } })).toMatchObject({
      needs: [{ name: "B", fragment: { a: 1 } }],
    });
    const answers = { [`${key}/0`]: first, [`${key}/1`]: { kind: "fragment" as const, value: "text" } };
    expect(processed(listed, { answers })).toMatchObject({ Resources: { R: { Properties: { V: "text" } } } });
  });

  test("an answer that is nested too deep is refused, however deep", () => {
    const deep: Json = JSON.parse(`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`);
    const answers = { "/Transform": { kind: "fragment" as const, value: deep } };
    expect(processed("Transform: M\nResources: { A: { Type: AWS::SNS::Topic } }", { answers })).toEqual([
      "Transform M failed with: nested more than 100 deep",
    ]);
  });

  test("parameters keep the mark of NoEcho", () => {
    const secret =
      "Parameters: { P: { Type: String, NoEcho: true, Default: hunter2 } }\nResources: { R: { Type: Custom::R, Properties: { Fn::Transform: { Name: M, Parameters: { A: !Ref P } } } } }";
    const asked = processing(secret);
    expect(JSON.stringify(asked)).not.toContain("hunter2");
    expect(
      asked.kind === "needs" && asked.needs[0]?.kind === "macro" && reveal(asked.needs[0].parameters),
    ).toEqual({ A: "hunter2" });
  });

  test("a transform without a name is refused", () => {
    expect(
      processed("Resources: { R: { Type: Custom::R, Properties: { Fn::Transform: { Parameters: {} } } } }"),
    ).toEqual(["Key Name of transform definition must be a string."]);
  });

  test("parameters that ask for a resource are refused", () => {
    const asked =
      "Resources: { R: { Type: Custom::R, Properties: { Fn::Transform: { Name: M, Parameters: { A: !GetAtt R.B } } } } }";
    expect(processed(asked)).toEqual([
      "Transform M failed with: its Parameters can't be resolved before there are resources",
    ]);
  });

  test("faults keep their place where a macro left the text alone", () => {
    const source = "Transform: M\nResources:\n  A:\n    Type: AWS::SNS::Topic\n    Foo: 1\n";
    const answers = {
      "/Transform": {
        kind: "fragment" as const,
        value: { Resources: { A: { Type: "AWS::SNS::Topic", Foo: 1 } } },
      },
    };
    const done = processing(source, { answers });
    expect(done.kind === "done" && done.template.diagnostics).toMatchObject([
      { path: "/Resources/A/Foo", position: { line: 5, column: 5 } },
    ]);
  });
});

describe("AWS::Include", () => {
  const body = dedent`
    Parameters: { Bucket: { Type: String, Default: b } }
    Transform: { Name: AWS::Include, Parameters: { Location: s3://global } }
    Mappings: { M: { a: { b: c } } }
    Resources:
      R:
        Type: Custom::R
        Properties:
          ServiceToken: t
          Fn::Transform: { Name: AWS::Include, Parameters: { Location: !Sub "s3://\${Bucket}/x.yaml" } }
  `;
  const key = "/Resources/R/Properties/Fn::Transform";
  const text = (content: string): TransformAnswer => ({ kind: "text", text: content });

  test("asks for the file, by its location", () => {
    expect(processing(body)).toEqual({
      kind: "needs",
      needs: [{ kind: "include", key, location: "s3://b/x.yaml" }],
    });
  });

  test("merges it: what the template says goes before", () => {
    const answers = {
      [key]: text("a: &a { x: 1 }\nb: *a\nServiceToken: other\n"),
      "/Transform": text('{"Mappings": {"N": {"k": {"v": 1}}}, "Description": "included"}'),
    };
    expect(processed(body, { answers })).toMatchObject({
      Description: "included",
      Mappings: { M: { a: { b: "c" } }, N: { k: { v: 1 } } },
      Resources: { R: { Properties: { ServiceToken: "t", a: { x: 1 }, b: { x: 1 } } } },
    });
  });

  test.each([
    [
      "no YAML",
      "a: [",
      "Transform AWS::Include failed with: The specified S3 object's content should be valid Yaml/JSON",
    ],
    ["no map", "[a]", "Transform AWS::Include failed with: the content is no map"],
  ])("%s is refused", (_, content, message) => {
    expect(processed(body, { answers: { [key]: text(content) } })).toEqual([message]);
  });

  test("without a location it is refused", () => {
    const without =
      "Resources: { R: { Type: Custom::R, Properties: { Fn::Transform: { Name: AWS::Include } } } }";
    expect(processed(without)).toEqual([
      "Transform AWS::Include failed with: Missing required parameter Location",
    ]);
  });
});

describe("AWS::Serverless-2016-10-31", () => {
  const sam = (rest: string): string =>
    `Transform: AWS::Serverless-2016-10-31\n${dedent([rest] as unknown as TemplateStringsArray)}`;

  test("a function gets its role, and what Globals say", () => {
    const body = sam(`
      Globals:
        Function: { Timeout: 5, Runtime: nodejs20.x, Environment: { Variables: { A: global, B: global } }, Layers: [l1] }
      Resources:
        F:
          Type: AWS::Serverless::Function
          Metadata: { m: 1 }
          Properties:
            Handler: index.handler
            Runtime: python3.12
            CodeUri: src/
            Environment: { Variables: { B: own } }
            Layers: [l2]
            Tags: { team: t }
            Policies: [AmazonS3ReadOnlyAccess, !Ref Managed, { Statement: [{ Effect: Allow, Action: "*", Resource: "*" }] }, { SQSPollerPolicy: {} }]
            Tracing: Active
        Managed: { Type: AWS::IAM::ManagedPolicy }
    `);
    const tag = { Key: "lambda:createdBy", Value: "SAM" };
    expect(processed(body)).toEqual({
      Resources: {
        F: {
          Type: "AWS::Lambda::Function",
          Metadata: { m: 1 },
          Properties: {
            Code: "src/",
            Handler: "index.handler",
            Runtime: "python3.12",
            Timeout: 5,
            Environment: { Variables: { A: "global", B: "own" } },
            Layers: ["l1", "l2"],
            Role: { "Fn::GetAtt": ["FRole", "Arn"] },
            Tags: [tag, { Key: "team", Value: "t" }],
            TracingConfig: { Mode: "Active" },
          },
        },
        FRole: {
          Type: "AWS::IAM::Role",
          Properties: {
            AssumeRolePolicyDocument: {
              Version: "2012-10-17",
              Statement: [
                {
                  Effect: "Allow",
                  Principal: { Service: ["lambda.amazonaws.com"] },
                  Action: ["sts:AssumeRole"],
                },
              ],
            },
            ManagedPolicyArns: [
              { "Fn::Sub": "arn:${AWS::Partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole" },
              { "Fn::Sub": "arn:${AWS::Partition}:iam::aws:policy/AmazonS3ReadOnlyAccess" },
              { Ref: "Managed" },
            ],
            Policies: [
              {
                PolicyName: "FRolePolicy2",
                PolicyDocument: { Statement: [{ Effect: "Allow", Action: "*", Resource: "*" }] },
              },
            ],
            Tags: [tag, { Key: "team", Value: "t" }],
          },
        },
        Managed: { Type: "AWS::IAM::ManagedPolicy" },
      },
    });
  });

  const code = (properties: string): unknown => {
    const result = processed(
      sam(`
      Resources: { F: { Type: AWS::Serverless::Function, Properties: { Role: r, ${properties} } } }
    `),
    );
    return (result as { Resources: { F: { Properties: { Code: unknown } } } }).Resources.F.Properties.Code;
  };

  test.each([
    ["InlineCode: x", { ZipFile: "x" }],
    ["CodeUri: s3://bucket/a/b.zip", { S3Bucket: "bucket", S3Key: "a/b.zip" }],
    [
      "CodeUri: 's3://bucket/b.zip?versionId=7'",
      { S3Bucket: "bucket", S3Key: "b.zip", S3ObjectVersion: "7" },
    ],
    ["CodeUri: { Bucket: b, Key: k, Version: v }", { S3Bucket: "b", S3Key: "k", S3ObjectVersion: "v" }],
    ["ImageUri: i", { ImageUri: "i" }],
    ["CodeUri: ./src", "./src"],
    ["Handler: a.b", "."],
  ])("code: %s", (properties, expected) => {
    expect(code(properties)).toEqual(expected);
  });

  test("a role of its own stays, conditions and aliases are made", () => {
    const body = sam(`
      Conditions: { C: !Equals [a, a] }
      Resources:
        F:
          Type: AWS::Serverless::Function
          Condition: C
          DependsOn: T
          Properties: { InlineCode: x, Role: my-role, AutoPublishAlias: live }
        G: { Type: AWS::Serverless::Function, Condition: C, Properties: { InlineCode: x } }
        T: { Type: AWS::Serverless::SimpleTable, Properties: { PrimaryKey: { Name: k, Type: Number } } }
        L: { Type: AWS::Serverless::LayerVersion, Properties: { ContentUri: layer/ } }
    `);
    expect(processed(body)).toMatchObject({
      Resources: {
        F: { Condition: "C", DependsOn: "T", Properties: { Role: "my-role" } },
        FVersion: { Condition: "C", DeletionPolicy: "Retain", Properties: { FunctionName: { Ref: "F" } } },
        FAliaslive: {
          Condition: "C",
          Properties: { Name: "live", FunctionVersion: { "Fn::GetAtt": ["FVersion", "Version"] } },
        },
        GRole: { Condition: "C" },
        T: {
          Type: "AWS::DynamoDB::Table",
          Properties: { KeySchema: [{ AttributeName: "k", KeyType: "HASH" }] },
        },
        L: { Type: "AWS::Lambda::LayerVersion", Properties: { LayerName: "L", Content: "layer/" } },
      },
    });
  });

  test("events are ignored with a warning, but for the API that they imply", () => {
    const body = sam(`
      Resources:
        F: { Type: AWS::Serverless::Function, Properties: { InlineCode: x, Events: { E: { Type: Api, Properties: { Path: /, Method: get } } } } }
        Z: { Type: AWS::Serverless::Connector, Properties: {} }
      Outputs: { Url: { Value: !Sub "https://\${ServerlessRestApi}.execute-api" } }
    `);
    expect(processed(body)).toMatchObject({
      Resources: { ServerlessRestApi: { Type: "AWS::ApiGateway::RestApi" }, ServerlessRestApiProdStage: {} },
    });
    const done = processing(body);
    expect(
      done.kind === "done" && done.template.diagnostics.map(({ severity, path }) => [severity, path]),
    ).toEqual([
      ["warning", "/Resources/F"],
      ["warning", "/Resources/Z"],
    ]);
  });
});

test("a serverless application is a nested stack; one of the repository says that it can't be had", () => {
  const body = dedent`
    Transform: AWS::Serverless-2016-10-31
    Resources:
      Child:
        Type: AWS::Serverless::Application
        DeletionPolicy: Retain
        Properties: { Location: child.yaml, Parameters: { Size: small }, TimeoutInMinutes: 5, Tags: { team: a } }
      Foreign:
        Type: AWS::Serverless::Application
        Properties: { Location: { ApplicationId: "arn:x", SemanticVersion: 1.0.0 } }
    Outputs: { Size: { Value: !GetAtt Child.Outputs.Size } }
  `;
  const createdBySam = { Key: "lambda:createdBy", Value: "SAM" };
  expect(processed(body)).toMatchObject({
    Resources: {
      Child: {
        Type: "AWS::CloudFormation::Stack",
        DeletionPolicy: "Retain",
        Properties: {
          TemplateURL: "child.yaml",
          Parameters: { Size: "small" },
          TimeoutInMinutes: 5,
          Tags: [createdBySam, { Key: "team", Value: "a" }],
        },
      },
      Foreign: { Type: "AWS::CloudFormation::Stack", Properties: { TemplateURL: "arn:x" } },
    },
  });
  const done = processing(body);
  expect(done.kind === "done" && done.template.diagnostics).toMatchObject([
    { severity: "warning", path: "/Resources/Foreign" },
  ]);
});

test("SAM's references to what it made are written out", () => {
  const body = dedent`
    Transform: AWS::Serverless-2016-10-31
    Resources:
      F:
        Type: AWS::Serverless::Function
        Properties:
          InlineCode: x
          Role: r
          AutoPublishAlias: live
          FunctionUrlConfig: { AuthType: NONE }
          EventInvokeConfig: { DestinationConfig: { OnSuccess: { Type: SQS }, OnFailure: { Type: SNS } } }
      Api: { Type: AWS::Serverless::Api, Properties: { StageName: prod } }
      M: { Type: AWS::Serverless::StateMachine, Properties: { Definition: { StartAt: A } } }
      G: { Type: AWS::Serverless::GraphQLApi, Properties: { Functions: { f: { DataSource: !GetAtt D.Name } } } }
      D: { Type: AWS::AppSync::DataSource, Properties: { ApiId: !GetAtt G.ApiId } }
    Outputs:
      A: { Value: !Ref F.Alias }
      V: { Value: !Sub "\${F.Version} \${F.Arn}" }
      S: { Value: !Ref Api.Stage }
      T: { Value: !Ref F.DestinationTopic }
      Q: { Value: !Sub ["\${F.DestinationQueue}", { X: y }] }
      U: { Value: !GetAtt FUrl.FunctionUrl }
      R: { Value: !GetAtt MRole.Arn }
  `;
  expect(processed(body)).toMatchObject({
    Resources: {
      D: {},
      G: { Type: "AWS::AppSync::GraphQLApi" },
      M: { Properties: { RoleArn: { "Fn::GetAtt": ["MRole", "Arn"] } } },
    },
    Outputs: {
      A: { Value: { Ref: "FAliaslive" } },
      V: { Value: { "Fn::Sub": "${FVersion} ${F.Arn}" } },
      S: { Value: { Ref: "ApiprodStage" } },
      T: { Value: { Ref: "FEventInvokeConfigOnFailureTopic" } },
      Q: { Value: { "Fn::Sub": ["${FEventInvokeConfigOnSuccessQueue}", { X: "y" }] } },
    },
  });
});

test("other transforms of AWS have no effect, with a warning", () => {
  const done = processing("Transform: AWS::CodeDeployBlueGreen\nResources: { A: { Type: AWS::SNS::Topic } }");
  expect(done.kind === "done" && done.template).toMatchObject({
    ok: true,
    diagnostics: [{ severity: "warning" }],
  });
});

test("a template without transforms is what parsing gives", () => {
  const body = "Resources: { A: { Type: AWS::SNS::Topic } }";
  const done = processing(body);
  expect(done.kind === "done" && done.template.ok && done.template.value).toMatchObject({
    body,
    transforms: [],
  });
});

test("what must be transformed first is told as such, and its parameters can be asked", () => {
  const parsed = parseTemplate(
    "Transform: M\nParameters: { P: { Type: String } }\nAnything: 1\nResources: { A: 5 }",
  );
  expect(parsed).toMatchObject({ ok: true, value: { unprocessed: true, transforms: ["M"] } });
  expect(parsed.ok && [...parsed.value.parameters.keys()]).toEqual(["P"]);
});
