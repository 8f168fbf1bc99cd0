import type { Json, JsonObject } from "@custard/provider/protocol";
import { checkConditional } from "./check-conditional.ts";
import type { Diagnostic, Parsed } from "./diagnostic.ts";
import { evaluateConditions, evaluateExpression } from "./evaluate.ts";
import { evaluateRules } from "./evaluate-rules.ts";
import type { Call, Expression } from "./expression.ts";
import type { Known, ParameterValue, Pseudo } from "./known.ts";
import { lineIndex, type LineIndex } from "./line-index.ts";
import { resolveParameters, type ParameterInput } from "./parameters.ts";
import { parseTemplate } from "./parse-template.ts";
import { processTemplate } from "./process-template.ts";
import { toJson } from "./source-node.ts";
import { resolveSsmParameters, ssmNames } from "./ssm-parameters.ts";
import type { OutputDeclaration, ResourceDeclaration, Template } from "./template.ts";
import { show } from "./value.ts";

/** What a template is evaluated with. */
export interface EvaluationInput {
  readonly parameters: ReadonlyMap<string, ParameterInput>;
  readonly pseudo: Pseudo;
}

/**
 * The template with everything in it resolved that is known before a deployment; what only a deployment can know
 * stays as the function that asks for it, SSM parameters as dynamic references. Secrets show as `*****`. Resources
 * and outputs whose conditions don't hold are left out.
 */
export function evaluateTemplate(body: string, input: EvaluationInput): Parsed<JsonObject> {
  const parsed = parseTemplate(body);
  if (!parsed.ok) return parsed;
  const parameters = parametersOf(parsed.value, input);
  if (!parameters.ok) return parameters;
  const template = parsed.value.unprocessed ? runTransforms(body, parameters.value, input) : parsed;
  if (!template.ok) return template;
  return evaluateWith(template.value, parameters.value, { input, warnings: template.diagnostics });
}

type Values = ReadonlyMap<string, ParameterValue>;

function parametersOf(template: Template, { parameters }: EvaluationInput): Parsed<Values> {
  const resolved = resolveParameters(template, parameters);
  if (!resolved.ok) return resolved;
  const names = ssmNames(template, resolved.value);
  return resolveSsmParameters(
    template,
    resolved.value,
    new Map(names.map((name) => [name, `{{resolve:ssm:${name}}}`])),
  );
}

function runTransforms(body: string, parameters: Values, { pseudo }: EvaluationInput): Parsed<Template> {
  const processing = processTemplate(body, { pseudo, parameters, answers: new Map() });
  if (processing.kind === "done") return processing.template;
  const diagnostics = processing.needs.map((need): Diagnostic => {
    const what = need.kind === "macro" ? `The macro ${need.name} runs` : `The file ${need.location} is read`;
    return {
      code: "TransformFailed",
      severity: "error",
      message: `${what} only in a deployment.`,
      path: need.key,
    };
  });
  return { ok: false, diagnostics };
}

function evaluateWith(
  template: Template,
  parameters: Values,
  { input, warnings }: { input: EvaluationInput; warnings: readonly Diagnostic[] },
): Parsed<JsonObject> {
  const base = { pseudo: input.pseudo, parameters, imports: new Map(), resource: () => undefined };
  const conditions = evaluateConditions(template, base);
  const rules = evaluateRules(template, base);
  if (conditions.kind !== "value") {
    const message = conditions.kind === "failed" ? conditions.message : "The conditions can't be evaluated.";
    return {
      ok: false,
      diagnostics: [...rules, { code: "InvalidCondition", severity: "error", message, path: "/Conditions" }],
    };
  }
  const work: Work = {
    known: { ...base, conditions: conditions.value },
    lines: lineIndex(template.original ?? template.body),
    diagnostics: [...warnings, ...rules, ...checkConditional(template, conditions.value)],
  };
  const value = resolved(template, work);
  const failed = work.diagnostics.some(({ severity }) => severity === "error");
  return failed
    ? { ok: false, diagnostics: work.diagnostics }
    : { ok: true, value, diagnostics: work.diagnostics };
}

