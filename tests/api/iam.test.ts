/** IAM through AWS's own client: records, shared with the stacks. */
import {
  AttachRolePolicyCommand,
  AddRoleToInstanceProfileCommand,
  AddUserToGroupCommand,
  CreateGroupCommand,
  CreateInstanceProfileCommand,
  CreatePolicyCommand,
  CreatePolicyVersionCommand,
  CreateRoleCommand,
  CreateUserCommand,
  DeletePolicyCommand,
  DeletePolicyVersionCommand,
  DeleteRoleCommand,
  DeleteRolePolicyCommand,
  DetachRolePolicyCommand,
  EntityAlreadyExistsException,
  GetGroupCommand,
  GetInstanceProfileCommand,
  GetPolicyCommand,
  GetPolicyVersionCommand,
  GetRoleCommand,
  GetRolePolicyCommand,
  IAMClient,
  ListAttachedRolePoliciesCommand,
  ListEntitiesForPolicyCommand,
  ListPoliciesCommand,
  ListRolePoliciesCommand,
  ListRolesCommand,
  ListRoleTagsCommand,
  NoSuchEntityException,
  paginateListRoles,
  PutRolePolicyCommand,
  RemoveRoleFromInstanceProfileCommand,
  TagRoleCommand,
  UntagRoleCommand,
  UpdateAssumeRolePolicyCommand,
} from "@aws-sdk/client-iam";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deploy, openTestEndpoint, settingsOf, type TestEndpoint } from "./support.ts";

const trust = JSON.stringify({ Version: "2012-10-17", Statement: [] });
const policy = JSON.stringify({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Action: "sns:*", Resource: "*" }],
});

let endpoint: TestEndpoint;
let iam: IAMClient;

beforeAll(async () => {
  endpoint = await openTestEndpoint();
  iam = new IAMClient(settingsOf(endpoint));
});

afterAll(async () => {
  iam.destroy();
  await endpoint.close();
});

test("a role is made, found, changed and deleted", async () => {
  const made = await iam.send(
    new CreateRoleCommand({
      RoleName: "mine",
      AssumeRolePolicyDocument: trust,
      Path: "/apps/",
      Description: "for tests",
      Tags: [{ Key: "team", Value: "a" }],
    }),
  );
  expect(made.Role).toMatchObject({
    Arn: "arn:aws:iam::123456789012:role/apps/mine",
    RoleId: expect.stringMatching(/^AROA[A-Z2-7]{17}$/),
  });
  await iam.send(new UpdateAssumeRolePolicyCommand({ RoleName: "mine", PolicyDocument: policy }));
  await iam.send(new TagRoleCommand({ RoleName: "mine", Tags: [{ Key: "b", Value: "2" }] }));
  await iam.send(new UntagRoleCommand({ RoleName: "mine", TagKeys: ["team"] }));
  const { Role } = await iam.send(new GetRoleCommand({ RoleName: "mine" }));
  expect(decodeURIComponent(Role?.AssumeRolePolicyDocument ?? "")).toBe(policy);
  expect(Role).toMatchObject({ Description: "for tests", MaxSessionDuration: 3600 });
  expect((await iam.send(new ListRoleTagsCommand({ RoleName: "mine" }))).Tags).toEqual([
    { Key: "b", Value: "2" },
  ]);
  const { Roles } = await iam.send(new ListRolesCommand({ PathPrefix: "/apps/" }));
  expect(Roles?.map(({ RoleName }) => RoleName)).toEqual(["mine"]);
  await iam.send(new DeleteRoleCommand({ RoleName: "mine" }));
  const gone = iam.send(new GetRoleCommand({ RoleName: "mine" }));
  await expect(gone).rejects.toThrow(NoSuchEntityException);
  await expect(gone).rejects.toThrow("The role with name mine cannot be found.");
});

