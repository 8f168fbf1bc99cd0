/**
 * Mutated templates, validated and evaluated: none may throw, hang, or be neither right nor wrong.
 * `node scripts/run-typescript.mjs bench/fuzz-templates.ts [count=100000] [seed]`
 */
import { evaluateTemplate } from "../packages/custard/src/template/evaluate-template.ts";
import { exampleParameters } from "../packages/custard/src/template/example-parameters.ts";
import { parseTemplate } from "../packages/custard/src/template/parse-template.ts";
import { examplePseudo, validateTemplate } from "../packages/custard/src/template/validate-template.ts";

/** A single template that takes longer has hung, as far as we care. */
const slowest = 2_000;

const count = Number(process.argv[2] ?? 100_000);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
const random = generator(seed);

const yaml = `AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Env: { Type: String, Default: prod, AllowedValues: [prod, dev] }
  Names: { Type: CommaDelimitedList, Default: "a,b" }
  Secret: { Type: String, NoEcho: true, Default: x, AllowedPattern: "[a-z]+" }
Mappings: { M: { prod: { Size: 3, Zones: [a, b] } } }
Conditions:
  IsProd: !Equals [!Ref Env, prod]
  Both: !And [!Condition IsProd, !Not [!Equals [!Ref Env, dev]]]
Rules: { R: { Assertions: [{ Assert: { Fn::Contains: [[prod, dev], !Ref Env] } }] } }
Resources:
  A:
    Type: Custom::A
    Properties:
      ServiceToken: !Sub "arn:\${AWS::Partition}:lambda:\${AWS::Region}:1:function:f"
      Text: |
        some lines
          of text
      Size: !FindInMap [M, !Ref Env, Size]
      List: !Split [",", !Join [",", !Ref Names]]
      Cidr: !Cidr [10.0.0.0/16, 3, 8]
  B:
    Type: AWS::SNS::Topic
    Condition: Both
    DependsOn: [A]
    DeletionPolicy: Retain
    Properties: { Name: !If [IsProd, !GetAtt A.Name, !Ref AWS::NoValue], Pw: "{{resolve:ssm:/a:1}}", S: !Select [0, !GetAZs ""] }
Outputs:
  O: { Value: !Sub ["\${X}-\${A.Y}", { X: !Ref B }], Condition: Both, Export: { Name: !Sub "\${AWS::StackName}-o" } }
`;
const loops = `Transform: AWS::LanguageExtensions
Parameters: { Names: { Type: CommaDelimitedList, Default: "a,b" } }
Resources:
  Fn::ForEach::Outer:
    - X
    - !Ref Names
    - "R&{X}": { Type: Custom::R, Properties: { ServiceToken: t, V: !Sub "\${X}", L: { Fn::Length: !Ref Names } } }
      Fn::ForEach::Inner: [Y, [c, d], { "R\${X}\${Y}": { Type: AWS::SNS::Topic, Properties: { J: { Fn::ToJsonString: { a: !Ref Y } } } } }]
`;
const sam = `Transform: [AWS::LanguageExtensions, AWS::Serverless-2016-10-31]
Globals: { Function: { Timeout: 5, Runtime: nodejs20.x } }
Resources:
  F: { Type: AWS::Serverless::Function, Properties: { InlineCode: x, Handler: a.b, Policies: [P, { Statement: [] }], Events: { E: { Type: Api } } } }
  T: { Type: AWS::Serverless::SimpleTable }
  C: { Type: Custom::C, Properties: { ServiceToken: !GetAtt F.Arn, Fn::Transform: { Name: AWS::Include, Parameters: { Location: s3://b/k } } } }
`;
const json = JSON.stringify({
  Parameters: { P: { Type: "Number", Default: "3", MinValue: 1 } },
  Conditions: { C: { "Fn::Or": [{ "Fn::Equals": [{ Ref: "P" }, "3"] }, { "Fn::Equals": ["a", "b"] }] } },
  Resources: {
    A: {
      Type: "Custom::A",
      Properties: { ServiceToken: "t", V: { "Fn::If": ["C", [1, 2.5, true], { Ref: "P" }] } },
    },
    B: {
      Type: "AWS::SNS::Topic",
      DependsOn: "A",
      Properties: { X: { "Fn::GetAtt": ["A", "Y"] }, Z: { "Fn::Base64": "q" } },
    },
  },
  Outputs: { O: { Value: { "Fn::Sub": "${A}-${B.Arn}" } } },
});
const seeds = [yaml, loops, sam, json, JSON.stringify(JSON.parse(json), undefined, 2)];

