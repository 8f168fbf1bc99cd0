import { describe, expect, test } from "vitest";
import { evaluateValue, type Outcome } from "../../../../tests/support/template.ts";

type Case = readonly [source: string, outcome: Outcome | string];

/** A text is the only message that refuses the template. */
function table(name: string, cases: readonly Case[], transform?: "AWS::LanguageExtensions"): void {
  describe(`${name}`, () => {
    test.each(cases.map(([source, outcome]) => ({ source, outcome })))("$source", ({ source, outcome }) => {
      expect(evaluateValue(source, transform)).toEqual(
        typeof outcome === "string" ? { refused: [outcome] } : outcome,
      );
    });
  });
}

const at = "/Resources/Target/Properties/Value";

const badRef = "Template error: every Ref object must have a single String value.";
table("Ref", [
  ["!Ref Env", { value: "prod" }],
  ["{ Ref: Env }", { value: "prod" }],
  ["!Ref Size", { value: "3" }],
  ["!Ref Names", { value: ["a", "b", "c"] }],
  ["!Ref Secret", { value: "hunter2", sensitive: true }],
  ["!Ref Done", { value: "done-id" }],
  ["!Ref Later", { needs: ["Later"] }],
  ["!Ref AWS::Region", { value: "eu-west-1" }],
  ["!Ref AWS::AccountId", { value: "123456789012" }],
  ["!Ref AWS::Partition", { value: "aws" }],
  ["!Ref AWS::URLSuffix", { value: "amazonaws.com" }],
  ["!Ref AWS::StackName", { value: "shop" }],
  ["!Ref AWS::StackId", { value: "arn:aws:cloudformation:eu-west-1:123456789012:stack/shop/0" }],
  ["!Ref AWS::NotificationARNs", { value: ["arn:aws:sns:eu-west-1:123456789012:topic"] }],
  ["!Ref AWS::NoValue", { absent: true }],
  ["[1, !Ref AWS::NoValue, 2]", { value: [1, 2] }],
  ["{ a: !Ref AWS::NoValue, b: { c: !Ref AWS::NoValue } }", { value: { b: {} } }],
  [
    "!Ref Nope",
    "Template format error: Unresolved resource dependencies [Nope] in the Resources block of the template",
  ],
  [
    "!Ref AWS::Nope",
    "Template format error: Unresolved resource dependencies [AWS::Nope] in the Resources block of the template",
  ],
  ["!Ref [Env]", badRef],
  ["!Ref { a: b }", badRef],
  ['!Ref ""', badRef],
]);

const badGetAtt =
  "Template error: every Fn::GetAtt object requires two non-empty parameters, the resource name and the resource attribute";
table("Fn::GetAtt", [
  ["!GetAtt Done.Arn", { value: "done.Arn" }],
  ["!GetAtt Done.A.B.C", { value: "done.A.B.C" }],
  ["!GetAtt [Done, Arn]", { value: "done.Arn" }],
  ["{ Fn::GetAtt: [Done, A.B] }", { value: "done.A.B" }],
  ["{ Fn::GetAtt: [Done, A, B] }", { value: "done.A.B" }],
  ["{ Fn::GetAtt: Done.Arn }", { value: "done.Arn" }],
  ["!GetAtt [Done, !Ref Env]", { value: "done.prod" }],
  ["!GetAtt [Done, !Join ['.', [X, !Ref Env]]]", { value: "done.X.prod" }],
  ["!GetAtt Done.List", { value: ["x", "y"] }],
  ["!GetAtt Done.Nothing", { failed: "no Nothing here", path: `${at}/Fn::GetAtt` }],
  ["!GetAtt Later.Arn", { needs: ["Later"] }],
  ["[!GetAtt Later.Arn, !Ref Later, !ImportValue gone]", { needs: ["Later", "import gone"] }],
  ["!GetAtt Gone.Arn", "Template error: instance of Fn::GetAtt references undefined resource Gone"],
  ["!GetAtt Env.Arn", "Template error: instance of Fn::GetAtt references undefined resource Env"],
  ["!GetAtt Done", badGetAtt],
  ["!GetAtt Done.", badGetAtt],
  ["!GetAtt .Arn", badGetAtt],
  ["!GetAtt [Done]", badGetAtt],
  ["!GetAtt [Done, '']", badGetAtt],
  ["!GetAtt [Done, [Arn]]", badGetAtt],
  ["!GetAtt { a: b }", badGetAtt],
]);

