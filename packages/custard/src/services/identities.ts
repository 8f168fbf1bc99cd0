/**
 * IAM's roles, users, groups, instance profiles and policies, as records. Nothing enforces them here.
 *
 * Invariants
 * I1: what a stack declares and what was made by other means is one set: each sees the other's.
 * I2: what others add to a role, user, group or policy of a stack stays when the stack is updated.
 * I3: what is in use isn't deleted.
 */
import type { Json, JsonObject } from "@custard/provider/protocol";
import { IdentityError, type IdentityScope, newIdentityId } from "./identity.ts";
import { KeyedTurns } from "./keyed-turns.ts";
import { checkDocument, documentOf, isManagedByAws, ManagedPolicies } from "./managed-policies.ts";
import {
  type KeptRecord,
  type NamedRecord,
  objectOf,
  objectsOf,
  ownRecord,
  type Records,
  textOf,
  textsOf,
} from "./records.ts";

/** What has policies. */
export type PrincipalKind = "Role" | "User" | "Group";
/** What has a name. */
export type EntityKind = PrincipalKind | "InstanceProfile";

/** A policy that a principal has to itself. */
export interface InlinePolicy {
  readonly name: string;
  /** As text. */
  readonly document: string;
}

/** Names one entity. */
export interface EntityName {
  readonly kind: EntityKind;
  readonly name: string;
}

/** Names one that has policies. */
export interface PrincipalName extends EntityName {
  readonly kind: PrincipalKind;
}

const idPrefixes: Readonly<Record<EntityKind, string>> = {
  Role: "AROA",
  User: "AIDA",
  Group: "AGPA",
  InstanceProfile: "AIPA",
};

const arnKinds: Readonly<Record<EntityKind, string>> = {
  Role: "role",
  User: "user",
  Group: "group",
  InstanceProfile: "instance-profile",
};

const words: Readonly<Record<EntityKind, string>> = {
  Role: "Role",
  User: "User",
  Group: "Group",
  InstanceProfile: "Instance Profile",
};

/** Identities in `Records`. Throws `IdentityError`. */
export class Identities {
  readonly policies: ManagedPolicies;
  readonly #records: Records;
  readonly #turns = new KeyedTurns();

  constructor(records: Records, now: () => number) {
    this.#records = records;
    this.policies = new ManagedPolicies(records, now);
  }

  /** One change at a time in an account. */
  async change<Result>(scope: IdentityScope, act: () => Promise<Result>): Promise<Result> {
    return await this.#turns.run(`${scope.partition}/${scope.account}`, act);
  }

  async find(scope: IdentityScope, { kind, name }: EntityName): Promise<NamedRecord | undefined> {
    return await this.#records.find(placeOf(scope, kind), name);
  }

  async get(scope: IdentityScope, entity: EntityName): Promise<NamedRecord> {
    return (await this.find(scope, entity)) ?? missing(entity);
  }

  async list(scope: IdentityScope, kind: EntityKind): Promise<readonly NamedRecord[]> {
    return await this.#records.list(placeOf(scope, kind));
  }

  /** `properties` in the form of templates. */
  async create(
    scope: IdentityScope,
    { kind, name }: EntityName,
    properties: JsonObject,
  ): Promise<NamedRecord> {
    const existing = await this.find(scope, { kind, name });
    if (existing !== undefined)
      throw new IdentityError("EntityAlreadyExists", `${words[kind]} with name ${name} already exists.`);
    const path = textOf(properties["Path"]) ?? "/";
    const attributes = {
      Arn: `arn:${scope.partition}:iam::${scope.account}:${arnKinds[kind]}${path}${name}`,
      [`${kind}Id`]: newIdentityId(idPrefixes[kind]),
    };
    return await this.#records.put(placeOf(scope, kind), name, ownRecord(properties, attributes));
  }

