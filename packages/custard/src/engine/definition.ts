import { urlSuffixOf } from "@custard/provider/protocol";
import { checkConditional } from "../template/check-conditional.ts";
import { dependenciesOf } from "../template/dependencies.ts";
import { evaluateConditions } from "../template/evaluate.ts";
import type { Pseudo } from "../template/known.ts";
import { evaluateRules } from "../template/evaluate-rules.ts";
import { resolveParameters } from "../template/parameters.ts";
import { resolveSsmParameters } from "../template/ssm-parameters.ts";
import { parseTemplate } from "../template/parse-template.ts";
import type { Parsed } from "../template/diagnostic.ts";
import type { Template } from "../template/template.ts";
import type { StackRequest } from "./event.ts";
import type { LogicalId } from "./ids.ts";
import { noTemplate } from "./messages.ts";
import type { Definition, StackIdentity } from "./stack.ts";
import { StackError } from "./stack-error.ts";

/** What a definition is made from; all else in it follows. */
export type DefinitionSource = Omit<Definition, "conditions" | "dependencies">;

/**
 * Reads a user's request into a definition. Throws `StackError` `InvalidTemplate` or `InvalidParameters` with AWS's
 * text of the first fault; whoever wants all faults asks the template's own functions.
 */
export function readDefinition(
  identity: StackIdentity,
  request: StackRequest,
  previous?: Definition,
): Definition {
  const template = readTemplateOf(request, previous);
  const given = resolveParameters(template, request.parameters, previous?.parameters);
  const named = orRefuse(given, "InvalidParameters");
  const found = resolveSsmParameters(template, named, request.ssmValues ?? new Map());
  const parameters = orRefuse(found, "InvalidParameters");
  const definition = makeDefinition(identity, {
    template,
    parameters,
    tags: request.tags,
    notificationArns: request.notificationArns,
    ...(request.directory === undefined ? {} : { directory: request.directory }),
  });
  refuseDanglingReferences(definition);
  refuseBrokenRules(identity, definition);
  return definition;
}

/** The template after its transforms; when they have failed, what can be told without them. */
function readTemplateOf({ templateBody, transformed }: StackRequest, previous?: Definition): Template {
  if (transformed?.kind === "template") return transformed.template;
  const body = templateBody ?? previous?.template.body;
  if (body === undefined) throw new StackError("InvalidInput", noTemplate);
  return orRefuse(parseTemplate(body), "InvalidTemplate");
}

function refuseBrokenRules(
  identity: StackIdentity,
  { template, parameters, notificationArns }: Definition,
): void {
  const pseudo = pseudoOf(identity, notificationArns);
  const known = { pseudo, parameters, imports: new Map(), resource: () => undefined };
  const broken = evaluateRules(template, known).find(({ severity }) => severity === "error");
  if (broken !== undefined) throw new StackError("InvalidTemplate", broken.message);
}

/** Completes a definition: which conditions hold, and what depends on what. */
export function makeDefinition(identity: StackIdentity, source: DefinitionSource): Definition {
  const { template } = source;
  const conditions = evaluateConditions(template, {
    pseudo: pseudoOf(identity, source.notificationArns),
    parameters: source.parameters,
    imports: new Map(),
    resource: () => undefined,
  });
  if (conditions.kind === "failed") throw new StackError("InvalidTemplate", conditions.message);
  if (conditions.kind === "needs")
    throw new StackError("InvalidTemplate", "Conditions can't refer to resources.");
  const exists = (name: string) => isActive(template, conditions.value, name);
  const dependencies = new Map<LogicalId, ReadonlySet<LogicalId>>();
  for (const [name, needed] of dependenciesOf(template)) {
    // What a condition has switched off is waited for by nobody: branches that aren't taken may refer to it.
    const there = new Set([...needed].filter(exists)) as ReadonlySet<string> as ReadonlySet<LogicalId>;
    if (exists(name)) dependencies.set(name as LogicalId, there);
  }
  return { ...source, conditions: conditions.value, dependencies };
}

/** The pseudo parameters of a stack. */
export function pseudoOf(identity: StackIdentity, notificationArns: readonly string[]): Pseudo {
  const { account, region, partition, stackId, stackName } = identity;
  return {
    accountId: account,
    region,
    partition,
    urlSuffix: urlSuffixOf(partition),
    stackId,
    stackName,
    notificationArns,
  };
}

function isActive(template: Template, conditions: ReadonlyMap<string, boolean>, logicalId: string): boolean {
  const condition = template.resources.get(logicalId)?.condition;
  return condition === undefined || conditions.get(condition) === true;
}

/** Fact 117: a reference to a resource that a condition has switched off. */
function refuseDanglingReferences({ template, conditions }: Definition): void {
  const [first] = checkConditional(template, conditions);
  if (first !== undefined) throw new StackError("InvalidTemplate", first.message);
}

function orRefuse<T>(parsed: Parsed<T>, code: "InvalidTemplate" | "InvalidParameters"): T {
  if (parsed.ok) return parsed.value;
  const first = parsed.diagnostics.find((diagnostic) => diagnostic.severity === "error");
  throw new StackError(code, first?.message ?? "Template format error");
}
