/**
 * A template of 500 resources: parsing and evaluating it, against the YAML library alone (goal: within 2 times), and
 * the same template as JSON. `node scripts/run-typescript.mjs bench/template.ts`
 */
import { parse } from "yaml";
import { evaluateConditions, evaluateProperties } from "../packages/custard/src/template/evaluate.ts";
import { collectFaults } from "../packages/custard/src/template/faults.ts";
import type { Known } from "../packages/custard/src/template/known.ts";
import { resolveParameters } from "../packages/custard/src/template/parameters.ts";
import { parseTemplate } from "../packages/custard/src/template/parse-template.ts";
import { readTemplate } from "../packages/custard/src/template/read-source.ts";
import { mapToJson } from "../packages/custard/src/template/source-node.ts";
import { examplePseudo } from "../packages/custard/src/template/validate-template.ts";

const rounds = 15;
const yaml = largeTemplate(500);
const root = readTemplate(yaml, collectFaults(yaml));
const json = JSON.stringify(root === undefined ? {} : mapToJson(root), undefined, 1);

console.log(`${yaml.length} characters of YAML, ${json.length} of JSON; median of ${rounds}`);
const library = measure("yaml: the library's parse alone", () => parse(yaml, { logLevel: "silent" }));
measure("yaml: read, with positions", () => readTemplate(yaml, collectFaults(yaml)), library);
measure("yaml: parse", () => parseTemplate(yaml), library);
measure("yaml: parse and evaluate", () => evaluateAll(yaml), library);
measure("json: parse and evaluate", () => evaluateAll(json), library);

/** The median, in milliseconds, printed beside a baseline. */
function measure(name: string, work: () => unknown, baseline?: number): number {
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  const median = times.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
  const ratio = baseline === undefined ? "" : `  ${(median / baseline).toFixed(2)} times`;
  console.log(`${name.padEnd(34)} ${median.toFixed(1).padStart(7)} ms${ratio}`);
  return median;
}

function evaluateAll(body: string): number {
  const template = parseTemplate(body);
  if (!template.ok) throw new Error(template.diagnostics[0]?.message);
  const parameters = resolveParameters(template.value, new Map());
  if (!parameters.ok) throw new Error(parameters.diagnostics[0]?.message);
  const base: Omit<Known, "conditions"> = {
    pseudo: examplePseudo,
    parameters: parameters.value,
    imports: new Map(),
    resource: (id) => ({ ref: `${id}-id`, attribute: (name) => ({ kind: "value", value: `${id}.${name}` }) }),
  };
  const conditions = evaluateConditions(template.value, base);
  if (conditions.kind !== "value") throw new Error("conditions");
  const known = { ...base, conditions: conditions.value };
  const evaluated = [...template.value.resources.values()].map((resource) =>
    evaluateProperties(resource, known),
  );
  return evaluated.filter(({ kind }) => kind === "value").length;
}

function largeTemplate(resources: number): string {
  const head = `AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Stage: { Type: String, Default: dev }
Conditions:
  IsProd: !Equals [!Ref Stage, prod]
Resources:
`;
  return head + Array.from({ length: resources }, (_, index) => resource(index)).join("");
}

/** Every tenth begins a chain of its own. */
function resource(index: number): string {
  const first = index % 10 === 0;
  return `  Resource${index}:
    Type: Custom::Thing
${first ? "" : `    DependsOn: Resource${index - 1}\n`}    Properties:
      ServiceToken: !Sub "arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:fn"
      Name: !Join ["-", [!Ref Stage, thing, "${index}"]]
      Size: ${index}
      Enabled: true
      Big: !If [IsProd, large, small]
      Tags:
        - Key: a
          Value: !Ref Stage
        - Key: b
          Value: ${first ? "x" : `!GetAtt Resource${index - 1}.Arn`}
      Policy:
        Statement:
          - Effect: Allow
            Action: ["s3:GetObject", "s3:PutObject"]
            Resource: "*"
`;
}