const badSub =
  "Template error: One or more Fn::Sub intrinsic functions don't specify expected arguments. Specify a string as first argument, and an optional second argument to specify a mapping of values to replace in the string";
const badVariable =
  "Template error: variable names in Fn::Sub syntax must contain only alphanumeric characters, underscores, periods, and colons";
table("Fn::Sub", [
  ["!Sub plain", { value: "plain" }],
  ["!Sub '${Env}'", { value: "prod" }],
  ["!Sub 'my number is ${Size}'", { value: "my number is 3" }],
  ["!Sub '${AWS::Region}-${Env}-${Done}-${Done.A.B}'", { value: "eu-west-1-prod-done-id-done.A.B" }],
  ["!Sub '${!Env} ${Env}'", { value: "${Env} prod" }],
  ["!Sub '$ { } ${ $Env'", { value: "$ { } ${ $Env" }],
  ["!Sub ['${A}-${Env}', { A: !Ref AWS::Region }]", { value: "eu-west-1-prod" }],
  ["!Sub ['${Env}', { Env: mine }]", { value: "mine" }],
  [
    "!Sub ['${A.B}', { A.B: dotted }]",
    "Template error: every key of the context object of every Fn::Sub object must contain only alphanumeric characters and underscores",
  ],
  ["{ Fn::Sub: ['${A}', { A: 1 }] }", { value: "1" }],
  ["!Sub 'pw=${Secret}'", { value: "pw=hunter2", sensitive: true }],
  ["!Sub ['${S}', { S: !Ref Secret }]", { value: "hunter2", sensitive: true }],
  ["!Sub '${Later}${Later.Arn}'", { needs: ["Later"] }],
  ["!Sub '${Done.Nothing}'", { failed: "no Nothing here", path: `${at}/Fn::Sub` }],
  [
    "!Sub '${Names}'",
    {
      failed: "Template error: variable Names in Fn::Sub expression does not resolve to a string",
      path: `${at}/Fn::Sub`,
    },
  ],
  [
    "!Sub '${Gone}'",
    "Template format error: Unresolved resource dependencies [Gone] in the Resources block of the template",
  ],
  [
    "!Sub '${Gone.Arn}'",
    "Template error: instance of Fn::Sub references invalid resource attribute Gone.Arn",
  ],
  ["!Sub '${}'", badVariable],
  ["!Sub '${a b}'", badVariable],
  ["!Sub '${a-b}'", badVariable],
  ["!Sub { a: b }", badSub],
  ["!Sub []", badSub],
  ["!Sub ['${Env}']", badSub],
  ["!Sub ['${Env}', [a]]", badSub],
  ["!Sub ['${Env}', { A: a }, x]", badSub],
  [
    "!Sub ['${A}', { A: [1, 2] }]",
    "Template error: every value of the context object of every Fn::Sub object must be a string or a function that returns a string",
  ],
]);

const badJoin =
  "Template error: every Fn::Join object requires two parameters, (1) a string delimiter and (2) a list of strings to be joined or a function that returns a list of strings (such as Fn::GetAZs) to be joined.";
table("Fn::Join", [
  ["!Join ['-', [a, b]]", { value: "a-b" }],
  ["!Join ['', [a, 1, true]]", { value: "a1true" }],
  ["!Join [', ', []]", { value: "" }],
  ["!Join ['/', !Ref Names]", { value: "a/b/c" }],
  ["!Join ['', [!Ref Env, !Ref AWS::NoValue, !Ref Done]]", { value: "proddone-id" }],
  ["!Join ['-', !Split [',', 'x,y']]", { value: "x-y" }],
  ["!Join ['-', [a, !Ref Secret]]", { value: "a-hunter2", sensitive: true }],
  ["!Join ['-', [a, !Ref Later]]", { needs: ["Later"] }],
  ["!Join ['-', [a, !Ref Names]]", { failed: badJoin, path: `${at}/Fn::Join` }],
  ["!Join ['-', !Ref Env]", { failed: badJoin, path: `${at}/Fn::Join` }],
  ["!Join [a]", badJoin],
  ["!Join a", badJoin],
  ["!Join [[a], [b]]", badJoin],
  ["!Join ['-', text]", badJoin],
  ["!Join ['-', [a, [b]]]", badJoin],
  ["!Join ['-', [a], [b]]", badJoin],
  ["!Join { a: b }", badJoin],
]);

