/**
 * The local Secrets Manager: what `AWS::SecretsManager::Secret`, dynamic references, `custard secrets` and the endpoint
 * share.
 *
 * Invariants
 * S1: a version's value never changes; a stage such as `AWSCURRENT` names one version of a secret at a time.
 * S2: whoever gets AWSCURRENT leaves AWSPREVIOUS to the version that had it.
 * S3: a create or put that comes twice with one version id or token changes nothing the second time.
 */
import { randomUUID } from "node:crypto";
import type { Json } from "@custard/provider/protocol";
import type { Documents } from "../engine/ports.ts";
import { KeyedTurns } from "./keyed-turns.ts";
import { randomPassword } from "./random-password.ts";
import { SecretError } from "./secret-error.ts";

/** Where secrets live. */
export interface SecretScope {
  readonly partition: string;
  readonly account: string;
  readonly region: string;
}

/** What a version holds: a text, or bytes in base64. */
export type SecretContent = { readonly text: string } | { readonly binary: string };

/** One version of a secret; in clear. */
export interface SecretVersion {
  readonly versionId: string;
  readonly content: SecretContent;
  readonly stages: readonly string[];
  readonly createdAt: number;
}

/** A secret without what it holds. */
export interface SecretDescription {
  readonly name: string;
  readonly arn: string;
  readonly description?: string;
  readonly keyId?: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly changedAt: number;
  /** When it will be gone; it can't be used from its deletion on. */
  readonly deletedAt?: number;
  readonly versions: readonly Omit<SecretVersion, "content">[];
}

/** A version that was found. */
export interface FoundSecret extends SecretVersion {
  readonly name: string;
  readonly arn: string;
}

/** A secret that is to be. */
export interface NewSecret {
  readonly name: string;
  readonly content?: SecretContent;
  /** `ClientRequestToken`; made up without it. */
  readonly versionId?: string;
  readonly description?: string;
  readonly keyId?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** The same for every repetition of one call (S3). */
  readonly token?: string;
}

/** A further version. */
export interface NewSecretVersion {
  readonly content: SecretContent;
  readonly versionId?: string;
  /** Default `AWSCURRENT`. */
  readonly stages?: readonly string[];
}

/** Which version is wanted; the current one without either. */
export interface SecretSelector {
  readonly versionId?: string | undefined;
  readonly stage?: string | undefined;
}

interface StoredSecret extends Omit<SecretDescription, "versions"> {
  /** Oldest first. */
  readonly versions: readonly SecretVersion[];
  readonly token: string;
}

const current = "AWSCURRENT";
const previous = "AWSPREVIOUS";
const mostVersions = 100;
const day = 86_400_000;

/** Secrets in `Documents`, under `secret-value/<partition>/<account>/<region>/<name>`. Throws `SecretError`. */
export class SecretStore {
  readonly #documents: Documents;
  readonly #now: () => number;
  readonly #turns = new KeyedTurns();

  constructor(documents: Documents, now: () => number = Date.now) {
    this.#documents = documents;
    this.#now = now;
  }