  /** Replaces some of the properties; undefined ones go. */
  async update(
    scope: IdentityScope,
    entity: EntityName,
    changed: Readonly<Record<string, Json | undefined>>,
  ): Promise<void> {
    const record = await this.get(scope, entity);
    const properties = withoutUndefined({ ...record.properties, ...changed });
    await this.#records.put(placeOf(scope, entity.kind), entity.name, { ...record, properties });
  }

  /** I3. */
  async delete(scope: IdentityScope, entity: EntityName): Promise<void> {
    const record = await this.get(scope, entity);
    if (entity.kind === "InstanceProfile") {
      if (textsOf(record.properties["Roles"]).length > 0)
        throw conflict("must remove roles from instance profile first");
    } else {
      await this.#refuseUsed(scope, { kind: entity.kind, name: entity.name });
    }
    await this.#records.delete(placeOf(scope, entity.kind), entity.name);
  }

  async inlinePolicies(scope: IdentityScope, principal: PrincipalName): Promise<readonly InlinePolicy[]> {
    const { properties, additions } = await this.get(scope, principal);
    const others = await this.#policyRecords(scope, principal);
    const found = new Map<string, string>();
    for (const policy of [...objectsOf(properties["Policies"]), ...others.map((each) => each.properties)])
      found.set(textOf(policy["PolicyName"]) ?? "", documentOf(policy["PolicyDocument"]));
    for (const [name, document] of Object.entries(objectOf(additions?.["policies"])))
      found.set(name, documentOf(document));
    return [...found]
      .map(([name, document]) => ({ name, document }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async inlinePolicy(scope: IdentityScope, principal: PrincipalName, name: string): Promise<InlinePolicy> {
    const found = (await this.inlinePolicies(scope, principal)).find((policy) => policy.name === name);
    return found ?? missingPolicy(principal, name);
  }

  async putInlinePolicy(
    scope: IdentityScope,
    principal: PrincipalName,
    { name, document }: InlinePolicy,
  ): Promise<void> {
    checkDocument(document);
    const record = await this.get(scope, principal);
    const policies = { ...objectOf(record.additions?.["policies"]), [name]: document };
    await this.#add(scope, principal, { record, additions: { policies } });
  }

  async deleteInlinePolicy(scope: IdentityScope, principal: PrincipalName, name: string): Promise<void> {
    await this.inlinePolicy(scope, principal, name);
    const record = await this.get(scope, principal);
    const { [name]: _, ...policies } = objectOf(record.additions?.["policies"]);
    const declared = objectsOf(record.properties["Policies"]).filter(
      (policy) => textOf(policy["PolicyName"]) !== name,
    );
    const properties = { ...record.properties, Policies: declared };
    await this.#add(scope, principal, { record: { ...record, properties }, additions: { policies } });
    for (const policy of await this.#policyRecords(scope, principal)) {
      if (textOf(policy.properties["PolicyName"]) === name) await this.#leave(scope, { policy, principal });
    }
  }

  /** ARNs of the managed policies that a principal has. */
  async attached(scope: IdentityScope, principal: PrincipalName): Promise<readonly string[]> {
    const { properties, additions } = await this.get(scope, principal);
    const attaching = (await this.policies.list(scope)).filter((policy) => isFor(policy, principal));
    return [
      ...new Set([
        ...textsOf(properties["ManagedPolicyArns"]),
        ...attaching.map(({ id }) => id),
        ...textsOf(additions?.["attached"]),
      ]),
    ].toSorted();
  }

  async attach(scope: IdentityScope, principal: PrincipalName, arn: string): Promise<void> {
    const record = await this.get(scope, principal);
    if (!isManagedByAws(arn) && (await this.policies.find(scope, arn)) === undefined)
      throw new IdentityError("NoSuchEntity", `Policy ${arn} does not exist or is not attachable.`);
    if ((await this.attached(scope, principal)).includes(arn)) return;
    const attached = [...textsOf(record.additions?.["attached"]), arn];
    await this.#add(scope, principal, { record, additions: { attached } });
  }

  async detach(scope: IdentityScope, principal: PrincipalName, arn: string): Promise<void> {
    const record = await this.get(scope, principal);
    if (!(await this.attached(scope, principal)).includes(arn))
      throw new IdentityError("NoSuchEntity", `Policy ${arn} was not found.`);
    const without = (value: Json | undefined) => textsOf(value).filter((each) => each !== arn);
    const properties = {
      ...record.properties,
      ManagedPolicyArns: without(record.properties["ManagedPolicyArns"]),
    };
    const attached = without(record.additions?.["attached"]);
    await this.#add(scope, principal, { record: { ...record, properties }, additions: { attached } });
    const policy = await this.policies.find(scope, arn);
    if (policy !== undefined && isFor(policy, principal)) await this.#leave(scope, { policy, principal });
  }

  /** Who has a managed policy. */
  async holders(
    scope: IdentityScope,
    arn: string,
  ): Promise<readonly (PrincipalName & { readonly record: NamedRecord })[]> {
    return (await this.#attachments(scope)).filter(({ arns }) => arns.includes(arn));
  }

  /** How many have each managed policy that anybody has, by ARN. */
  async attachments(scope: IdentityScope): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const arn of (await this.#attachments(scope)).flatMap(({ arns }) => arns))
      counts.set(arn, (counts.get(arn) ?? 0) + 1);
    return counts;
  }

  /** I3. */
  async deletePolicy(scope: IdentityScope, arn: string): Promise<void> {
    await this.policies.get(scope, arn);
    if ((await this.holders(scope, arn)).length > 0)
      throw new IdentityError("DeleteConflict", "Cannot delete a policy attached to entities.");
    await this.policies.delete(scope, arn);
  }

  /** The groups of a user, by name. */
  async groupsOf(scope: IdentityScope, userName: string): Promise<readonly string[]> {
    const { properties, additions } = await this.get(scope, { kind: "User", name: userName });
    const joining = await this.#records.list({ ...scope, type: "AWS::IAM::UserToGroupAddition" });
    const joined = joining
      .filter((each) => textsOf(each.properties["Users"]).includes(userName))
      .map((each) => textOf(each.properties["GroupName"]) ?? "");
    return [
      ...new Set([...textsOf(properties["Groups"]), ...joined, ...textsOf(additions?.["groups"])]),
    ].toSorted();
  }

  async join(scope: IdentityScope, userName: string, group: string): Promise<void> {
    await this.get(scope, { kind: "Group", name: group });
    const user = { kind: "User", name: userName } as const;
    const record = await this.get(scope, user);
    if ((await this.groupsOf(scope, userName)).includes(group)) return;
    await this.#add(scope, user, {
      record,
      additions: { groups: [...textsOf(record.additions?.["groups"]), group] },
    });
  }

  async leaveGroup(scope: IdentityScope, userName: string, group: string): Promise<void> {
    const user = { kind: "User", name: userName } as const;
    const record = await this.get(scope, user);
    await this.get(scope, { kind: "Group", name: group });
    const without = (value: Json | undefined) => textsOf(value).filter((each) => each !== group);
    const properties = { ...record.properties, Groups: without(record.properties["Groups"]) };
    const groups = without(record.additions?.["groups"]);
    await this.#add(scope, user, { record: { ...record, properties }, additions: { groups } });
    for (const each of await this.#records.list({ ...scope, type: "AWS::IAM::UserToGroupAddition" })) {
      if (textOf(each.properties["GroupName"]) !== group) continue;
      const users = textsOf(each.properties["Users"]).filter((name) => name !== userName);
      const place = { ...scope, type: "AWS::IAM::UserToGroupAddition" };
      await this.#records.put(place, each.id, { ...each, properties: { ...each.properties, Users: users } });
    }
  }

  async #attachments(scope: IdentityScope) {
    const kinds: readonly PrincipalKind[] = ["Group", "Role", "User"];
    const all = await Promise.all(
      kinds.map(async (kind) =>
        (await this.list(scope, kind)).map((record) => ({ kind, name: record.id, record })),
      ),
    );
    return await Promise.all(
      all.flat().map(async (each) => ({ ...each, arns: await this.attached(scope, each) })),
    );
  }

  /** I3. */
  async #refuseUsed(scope: IdentityScope, principal: PrincipalName): Promise<void> {
    if (principal.kind === "Role") {
      const profiles = await this.list(scope, "InstanceProfile");
      if (profiles.some(({ properties }) => textsOf(properties["Roles"]).includes(principal.name)))
        throw conflict("must remove roles from instance profile first");
    }
    if (principal.kind === "User" && (await this.groupsOf(scope, principal.name)).length > 0)
      throw conflict("must remove users from group first");
    if (principal.kind === "Group") {
      for (const user of await this.list(scope, "User"))
        if ((await this.groupsOf(scope, user.id)).includes(principal.name))
          throw conflict("must remove users from group first");
    }
    if ((await this.attached(scope, principal)).length > 0) throw conflict("must detach all policies first");
    if ((await this.inlinePolicies(scope, principal)).length > 0)
      throw conflict("must delete policies first");
  }