test("a role has policies of its own and managed ones, and isn't deleted while it has any", async () => {
  const RoleName = "used";
  await iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument: trust }));
  const again = iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument: trust }));
  await expect(again).rejects.toThrow(EntityAlreadyExistsException);
  await expect(again).rejects.toThrow("Role with name used already exists.");
  await iam.send(new PutRolePolicyCommand({ RoleName, PolicyName: "own", PolicyDocument: policy }));
  const { PolicyDocument } = await iam.send(new GetRolePolicyCommand({ RoleName, PolicyName: "own" }));
  expect(decodeURIComponent(PolicyDocument ?? "")).toBe(policy);
  const PolicyArn = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole";
  await iam.send(new AttachRolePolicyCommand({ RoleName, PolicyArn }));
  expect((await iam.send(new ListAttachedRolePoliciesCommand({ RoleName }))).AttachedPolicies).toEqual([
    { PolicyName: "AWSLambdaBasicExecutionRole", PolicyArn },
  ]);
  await expect(iam.send(new DeleteRoleCommand({ RoleName }))).rejects.toMatchObject({
    name: "DeleteConflictException",
    message: "Cannot delete entity, must detach all policies first.",
  });
  await iam.send(new DetachRolePolicyCommand({ RoleName, PolicyArn }));
  await expect(iam.send(new DeleteRoleCommand({ RoleName }))).rejects.toMatchObject({
    message: "Cannot delete entity, must delete policies first.",
  });
  await iam.send(new DeleteRolePolicyCommand({ RoleName, PolicyName: "own" }));
  await iam.send(new DeleteRoleCommand({ RoleName }));
});

test("a managed policy has versions", async () => {
  const { Policy } = await iam.send(
    new CreatePolicyCommand({ PolicyName: "managed", PolicyDocument: trust }),
  );
  const PolicyArn = "arn:aws:iam::123456789012:policy/managed";
  expect(Policy).toMatchObject({ Arn: PolicyArn, DefaultVersionId: "v1", AttachmentCount: 0 });
  await iam.send(new CreateRoleCommand({ RoleName: "holder", AssumeRolePolicyDocument: trust }));
  await iam.send(new AttachRolePolicyCommand({ RoleName: "holder", PolicyArn }));
  await iam.send(new CreatePolicyVersionCommand({ PolicyArn, PolicyDocument: policy, SetAsDefault: true }));
  expect((await iam.send(new GetPolicyCommand({ PolicyArn }))).Policy).toMatchObject({
    DefaultVersionId: "v2",
    AttachmentCount: 1,
  });
  const version = async (VersionId: string) => {
    const found = await iam.send(new GetPolicyVersionCommand({ PolicyArn, VersionId }));
    return decodeURIComponent(found.PolicyVersion?.Document ?? "");
  };
  expect([await version("v1"), await version("v2")]).toEqual([trust, policy]);
  await expect(
    iam.send(new DeletePolicyVersionCommand({ PolicyArn, VersionId: "v2" })),
  ).rejects.toMatchObject({ message: "Cannot delete the default version of a policy." });
  await iam.send(new DeletePolicyVersionCommand({ PolicyArn, VersionId: "v1" }));
  expect((await iam.send(new ListEntitiesForPolicyCommand({ PolicyArn }))).PolicyRoles).toMatchObject([
    { RoleName: "holder" },
  ]);
  await expect(iam.send(new DeletePolicyCommand({ PolicyArn }))).rejects.toMatchObject({
    message: "Cannot delete a policy attached to entities.",
  });
  await iam.send(new DetachRolePolicyCommand({ RoleName: "holder", PolicyArn }));
  await iam.send(new DeletePolicyCommand({ PolicyArn }));
  const { Policies } = await iam.send(new ListPoliciesCommand({ Scope: "Local" }));
  expect(Policies).toEqual([]);
});

