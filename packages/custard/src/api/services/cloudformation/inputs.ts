/** What callers give to make or change stacks, in the engine's form. Throws `ApiError` and `StackError`. */
import type { StackInput } from "../../../engine/inputs.ts";
import { noTemplate } from "../../../engine/messages.ts";
import { StackError } from "../../../engine/stack-error.ts";
import type { StackView } from "../../../engine/views.ts";
import { definedOf } from "../../defined.ts";
import type { Input } from "../../input.ts";
import type { ApiCall } from "../../service.ts";
import { tagsOf } from "../../tags.ts";
import { checkTemplate } from "./capabilities.ts";
import { validationError } from "./errors.ts";
import { termsOf } from "./terms.ts";
import type { CloudFormationWorld } from "./world.ts";

/** Bytes of a template in a call; one in S3 may be larger. */
const bodyBytes = 51_200;

/** The template of a call, as far as it gives one: `TemplateBody`, or what lies at `TemplateURL`. */
export async function readTemplateOf(
  { input, scope }: ApiCall,
  { readTemplate }: CloudFormationWorld,
): Promise<string | undefined> {
  const body = input.text("TemplateBody");
  const url = input.text("TemplateURL");
  if (body !== undefined && url !== undefined) throw validationError(noTemplate);
  if (url !== undefined) return await readTemplate(url, scope);
  // Fact 121.
  if (body !== undefined && Buffer.byteLength(body) > bodyBytes)
    throw validationError(
      `1 validation error detected: Value '<template-body>' at 'templateBody' failed to satisfy constraint: Member must have length less than or equal to ${bodyBytes}`,
    );
  return body;
}

/** What CreateStack, UpdateStack and CreateChangeSet share. `before` is the stack that is changed, if there is one. */
export async function toStackInput(
  call: ApiCall,
  world: CloudFormationWorld,
  { before, isChangeSet = false }: { before?: StackView | undefined; isChangeSet?: boolean } = {},
): Promise<StackInput> {
  const { input, scope } = call;
  const templateBody = await readTemplateOf(call, world);
  checkTemplate(templateBody ?? before?.templateBody, {
    capabilities: input.texts("Capabilities") ?? [],
    resourceTypes: input.texts("ResourceTypes"),
    isChangeSet,
  });
  return {
    stackName: stackNameOf(input.need("StackName"), before),
    region: scope.region,
    account: scope.account,
    ...parametersOf(input),
    ...keptOf(input, before),
    terms: termsOf(input),
    ...definedOf({ templateBody }),
  };
}

/** Parameters that are given, and names of those that keep their values. */
function parametersOf(input: Input): Pick<StackInput, "parameters" | "previousParameters"> {
  const all = input.objects("Parameters");
  const name = (parameter: Input) => parameter.text("ParameterKey") ?? "";
  const isKept = (parameter: Input) => parameter.flag("UsePreviousValue") === true;
  return {
    previousParameters: all.filter(isKept).map(name),
    parameters: Object.fromEntries(
      all.filter((parameter) => !isKept(parameter)).map((parameter) => [name(parameter), valueOf(parameter)]),
    ),
  };
}

/** Policy texts: given as they are, or by a URL. Fact 110b. */
export async function policyOf(
  call: ApiCall,
  world: CloudFormationWorld,
  prefix: "StackPolicy" | "StackPolicyDuringUpdate",
): Promise<string | undefined> {
  const body = call.input.text(`${prefix}Body`);
  const url = call.input.text(`${prefix}URL`);
  if (body !== undefined && url !== undefined)
    throw validationError(`You cannot specify both ${prefix}URL and ${prefix}Body`);
  return url === undefined ? body : await world.readTemplate(url, call.scope);
}

/** The member of a call that is one of a few words. */
export function choiceOf<Choice extends string>(
  input: Input,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const text = input.text(name);
  const found = choices.find((choice) => choice === text);
  if (text === undefined || found !== undefined) return found;
  const member = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
  throw validationError(
    `1 validation error detected: Value '${text}' at '${member}' failed to satisfy constraint: Member must satisfy enum value set: [${choices.join(", ")}]`,
  );
}

function valueOf(parameter: Input): string {
  const value = parameter.text("ParameterValue");
  if (value !== undefined) return value;
  // Fact 116.
  const name = parameter.text("ParameterKey") ?? "";
  throw new StackError(
    "InvalidParameters",
    `Parameter ${name} should either have input value or default value`,
  );
}

/** Tags and topics that a call doesn't mention stay what they are. */
function keptOf(input: Input, before: StackView | undefined): Pick<StackInput, "tags" | "notificationArns"> {
  const tags = input.has("Tags") ? tagsOf(input) : before?.tags;
  return definedOf({ tags, notificationArns: input.texts("NotificationARNs") ?? before?.notificationArns });
}

/** An update may name its stack by its ARN. */
function stackNameOf(given: string, before: StackView | undefined): string {
  return given.startsWith("arn:") && before !== undefined ? before.stackName : given;
}
