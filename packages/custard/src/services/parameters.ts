/**
 * The local Parameter Store: what `AWS::SSM::Parameter`, dynamic references, parameter types, `custard ssm` and the
 * endpoint share.
 *
 * Invariants
 * P1: a version's value never changes; each put of a parameter makes a new version, the newest counts.
 * P2: a label names one version of a parameter at a time.
 * P3: a put that comes twice with one token changes nothing the second time.
 */
import type { Json } from "@custard/provider/protocol";
import type { Documents } from "../engine/ports.ts";
import { KeyedTurns } from "./keyed-turns.ts";
import { ParameterError } from "./parameter-error.ts";
import {
  checkAllowedPattern,
  checkParameterName,
  checkParameterPath,
  invalid,
  invalidLabels,
  isReserved,
  type ParameterTier,
  type ParameterType,
  tierFor,
} from "./parameter-rules.ts";

/** Where parameters live. */
export interface ParameterScope {
  readonly partition: string;
  readonly account: string;
  readonly region: string;
}

/** One version of a parameter; a SecureString's value is in clear. */
export interface ParameterVersion {
  readonly version: number;
  readonly value: string;
  readonly type: ParameterType;
  readonly tier: ParameterTier;
  readonly dataType: string;
  readonly description?: string;
  readonly allowedPattern?: string;
  /** Of a SecureString. */
  readonly keyId?: string;
  readonly policies?: string;
  readonly labels: readonly string[];
  readonly modifiedAt: number;
}

/** A version that was found, and how it was asked for. */
export interface FoundParameter extends ParameterVersion {
  readonly name: string;
  readonly arn: string;
  /** `:3` or `:label` when it was asked for so. */
  readonly selector?: string;
}

/** A parameter that is to be put. */
export interface ParameterInput {
  readonly name: string;
  readonly value: string;
  /** Needed for a new one; an overwriting put keeps the type that there is. */
  readonly type?: ParameterType;
  readonly overwrite?: boolean;
  readonly tier?: ParameterTier;
  readonly dataType?: string;
  readonly description?: string;
  readonly allowedPattern?: string;
  readonly keyId?: string;
  readonly policies?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** Puts a name under `/aws/` too, which nobody but AWS can there. */
  readonly allowReserved?: boolean;
  /** The same for every repetition of one call (P3). */
  readonly token?: string;
}

interface StoredParameter {
  /** Oldest first; never empty. */
  readonly versions: readonly ParameterVersion[];
  readonly tags: Readonly<Record<string, string>>;
  readonly token: string;
}

const mostVersions = 100;
const mostLabels = 10;

/** Parameters in `Documents`, under `parameter/<partition>/<account>/<region>/<name>`. Throws `ParameterError`. */
export class ParameterStore {
  readonly #documents: Documents;
  readonly #now: () => number;
  readonly #turns = new KeyedTurns();

  constructor(documents: Documents, now: () => number = Date.now) {
    this.#documents = documents;
    this.#now = now;
  }

