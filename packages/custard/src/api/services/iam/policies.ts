/** Operations on managed policies. */
import {
  documentOf,
  isManagedByAws,
  type PolicyVersion,
  versionsOf,
} from "../../../services/managed-policies.ts";
import { declaredTags, textOf } from "../../../services/records.ts";
import { ApiError } from "../../api-error.ts";
import { definedOf } from "../../defined.ts";
import { toTags } from "../../tags.ts";
import type { WireObject } from "../../wire.ts";
import { toAwsPolicy, toPolicy } from "./views.ts";
import {
  encodeDocument,
  givenTags,
  type Handle,
  iamPage,
  isUnder,
  nameIn,
  pathIn,
  tagsWith,
  tagsWithout,
} from "./world.ts";

const createPolicy: Handle = async ({ input, scope }, { identities }) => {
  const name = nameIn(input, "PolicyName");
  const properties = {
    ManagedPolicyName: name,
    Path: pathIn(input),
    PolicyDocument: input.need("PolicyDocument"),
    ...definedOf({ Description: input.text("Description") }),
    ...givenTags(input),
  };
  const made = await identities.change(scope, () => identities.policies.create(scope, name, properties));
  return { Policy: toPolicy(made, 0) };
};

const getPolicy: Handle = async ({ input, scope }, { identities }) => {
  const arn = input.need("PolicyArn");
  const attachments = (await identities.holders(scope, arn)).length;
  const ofAws = toAwsPolicy(arn, attachments);
  return { Policy: ofAws ?? toPolicy(await identities.policies.get(scope, arn), attachments) };
};

/** Of AWS's own policies those that somebody has: there is no list of them here. */
const listPolicies: Handle = async ({ input, scope }, { identities }) => {
  const which = input.text("Scope") ?? "All";
  const counts = await identities.attachments(scope);
  const own = which === "AWS" ? [] : (await identities.policies.list(scope)).filter(isUnder(input));
  const ofAws = which === "Local" ? [] : [...counts.keys()].filter(isManagedByAws);
  const all = [
    ...own.map((record) => ({ arn: record.id, shown: toPolicy(record, counts.get(record.id) ?? 0) })),
    ...ofAws.map((arn) => ({ arn, shown: toAwsPolicy(arn, counts.get(arn) ?? 0) ?? {} })),
  ].filter(({ arn }) => input.flag("OnlyAttached") !== true || counts.has(arn));
  return iamPage(input, all, {
    member: "Policies",
    keyOf: ({ arn }) => arn,
    // Lists show no tags.
    show: ({ shown }) => ({ ...shown, Tags: undefined }),
  });
};

const deletePolicy: Handle = async ({ input, scope }, { identities }) => {
  const arn = input.need("PolicyArn");
  await identities.change(scope, () => identities.deletePolicy(scope, arn));
  return {};
};

const getPolicyVersion: Handle = async ({ input, scope }, { identities }) => {
  const arn = input.need("PolicyArn");
  refuseAwsDocuments(arn);
  const version = await identities.policies.version(scope, arn, input.need("VersionId"));
  return { PolicyVersion: toVersion(version, { isWhole: true }) };
};

const listPolicyVersions: Handle = async ({ input, scope }, { identities }) => {
  const arn = input.need("PolicyArn");
  refuseAwsDocuments(arn);
  return iamPage(input, versionsOf(await identities.policies.get(scope, arn)), {
    member: "Versions",
    keyOf: ({ id }) => id,
    show: (version) => toVersion(version),
  });
};

const createPolicyVersion: Handle = async ({ input, scope }, { identities }) => {
  const arn = input.need("PolicyArn");
  const wanted = {
    document: documentOf(input.need("PolicyDocument")),
    isDefault: input.flag("SetAsDefault") ?? false,
  };
  const made = await identities.change(scope, () => identities.policies.createVersion(scope, arn, wanted));
  return { PolicyVersion: toVersion(made) };
};

const deletePolicyVersion: Handle = async ({ input, scope }, { identities }) => {
  const [arn, id] = [input.need("PolicyArn"), input.need("VersionId")];
  await identities.change(scope, () => identities.policies.deleteVersion(scope, arn, id));
  return {};
};

const setDefaultPolicyVersion: Handle = async ({ input, scope }, { identities }) => {
  const [arn, id] = [input.need("PolicyArn"), input.need("VersionId")];
  await identities.change(scope, () => identities.policies.setDefaultVersion(scope, arn, id));
  return {};
};

const listEntitiesForPolicy: Handle = async ({ input, scope }, { identities }) => {
  const holders = await identities.holders(scope, input.need("PolicyArn"));
  const wanted = input.text("EntityFilter");
  const shown = (kind: "Role" | "User" | "Group"): readonly WireObject[] =>
    holders
      .filter((each) => each.kind === kind && (wanted === undefined || wanted === kind))
      .map(({ name, record }) => ({
        [`${kind}Name`]: name,
        [`${kind}Id`]: textOf(record.attributes[`${kind}Id`]) ?? name,
      }));
  return {
    PolicyRoles: shown("Role"),
    PolicyUsers: shown("User"),
    PolicyGroups: shown("Group"),
    IsTruncated: false,
  };
};

const changeTags =
  (tagsAfter: typeof tagsWith): Handle =>
  async ({ input, scope }, { identities }) => {
    const arn = input.need("PolicyArn");
    await identities.change(scope, async () => {
      const record = await identities.policies.get(scope, arn);
      await identities.policies.update(scope, arn, { Tags: tagsAfter(record, input) });
    });
    return {};
  };

const listPolicyTags: Handle = async ({ input, scope }, { identities }) => {
  const { properties } = await identities.policies.get(scope, input.need("PolicyArn"));
  return { Tags: toTags(declaredTags(properties["Tags"])), IsTruncated: false };
};

export const policyOperations: Readonly<Record<string, Handle>> = {
  CreatePolicy: createPolicy,
  CreatePolicyVersion: createPolicyVersion,
  DeletePolicy: deletePolicy,
  DeletePolicyVersion: deletePolicyVersion,
  GetPolicy: getPolicy,
  GetPolicyVersion: getPolicyVersion,
  ListEntitiesForPolicy: listEntitiesForPolicy,
  ListPolicies: listPolicies,
  ListPolicyTags: listPolicyTags,
  ListPolicyVersions: listPolicyVersions,
  SetDefaultPolicyVersion: setDefaultPolicyVersion,
  TagPolicy: changeTags(tagsWith),
  UntagPolicy: changeTags(tagsWithout),
};

function toVersion(
  { id, document, isDefault, createdAt }: PolicyVersion,
  { isWhole = false }: { readonly isWhole?: boolean } = {},
): WireObject {
  return {
    ...(isWhole ? { Document: encodeDocument(document) } : {}),
    VersionId: id,
    IsDefaultVersion: isDefault,
    CreateDate: createdAt,
  };
}

/** Nothing is made up of them. */
function refuseAwsDocuments(arn: string): void {
  if (!isManagedByAws(arn)) return;
  throw new ApiError(
    "UnsupportedOperation",
    `Custard doesn't have the documents of AWS's own policies, such as ${arn}; read them on AWS.`,
  );
}