test("instance profiles hold a role, groups hold users", async () => {
  const [InstanceProfileName, RoleName] = ["profile", "of-profile"];
  await iam.send(new CreateInstanceProfileCommand({ InstanceProfileName }));
  await iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument: trust }));
  await iam.send(new AddRoleToInstanceProfileCommand({ InstanceProfileName, RoleName }));
  const { InstanceProfile } = await iam.send(new GetInstanceProfileCommand({ InstanceProfileName }));
  expect(InstanceProfile).toMatchObject({
    Arn: "arn:aws:iam::123456789012:instance-profile/profile",
    Roles: [{ RoleName }],
  });
  await expect(iam.send(new DeleteRoleCommand({ RoleName }))).rejects.toMatchObject({
    message: "Cannot delete entity, must remove roles from instance profile first.",
  });
  await iam.send(new RemoveRoleFromInstanceProfileCommand({ InstanceProfileName, RoleName }));
  await iam.send(new DeleteRoleCommand({ RoleName }));

  await iam.send(new CreateUserCommand({ UserName: "ann" }));
  await iam.send(new CreateGroupCommand({ GroupName: "staff" }));
  await iam.send(new AddUserToGroupCommand({ UserName: "ann", GroupName: "staff" }));
  expect(await iam.send(new GetGroupCommand({ GroupName: "staff" }))).toMatchObject({
    Group: { GroupName: "staff" },
    Users: [{ UserName: "ann", Arn: "arn:aws:iam::123456789012:user/ann" }],
  });
});

const stack = (description: string) => `
Resources:
  Role:
    Type: AWS::IAM::Role
    Properties:
      RoleName: of-stack
      Description: ${description}
      AssumeRolePolicyDocument: { Version: "2012-10-17", Statement: [] }
      ManagedPolicyArns: ["arn:aws:iam::aws:policy/ReadOnlyAccess"]
      Policies: [{ PolicyName: inside, PolicyDocument: { Statement: [] } }]
  Policy:
    Type: AWS::IAM::Policy
    Properties: { PolicyName: beside, PolicyDocument: { Statement: [] }, Roles: [!Ref Role] }
  Managed:
    Type: AWS::IAM::ManagedPolicy
    Properties: { ManagedPolicyName: for-role, PolicyDocument: { Statement: [] }, Roles: [!Ref Role] }
`;

test("a stack's role is seen with all its policies, and keeps what others add when the stack is updated", async () => {
  await deploy(endpoint, "iam", stack("first"));
  const RoleName = "of-stack";
  const names = async () => (await iam.send(new ListRolePoliciesCommand({ RoleName }))).PolicyNames;
  expect(await names()).toEqual(["beside", "inside"]);
  const attached = async () =>
    (await iam.send(new ListAttachedRolePoliciesCommand({ RoleName }))).AttachedPolicies?.map(
      ({ PolicyName }) => PolicyName,
    );
  expect(await attached()).toEqual(["for-role", "ReadOnlyAccess"]);
  await iam.send(new PutRolePolicyCommand({ RoleName, PolicyName: "added", PolicyDocument: policy }));
  await deploy(endpoint, "iam", stack("second"));
  expect((await iam.send(new GetRoleCommand({ RoleName }))).Role?.Description).toBe("second");
  expect(await names()).toEqual(["added", "beside", "inside"]);
});

test("a stack can't take the name of a role that was made otherwise", async () => {
  await iam.send(new CreateRoleCommand({ RoleName: "taken", AssumeRolePolicyDocument: trust }));
  const { reasons } = await deploy(
    endpoint,
    "taken",
    "Resources: { Role: { Type: 'AWS::IAM::Role', Properties: { RoleName: taken, AssumeRolePolicyDocument: {} } } }",
  );
  expect(reasons).toContain("taken already exists");
});

test("lists are paged, and what isn't JSON is no policy", async () => {
  const names: unknown[] = [];
  for await (const { Roles = [] } of paginateListRoles({ client: iam, pageSize: 1 }, {}))
    names.push(...Roles.map(({ RoleName }) => RoleName));
  expect(names).toEqual(["holder", "of-stack", "taken"]);
  await expect(
    iam.send(new CreateRoleCommand({ RoleName: "bad", AssumeRolePolicyDocument: "{" })),
  ).rejects.toMatchObject({ name: "MalformedPolicyDocumentException" });
});