const badSplit =
  "Template error: every Fn::Split object requires two parameters, (1) a string delimiter and (2) a string to be split or a function that returns a string to be split.";
table("Fn::Split", [
  ["!Split [',', 'a,b,c']", { value: ["a", "b", "c"] }],
  ["!Split [',', '']", { value: [""] }],
  ["!Split [',', ',']", { value: ["", ""] }],
  ["!Split ['--', a--b]", { value: ["a", "b"] }],
  ["!Split ['r', !Ref Env]", { value: ["p", "od"] }],
  ["!Split ['t', !Ref Secret]", { value: ["hun", "er2"], sensitive: true }],
  ["!Split ['.', 1.5]", { value: ["1", "5"] }],
  ["!Split [',', !Ref Later]", { needs: ["Later"] }],
  ["!Split [',', !Ref Names]", { failed: badSplit, path: `${at}/Fn::Split` }],
  ["!Split ['', abc]", badSplit],
  ["!Split [',']", badSplit],
  ["!Split text", badSplit],
  ["!Split [',', [a]]", badSplit],
  ["!Split [[a], b]", badSplit],
]);

const badSelect =
  "Template error: Fn::Select requires a list argument with two elements: an integer index and a list";
table("Fn::Select", [
  ["!Select [0, [a, b]]", { value: "a" }],
  ["!Select ['1', [a, b]]", { value: "b" }],
  ["!Select [!Ref Size, [a, b, c, d]]", { value: "d" }],
  ["!Select [2, !Ref Names]", { value: "c" }],
  ["!Select [0, [{ a: b }]]", { value: { a: "b" } }],
  ["!Select [0, [!Ref AWS::NoValue, b]]", { value: "b" }],
  ["!Select [0, [a, !Ref Secret]]", { value: "a" }],
  ["!Select [1, [a, !Ref Secret]]", { value: "hunter2", sensitive: true }],
  ["!Select [1, !Split ['t', !Ref Secret]]", { value: "er2", sensitive: true }],
  ["!Select [0, !GetAtt Later.List]", { needs: ["Later"] }],
  [
    "!Select [2, [a, b]]",
    {
      failed: "Template error: Fn::Select cannot select nonexistent value at index 2",
      path: `${at}/Fn::Select`,
    },
  ],
  [
    "!Select [-1, [a]]",
    {
      failed: "Template error: Fn::Select cannot select nonexistent value at index -1",
      path: `${at}/Fn::Select`,
    },
  ],
  ["!Select [0, !Ref Env]", { failed: badSelect, path: `${at}/Fn::Select` }],
  ["!Select [!Ref Env, [a]]", { failed: badSelect, path: `${at}/Fn::Select` }],
  ["!Select [a, [b]]", badSelect],
  ["!Select [0]", badSelect],
  ["!Select [0, a]", badSelect],
  ["!Select [1.5, [a, b]]", badSelect],
  ["!Select text", badSelect],
]);

const badFindInMap =
  "Template error: every Fn::FindInMap object requires three parameters, the map name, map key and the attribute for return value";
