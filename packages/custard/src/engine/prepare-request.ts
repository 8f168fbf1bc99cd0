/**
 * What a call must find out before it can be decided on: values of SSM parameters that parameters name, and what
 * transforms make of the template. Nothing of it is durable; the call hasn't been answered yet.
 */
import type { ParameterValue } from "../template/known.ts";
import { resolveParameters } from "../template/parameters.ts";
import { parseTemplate } from "../template/parse-template.ts";
import { processTemplate, type TransformAnswer, type TransformNeed } from "../template/process-template.ts";
import { resolveSsmParameters, ssmNames } from "../template/ssm-parameters.ts";
import type { Template } from "../template/template.ts";
import { pseudoOf } from "./definition.ts";
import type { StackRequest } from "./event.ts";
import type { Lookups, Transforms } from "./ports.ts";
import { StackError } from "./stack-error.ts";
import type { Definition, StackIdentity } from "./stack.ts";
import type { Transformed } from "./transformed.ts";

/** Who can be asked. */
export interface Preparers {
  readonly lookups?: Lookups | undefined;
  readonly transforms?: Transforms | undefined;
}

/** Most templates need nothing, and are parsed once: when they are decided on. A backslash may hide a letter. */
const mayNeedMore = /Transform|AWS::SSM::Parameter::Value|\\/;

/** Macros may call for macros, but not without end. */
const mostRounds = 100;

/**
 * The request with all that has to be known. A template or parameters that are wrong come back as they are: whoever
 * decides refuses them. Throws `StackError` `InvalidParameters` when SSM parameters can't be had.
 */
export async function prepareRequest(
  preparers: Preparers,
  stack: { readonly identity: StackIdentity; readonly previous?: Definition },
  given: StackRequest,
): Promise<StackRequest> {
  const templateBody = given.templateBody ?? textOf(stack.previous);
  if (templateBody === undefined) return given;
  const request = { ...given, templateBody };
  if (!mayNeedMore.test(templateBody)) return request;
  const parsed = parseTemplate(templateBody);
  if (!parsed.ok) return request;
  const parameters = resolveParameters(parsed.value, request.parameters, stack.previous?.parameters);
  return parameters.ok ? complete(preparers, stack.identity, { request, ...parsed, parameters }) : request;
}

/** The template that a stack was given. */
function textOf(definition: Definition | undefined): string | undefined {
  return definition?.template.original ?? definition?.template.body;
}

async function complete(
  preparers: Preparers,
  identity: StackIdentity,
  read: {
    readonly request: StackRequest & { readonly templateBody: string };
    readonly value: Template;
    readonly parameters: { readonly value: ReadonlyMap<string, ParameterValue> };
  },
): Promise<StackRequest> {
  const { request, value: template } = read;
  const named = read.parameters.value;
  const ssmValues = await findSsmValues(preparers, identity, ssmNames(template, named));
  const prepared = ssmValues === undefined ? request : { ...request, ssmValues };
  const resolved = resolveSsmParameters(template, named, ssmValues ?? new Map());
  if (!template.unprocessed || !resolved.ok) return prepared;
  const { templateBody: body, notificationArns, directory } = request;
  const place = directory === undefined ? {} : { directory };
  const work: Work = { body, identity, parameters: resolved.value, notificationArns, ...place };
  return { ...prepared, transformed: await transform(preparers, work) };
}

async function findSsmValues(
  { lookups }: Preparers,
  place: StackIdentity,
  names: readonly string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  if (names.length === 0 || lookups === undefined) return undefined;
  const found = await lookups.ssmParameters(names, place);
  if (found.kind === "failed") throw new StackError("InvalidParameters", found.message);
  return found.values;
}

interface Work {
  readonly body: string;
  readonly identity: StackIdentity;
  readonly parameters: ReadonlyMap<string, ParameterValue>;
  readonly notificationArns: readonly string[];
  readonly directory?: string;
}

async function transform(preparers: Preparers, work: Work): Promise<Transformed> {
  const { body, identity, parameters, notificationArns } = work;
  const pseudo = pseudoOf(identity, notificationArns);
  const answers = new Map<string, TransformAnswer>();
  for (let round = 0; round < mostRounds; round += 1) {
    const processing = processTemplate(body, { pseudo, parameters, answers });
    if (processing.kind === "done") {
      const { template } = processing;
      if (template.ok) return { kind: "template", template: template.value };
      const fault = template.diagnostics.find(({ severity }) => severity === "error");
      return { kind: "failed", message: fault?.message ?? "Template format error: unsupported structure." };
    }
    for (const need of processing.needs) answers.set(need.key, await answer(preparers, work, need));
  }
  return { kind: "failed", message: "The template's transforms come to no end." };
}

async function answer(
  { transforms }: Preparers,
  { identity, parameters, directory }: Work,
  need: TransformNeed,
): Promise<TransformAnswer> {
  const { account } = identity;
  if (transforms !== undefined) {
    const place = directory === undefined ? {} : { directory };
    return transforms.answer(need, { ...identity, ...place, parameters });
  }
  const name = need.kind === "macro" ? `${account}::${need.name}` : "AWS::Include";
  return { kind: "failed", message: `Transform ${name} failed with: nobody can run it here` };
}
