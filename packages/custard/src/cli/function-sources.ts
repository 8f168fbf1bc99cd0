import { dirname, isAbsolute, join } from "node:path";
import type { Config } from "../services/config.ts";
import type { Expression } from "../template/expression.ts";
import type { ResourceDeclaration, Template } from "../template/template.ts";
import { isValueMap } from "../template/value.ts";
import { CliFault } from "./fault.ts";
import { readTemplate } from "./read-template.ts";
import { TemplateFault } from "./template-fault.ts";

/** A function that a deployment may run on this machine, and where its code comes from. */
export interface FunctionSource {
  readonly logicalId: string;
  readonly runtime: string;
  /** What the template declares instead, where `custard.config` puts another runtime in its place. */
  readonly declared?: string;
  readonly from: string;
}

/** A template and the file that it came from, as the user named it. */
export interface TemplateFile {
  readonly template: Template;
  readonly path: string;
}

const deepest = 8;

/**
 * The Lambda functions of a template, in its order, as a configuration has them, and below them those of the templates
 * beside it that it nests. Of a nested template in S3, only where it comes from is known here.
 */
export async function functionSources(
  { template, path }: TemplateFile,
  around: { readonly cwd: string; readonly config: Config },
  within: readonly string[] = [],
): Promise<readonly FunctionSource[]> {
  const named = (logicalId: string) => [...within, logicalId].join("/");
  const sources: FunctionSource[] = [];
  for (const resource of template.resources.values()) {
    if (resource.type === "AWS::Lambda::Function" || resource.type === "AWS::Serverless::Function") {
      const source = sourceOf(resource, path, around.config);
      sources.push({ ...source, logicalId: named(resource.logicalId) });
    }
  }
  for (const { logicalId, type, properties } of template.resources.values()) {
    const url = type === "AWS::CloudFormation::Stack" ? textOf(member(properties, "TemplateURL")) : undefined;
    if (url === undefined) continue;
    if (/^[a-z][a-z0-9+.-]*:\/\//iu.test(url)) {
      sources.push({ logicalId: named(`${logicalId}/*`), runtime: "any runtime", from: url });
      continue;
    }
    const nested = within.length < deepest ? await nestedFile(url, path, around.cwd) : undefined;
    if (nested !== undefined)
      sources.push(...(await functionSources(nested, around, [...within, logicalId])));
  }
  return sources;
}

/** What can't be read is told by the stack that nests it. */
async function nestedFile(url: string, parent: string, cwd: string): Promise<TemplateFile | undefined> {
  const path = join(dirname(parent), url);
  const file = isAbsolute(url) ? url : path;
  try {
    return { template: (await readTemplate(cwd, file)).template, path: file };
  } catch (error) {
    if (error instanceof CliFault || error instanceof TemplateFault) return undefined;
    throw error;
  }
}

function sourceOf(resource: ResourceDeclaration, path: string, config: Config): FunctionSource {
  const { logicalId } = resource;
  const declared = textOf(member(resource.properties, "Runtime")) ?? "any runtime";
  const from = own(config.functions, logicalId) ?? codeOf(resource, path);
  const runtime = own(config.runtimes, declared);
  return runtime === undefined
    ? { logicalId, runtime: declared, from }
    : { logicalId, runtime, declared, from };
}

function own(record: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function codeOf(resource: ResourceDeclaration, path: string): string {
  const { properties } = resource;
  const code = member(properties, "Code") ?? member(properties, "CodeUri");
  const local = textOf(code);
  if (local !== undefined) return local;
  if ((member(code, "ZipFile") ?? member(properties, "InlineCode")) !== undefined)
    return `${path}:${resource.position.line} (inline)`;
  const bucket = textOf(member(code, "S3Bucket") ?? member(code, "Bucket")) ?? "…";
  const key = textOf(member(code, "S3Key") ?? member(code, "Key")) ?? "…";
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