  async put(scope: ParameterScope, input: ParameterInput): Promise<FoundParameter> {
    const { name, token = "" } = input;
    checkParameterName(name);
    if (isReserved(name) && input.allowReserved !== true)
      throw invalid(`No access to reserved parameter name: ${name}.`);
    return await this.#change(scope, name, async (before) => {
      const newest = before?.versions.at(-1);
      if (before === undefined || newest === undefined)
        return this.#putVersion({ scope, input, before: undefined, newest: undefined });
      if (token !== "" && before.token === token)
        return { stored: before, result: toFound(scope, name, newest) };
      if (input.overwrite === true) return this.#putVersion({ scope, input, before, newest });
      throw new ParameterError(
        "ParameterAlreadyExists",
        "The parameter already exists. To overwrite this value, set the overwrite option in the request to true.",
      );
    });
  }

  /** A parameter by name or ARN, `name:version` or `name:label`. */
  async get(scope: ParameterScope, selector: string): Promise<FoundParameter> {
    const { name, chosen } = splitSelector(selector);
    const stored = await this.#load(scope, name);
    if (stored === undefined) throw new ParameterError("ParameterNotFound");
    const version = versionNamed(stored, chosen);
    if (version !== undefined)
      return {
        ...toFound(scope, name, version),
        ...(chosen === undefined ? {} : { selector: `:${chosen}` }),
      };
    throw new ParameterError(
      "ParameterVersionNotFound",
      `Systems Manager could not find version ${chosen} of ${name}. Verify the version and try again.`,
    );
  }

  /** The same, or undefined when there is none. */
  async find(scope: ParameterScope, selector: string): Promise<FoundParameter | undefined> {
    return await this.get(scope, selector).catch((error: unknown) => {
      if (error instanceof ParameterError) return undefined;
      throw error;
    });
  }

  /** The newest versions of all parameters, by name. */
  async list(scope: ParameterScope): Promise<readonly FoundParameter[]> {
    const prefix = keyOf(scope, "");
    const entries = await this.#documents.list(prefix);
    return entries.flatMap(({ key, value }) => {
      const name = key.slice(prefix.length);
      return parse(value, name)
        .versions.slice(-1)
        .map((version) => toFound(scope, name, version));
    });
  }

  /** Those below a path: right below it, or at any depth. */
  async byPath(
    scope: ParameterScope,
    path: string,
    options: { readonly recursive?: boolean } = {},
  ): Promise<readonly FoundParameter[]> {
    checkParameterPath(path);
    const start = path.endsWith("/") ? path : `${path}/`;
    const all = await this.list(scope);
    return all.filter(({ name }) => {
      const full = name.startsWith("/") ? name : `/${name}`;
      if (!full.startsWith(start)) return false;
      return options.recursive === true || !full.slice(start.length).includes("/");
    });
  }

  /** All versions, oldest first. */
  async history(scope: ParameterScope, name: string): Promise<readonly FoundParameter[]> {
    const stored = await this.#load(scope, name);
    if (stored === undefined) throw new ParameterError("ParameterNotFound");
    return stored.versions.map((version) => toFound(scope, name, version));
  }

  /** Moves labels to a version, the newest unless one is named. Those that SSM doesn't take are given back. */
  async label(
    scope: ParameterScope,
    name: string,
    wanted: { readonly labels: readonly string[]; readonly version?: number },
  ): Promise<{ readonly invalid: readonly string[]; readonly version: number }> {
    const refused = invalidLabels(wanted.labels);
    const labels = wanted.labels.filter((label) => !refused.includes(label));
    return await this.#change(scope, name, async (before) => {
      if (before === undefined) throw new ParameterError("ParameterNotFound");
      const target = versionNumbered(before, name, wanted.version);
      const versions = before.versions.map((version) => {
        const others = version.labels.filter((label) => !labels.includes(label));
        return { ...version, labels: version === target ? [...others, ...labels] : others };
      });
      if (versions.some((version) => version.labels.length > mostLabels))
        throw new ParameterError(
          "ParameterVersionLabelLimitExceeded",
          "A parameter version can have a maximum of ten labels.",
        );
      return { stored: { ...before, versions }, result: { invalid: refused, version: target.version } };
    });
  }

  /** Takes labels from a version; gives those back that it didn't have. */
  async unlabel(
    scope: ParameterScope,
    name: string,
    unwanted: { readonly labels: readonly string[]; readonly version: number },
  ): Promise<{ readonly removed: readonly string[]; readonly invalid: readonly string[] }> {
    return await this.#change(scope, name, async (before) => {
      if (before === undefined) throw new ParameterError("ParameterNotFound");
      const target = versionNumbered(before, name, unwanted.version);
      const removed = unwanted.labels.filter((label) => target.labels.includes(label));
      const versions = before.versions.map((version) =>
        version === target
          ? { ...version, labels: version.labels.filter((label) => !removed.includes(label)) }
          : version,
      );
      const others = unwanted.labels.filter((label) => !removed.includes(label));
      return { stored: { ...before, versions }, result: { removed, invalid: others } };
    });
  }

  async tags(scope: ParameterScope, name: string): Promise<Readonly<Record<string, string>>> {
    const stored = await this.#load(scope, name);
    if (stored === undefined) throw new ParameterError("ParameterNotFound");
    return stored.tags;
  }

  async setTags(scope: ParameterScope, name: string, tags: Readonly<Record<string, string>>): Promise<void> {
    await this.#change(scope, name, async (before) => {
      if (before === undefined) throw new ParameterError("ParameterNotFound");
      return { stored: { ...before, tags }, result: undefined };
    });
  }

  async delete(scope: ParameterScope, name: string): Promise<void> {
    await this.#turns.run(keyOf(scope, name), async () => {
      if ((await this.#load(scope, name)) === undefined) throw new ParameterError("ParameterNotFound");
      await this.#documents.delete(keyOf(scope, name));
    });
  }

  #putVersion(put: {
    readonly scope: ParameterScope;
    readonly input: ParameterInput;
    readonly before: StoredParameter | undefined;
    readonly newest: ParameterVersion | undefined;
  }): { readonly stored: StoredParameter; readonly result: FoundParameter } {
    const { scope, input, before, newest } = put;
    const { name, token = "", tags = before?.tags ?? {} } = input;
    const version = this.#newVersion(input, newest);
    const versions = bounded([...(before?.versions ?? []), version], name);
    return { stored: { versions, tags, token }, result: toFound(scope, name, version) };
  }

  #newVersion(input: ParameterInput, before: ParameterVersion | undefined): ParameterVersion {
    const type = input.type ?? before?.type;
    if (type === undefined) throw invalid("A parameter type is required when you create a parameter.");
    const { value, allowedPattern } = input;
    checkAllowedPattern(value, allowedPattern);
    const kept = { dataType: "text", tier: "Standard", version: 0, ...before } as const;
    return {
      ...optional("description", input.description ?? before?.description),
      ...optional("allowedPattern", allowedPattern),
      ...optional("policies", input.policies),
      ...(type === "SecureString" ? { keyId: input.keyId ?? before?.keyId ?? "alias/aws/ssm" } : {}),
      version: kept.version + 1,
      value,
      type,
      tier: tierFor(value, input.tier ?? kept.tier),
      dataType: input.dataType ?? kept.dataType,
      labels: [],
      modifiedAt: this.#now(),
    };
  }

  #change<Result>(
    scope: ParameterScope,
    name: string,
    change: (
      before: StoredParameter | undefined,
    ) => Promise<{ readonly stored: StoredParameter; readonly result: Result }>,
  ): Promise<Result> {
    return this.#turns.run(keyOf(scope, name), async () => {
      const before = await this.#load(scope, name);
      const { stored, result } = await change(before);
      if (stored !== before)
        await this.#documents.put(keyOf(scope, name), JSON.parse(JSON.stringify(stored)) as Json);
      return result;
    });
  }

  async #load(scope: ParameterScope, name: string): Promise<StoredParameter | undefined> {
    const value = await this.#documents.get(keyOf(scope, name));
    return value === undefined ? undefined : parse(value, name);
  }
}