table("Fn::FindInMap", [
  ["!FindInMap [Regions, eu-west-1, Ami]", { value: "ami-1" }],
  ["!FindInMap [Regions, !Ref AWS::Region, Ami]", { value: "ami-1" }],
  ["!FindInMap [!Sub 'Regions', !Ref AWS::Region, !Sub 'Ami']", { value: "ami-1" }],
  ["!FindInMap [Regions, eu-west-1, Zones]", { value: ["a", "b"] }],
  ["!FindInMap [Regions, eu-west-1, Number]", { value: 7 }],
  ["!Select [1, !FindInMap [Regions, eu-west-1, Zones]]", { value: "b" }],
  [
    "!FindInMap [Regions, us-east-1, Ami]",
    {
      failed: "Template error: Unable to get mapping for Regions::us-east-1::Ami",
      path: `${at}/Fn::FindInMap`,
    },
  ],
  [
    "!FindInMap [Regions, eu-west-1, toString]",
    {
      failed: "Template error: Unable to get mapping for Regions::eu-west-1::toString",
      path: `${at}/Fn::FindInMap`,
    },
  ],
  ["!FindInMap [Regions, !Ref Later, Ami]", { needs: ["Later"] }],
  [
    "!FindInMap [Gone, a, b]",
    "Template error: Mapping named 'Gone' is not present in the 'Mappings' section of template.",
  ],
  ["!FindInMap [Regions, a]", badFindInMap],
  ["!FindInMap [Regions, a, b, { DefaultValue: c }]", badFindInMap],
  ["!FindInMap text", badFindInMap],
  ["!FindInMap { a: b }", badFindInMap],
]);
table(
  "Fn::FindInMap with the language extensions",
  [
    ["!FindInMap [Regions, us-east-1, Ami, { DefaultValue: c }]", { value: "c" }],
    ["!FindInMap [Regions, us-east-1, Ami, { DefaultValue: !Ref Env }]", { value: "prod" }],
    ["!FindInMap [Regions, eu-west-1, Ami, { DefaultValue: c }]", { value: "ami-1" }],
    ["!FindInMap [Gone, a, b, { DefaultValue: c }]", { value: "c" }],
    ["!FindInMap [Regions, a, b, c]", badFindInMap],
  ],
  "AWS::LanguageExtensions",
);

const badBase64 = "Template error: every Fn::Base64 object must have a String-typed value.";
table("Fn::Base64", [
  ["!Base64 hello", { value: "aGVsbG8=" }],
  ["!Base64 ''", { value: "" }],
  ["!Base64 ü", { value: "w7w=" }],
  ["!Base64 5", { value: "NQ==" }],
  ["{ Fn::Base64: !Ref Env }", { value: "cHJvZA==" }],
  ["{ Fn::Base64: !Sub '${Env}' }", { value: "cHJvZA==" }],
  ["{ Fn::Base64: !Ref Secret }", { value: "aHVudGVyMg==", sensitive: true }],
  ["{ Fn::Base64: !Ref Later }", { needs: ["Later"] }],
  ["{ Fn::Base64: !Ref Names }", { failed: badBase64, path: `${at}/Fn::Base64` }],
  ["!Base64 [a]", badBase64],
  ["!Base64 { a: b }", badBase64],
]);

const badCidr =
  "Template error: every Fn::Cidr object requires two or three parameters, (1) a CIDR block, (2) a count from 1 to 256 and (3) the number of subnet bits";
table("Fn::Cidr", [
  ["!Cidr [10.0.0.0/16, 2, 8]", { value: ["10.0.0.0/24", "10.0.1.0/24"] }],
  ["!Cidr [10.0.0.0/24, 4, 5]", { value: ["10.0.0.0/27", "10.0.0.32/27", "10.0.0.64/27", "10.0.0.96/27"] }],
  ["!Cidr ['192.168.0.0/24', '1', '4']", { value: ["192.168.0.0/28"] }],
  ["!Cidr [10.0.3.7/16, 1, 8]", { value: ["10.0.0.0/24"] }],
  ["!Cidr [10.0.0.0/16, 1]", { value: ["10.0.0.0/24"] }],
  ["!Cidr ['2001:db8::/56', 2, 64]", { value: ["2001:db8::/64", "2001:db8:0:1::/64"] }],
  ["!Cidr ['2001:db8:1:2:3:4:5:0/112', 1, 8]", { value: ["2001:db8:1:2:3:4:5:0/120"] }],
  ["!Select [1, !Cidr [10.0.0.0/16, !Ref Size, 8]]", { value: "10.0.1.0/24" }],
  ["!Cidr [!Ref Later, 1, 8]", { needs: ["Later"] }],
  ["!Cidr [10.0.0.0/16, 257, 4]", { failed: badCidr, path: `${at}/Fn::Cidr` }],
  ["!Cidr [10.0.0.0/24, 2, 8]", { failed: badCidr, path: `${at}/Fn::Cidr` }],
  ["!Cidr [10.0.0.0/33, 1, 1]", { failed: badCidr, path: `${at}/Fn::Cidr` }],
  ["!Cidr [10.0.0.256/24, 1, 1]", { failed: badCidr, path: `${at}/Fn::Cidr` }],
  ["!Cidr ['1::2::3/24', 1, 1]", { failed: badCidr, path: `${at}/Fn::Cidr` }],
  ["!Cidr [10.0.0.0/16, many, 8]", { failed: badCidr, path: `${at}/Fn::Cidr` }],
  ["!Cidr [10.0.0.0/16]", badCidr],
  ["!Cidr text", badCidr],
]);