interface Work {
  readonly known: Known;
  readonly lines: LineIndex;
  readonly diagnostics: Diagnostic[];
}

function resolved(template: Template, work: Work): JsonObject {
  const { conditions, parameters } = work.known;
  const isOn = ({ condition }: { readonly condition?: string }): boolean =>
    condition === undefined || conditions.get(condition) === true;
  const resources = [...template.resources.values()].filter(isOn);
  const outputs = [...template.outputs.values()].filter(isOn);
  return {
    ...(template.description !== undefined && { Description: template.description }),
    ...section(
      "Parameters",
      [...parameters].map(([name, { value }]) => [name, show(value)]),
    ),
    ...section("Conditions", [...conditions]),
    Resources: Object.fromEntries(
      resources.map((resource) => [resource.logicalId, resolvedResource(resource, work)]),
    ),
    ...section(
      "Outputs",
      outputs.map((output) => [output.name, resolvedOutput(output, work)]),
    ),
  };
}

function section(name: string, entries: readonly (readonly [string, Json])[]): JsonObject {
  return entries.length === 0 ? {} : { [name]: Object.fromEntries(entries) };
}

function resolvedResource(resource: ResourceDeclaration, work: Work): JsonObject {
  const {
    type,
    dependsOn,
    deletionPolicy,
    updateReplacePolicy,
    properties,
    metadata,
    creationPolicy,
    updatePolicy,
  } = resource;
  return {
    Type: type,
    ...(dependsOn.length > 0 && { DependsOn: dependsOn }),
    ...(deletionPolicy !== "Delete" && { DeletionPolicy: deletionPolicy }),
    ...(updateReplacePolicy !== "Delete" && { UpdateReplacePolicy: updateReplacePolicy }),
    ...part("CreationPolicy", creationPolicy, work),
    ...part("UpdatePolicy", updatePolicy, work),
    ...part("Metadata", metadata, work),
    ...part("Properties", properties, work),
  };
}

function resolvedOutput({ description, value, exportName }: OutputDeclaration, work: Work): JsonObject {
  const name = exportName === undefined ? undefined : resolve(exportName, work);
  return {
    ...(description !== undefined && { Description: description }),
    ...part("Value", value, work),
    ...(name !== undefined && { Export: { Name: name } }),
  };
}

function part(key: string, expression: Expression | undefined, work: Work): JsonObject {
  const value = expression === undefined ? undefined : resolve(expression, work);
  return value === undefined ? {} : { [key]: value };
}

/** Undefined for `AWS::NoValue`. */
function resolve(expression: Expression, work: Work): Json | undefined {
  switch (expression.kind) {
    case "constant":
      return show(expression.value);
    case "list":
      return expression.items.map((item) => resolve(item, work)).filter((item) => item !== undefined);
    case "map":
      return resolveMap(expression.entries, work);
    case "call":
      return resolveCall(expression, work);
  }
}

function resolveMap(entries: readonly (readonly [string, Expression])[], work: Work): JsonObject {
  const values = entries.flatMap(([key, expression]): [string, Json][] => {
    const value = resolve(expression, work);
    return value === undefined ? [] : [[key, value]];
  });
  return Object.fromEntries(values);
}

function resolveCall(call: Call, work: Work): Json | undefined {
  const [only, ...more] = call.taken?.(work.known.conditions) ?? [];
  if (only !== undefined && more.length === 0) return resolve(only, work);
  const evaluation = evaluateExpression(call, work.known);
  switch (evaluation.kind) {
    case "value":
      return evaluation.value === undefined ? undefined : show(evaluation.value);
    case "needs":
      return { [call.name]: toJson(call.argument) };
    case "failed":
      work.diagnostics.push({
        code: "InvalidFunction",
        severity: "error",
        message: evaluation.message,
        path: evaluation.path,
        position: work.lines.position(call.offset),
      });
      return undefined;
  }
}