function optional<Name extends string>(
  name: Name,
  value: string | undefined,
): Readonly<Partial<Record<Name, string>>> {
  const member: Partial<Record<Name, string>> = {};
  if (value !== undefined) member[name] = value;
  return member;
}

/** `arn:aws:ssm:us-east-1:123456789012:parameter/name`; a name's own slash is the one there. */
function parameterArn({ partition, account, region }: ParameterScope, name: string): string {
  return `arn:${partition}:ssm:${region}:${account}:parameter/${name.replace(/^\//, "")}`;
}

/** The name, and after a colon a version or label. An ARN names the same; its names are paths when they have a slash. */
function splitSelector(selector: string): { readonly name: string; readonly chosen: string | undefined } {
  const [, path] = /^arn:[^:]*:ssm:[^:]*:[^:]*:parameter\/(.+)$/.exec(selector) ?? [];
  const full = path === undefined ? selector : path.includes("/") ? `/${path}` : path;
  const at = full.indexOf(":");
  if (at < 0) return { name: full, chosen: undefined };
  return { name: full.slice(0, at), chosen: full.slice(at + 1) };
}

function versionNamed(stored: StoredParameter, chosen: string | undefined): ParameterVersion | undefined {
  if (chosen === undefined) return stored.versions.at(-1);
  return stored.versions.find(({ version, labels }) => String(version) === chosen || labels.includes(chosen));
}

function versionNumbered(
  stored: StoredParameter,
  name: string,
  number: number | undefined,
): ParameterVersion {
  const found = versionNamed(stored, number === undefined ? undefined : String(number));
  if (found !== undefined) return found;
  throw new ParameterError(
    "ParameterVersionNotFound",
    `Systems Manager could not find version ${number} of ${name}. Verify the version and try again.`,
  );
}

/** The oldest version goes when there are too many, unless a label holds it. */
function bounded(versions: readonly ParameterVersion[], name: string): readonly ParameterVersion[] {
  const [oldest] = versions;
  if (versions.length <= mostVersions || oldest === undefined) return versions;
  if (oldest.labels.length === 0) return versions.slice(1);
  throw new ParameterError(
    "ParameterMaxVersionLimitExceeded",
    `You attempted to create a new version of ${name} by calling the PutParameter API with the overwrite flag. Version ${oldest.version}, the oldest version, can't be deleted because it has a label associated with it. Move the label to another version of the parameter, and try again.`,
  );
}

function toFound(scope: ParameterScope, name: string, version: ParameterVersion): FoundParameter {
  return { ...version, name, arn: parameterArn(scope, name) };
}

function keyOf({ partition, account, region }: ParameterScope, name: string): string {
  return `parameter/${partition}/${account}/${region}/${name}`;
}

/** Our own storage: only the outline is checked. */
function parse(value: Json, name: string): StoredParameter {
  if (typeof value !== "object" || value === null || !("versions" in value) || !("tags" in value))
    throw new Error(`The stored parameter ${name} is damaged.`);
  return value as unknown as StoredParameter;
}
