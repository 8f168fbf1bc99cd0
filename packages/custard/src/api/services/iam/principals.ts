/** Operations that roles, users and groups have in common, by the kind's name in them. */
import type { PrincipalKind } from "../../../services/identities.ts";
import { toEntity, nameOfPolicy } from "./views.ts";
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
import { declaredTags } from "../../../services/records.ts";
import { definedOf } from "../../defined.ts";
import { toTags } from "../../tags.ts";

/** Get, list, delete, and policies of its own and managed ones. */
export function principalOperations(kind: PrincipalKind): Readonly<Record<string, Handle>> {
  return { ...entityOperations(kind), ...inlineOperations(kind), ...attachmentOperations(kind) };
}

/** Tags of what can have some. */
export function tagOperations(kind: "Role" | "User" | "InstanceProfile"): Readonly<Record<string, Handle>> {
  const change =
    (tagsAfter: typeof tagsWith): Handle =>
    async ({ input, scope }, { identities }) => {
      const entity = { kind, name: input.need(`${kind}Name`) };
      await identities.change(scope, async () => {
        const record = await identities.get(scope, entity);
        await identities.update(scope, entity, { Tags: tagsAfter(record, input) });
      });
      return {};
    };
  return {
    [`Tag${kind}`]: change(tagsWith),
    [`Untag${kind}`]: change(tagsWithout),
    [`List${kind}Tags`]: async ({ input, scope }, { identities }) => {
      const { properties } = await identities.get(scope, { kind, name: input.need(`${kind}Name`) });
      return { Tags: toTags(declaredTags(properties["Tags"])), IsTruncated: false };
    },
  };
}

/** Permissions boundaries of roles and users. */
export function boundaryOperations(kind: "Role" | "User"): Readonly<Record<string, Handle>> {
  return {
    [`Put${kind}PermissionsBoundary`]: async ({ input, scope }, { identities }) => {
      const entity = { kind, name: input.need(`${kind}Name`) };
      const boundary = input.need("PermissionsBoundary");
      await identities.change(scope, () =>
        identities.update(scope, entity, { PermissionsBoundary: boundary }),
      );
      return {};
    },
    [`Delete${kind}PermissionsBoundary`]: async ({ input, scope }, { identities }) => {
      const entity = { kind, name: input.need(`${kind}Name`) };
      await identities.change(scope, () =>
        identities.update(scope, entity, { PermissionsBoundary: undefined }),
      );
      return {};
    },
  };
}

/** Users and groups are made of little. */
export function creation(kind: "User" | "Group"): Handle {
  return async ({ input, scope }, { identities }) => {
    const name = nameIn(input, `${kind}Name`);
    const further =
      kind === "Group"
        ? {}
        : { ...givenTags(input), ...definedOf({ PermissionsBoundary: input.text("PermissionsBoundary") }) };
    const made = await identities.change(scope, () =>
      identities.create(scope, { kind, name }, { [`${kind}Name`]: name, Path: pathIn(input), ...further }),
    );
    return { [kind]: toEntity(kind, made) };
  };
}

function entityOperations(kind: PrincipalKind): Readonly<Record<string, Handle>> {
  return {
    [`Get${kind}`]: async ({ input, scope }, { identities }) => {
      const record = await identities.get(scope, { kind, name: input.need(`${kind}Name`) });
      return { [kind]: toEntity(kind, record) };
    },
    [`List${kind}s`]: async ({ input, scope }, { identities }) => {
      const records = (await identities.list(scope, kind)).filter(isUnder(input));
      return iamPage(input, records, {
        member: `${kind}s`,
        keyOf: ({ id }) => id,
        show: (record) => toEntity(kind, record),
      });
    },
    [`Delete${kind}`]: async ({ input, scope }, { identities }) => {
      const name = input.need(`${kind}Name`);
      await identities.change(scope, () => identities.delete(scope, { kind, name }));
      return {};
    },
  };
}

function inlineOperations(kind: PrincipalKind): Readonly<Record<string, Handle>> {
  return {
    [`Put${kind}Policy`]: async ({ input, scope }, { identities }) => {
      const principal = { kind, name: input.need(`${kind}Name`) };
      const policy = { name: nameIn(input, "PolicyName"), document: input.need("PolicyDocument") };
      await identities.change(scope, () => identities.putInlinePolicy(scope, principal, policy));
      return {};
    },
    [`Get${kind}Policy`]: async ({ input, scope }, { identities }) => {
      const principal = { kind, name: input.need(`${kind}Name`) };
      const { name, document } = await identities.inlinePolicy(scope, principal, input.need("PolicyName"));
      return {
        [`${kind}Name`]: principal.name,
        PolicyName: name,
        PolicyDocument: encodeDocument(document),
      };
    },
    [`List${kind}Policies`]: async ({ input, scope }, { identities }) => {
      const policies = await identities.inlinePolicies(scope, { kind, name: input.need(`${kind}Name`) });
      return iamPage(input, policies, {
        member: "PolicyNames",
        keyOf: ({ name }) => name,
        show: ({ name }) => name,
      });
    },
    [`Delete${kind}Policy`]: async ({ input, scope }, { identities }) => {
      const principal = { kind, name: input.need(`${kind}Name`) };
      const name = input.need("PolicyName");
      await identities.change(scope, () => identities.deleteInlinePolicy(scope, principal, name));
      return {};
    },
  };
}

function attachmentOperations(kind: PrincipalKind): Readonly<Record<string, Handle>> {
  return {
    [`Attach${kind}Policy`]: async ({ input, scope }, { identities }) => {
      const [principal, arn] = [{ kind, name: input.need(`${kind}Name`) }, input.need("PolicyArn")];
      await identities.change(scope, () => identities.attach(scope, principal, arn));
      return {};
    },
    [`Detach${kind}Policy`]: async ({ input, scope }, { identities }) => {
      const [principal, arn] = [{ kind, name: input.need(`${kind}Name`) }, input.need("PolicyArn")];
      await identities.change(scope, () => identities.detach(scope, principal, arn));
      return {};
    },
    [`ListAttached${kind}Policies`]: async ({ input, scope }, { identities }) => {
      const arns = await identities.attached(scope, { kind, name: input.need(`${kind}Name`) });
      return iamPage(input, arns, {
        member: "AttachedPolicies",
        keyOf: (arn) => arn,
        show: (arn) => ({ PolicyName: nameOfPolicy(arn), PolicyArn: arn }),
      });
    },
  };
}