  async create(scope: SecretScope, input: NewSecret): Promise<SecretDescription> {
    const { name, token = "" } = input;
    checkName(name);
    return await this.#turns.run(keyOf(scope, name), async () => {
      const before = await this.#load(scope, name);
      if (before !== undefined && token !== "" && before.token === token) return toDescription(before);
      if (before !== undefined) throw taken(before);
      const secret = this.#newSecret(scope, input);
      await this.#save(scope, secret);
      return toDescription(secret);
    });
  }

  /** Adds a version; S3 and S2. */
  async put(scope: SecretScope, secretId: string, input: NewSecretVersion): Promise<FoundSecret> {
    return await this.#change(scope, secretId, (secret) => {
      const { versionId = randomUUID(), content, stages = [current] } = input;
      const existing = secret.versions.find((version) => version.versionId === versionId);
      if (existing !== undefined && !isSameContent(existing.content, content)) {
        throw new SecretError(
          "ResourceExistsException",
          `A resource with the ID you requested already exists.`,
        );
      }
      const version = existing ?? { versionId, content, stages: [], createdAt: this.#now() };
      const versions = existing === undefined ? [...secret.versions, version] : secret.versions;
      const staged = stages.reduce((all, stage) => withStage(all, stage, versionId), versions);
      const found = staged.find((each) => each.versionId === versionId) ?? version;
      return {
        secret: { ...secret, versions: bounded(staged), changedAt: this.#now() },
        result: { ...found, name: secret.name, arn: secret.arn },
      };
    });
  }

  /** What a secret holds. */
  async value(scope: SecretScope, secretId: string, selector: SecretSelector = {}): Promise<FoundSecret> {
    const secret = await this.#get(scope, secretId);
    refuseDeleted(secret);
    const { versionId, stage = versionId === undefined ? current : undefined } = selector;
    const version = secret.versions.find(
      (each) =>
        (versionId === undefined || each.versionId === versionId) &&
        (stage === undefined || each.stages.includes(stage)),
    );
    if (version !== undefined) return { ...version, name: secret.name, arn: secret.arn };
    const which = versionId === undefined ? `staging label: ${stage}` : `VersionId: ${versionId}`;
    throw new SecretError(
      "ResourceNotFoundException",
      `Secrets Manager can't find the specified secret value for ${which}`,
    );
  }

  async describe(scope: SecretScope, secretId: string): Promise<SecretDescription> {
    return toDescription(await this.#get(scope, secretId));
  }

  /** Those that aren't deleted, by name. */
  async list(scope: SecretScope): Promise<readonly SecretDescription[]> {
    const all = await this.#all(scope);
    return all.filter((secret) => !isDeleted(secret)).map(toDescription);
  }

  async update(
    scope: SecretScope,
    secretId: string,
    change: Pick<NewSecret, "description" | "keyId" | "tags">,
  ): Promise<SecretDescription> {
    return await this.#change(scope, secretId, (before) => {
      const secret = { ...before, ...change, changedAt: this.#now() };
      return { secret, result: toDescription(secret) };
    });
  }

  /** Moves a stage to a version, or takes it away. */
  async moveStage(
    scope: SecretScope,
    secretId: string,
    move: { readonly stage: string; readonly to?: string; readonly from?: string },
  ): Promise<SecretDescription> {
    return await this.#change(scope, secretId, (before) => {
      const holder = before.versions.find(({ stages }) => stages.includes(move.stage));
      if (holder !== undefined && holder.versionId !== move.from && holder.versionId !== move.to) {
        throw new SecretError(
          "InvalidParameterException",
          `The parameter RemoveFromVersionId can't be empty. Staging label ${move.stage} is currently attached to version ${holder.versionId}, so you must explicitly reference that version in RemoveFromVersionId.`,
        );
      }
      const versions =
        move.to === undefined
          ? withoutStage(before.versions, move.stage)
          : withStage(before.versions, move.stage, move.to);
      const secret = { ...before, versions, changedAt: this.#now() };
      return { secret, result: toDescription(secret) };
    });
  }

  /** Marks a secret for deletion after `recoveryDays` (7 to 30, default 30), or deletes it at once. */
  async delete(
    scope: SecretScope,
    secretId: string,
    how: { readonly recoveryDays?: number; readonly force?: boolean } = {},
  ): Promise<{ readonly name: string; readonly arn: string; readonly deletedAt: number }> {
    const { recoveryDays = 30, force = false } = how;
    if (recoveryDays < 7 || recoveryDays > 30)
      throw new SecretError(
        "InvalidParameterException",
        "The RecoveryWindowInDays value must be between 7 and 30 days (inclusive).",
      );
    const { name, arn } = await this.#get(scope, secretId);
    const deletedAt = this.#now() + (force ? 0 : recoveryDays * day);
    if (force) await this.#documents.delete(keyOf(scope, name));
    else
      await this.#change(scope, secretId, (secret) => ({
        secret: { ...secret, deletedAt },
        result: undefined,
      }));
    return { name, arn, deletedAt };
  }

  async restore(scope: SecretScope, secretId: string): Promise<SecretDescription> {
    const { name } = await this.#get(scope, secretId);
    return await this.#turns.run(keyOf(scope, name), async () => {
      const { deletedAt: _, ...secret } = await this.#get(scope, name);
      await this.#save(scope, secret);
      return toDescription(secret);
    });
  }

  #newSecret(scope: SecretScope, input: NewSecret): StoredSecret {
    const { name, content, versionId = randomUUID(), description, keyId, tags = {}, token = "" } = input;
    const { partition, account, region } = scope;
    // Six characters that tell a secret from an earlier one of its name.
    const suffix = randomPassword({ length: 6, excludePunctuation: true, requireEachIncludedType: false });
    const now = this.#now();
    const versions = content === undefined ? [] : [{ versionId, content, stages: [current], createdAt: now }];
    return {
      name,
      arn: `arn:${partition}:secretsmanager:${region}:${account}:secret:${name}-${suffix}`,
      tags,
      createdAt: now,
      changedAt: now,
      versions,
      token,
      ...(description === undefined ? {} : { description }),
      ...(keyId === undefined ? {} : { keyId }),
    };
  }

  async #change<Result>(
    scope: SecretScope,
    secretId: string,
    change: (secret: StoredSecret) => { readonly secret: StoredSecret; readonly result: Result },
  ): Promise<Result> {
    const { name } = await this.#get(scope, secretId);
    return await this.#turns.run(keyOf(scope, name), async () => {
      const before = await this.#get(scope, name);
      refuseDeleted(before);
      const { secret, result } = change(before);
      await this.#save(scope, secret);
      return result;
    });
  }

  /** By name, whole ARN, or ARN without its last six characters. */
  async #get(scope: SecretScope, secretId: string): Promise<StoredSecret> {
    const [, region, account, rest] =
      /^arn:[^:]*:secretsmanager:([^:]*):([^:]*):secret:(.+)$/.exec(secretId) ?? [];
    const home = region === undefined || account === undefined ? scope : { ...scope, region, account };
    const names = rest === undefined ? [secretId] : [rest.replace(/-[A-Za-z0-9]{6}$/, ""), rest];
    for (const name of names) {
      const secret = await this.#load(home, name);
      if (secret !== undefined && (rest === undefined || rest === name || secret.arn === secretId))
        return secret;
    }
    throw new SecretError("ResourceNotFoundException", "Secrets Manager can't find the specified secret.");
  }

  async #all(scope: SecretScope): Promise<readonly StoredSecret[]> {
    return (await this.#documents.list(keyOf(scope, ""))).map(({ value }) => parse(value));
  }

  /** What was marked for deletion is gone when its time has come. */
  async #load(scope: SecretScope, name: string): Promise<StoredSecret | undefined> {
    const value = await this.#documents.get(keyOf(scope, name));
    const secret = value === undefined ? undefined : parse(value);
    return secret?.deletedAt !== undefined && secret.deletedAt <= this.#now() ? undefined : secret;
  }

  async #save(scope: SecretScope, secret: StoredSecret): Promise<void> {
    await this.#documents.put(keyOf(scope, secret.name), JSON.parse(JSON.stringify(secret)) as Json);
  }
}