  async #add(
    scope: IdentityScope,
    { kind, name }: PrincipalName,
    { record, additions }: { readonly record: KeptRecord; readonly additions: JsonObject },
  ): Promise<void> {
    await this.#records.put(placeOf(scope, kind), name, {
      ...record,
      additions: { ...record.additions, ...additions },
    });
  }

  async #policyRecords(
    scope: IdentityScope,
    principal: PrincipalName,
  ): Promise<readonly (NamedRecord & { readonly type: string })[]> {
    const types = ["AWS::IAM::Policy", `AWS::IAM::${principal.kind}Policy`];
    const all = await Promise.all(
      types.map(async (type) =>
        (await this.#records.list({ ...scope, type })).map((record) => ({ ...record, type })),
      ),
    );
    return all.flat().filter((record) => isFor(record, principal));
  }

  /** A policy of a stack that a principal has lost by other means. */
  async #leave(
    scope: IdentityScope,
    { policy, principal }: { policy: NamedRecord & { readonly type?: string }; principal: PrincipalName },
  ): Promise<void> {
    const place = { ...scope, type: policy.type ?? "AWS::IAM::ManagedPolicy" };
    const { kind, name } = principal;
    if (textOf(policy.properties[`${kind}Name`]) === name) {
      await this.#records.delete(place, policy.id);
      return;
    }
    const left = textsOf(policy.properties[`${kind}s`]).filter((each) => each !== name);
    await this.#records.put(place, policy.id, {
      ...policy,
      properties: { ...policy.properties, [`${kind}s`]: left },
    });
  }
}

function isFor({ properties }: KeptRecord, { kind, name }: PrincipalName): boolean {
  return textOf(properties[`${kind}Name`]) === name || textsOf(properties[`${kind}s`]).includes(name);
}

function placeOf(scope: IdentityScope, kind: EntityKind) {
  return { ...scope, type: `AWS::IAM::${kind}` };
}

function missing({ kind, name }: EntityName): never {
  throw new IdentityError(
    "NoSuchEntity",
    kind === "InstanceProfile"
      ? `Instance Profile ${name} cannot be found.`
      : `The ${words[kind].toLowerCase()} with name ${name} cannot be found.`,
  );
}

function missingPolicy({ kind }: PrincipalName, name: string): never {
  throw new IdentityError(
    "NoSuchEntity",
    `The ${words[kind].toLowerCase()} policy with name ${name} cannot be found.`,
  );
}

function conflict(what: string): IdentityError {
  return new IdentityError("DeleteConflict", `Cannot delete entity, ${what}.`);
}

function withoutUndefined(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  const entries = Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}
