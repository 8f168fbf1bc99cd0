/** Operations on templates. */
import { StackError } from "../../../engine/stack-error.ts";
import type { Diagnostic } from "../../../template/diagnostic.ts";
import { parseTemplate } from "../../../template/parse-template.ts";
import type { ParameterDeclaration, Template } from "../../../template/template.ts";
import { previewTemplate, validateTemplate } from "../../../template/validate-template.ts";
import { noTemplate } from "../../../engine/messages.ts";
import type { ApiCall, Handler } from "../../service.ts";
import type { WireObject } from "../../wire.ts";
import type { StackView } from "../../../engine/views.ts";
import { neededBy } from "./capabilities.ts";
import { changeSetOf } from "./change-sets.ts";
import { validationError } from "./errors.ts";
import { choiceOf, readTemplateOf } from "./inputs.ts";
import { stackOf } from "./stacks.ts";
import type { CloudFormationWorld } from "./world.ts";

type Handle = Handler<CloudFormationWorld>;

/** What is wrong with it is refused, with the first fault's text. */
export const validate: Handle = async (call, world) => {
  const body = await readTemplateOf(call, world);
  if (body === undefined) throw validationError(noTemplate);
  refuseFaults(validateTemplate(body));
  const template = parsed(body);
  refuseUnknown(unknownTypes(previewTemplate(template), world));
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
  const stage = choiceOf(call.input, "TemplateStage", ["Original", "Processed"]) ?? "Processed";
  const { templateBody, processedTemplateBody = templateBody } = await templateOf(call, world);
  return {
    TemplateBody: stage === "Original" ? templateBody : processedTemplateBody,
    StagesAvailable: ["Original", "Processed"],
  };
};

export const getTemplateSummary: Handle = async (call, world) => {
  const template = parsed(await summarisedBody(call, world));
  const preview = previewTemplate(template);
  const unknown = unknownTypes(preview, world);
  const config = call.input.object("TemplateSummaryConfig");
  if (config?.flag("TreatUnrecognizedResourceTypesAsWarnings") !== true) refuseUnknown(unknown);
  const { capabilities, reason } = neededBy(template);
  return {
    Parameters: [...template.parameters.values()].map(toDeclaration),
    Description: template.description,
    Capabilities: capabilities,
    CapabilitiesReason: reason,
    ResourceTypes: [...namesByType(preview).keys()],
    Version: "2010-09-09",
    Metadata: template.metadata === undefined ? undefined : JSON.stringify(template.metadata),
    DeclaredTransforms: template.transforms,
    ResourceIdentifierSummaries: [...namesByType(preview)].flatMap(([type, names]) =>
      identifierSummary(type, names, world),
    ),
    Warnings: unknown.length === 0 ? undefined : { UnrecognizedResourceTypes: unknown },
  };
};

/** Logical ids by type, in the template's order. */
function namesByType({ resources }: Template): ReadonlyMap<string, readonly string[]> {
  const byType = new Map<string, string[]>();
  for (const { type, logicalId } of resources.values())
    byType.set(type, [...(byType.get(type) ?? []), logicalId]);
  return byType;
}

/** What an import would ask for; nothing of types that have no identifier. */
function identifierSummary(
  type: string,
  names: readonly string[],
  { types }: CloudFormationWorld,
): readonly WireObject[] {
  const identifiers = types.identifiersOf(type);
  if (identifiers.length === 0) return [];
  return [{ ResourceType: type, LogicalResourceIds: names, ResourceIdentifiers: identifiers }];
}

function unknownTypes(template: Template, { types }: CloudFormationWorld): readonly string[] {
  return [...namesByType(template).keys()].filter((type) => !types.isKnownType(type));
}

function refuseUnknown(types: readonly string[]): void {
  if (types.length > 0)
    throw validationError(`Template format error: Unrecognized resource types: [${types.join(", ")}]`);
}

/** AWS gives a link to its calculator; here nothing costs anything. */
export const estimateTemplateCost: Handle = async (call, world) => {
  const body = await readTemplateOf(call, world);
  if (body === undefined) throw validationError(noTemplate);
  parsed(body);
  return { Url: "https://calculator.aws/#/" };
};

async function templateOf(
  call: ApiCall,
  world: CloudFormationWorld,
): Promise<Pick<StackView, "templateBody" | "processedTemplateBody">> {
  if (call.input.has("ChangeSetName")) return await world.engine.changeSets.describe(changeSetOf(call));
  // Fact 110b.
  if (!call.input.has("StackName"))
    throw validationError("StackName is required if ChangeSetName is not specified.");
  return await stackOf(call, world, (name) => `Stack with id ${name} does not exist`);
}

async function summarisedBody(call: ApiCall, world: CloudFormationWorld): Promise<string> {
  const given = await readTemplateOf(call, world);
  if (given !== undefined) return given;
  if (!call.input.has("StackName")) throw validationError(noTemplate);
  if (call.input.has("StackSetName"))
    throw validationError("Custard has no stack sets: give a stack's name, a template, or its URL.");
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
