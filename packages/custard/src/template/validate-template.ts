import type { Diagnostic } from "./diagnostic.ts";
import { exampleParameters } from "./example-parameters.ts";
import type { ParameterValue, Pseudo } from "./known.ts";
import { isParameterFault, resolveParameters } from "./parameters.ts";
import { parseTemplate } from "./parse-template.ts";
import { type Processing, processTemplate, type TransformNeed } from "./process-template.ts";
import type { Template } from "./template.ts";

/**
 * All that can be said of a template without deploying it, in the order of its text. Transforms that need no one
 * else are run first, with example values for parameters that have no default.
 */
export function validateTemplate(body: string): readonly Diagnostic[] {
  const parsed = parseTemplate(body);
  if (!parsed.ok) return parsed.diagnostics;
  const defaults = defaultFaults(parsed.value);
  if (!parsed.value.unprocessed) return [...parsed.diagnostics, ...defaults];
  return [...processed(parsed.value), ...defaults];
}

/** The template after its transforms, with example values; as it is when these need someone else, or fail. */
export function previewTemplate(template: Template): Template {
  if (!template.unprocessed) return template;
  const parameters = examplesFor(template);
  if (!parameters.ok) return template;
  const processing = process(template, parameters.value);
  if (processing.kind !== "done" || !processing.template.ok) return template;
  return { ...processing.template.value, transforms: template.transforms };
}

/** A default that its own declaration refuses. */
function defaultFaults(template: Template): readonly Diagnostic[] {
  const resolved = resolveParameters(template, new Map());
  return resolved.ok ? [] : resolved.diagnostics.filter(isParameterFault);
}

function processed(template: Template): readonly Diagnostic[] {
  const parameters = examplesFor(template);
  if (!parameters.ok) return parameters.diagnostics;
  const processing = process(template, parameters.value);
  return processing.kind === "done" ? processing.template.diagnostics : processing.needs.map(unchecked);
}

function examplesFor(template: Template): ReturnType<typeof resolveParameters> {
  return resolveParameters({ parameters: withoutConstraints(template) }, exampleParameters(template));
}

function process(template: Template, parameters: ReadonlyMap<string, ParameterValue>): Processing {
  return processTemplate(template.body, {
    pseudo: examplePseudo,
    parameters,
    answers: new Map(),
  });
}

// An example need not match a pattern.
function withoutConstraints({ parameters }: Template): Template["parameters"] {
  return new Map(
    [...parameters].map(([name, { type, noEcho, defaultValue, position }]) => {
      return [name, { name, type, noEcho, position, ...(defaultValue !== undefined && { defaultValue }) }];
    }),
  );
}

function unchecked(need: TransformNeed): Diagnostic {
  const what = need.kind === "macro" ? `the macro ${need.name}` : `the file ${need.location}`;
  const message = `What ${what} makes of the template is not checked: it is known only in a deployment.`;
  return { code: "IgnoredSection", severity: "warning", message, path: need.key };
}

/** A stack that looks like one, where there is none. */
export const examplePseudo: Pseudo = {
  accountId: "123456789012",
  region: "us-east-1",
  partition: "aws",
  urlSuffix: "amazonaws.com",
  stackId: "arn:aws:cloudformation:us-east-1:123456789012:stack/example/00000000-0000-1000-8000-000000000000",
  stackName: "example",
  notificationArns: [],
};
