/** IAM's records as its API shows them. */
import type { EntityKind } from "../../../services/identities.ts";
import { documentOf, isManagedByAws } from "../../../services/managed-policies.ts";
import { declaredTags, type NamedRecord, textOf } from "../../../services/records.ts";
import { toTags } from "../../tags.ts";
import type { WireObject, WireValue } from "../../wire.ts";
import { encodeDocument, pathOf } from "./world.ts";

/** What all that has a name shows. */
export function toEntity(kind: EntityKind, record: NamedRecord): WireObject {
  const { id, attributes, createdAt = 0 } = record;
  return {
    Path: pathOf(record),
    [`${kind}Name`]: id,
    [`${kind}Id`]: textOf(attributes[`${kind}Id`]) ?? id,
    Arn: textOf(attributes["Arn"]) ?? "",
    CreateDate: createdAt,
    ...furtherMembers[kind](record),
  };
}

const furtherMembers: Readonly<Record<EntityKind, (record: NamedRecord) => WireObject>> = {
  Role: (record) => ({
    AssumeRolePolicyDocument: encodeDocument(documentOf(record.properties["AssumeRolePolicyDocument"])),
    Description: textOf(record.properties["Description"]),
    MaxSessionDuration: Number(record.properties["MaxSessionDuration"] ?? 3600),
    RoleLastUsed: {},
    ...boundaryOf(record),
    Tags: tagsIn(record),
  }),
  User: (record) => ({ ...boundaryOf(record), Tags: tagsIn(record) }),
  Group: () => ({}),
  InstanceProfile: (record) => ({ Tags: tagsIn(record) }),
};

/** A managed policy; how many have it is said by the caller. */
export function toPolicy(record: NamedRecord, attachments: number): WireObject {
  const { id, properties, attributes, additions, createdAt = 0 } = record;
  return {
    PolicyName: nameOfPolicy(id),
    PolicyId: textOf(attributes["PolicyId"]) ?? "",
    Arn: id,
    Path: pathOf(record),
    DefaultVersionId: textOf(additions?.["defaultVersion"]) ?? "v1",
    AttachmentCount: attachments,
    PermissionsBoundaryUsageCount: 0,
    IsAttachable: true,
    Description: textOf(properties["Description"]),
    CreateDate: createdAt,
    UpdateDate: Number(additions?.["defaultCreatedAt"] ?? createdAt),
    Tags: tagsIn(record),
  };
}

/** What is known of a policy of AWS's own. */
export function toAwsPolicy(arn: string, attachments: number): WireObject | undefined {
  if (!isManagedByAws(arn)) return undefined;
  return {
    PolicyName: nameOfPolicy(arn),
    PolicyId: "ANPAAWSMANAGEDPOLICY1",
    Arn: arn,
    Path: `/${arn.replace(/^[^/]*\//, "").replace(/[^/]*$/, "")}`,
    DefaultVersionId: "v1",
    AttachmentCount: attachments,
    PermissionsBoundaryUsageCount: 0,
    IsAttachable: true,
    CreateDate: 0,
    UpdateDate: 0,
  };
}

/** The last part of its ARN. */
export function nameOfPolicy(arn: string): string {
  return arn.split("/").at(-1) ?? arn;
}

function boundaryOf({ properties }: NamedRecord): WireObject {
  const arn = textOf(properties["PermissionsBoundary"]);
  if (arn === undefined) return {};
  return { PermissionsBoundary: { PermissionsBoundaryType: "Policy", PermissionsBoundaryArn: arn } };
}

function tagsIn({ properties }: NamedRecord): WireValue {
  const tags = toTags(declaredTags(properties["Tags"]));
  return tags.length === 0 ? undefined : tags;
}
