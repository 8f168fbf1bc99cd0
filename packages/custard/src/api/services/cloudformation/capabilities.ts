/** What a template needs the caller to acknowledge, and which types he lets it have. */
import { StackError } from "../../../engine/stack-error.ts";
import type { Expression } from "../../../template/expression.ts";
import { parseTemplate } from "../../../template/parse-template.ts";
import type { ResourceDeclaration, Template } from "../../../template/template.ts";
import { previewTemplate } from "../../../template/validate-template.ts";
import { isValueMap } from "../../../template/value.ts";

/** What a template needs, and why. */
export interface Needed {
  readonly capabilities: readonly string[];
  /** `The following resource(s) require capabilities: [AWS::IAM::Role]` */
  readonly reason?: string;
}

/** IAM resources that may have names of their own, and how these properties are called. Source: CreateStack reference. */
const namedBy: Readonly<Record<string, string>> = {
  "AWS::IAM::Group": "GroupName",
  "AWS::IAM::InstanceProfile": "InstanceProfileName",
  "AWS::IAM::ManagedPolicy": "ManagedPolicyName",
  "AWS::IAM::Role": "RoleName",
  "AWS::IAM::User": "UserName",
};

const others: ReadonlySet<string> = new Set([
  "AWS::IAM::AccessKey",
  "AWS::IAM::Policy",
  "AWS::IAM::UserToGroupAddition",
]);

/** A change set shows what transforms make, so it need not be acknowledged there. Source: CreateChangeSet reference. */
const expansion = "CAPABILITY_AUTO_EXPAND";

/** Templates without any of these need no capability, and are parsed once: by the engine. A backslash may hide a letter. */
const mayNeed = /AWS::IAM::|Transform|ForEach|\\/;

/** The capabilities that a template needs. */
export function neededBy(template: Template): Needed {
  const { resources, transforms } = previewTemplate(template);
  const iam = [...resources.values()].filter(({ type }) => type in namedBy || others.has(type));
  const expanding = transforms.filter((name) => name !== "AWS::LanguageExtensions");
  const capabilities = [
    ...(iam.length === 0 ? [] : [iam.some(isNamed) ? "CAPABILITY_NAMED_IAM" : "CAPABILITY_IAM"]),
    ...(expanding.length === 0 ? [] : [expansion]),
  ];
  const causes = [...new Set([...iam.map(({ type }) => type), ...expanding])];
  if (capabilities.length === 0) return { capabilities };
  return {
    capabilities,
    reason: `The following resource(s) require capabilities: [${causes.join(", ")}]`,
  };
}

/** Throws `StackError` when a call hasn't acknowledged what its template does (facts 110b and 120). */
export function checkTemplate(
  body: string | undefined,
  given: {
    readonly capabilities: readonly string[];
    readonly resourceTypes: readonly string[] | undefined;
    readonly isChangeSet: boolean;
  },
): void {
  const { resourceTypes = [] } = given;
  if (body === undefined || (resourceTypes.length === 0 && !mayNeed.test(body))) return;
  const parsed = parseTemplate(body);
  // The engine says what is wrong with it.
  if (!parsed.ok) return;
  checkTypes(parsed.value, resourceTypes);
  const lacking = neededBy(parsed.value).capabilities.filter(
    (wanted) => !isGiven(wanted, given.capabilities) && !(given.isChangeSet && wanted === expansion),
  );
  if (lacking.length > 0)
    throw new StackError("InsufficientCapabilities", `Requires capabilities : [${lacking.join(", ")}]`);
}

function isGiven(wanted: string, given: readonly string[]): boolean {
  return given.includes(wanted) || (wanted === "CAPABILITY_IAM" && given.includes("CAPABILITY_NAMED_IAM"));
}

function isNamed({ type, properties }: ResourceDeclaration): boolean {
  const name = namedBy[type];
  return name !== undefined && namesOf(properties).includes(name);
}

function namesOf(properties: Expression): readonly string[] {
  if (properties.kind === "map") return properties.entries.map(([key]) => key);
  if (properties.kind !== "constant" || !isValueMap(properties.value)) return [];
  return Object.keys(properties.value);
}

function checkTypes({ resources }: Template, allowed: readonly string[]): void {
  if (allowed.length === 0) return;
  const wrong = [...resources.values()].find(({ type }) => !allowed.some((pattern) => fits(pattern, type)));
  if (wrong === undefined) return;
  throw new StackError(
    "InvalidInput",
    `Resource type ${wrong.type} is not allowed by parameter ResourceTypes [${allowed.join(", ")}]`,
  );
}

/** `AWS::*`, `AWS::EC2::*`, `Custom::*` or a type. */
function fits(pattern: string, type: string): boolean {
  return pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : pattern === type;
}