const badGetAzs = "Template error: every Fn::GetAZs object must have a String-typed value.";
table("Fn::GetAZs", [
  ["!GetAZs eu-west-1", { value: ["eu-west-1a", "eu-west-1b", "eu-west-1c"] }],
  ["!GetAZs ''", { value: ["eu-west-1a", "eu-west-1b", "eu-west-1c"] }],
  ["!GetAZs", { value: ["eu-west-1a", "eu-west-1b", "eu-west-1c"] }],
  ["{ Fn::GetAZs: !Ref AWS::Region }", { value: ["eu-west-1a", "eu-west-1b", "eu-west-1c"] }],
  ["!GetAZs ap-northeast-1", { value: ["ap-northeast-1a", "ap-northeast-1c", "ap-northeast-1d"] }],
  ["!Select [0, !GetAZs us-east-1]", { value: "us-east-1a" }],
  ["!Select [5, !GetAZs us-east-1]", { value: "us-east-1f" }],
  ["{ Fn::GetAZs: !Ref Later }", { needs: ["Later"] }],
  ["{ Fn::GetAZs: !Ref Names }", { failed: badGetAzs, path: `${at}/Fn::GetAZs` }],
  ["!GetAZs [a]", { failed: badGetAzs, path: `${at}/Fn::GetAZs` }],
  ["!Join [',', !GetAZs '']", { value: "eu-west-1a,eu-west-1b,eu-west-1c" }],
]);

const badImport =
  "Template error: the attribute in Fn::ImportValue must not depend on any resources, imported values, or Fn::GetAZs";
table("Fn::ImportValue", [
  ["!ImportValue shared-vpc", { value: "vpc-1" }],
  ["{ Fn::ImportValue: !Sub 'shared-${Env}' }", { needs: ["import shared-prod"] }],
  ["{ Fn::ImportValue: !Join ['-', [shared, vpc]] }", { value: "vpc-1" }],
  ["!ImportValue gone", { needs: ["import gone"] }],
  ["[!ImportValue a, !ImportValue b, !ImportValue a]", { needs: ["import a", "import b"] }],
  [
    "{ Fn::ImportValue: !Ref Names }",
    {
      failed: "Template error: every Fn::ImportValue object must have a String value.",
      path: `${at}/Fn::ImportValue`,
    },
  ],
  ["{ Fn::ImportValue: !Ref Done }", badImport],
  ["{ Fn::ImportValue: !GetAtt Done.Arn }", badImport],
  ["{ Fn::ImportValue: !Sub '${Done}' }", badImport],
  ["{ Fn::ImportValue: !Join ['', [!GetAtt Done.Arn]] }", badImport],
  ["{ Fn::ImportValue: { Fn::ImportValue: a } }", badImport],
  ["{ Fn::ImportValue: !Select [0, !GetAZs ''] }", badImport],
]);

const notThree = "Template error: Fn::If requires a list argument with three elements";
const noCondition =
  "Template error: Fn::If requires a list argument with the first element being a condition";
table("Fn::If", [
  ["!If [IsProd, a, b]", { value: "a" }],
  ["!If [IsDev, a, b]", { value: "b" }],
  ["!If [IsProd, { a: !Ref Env }, b]", { value: { a: "prod" } }],
  ["!If [IsProd, [1], [2]]", { value: [1] }],
  ["!If [IsDev, a, !Ref AWS::NoValue]", { absent: true }],
  ["[!If [IsDev, a, !Ref AWS::NoValue], z]", { value: ["z"] }],
  ["!If [IsDev, !Ref Later, fine]", { value: "fine" }],
  ["!If [IsDev, !Select [9, [a]], fine]", { value: "fine" }],
  ["!If [IsProd, !If [IsDev, a, b], c]", { value: "b" }],
  ["!If [IsProd, !Ref Secret, x]", { value: "hunter2", sensitive: true }],
  ["!If [Gone, a, b]", "Template error: unresolved condition dependency Gone in Fn::If"],
  ["!If [IsProd, a]", notThree],
  ["!If text", notThree],
  ["!If [[IsProd], a, b]", noCondition],
  ["!If [!Equals [a, b], a, b]", noCondition],
]);

