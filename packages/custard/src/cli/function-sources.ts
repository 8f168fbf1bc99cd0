import type { Config } from "../services/config.ts";
import type { Expression } from "../template/expression.ts";
import type { ResourceDeclaration, Template } from "../template/template.ts";
import { isValueMap } from "../template/value.ts";

/** A function that a deployment may run on this machine, and where its code comes from. */
export interface FunctionSource {
  readonly logicalId: string;
  readonly runtime: string;
  /** What the template declares instead, where `custard.config` puts another runtime in its place. */
  readonly declared?: string;
  readonly from: string;
}

/** The Lambda functions of a template, in its order, as a configuration has them. */
export function functionSources(template: Template, path: string, config: Config): readonly FunctionSource[] {
  return [...template.resources.values()]
    .filter((resource) => resource.type === "AWS::Lambda::Function")
    .map((resource) => {
      const { logicalId } = resource;
      const declared = textOf(member(resource.properties, "Runtime")) ?? "any runtime";
      const from = own(config.functions, logicalId) ?? codeOf(resource, path);
      const runtime = own(config.runtimes, declared);
      return runtime === undefined
        ? { logicalId, runtime: declared, from }
        : { logicalId, runtime, declared, from };
    });
}

function own(record: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function codeOf(resource: ResourceDeclaration, path: string): string {
  const code = member(resource.properties, "Code");
  const local = textOf(code);
  if (local !== undefined) return local;
  if (member(code, "ZipFile") !== undefined) return `${path}:${resource.position.line} (inline)`;
  const bucket = textOf(member(code, "S3Bucket")) ?? "…";
  const key = textOf(member(code, "S3Key")) ?? "…";
  return `s3://${bucket}/${key}`;
}

function member(expression: Expression | undefined, key: string): Expression | undefined {
  if (expression?.kind === "map") return expression.entries.find(([name]) => name === key)?.[1];
  if (expression?.kind !== "constant" || !isValueMap(expression.value)) return undefined;
  const value = Object.hasOwn(expression.value, key) ? expression.value[key] : undefined;
  return value === undefined ? undefined : { kind: "constant", value };
}

function textOf(expression: Expression | undefined): string | undefined {
  return expression?.kind === "constant" && typeof expression.value === "string"
    ? expression.value
    : undefined;
}