function withStage(
  versions: readonly SecretVersion[],
  stage: string,
  versionId: string,
): readonly SecretVersion[] {
  const holder = versions.find(({ stages }) => stages.includes(stage));
  if (holder?.versionId === versionId) return versions;
  const moved = withoutStage(versions, stage).map((version) =>
    version.versionId === versionId ? { ...version, stages: [...version.stages, stage] } : version,
  );
  return stage === current && holder !== undefined ? withStage(moved, previous, holder.versionId) : moved;
}

function withoutStage(versions: readonly SecretVersion[], stage: string): readonly SecretVersion[] {
  return versions.map((version) => ({
    ...version,
    stages: version.stages.filter((each) => each !== stage),
  }));
}

/** The oldest versions without a stage go when there are too many. */
function bounded(versions: readonly SecretVersion[]): readonly SecretVersion[] {
  const surplus = versions.length - mostVersions;
  if (surplus <= 0) return versions;
  const unstaged = versions.filter(({ stages }) => stages.length === 0).slice(0, surplus);
  return versions.filter((version) => !unstaged.includes(version));
}

function isSameContent(a: SecretContent, b: SecretContent): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function taken(secret: StoredSecret): SecretError {
  if (isDeleted(secret))
    return new SecretError(
      "InvalidRequestException",
      "You can't create this secret because a secret with this name is already scheduled for deletion.",
    );
  return new SecretError(
    "ResourceExistsException",
    `The operation failed because the secret ${secret.name} already exists.`,
  );
}

function refuseDeleted(secret: StoredSecret): void {
  if (isDeleted(secret))
    throw new SecretError(
      "InvalidRequestException",
      "You can't perform this operation on the secret because it was marked for deletion.",
    );
}

function isDeleted({ deletedAt }: StoredSecret): boolean {
  return deletedAt !== undefined;
}

function toDescription(secret: StoredSecret): SecretDescription {
  const { token: _, versions, ...rest } = secret;
  return { ...rest, versions: versions.map(({ content: _content, ...version }) => version) };
}

function checkName(name: string): void {
  if (/^[\w/+=.@!-]{1,512}$/.test(name)) return;
  throw new SecretError(
    "ValidationException",
    "Invalid name. Must be a valid name containing alphanumeric characters, or any of the following: -/_+=.@!",
  );
}

function keyOf({ partition, account, region }: SecretScope, name: string): string {
  return `secret-value/${partition}/${account}/${region}/${name}`;
}

/** Our own storage: only the outline is checked. The value isn't named: it holds secrets. */
function parse(value: Json): StoredSecret {
  if (typeof value !== "object" || value === null || !("versions" in value) || !("arn" in value))
    throw new Error("A stored secret is damaged.");
  return value as unknown as StoredSecret;
}