table(
  "Fn::Length",
  [
    ["{ Fn::Length: [a, b, c] }", { value: 3 }],
    ["{ Fn::Length: [] }", { value: 0 }],
    ["{ Fn::Length: !Ref Names }", { value: 3 }],
    ["{ Fn::Length: !Split [',', 'a,b'] }", { value: 2 }],
    ["{ Fn::Length: [!Ref AWS::NoValue, a] }", { value: 1 }],
    ["{ Fn::Length: !FindInMap [Regions, eu-west-1, Zones] }", { value: 2 }],
    ["{ Fn::Length: !GetAtt Later.List }", { needs: ["Later"] }],
    ["!Join ['', [n, { Fn::Length: !Ref Names }]]", { value: "n3" }],
    [
      "{ Fn::Length: !Ref Env }",
      {
        failed: "Template error: Fn::Length requires a list, or a function that returns a list",
        path: `${at}/Fn::Length`,
      },
    ],
    ["{ Fn::Length: text }", "Template error: Fn::Length requires a list, or a function that returns a list"],
    [
      "{ Fn::Length: { a: b } }",
      "Template error: Fn::Length requires a list, or a function that returns a list",
    ],
  ],
  "AWS::LanguageExtensions",
);

const badJson = "Template error: every Fn::ToJsonString object requires an object or a list.";
table(
  "Fn::ToJsonString",
  [
    ["{ Fn::ToJsonString: { a: foo, b: bar } }", { value: '{"a":"foo","b":"bar"}' }],
    ["{ Fn::ToJsonString: [a, b, c] }", { value: '["a","b","c"]' }],
    ["{ Fn::ToJsonString: { n: 1, t: true, s: '1' } }", { value: '{"n":1,"t":true,"s":"1"}' }],
    ["{ Fn::ToJsonString: { a: !Ref Env, b: [!Ref Size] } }", { value: '{"a":"prod","b":["3"]}' }],
    ["{ Fn::ToJsonString: { a: !Ref AWS::NoValue } }", { value: "{}" }],
    ["{ Fn::ToJsonString: { a: !Ref Secret } }", { value: '{"a":"hunter2"}', sensitive: true }],
    ["{ Fn::ToJsonString: { a: !GetAtt Done.Arn } }", { value: '{"a":"done.Arn"}' }],
    ["{ Fn::ToJsonString: { a: !GetAtt Later.Arn } }", { needs: ["Later"] }],
    ["{ Fn::ToJsonString: !Ref Names }", { value: '["a","b","c"]' }],
    ["{ Fn::ToJsonString: text }", badJson],
    ["{ Fn::ToJsonString: 5 }", badJson],
  ],
  "AWS::LanguageExtensions",
);

const supported =
  "Supported functions are: [Fn::Base64, Fn::GetAtt, Fn::GetAZs, Fn::ImportValue, Fn::Join, Fn::Split, Fn::FindInMap, Fn::Select, Ref, Fn::Equals, Fn::If, Fn::Not, Condition, Fn::And, Fn::Or, Fn::Contains, Fn::EachMemberEquals, Fn::EachMemberIn, Fn::ValueOf, Fn::ValueOfAll, Fn::RefAll, Fn::Sub, Fn::Cidr]";
table("functions that may not stand there", [
  ["!Rain::Embed x", `Template error: Encountered unsupported function: Fn::Rain::Embed ${supported}`],
  ["!Foo x", `Template error: Encountered unsupported function: Fn::Foo ${supported}`],
  ["{ Fn::Foo: x }", `Template error: Encountered unsupported function: Fn::Foo ${supported}`],
  ["{ Fn::Length: [a] }", `Template error: Encountered unsupported function: Fn::Length ${supported}`],
  [
    "{ Fn::ToJsonString: [a] }",
    `Template error: Encountered unsupported function: Fn::ToJsonString ${supported}`,
  ],
  ["!Equals [a, b]", "Template error: Fn::Equals cannot be used in the Resources block of the template"],
  [
    "{ Fn::Contains: [[a], a] }",
    "Template error: Fn::Contains cannot be used in the Resources block of the template",
  ],
  ["{ Condition: IsProd }", { value: { Condition: "IsProd" } }],
  ["{ Ref: Env, Other: x }", { value: { Ref: "Env", Other: "x" } }],
]);