/** What mutations put in: syntax, functions, and hostile names. */
const dictionary = [
  ...Array.from("{}[]:,-#&*!|>'\"%@`\\\n\t ?~$"),
  "\n  ",
  ": ",
  "- ",
  "? ",
  "<<: ",
  "&a ",
  "*a",
  "!Ref ",
  "!Sub ",
  "!GetAtt ",
  "!If ",
  "!Join ",
  "!Select ",
  "!Split ",
  "!Cidr ",
  "!Foo ",
  "!!binary ",
  "!!str ",
  "Fn::Transform",
  "Fn::ForEach::L",
  "Fn::If",
  "Fn::Sub",
  "Ref",
  "Condition",
  "Transform",
  "AWS::Include",
  "AWS::LanguageExtensions",
  "AWS::Serverless-2016-10-31",
  "AWS::NoValue",
  "__proto__",
  "constructor",
  "toString",
  "null",
  "true",
  "1e999",
  "-0",
  "99999999999999999999",
  "${",
  "}",
  "${A.B}",
  "${!x}",
  "{{resolve:ssm:/x}}",
  "{{resolve:",
  "\u0000",
  "\u{1F600}",
  "\uD800",
  "\uFEFF",
  "---\n",
  "...\n",
  "[".repeat(200),
  "{a: ".repeat(200),
  '{"a":'.repeat(200),
];

const started = performance.now();
const outcomes = { right: 0, wrong: 0, slowest: 0 };
for (let index = 0; index < count; index++) tryOne(mutate(pick(seeds)));
const seconds = (performance.now() - started) / 1000;
console.log(
  `${count} templates in ${seconds.toFixed(1)} s (seed ${seed}): ${outcomes.right} right, ${outcomes.wrong} wrong, slowest ${outcomes.slowest.toFixed(0)} ms`,
);

function tryOne(body: string): void {
  const start = performance.now();
  try {
    judge(body);
  } catch (error) {
    console.log(JSON.stringify(body));
    throw error;
  }
  const taken = performance.now() - start;
  outcomes.slowest = Math.max(outcomes.slowest, taken);
  if (taken > slowest) throw new Error(`${taken.toFixed(0)} ms for ${JSON.stringify(body)}`);
}

function judge(body: string): void {
  const wrong = validateTemplate(body).some(({ severity }) => severity === "error");
  outcomes[wrong ? "wrong" : "right"]++;
  if (Reflect.has({}, "polluted")) throw new Error("the prototype is polluted");
  if (wrong) return;
  const parsed = parseTemplate(body);
  if (!parsed.ok) throw new Error("neither a template nor a fault");
  const evaluated = evaluateTemplate(body, {
    parameters: exampleParameters(parsed.value),
    pseudo: examplePseudo,
  });
  if (!evaluated.ok && evaluated.diagnostics.length === 0) throw new Error("neither a value nor a fault");
}

function mutate(source: string): string {
  let text = source;
  for (let left = 1 + Math.floor(random() * 3); left > 0; left--) text = mutateOnce(text);
  return text;
}

function mutateOnce(text: string): string {
  const at = Math.floor(random() * (text.length + 1));
  const to = Math.min(text.length, at + Math.floor(random() * random() * 80));
  switch (Math.floor(random() * 7)) {
    case 0:
      return text.slice(0, at) + text.slice(to);
    case 1:
      return text.slice(0, at) + text.slice(at, to).repeat(2 + Math.floor(random() * 3)) + text.slice(to);
    case 2:
      return text.slice(0, at) + pick(dictionary) + text.slice(to);
    case 3:
      return text.slice(0, at) + String.fromCharCode(Math.floor(random() * 128)) + text.slice(at + 1);
    case 4:
      return moved(text, at, to);
    case 5:
      return swappedWords(text);
    default:
      return text.slice(0, at) + pick(dictionary) + text.slice(at);
  }
}

function moved(text: string, from: number, to: number): string {
  const rest = text.slice(0, from) + text.slice(to);
  const at = Math.floor(random() * (rest.length + 1));
  return rest.slice(0, at) + text.slice(from, to) + rest.slice(at);
}

/** Names in the place of others keep the syntax whole, so that more gets past it. */
function swappedWords(text: string): string {
  const words = [...text.matchAll(/[A-Za-z:]+/g)];
  const one = pick(words);
  const other = pick(words);
  return text.slice(0, one.index) + other[0] + text.slice(one.index + one[0].length);
}

function pick<T>(items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function generator(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
