/** IAM's managed policies and their versions, as records. */
import type { Json, JsonObject } from "@custard/provider/protocol";
import { IdentityError, type IdentityScope, newIdentityId } from "./identity.ts";
import { type KeptRecord, type NamedRecord, objectsOf, ownRecord, type Records, textOf } from "./records.ts";

/** A version of a managed policy. */
export interface PolicyVersion {
  readonly id: string;
  readonly document: string;
  readonly isDefault: boolean;
  readonly createdAt: number;
}

const mostVersions = 5;

/** The account's own managed policies, by ARN. Throws `IdentityError`. */
export class ManagedPolicies {
  readonly #records: Records;
  readonly #now: () => number;

  constructor(records: Records, now: () => number) {
    this.#records = records;
    this.#now = now;
  }

  /** The account's own managed policies. */
  async list(scope: IdentityScope): Promise<readonly NamedRecord[]> {
    return await this.#records.list(policyPlace(scope));
  }

  async find(scope: IdentityScope, arn: string): Promise<NamedRecord | undefined> {
    return await this.#records.find(policyPlace(scope), arn);
  }

  async get(scope: IdentityScope, arn: string): Promise<NamedRecord> {
    const found = await this.find(scope, arn);
    if (found === undefined) throw new IdentityError("NoSuchEntity", `Policy ${arn} was not found.`);
    return found;
  }

  async create(scope: IdentityScope, name: string, properties: JsonObject): Promise<NamedRecord> {
    checkDocument(documentOf(properties["PolicyDocument"]));
    const path = textOf(properties["Path"]) ?? "/";
    const arn = `arn:${scope.partition}:iam::${scope.account}:policy${path}${name}`;
    const named = (await this.list(scope)).some(({ id }) => id.split("/").at(-1) === name);
    if (named)
      throw new IdentityError(
        "EntityAlreadyExists",
        `A policy called ${name} already exists. Duplicate names are not allowed.`,
      );
    const attributes = { PolicyId: newIdentityId("ANPA") };
    return await this.#records.put(policyPlace(scope), arn, ownRecord(properties, attributes));
  }

  async update(scope: IdentityScope, arn: string, changed: JsonObject): Promise<void> {
    const policy = await this.get(scope, arn);
    await this.#records.put(policyPlace(scope), arn, {
      ...policy,
      properties: { ...policy.properties, ...changed },
    });
  }

  /** One version is left at the most. */
  async delete(scope: IdentityScope, arn: string): Promise<void> {
    if (versionsOf(await this.get(scope, arn)).length > 1)
      throw new IdentityError(
        "DeleteConflict",
        "This policy has more than one version. Before you delete a policy, you must delete the policy's versions. The default version is deleted with the policy.",
      );
    await this.#records.delete(policyPlace(scope), arn);
  }

  async version(scope: IdentityScope, arn: string, id: string): Promise<PolicyVersion> {
    const found = versionsOf(await this.get(scope, arn)).find((version) => version.id === id);
    if (found !== undefined) return found;
    throw new IdentityError(
      "NoSuchEntity",
      `Policy ${arn} version ${id} does not exist or is not attachable.`,
    );
  }

  async createVersion(
    scope: IdentityScope,
    arn: string,
    { document, isDefault }: Pick<PolicyVersion, "document" | "isDefault">,
  ): Promise<PolicyVersion> {
    checkDocument(document);
    const policy = await this.get(scope, arn);
    const before = versionsOf(policy);
    if (before.length >= mostVersions)
      throw new IdentityError(
        "LimitExceeded",
        `A managed policy can have up to ${mostVersions} versions. Before you create a new version, you must delete an existing version.`,
      );
    const last = Number(policy.additions?.["lastVersion"] ?? 1) + 1;
    const made = { id: `v${last}`, document, isDefault, createdAt: this.#now() };
    await this.#putVersions(scope, {
      policy,
      last,
      versions: madeDefault([...before, made], isDefault ? made.id : undefined),
    });
    return made;
  }

  async setDefaultVersion(scope: IdentityScope, arn: string, id: string): Promise<void> {
    await this.version(scope, arn, id);
    const policy = await this.get(scope, arn);
    await this.#putVersions(scope, { policy, versions: madeDefault(versionsOf(policy), id) });
  }

  async deleteVersion(scope: IdentityScope, arn: string, id: string): Promise<void> {
    const { isDefault } = await this.version(scope, arn, id);
    if (isDefault)
      throw new IdentityError("DeleteConflict", "Cannot delete the default version of a policy.");
    const policy = await this.get(scope, arn);
    await this.#putVersions(scope, { policy, versions: versionsOf(policy).filter((each) => each.id !== id) });
  }

  /** The default version is what the policy declares; the others stand beside it. */
  async #putVersions(
    scope: IdentityScope,
    given: {
      readonly policy: NamedRecord;
      readonly versions: readonly PolicyVersion[];
      readonly last?: number;
    },
  ): Promise<void> {
    const { policy, versions, last = Number(policy.additions?.["lastVersion"] ?? 1) } = given;
    const main = versions.find(({ isDefault }) => isDefault);
    const others = versions.filter((version) => version !== main);
    const before = versionsOf(policy).find(({ isDefault }) => isDefault);
    const properties =
      main === undefined || main.id === before?.id
        ? policy.properties
        : { ...policy.properties, PolicyDocument: main.document };
    const additions = {
      lastVersion: last,
      defaultVersion: main?.id ?? "v1",
      defaultCreatedAt: main?.createdAt ?? 0,
      versions: others.map(({ id, document, createdAt }) => ({ id, document, createdAt })),
    };
    await this.#records.put(policyPlace(scope), policy.id, { ...policy, properties, additions });
  }
}

/** The versions of a managed policy, the newest first. */
export function versionsOf({ properties, additions, createdAt = 0 }: KeptRecord): readonly PolicyVersion[] {
  const main = {
    id: textOf(additions?.["defaultVersion"]) ?? "v1",
    document: documentOf(properties["PolicyDocument"]),
    isDefault: true,
    createdAt: Number(additions?.["defaultCreatedAt"] ?? createdAt),
  };
  const others = objectsOf(additions?.["versions"]).map((version) => ({
    id: textOf(version["id"]) ?? "",
    document: documentOf(version["document"]),
    isDefault: false,
    createdAt: Number(version["createdAt"]),
  }));
  return [main, ...others].toSorted((a, b) => Number(b.id.slice(1)) - Number(a.id.slice(1)));
}

/** A policy as text: templates hold it as an object, calls as text. */
export function documentOf(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? {});
}

/** Policies of AWS's own are there in every account; their documents aren't known here. */
export function isManagedByAws(arn: string): boolean {
  return /^arn:aws[a-z-]*:iam::aws:policy\/.+/.test(arn);
}

/** Throws when a policy is no JSON object. */
export function checkDocument(document: string): void {
  try {
    const value: unknown = JSON.parse(document);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  } catch {
    throw new IdentityError("MalformedPolicyDocument", "This policy contains invalid Json");
  }
  throw new IdentityError("MalformedPolicyDocument", "Syntax errors in policy.");
}

function madeDefault(versions: readonly PolicyVersion[], id: string | undefined): readonly PolicyVersion[] {
  return id === undefined ? versions : versions.map((each) => ({ ...each, isDefault: each.id === id }));
}

function policyPlace(scope: IdentityScope) {
  return { ...scope, type: "AWS::IAM::ManagedPolicy" };
}
