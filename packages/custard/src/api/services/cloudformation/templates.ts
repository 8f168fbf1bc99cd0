/** Operations on templates. */
import { StackError } from "../../../engine/stack-error.ts";
import type { Diagnostic } from "../../../template/diagnostic.ts";
import { parseTemplate } from "../../../template/parse-template.ts";
import type { ParameterDeclaration, Template } from "../../../template/template.ts";
import { validateTemplate } from "../../../template/validate-template.ts";
import { noTemplate } from "../../../engine/messages.ts";
import type { ApiCall, Handler } from "../../service.ts";
import type { WireObject } from "../../wire.ts";
import { neededBy } from "./capabilities.ts";
import { validationError } from "./errors.ts";
import { choiceOf, readTemplateOf } from "./inputs.ts";
import { stackOf } from "./stacks.ts";
import { type CloudFormationWorld, referenceOf } from "./world.ts";

type Handle = Handler<CloudFormationWorld>;

/** What is wrong with it is refused, with the first fault's text. */
export const validate: Handle = async (call, world) => {
  const body = await readTemplateOf(call, world);
  if (body === undefined) throw validationError(noTemplate);
  refuseFaults(validateTemplate(body));
  const template = parsed(body);
  const { capabilities, reason } = neededBy(template);
  return {
    Description: template.description,
    Parameters: [...template.parameters.values()].map((parameter) => ({
      ParameterKey: parameter.name,
      DefaultValue: parameter.defaultValue,
      NoEcho: parameter.noEcho,
      Description: parameter.description,
    })),
    Capabilities: capabilities,
    CapabilitiesReason: reason,
    DeclaredTransforms: template.transforms,
  };
};

/** A stack's template, or that of one of its change sets. */
export const getTemplate: Handle = async (call, world) => {
  const { input } = call;
  choiceOf(input, "TemplateStage", ["Original", "Processed"]);
  const body = await bodyOf(call, world);
  return { TemplateBody: body, StagesAvailable: ["Original", "Processed"] };
};

export const getTemplateSummary: Handle = async (call, world) => {
  const template = parsed(await summarisedBody(call, world));
  const { capabilities, reason } = neededBy(template);
  return {
    Parameters: [...template.parameters.values()].map(toDeclaration),
    Description: template.description,
    Capabilities: capabilities,
    CapabilitiesReason: reason,
    ResourceTypes: [...new Set([...template.resources.values()].map(({ type }) => type))],
    Version: "2010-09-09",
    Metadata: template.metadata === undefined ? undefined : JSON.stringify(template.metadata),
    DeclaredTransforms: template.transforms,
    ResourceIdentifierSummaries: [],
  };
};

/** AWS gives a link to its calculator; here nothing costs anything. */
export const estimateTemplateCost: Handle = async (call, world) => {
  const body = await readTemplateOf(call, world);
  if (body === undefined) throw validationError(noTemplate);
  parsed(body);
  return { Url: "https://calculator.aws/#/" };
};

async function bodyOf(call: ApiCall, world: CloudFormationWorld): Promise<string> {
  const changeSet = call.input.text("ChangeSetName");
  if (changeSet === undefined)
    return (await stackOf(call, world, (name) => `Stack with id ${name} does not exist`)).templateBody;
  const stack = call.input.text("StackName");
  const reference = stack === undefined ? {} : referenceOf(stack, call);
  const { region, account } = call.scope;
  return (await world.engine.changeSets.describe({ changeSet, region, account, ...reference })).templateBody;
}

async function summarisedBody(call: ApiCall, world: CloudFormationWorld): Promise<string> {
  const given = await readTemplateOf(call, world);
  if (given !== undefined) return given;
  if (!call.input.has("StackName")) throw validationError(noTemplate);
  const stack = await stackOf(call, world, (name) => `Stack with id ${name} does not exist`);
  // Fact 120.
  if (stack.status === "REVIEW_IN_PROGRESS")
    throw validationError("GetTemplateSummary cannot be called on REVIEW_IN_PROGRESS stacks.");
  return stack.templateBody;
}

function parsed(body: string): Template {
  const result = parseTemplate(body);
  if (result.ok) return result.value;
  refuseFaults(result.diagnostics);
  throw new Error("A template was refused without a fault.");
}

function refuseFaults(diagnostics: readonly Diagnostic[]): void {
  const first = diagnostics.find(({ severity }) => severity === "error");
  if (first !== undefined) throw new StackError("InvalidTemplate", first.message);
}

function toDeclaration(parameter: ParameterDeclaration): WireObject {
  return {
    ParameterKey: parameter.name,
    DefaultValue: parameter.defaultValue,
    ParameterType: parameter.type,
    NoEcho: parameter.noEcho,
    Description: parameter.description,
    ParameterConstraints:
      parameter.allowedValues === undefined ? {} : { AllowedValues: parameter.allowedValues },
  };
}
