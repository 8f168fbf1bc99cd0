import { maxResources } from "./limits.ts";
import { parseExpression, type Parsing } from "./parse-expression.ts";
import { checkKeys, membersOf, sectionEntries, valueOf, type Member, type Section } from "./parse-section.ts";
import { childOf, textOf, textsOf, type MapNode, type SourceNode } from "./source-node.ts";
import type { Expression } from "./expression.ts";
import type { DeletionPolicy, ResourceDeclaration, UpdateReplacePolicy } from "./template.ts";

const section: Section = { key: "Resources", noun: "Resource", code: "InvalidResource", most: maxResources };

const keys: ReadonlySet<string> = new Set([
  "Type",
  "Properties",
  "Condition",
  "DependsOn",
  "CreationPolicy",
  "DeletionPolicy",
  "UpdatePolicy",
  "UpdateReplacePolicy",
  "Metadata",
  "Description",
  "Version",
]);

/** The declarations of `Resources`. */
export function parseResources(root: MapNode, parsing: Parsing): ReadonlyMap<string, ResourceDeclaration> {
  const { faults } = parsing;
  const resources = new Map<string, ResourceDeclaration>();
  for (const member of membersOf(root, section, faults)) {
    checkKeys(member, keys, { faults, noun: "resource", code: section.code });
    resources.set(member.name, parseResource(member, parsing));
  }
  if (sectionEntries(root, section, faults).length === 0) {
    const message = "Template format error: At least one Resources member must be defined.";
    faults.report({
      code: section.code,
      message,
      path: "/Resources",
      offset: childOf(root, "Resources")?.offset,
    });
  }
  return resources;
}

function parseResource(member: Member, parsing: Parsing): ResourceDeclaration {
  const type = readType(member, parsing);
  checkCustomResource(member, type, parsing);
  const condition = readCondition(member, parsing);
  return {
    logicalId: member.name,
    type,
    ...(condition !== undefined && { condition }),
    dependsOn: readDependsOn(member, parsing),
    properties: part(member, "Properties", parsing) ?? { kind: "constant", value: {} },
    deletionPolicy: readPolicy(member, deletionPolicies, parsing),
    updateReplacePolicy: readPolicy(member, updateReplacePolicies, parsing),
    ...optional(member, parsing),
    position: parsing.lines.position(member.offset),
  };
}

function optional(
  member: Member,
  parsing: Parsing,
): Partial<Pick<ResourceDeclaration, "metadata" | "creationPolicy" | "updatePolicy">> {
  const metadata = part(member, "Metadata", parsing);
  const creationPolicy = part(member, "CreationPolicy", parsing);
  const updatePolicy = part(member, "UpdatePolicy", parsing);
  return {
    ...(metadata !== undefined && { metadata }),
    ...(creationPolicy !== undefined && { creationPolicy }),
    ...(updatePolicy !== undefined && { updatePolicy }),
  };
}

function part(member: Member, key: string, parsing: Parsing): Expression | undefined {
  const node = valueOf(member.node, key);
  if (node === undefined) return undefined;
  const path = `${member.path}/${key}`;
  if (node.kind === "map") return parseExpression(node, path, { ...parsing, scope: "Resources" });
  const message = `Template format error: [${path}] Every ${key} member must be an object.`;
  parsing.faults.report({ code: section.code, message, path, offset: node.offset });
  return undefined;
}

function readType(member: Member, { faults }: Parsing): string {
  const type = textOf(childOf(member.node, "Type"));
  if (type !== undefined && type !== "") return type;
  const message = `Template format error: [${member.path}] Every Resources object must contain a Type member.`;
  faults.report({ code: section.code, message, path: member.path, offset: member.offset });
  return "";
}

/** At most 60 characters after `Custom::`, of these (fact 9). */
const customName = /^Custom::[A-Za-z0-9_@-]{1,60}$/;

/** Is a resource of this type a custom resource? */
export function isCustomResource(type: string): boolean {
  return type === "AWS::CloudFormation::CustomResource" || type.startsWith("Custom::");
}

function checkCustomResource(member: Member, type: string, { faults }: Parsing): void {
  if (!isCustomResource(type)) return;
  if (type.startsWith("Custom::") && !customName.test(type)) {
    faults.report({
      code: "InvalidCustomResource",
      message: `Template format error: Unrecognized resource types: [${type}]`,
      path: `${member.path}/Type`,
      offset: childOf(member.node, "Type")?.offset,
      hint: "Custom:: is followed by 1 to 60 letters, digits, _, @ and -",
    });
  }
  // One that its condition may switch off is checked when that is known: such resources are used as fillers.
  if (valueOf(member.node, "Condition") !== undefined) return;
  const properties = valueOf(member.node, "Properties");
  if (mayHaveServiceToken(properties)) return;
  faults.report({
    code: "InvalidCustomResource",
    message: missingServiceToken(member.name),
    path: `${member.path}/Properties`,
    offset: properties?.offset ?? member.offset,
    hint: "ServiceToken is the ARN of the Lambda function or SNS topic that answers for this resource",
  });
}

// Properties that are computed as a whole show their keys only later.
function mayHaveServiceToken(properties: SourceNode | undefined): boolean {
  if (properties?.kind !== "map") return properties !== undefined;
  return properties.entries.some(({ key }) => key === "ServiceToken" || key.startsWith("Fn::"));
}

/** Why a custom resource without a service token is refused. Ours: CloudFormation's text isn't known. */
export function missingServiceToken(logicalId: string): string {
  return `Template format error: [/Resources/${logicalId}/Properties] Every custom resource must have a ServiceToken property.`;
}

function readCondition(member: Member, { faults }: Parsing): string | undefined {
  const node = valueOf(member.node, "Condition");
  const name = textOf(node);
  if (node !== undefined && name === undefined) {
    const message = "Template format error: Every Condition member must be a string.";
    faults.report({ code: section.code, message, path: `${member.path}/Condition`, offset: node.offset });
  }
  return name;
}

function readDependsOn(member: Member, { faults }: Parsing): readonly string[] {
  const node = valueOf(member.node, "DependsOn");
  if (node === undefined) return [];
  const one = textOf(node);
  const names = one === undefined ? textsOf(node) : [one];
  if (names !== undefined) return names;
  const message = "Template format error: DependsOn must be a string or list of strings.";
  faults.report({ code: section.code, message, path: `${member.path}/DependsOn`, offset: node.offset });
  return [];
}

interface Policy<T extends string> {
  readonly key: string;
  readonly values: readonly T[];
}

const deletionPolicies: Policy<DeletionPolicy> = {
  key: "DeletionPolicy",
  values: ["Delete", "Retain", "RetainExceptOnCreate", "Snapshot"],
};
const updateReplacePolicies: Policy<UpdateReplacePolicy> = {
  key: "UpdateReplacePolicy",
  values: ["Delete", "Retain", "Snapshot"],
};

function readPolicy<T extends string>(member: Member, policy: Policy<T>, { faults }: Parsing): T | "Delete" {
  const node = valueOf(member.node, policy.key);
  if (node === undefined) return "Delete";
  const written = textOf(node);
  const found = policy.values.find((value) => value === written);
  if (found !== undefined) return found;
  const message =
    written === undefined
      ? `Template format error: Every ${policy.key} member must be a string.`
      : `Template format error: Unrecognized ${policy.key} ${written} for resource ${member.name}`;
  faults.report({ code: section.code, message, path: `${member.path}/${policy.key}`, offset: node.offset });
  return "Delete";
}
