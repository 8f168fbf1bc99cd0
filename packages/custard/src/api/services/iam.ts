/** IAM: its operations, over records. What stacks declare and what is made here is one set; nothing is enforced. */
import { checkDocument } from "../../services/managed-policies.ts";
import { type NamedRecord, textsOf } from "../../services/records.ts";
import { IdentityError } from "../../services/identity.ts";
import { definedOf } from "../defined.ts";
import type { Input } from "../input.ts";
import type { Scope, Service } from "../service.ts";
import type { WireObject } from "../wire.ts";
import { policyOperations } from "./iam/policies.ts";
import { boundaryOperations, creation, principalOperations, tagOperations } from "./iam/principals.ts";
import { toEntity } from "./iam/views.ts";
import {
  explainIdentityError,
  givenTags,
  type Handle,
  iamPage,
  type IamWorld,
  isUnder,
  nameIn,
  pathIn,
} from "./iam/world.ts";

const createRole: Handle = async ({ input, scope }, { identities }) => {
  const name = nameIn(input, "RoleName");
  const properties = {
    RoleName: name,
    Path: pathIn(input),
    AssumeRolePolicyDocument: trustPolicyIn(input, "AssumeRolePolicyDocument"),
    ...definedOf({
      Description: input.text("Description"),
      MaxSessionDuration: input.number("MaxSessionDuration"),
      PermissionsBoundary: input.text("PermissionsBoundary"),
    }),
    ...givenTags(input),
  };
  const made = await identities.change(scope, () =>
    identities.create(scope, { kind: "Role", name }, properties),
  );
  return { Role: toEntity("Role", made) };
};

const updateRole: Handle = async ({ input, scope }, { identities }) => {
  const entity = { kind: "Role", name: input.need("RoleName") } as const;
  const changed = definedOf({
    Description: input.text("Description"),
    MaxSessionDuration: input.number("MaxSessionDuration"),
  });
  await identities.change(scope, () => identities.update(scope, entity, changed));
  return {};
};

const updateRoleDescription: Handle = async ({ input, scope }, { identities }) => {
  const entity = { kind: "Role", name: input.need("RoleName") } as const;
  const Description = input.need("Description");
  await identities.change(scope, () => identities.update(scope, entity, { Description }));
  return { Role: toEntity("Role", await identities.get(scope, entity)) };
};

const updateAssumeRolePolicy: Handle = async ({ input, scope }, { identities }) => {
  const entity = { kind: "Role", name: input.need("RoleName") } as const;
  const AssumeRolePolicyDocument = trustPolicyIn(input, "PolicyDocument");
  await identities.change(scope, () => identities.update(scope, entity, { AssumeRolePolicyDocument }));
  return {};
};

/** Without a name: who calls, which is the account's root here. */
const getUser: Handle = async ({ input, scope }, { identities }) => {
  const name = input.text("UserName");
  if (name !== undefined) {
    const record = await identities.get(scope, { kind: "User", name });
    return { User: toEntity("User", record) };
  }
  const { partition, account } = scope;
  const Arn = `arn:${partition}:iam::${account}:root`;
  return { User: { Path: "/", UserName: "root", UserId: account, Arn, CreateDate: 0 } };
};

const getGroup: Handle = async ({ input, scope }, { identities }) => {
  const name = input.need("GroupName");
  const group = await identities.get(scope, { kind: "Group", name });
  const users = await Promise.all(
    (await identities.list(scope, "User")).map(async (user) =>
      (await identities.groupsOf(scope, user.id)).includes(name) ? [user] : [],
    ),
  );
  return {
    Group: toEntity("Group", group),
    ...iamPage(input, users.flat(), {
      member: "Users",
      keyOf: ({ id }) => id,
      show: (user) => toEntity("User", user),
    }),
  };
};

const listGroupsForUser: Handle = async ({ input, scope }, { identities }) => {
  const names = await identities.groupsOf(scope, input.need("UserName"));
  const groups = await Promise.all(names.map((name) => identities.find(scope, { kind: "Group", name })));
  return iamPage(
    input,
    groups.flatMap((group) => group ?? []),
    { member: "Groups", keyOf: ({ id }) => id, show: (group) => toEntity("Group", group) },
  );
};

const addUserToGroup: Handle = async ({ input, scope }, { identities }) => {
  const [user, group] = [input.need("UserName"), input.need("GroupName")];
  await identities.change(scope, () => identities.join(scope, user, group));
  return {};
};

const removeUserFromGroup: Handle = async ({ input, scope }, { identities }) => {
  const [user, group] = [input.need("UserName"), input.need("GroupName")];
  await identities.change(scope, () => identities.leaveGroup(scope, user, group));
  return {};
};

const createInstanceProfile: Handle = async ({ input, scope }, world) => {
  const name = nameIn(input, "InstanceProfileName");
  const properties = { InstanceProfileName: name, Path: pathIn(input), Roles: [], ...givenTags(input) };
  await world.identities.change(scope, () =>
    world.identities.create(scope, { kind: "InstanceProfile", name }, properties),
  );
  return { InstanceProfile: await profileOf(world, scope, name) };
};

