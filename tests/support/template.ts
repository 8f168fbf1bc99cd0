/** Small templates for tests: sources without indentation, and one value in a template that has something of everything. */
import { evaluateConditions, evaluateProperties } from "../../packages/custard/src/template/evaluate.ts";
import type { Known, Pseudo } from "../../packages/custard/src/template/known.ts";
import { resolveParameters } from "../../packages/custard/src/template/parameters.ts";
import { parseTemplate } from "../../packages/custard/src/template/parse-template.ts";
import type { Template } from "../../packages/custard/src/template/template.ts";
import { isSensitive, reveal } from "../../packages/custard/src/template/value.ts";
import type { Json } from "@custard/provider/protocol";

/** A source without the indentation of its first line. */
export function dedent(strings: TemplateStringsArray, ...values: readonly unknown[]): string {
  const whole = String.raw({ raw: strings }, ...values).replace(/^\n/, "");
  const indent = /^ */.exec(whole)?.[0] ?? "";
  return whole.replaceAll(new RegExp(`^${indent}`, "gm"), "").trimEnd() + "\n";
}

export const pseudo: Pseudo = {
  accountId: "123456789012",
  region: "eu-west-1",
  partition: "aws",
  urlSuffix: "amazonaws.com",
  stackId: "arn:aws:cloudformation:eu-west-1:123456789012:stack/shop/0",
  stackName: "shop",
  notificationArns: ["arn:aws:sns:eu-west-1:123456789012:topic"],
};

/** The template, or an error with its first fault. */
export function parseOk(body: string): Template {
  const parsed = parseTemplate(body);
  if (!parsed.ok) throw new Error(parsed.diagnostics.map(({ message }) => message).join("\n"));
  return parsed.value;
}

/** The messages of a template's faults, in their order. */
export function faultsOf(body: string): readonly string[] {
  return parseTemplate(body).diagnostics.map(({ message }) => message);
}

/** What a template knows when `Done` is there and `Later` isn't. Needs only defaults. */
export function knownFor(template: Template): Omit<Known, "conditions"> {
  const parameters = resolveParameters(template, new Map());
  if (!parameters.ok) throw new Error("a parameter of the test's template has no default");
  return {
    pseudo,
    parameters: parameters.value,
    imports: new Map([["shared-vpc", "vpc-1"]]),
    resource: (logicalId) => {
      if (logicalId !== "Done") return undefined;
      return {
        ref: "done-id",
        attribute: (name) =>
          name.startsWith("No")
            ? { kind: "failed", message: `no ${name} here` }
            : { kind: "value", value: name === "List" ? ["x", "y"] : `done.${name}` },
      };
    },
  };
}

/** What one value came to. */
export type Outcome =
  | { readonly value: Json; readonly sensitive?: true }
  | { readonly absent: true }
  | { readonly refused: readonly string[] }
  | { readonly failed: string; readonly path: string }
  | { readonly needs: readonly string[] };

const template = (value: string, options: { readonly transform: string }): string => `
AWSTemplateFormatVersion: "2010-09-09"
${options.transform}
Parameters:
  Env: { Type: String, Default: prod }
  Size: { Type: Number, Default: "3" }
  Names: { Type: CommaDelimitedList, Default: "a, b ,c" }
  Empty: { Type: String, Default: "" }
  Secret: { Type: String, Default: hunter2, NoEcho: true }
Mappings:
  Regions:
    eu-west-1: { Ami: ami-1, Zones: [a, b], Number: 7 }
Conditions:
  IsProd: !Equals [!Ref Env, prod]
  IsDev: !Equals [!Ref Env, dev]
Resources:
  Done: { Type: Custom::Done, Properties: { ServiceToken: t } }
  Later: { Type: Custom::Later, Properties: { ServiceToken: t } }
  Target:
    Type: Custom::Target
    Properties:
      ServiceToken: t
      Value: ${value}
`;

/** Parses and evaluates one value, written as YAML on one line. */
export function evaluateValue(value: string, transform?: "AWS::LanguageExtensions"): Outcome {
  const parsed = parseTemplate(
    template(value, { transform: transform === undefined ? "" : `Transform: ${transform}` }),
  );
  if (!parsed.ok) return { refused: parsed.diagnostics.map(({ message }) => message) };
  const base = knownFor(parsed.value);
  const conditions = evaluateConditions(parsed.value, base);
  const target = parsed.value.resources.get("Target");
  if (conditions.kind !== "value" || target === undefined) throw new Error("the test's template is wrong");
  const evaluation = evaluateProperties(target, { ...base, conditions: conditions.value });
  switch (evaluation.kind) {
    case "needs":
      return {
        needs: evaluation.needs.map((need) =>
          need.kind === "resource" ? need.logicalId : `import ${need.name}`,
        ),
      };
    case "failed":
      return { failed: evaluation.message, path: evaluation.path };
    case "value": {
      const found = evaluation.value["Value"];
      if (found === undefined) return { absent: true };
      return { value: reveal(found), ...(isSensitive(found) && { sensitive: true as const }) };
    }
  }
}