const getInstanceProfile: Handle = async ({ input, scope }, world) => ({
  InstanceProfile: await profileOf(world, scope, input.need("InstanceProfileName")),
});

const listInstanceProfiles: Handle = async ({ input, scope }, world) => {
  const records = (await world.identities.list(scope, "InstanceProfile")).filter(isUnder(input));
  return await profilePage(input, records, (id) => profileOf(world, scope, id));
};

const listInstanceProfilesForRole: Handle = async ({ input, scope }, world) => {
  const name = input.need("RoleName");
  await world.identities.get(scope, { kind: "Role", name });
  const records = (await world.identities.list(scope, "InstanceProfile")).filter(({ properties }) =>
    textsOf(properties["Roles"]).includes(name),
  );
  return await profilePage(input, records, (id) => profileOf(world, scope, id));
};

const deleteInstanceProfile: Handle = async ({ input, scope }, { identities }) => {
  const entity = { kind: "InstanceProfile", name: input.need("InstanceProfileName") } as const;
  await identities.change(scope, () => identities.delete(scope, entity));
  return {};
};

const addRoleToInstanceProfile: Handle = async ({ input, scope }, { identities }) => {
  const entity = { kind: "InstanceProfile", name: input.need("InstanceProfileName") } as const;
  const role = input.need("RoleName");
  await identities.change(scope, async () => {
    const { properties } = await identities.get(scope, entity);
    await identities.get(scope, { kind: "Role", name: role });
    if (textsOf(properties["Roles"]).length > 0)
      throw new IdentityError(
        "LimitExceeded",
        "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1",
      );
    await identities.update(scope, entity, { Roles: [role] });
  });
  return {};
};

const removeRoleFromInstanceProfile: Handle = async ({ input, scope }, { identities }) => {
  const entity = { kind: "InstanceProfile", name: input.need("InstanceProfileName") } as const;
  const role = input.need("RoleName");
  await identities.change(scope, async () => {
    const { properties } = await identities.get(scope, entity);
    const roles = textsOf(properties["Roles"]);
    if (!roles.includes(role))
      throw new IdentityError("NoSuchEntity", `The role with name ${role} cannot be found.`);
    await identities.update(scope, entity, { Roles: roles.filter((each) => each !== role) });
  });
  return {};
};

const listAccountAliases: Handle = async () => ({ AccountAliases: [], IsTruncated: false });

const listAccessKeys: Handle = async ({ input, scope }, { identities }) => {
  const name = input.text("UserName");
  if (name !== undefined) await identities.get(scope, { kind: "User", name });
  return { AccessKeyMetadata: [], IsTruncated: false };
};

export const iam: Service<IamWorld> = {
  name: "iam",
  operations: {
    ...policyOperations,
    ...principalOperations("Role"),
    ...principalOperations("User"),
    ...principalOperations("Group"),
    ...tagOperations("Role"),
    ...tagOperations("User"),
    ...tagOperations("InstanceProfile"),
    ...boundaryOperations("Role"),
    ...boundaryOperations("User"),
    AddRoleToInstanceProfile: addRoleToInstanceProfile,
    AddUserToGroup: addUserToGroup,
    CreateGroup: creation("Group"),
    CreateInstanceProfile: createInstanceProfile,
    CreateRole: createRole,
    CreateUser: creation("User"),
    DeleteInstanceProfile: deleteInstanceProfile,
    GetGroup: getGroup,
    GetInstanceProfile: getInstanceProfile,
    GetUser: getUser,
    ListAccessKeys: listAccessKeys,
    ListAccountAliases: listAccountAliases,
    ListGroupsForUser: listGroupsForUser,
    ListInstanceProfiles: listInstanceProfiles,
    ListInstanceProfilesForRole: listInstanceProfilesForRole,
    RemoveRoleFromInstanceProfile: removeRoleFromInstanceProfile,
    RemoveUserFromGroup: removeUserFromGroup,
    UpdateAssumeRolePolicy: updateAssumeRolePolicy,
    UpdateRole: updateRole,
    UpdateRoleDescription: updateRoleDescription,
  },
  explain: explainIdentityError,
};

function trustPolicyIn(input: Input, member: string): string {
  const document = input.need(member);
  checkDocument(document);
  return document;
}

/** With the roles in it. */
async function profileOf({ identities }: IamWorld, scope: Scope, name: string): Promise<WireObject> {
  const record = await identities.get(scope, { kind: "InstanceProfile", name });
  const roles = await Promise.all(
    textsOf(record.properties["Roles"]).map((role) => identities.find(scope, { kind: "Role", name: role })),
  );
  return {
    ...toEntity("InstanceProfile", record),
    Roles: roles.flatMap((role) => (role === undefined ? [] : [toEntity("Role", role)])),
  };
}

async function profilePage(
  input: Input,
  records: readonly NamedRecord[],
  show: (name: string) => Promise<WireObject>,
): Promise<WireObject> {
  const all = await Promise.all(records.map(async ({ id }) => ({ id, shown: await show(id) })));
  return iamPage(input, all, {
    member: "InstanceProfiles",
    keyOf: ({ id }) => id,
    show: ({ shown }) => shown,
  });
}
