/**
 * The function registry: what `AWS::Lambda::Function` and the endpoint make, and what the Lambda transport runs.
 *
 * Owns names, settings, versions, aliases, asynchronous-invocation settings and the stored code of functions.
 * Leaves running them to `transports/lambda/`.
 *
 * Invariants
 * F1. A published version never changes; `$LATEST` and aliases do.
 * F2. Each change of `$LATEST` gets a new `revision`, so that warm instances of the old one are told apart.
 * F3. A create or update that comes twice with the same token (after a crash) changes nothing the second time.
 */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import type { Json } from "@custard/provider/protocol";
import type { Documents } from "../engine/ports.ts";
import { listArchive } from "./code-archive.ts";
import { type FunctionReference, type FunctionScope, formatFunctionArn } from "./function-arn.ts";
import { FunctionError } from "./function-error.ts";
import {
  type CodeInput,
  type EventInvokeSettings,
  type FunctionVersion,
  type ResolvedFunction,
  type StoredCode,
  type StoredFunction,
  parseStoredFunction,
} from "./function-record.ts";
import {
  type FunctionSettings,
  faultsOfInlineHandler,
  faultsOfName,
  faultsOfSettings,
} from "./function-settings.ts";
import { LayerRegistry } from "./layers.ts";

/** A new function. Left out settings get Lambda's defaults. */
export interface NewFunction {
  readonly name: string;
  readonly code: CodeInput;
  readonly settings: Partial<FunctionSettings>;
  /** The same for every repetition of one call (F3). */
  readonly token?: string;
}

/** A change; what is left out stays. */
export interface FunctionChange {
  readonly code?: CodeInput;
  readonly settings?: Partial<FunctionSettings>;
  readonly token?: string;
}

export const defaultSettings: FunctionSettings = {
  runtime: "",
  handler: "",
  role: "",
  description: "",
  timeoutSeconds: 3,
  memoryMegabytes: 128,
  environment: {},
  layers: [],
  architecture: "x86_64",
  logging: { format: "Text" },
  tags: {},
};

const inlineBytes = 4 * 1024 * 1024;
const latest = "$LATEST";

/** Functions by account, region and name, kept in `Documents`. Throws `FunctionError` with Lambda's own texts. */
export class FunctionRegistry {
  readonly #documents: Documents;
  readonly #layers: LayerRegistry;
  readonly #now: () => number;

  constructor(documents: Documents, now: () => number = Date.now) {
    this.#documents = documents;
    this.#layers = new LayerRegistry(documents);
    this.#now = now;
  }

  async create(scope: FunctionScope, input: NewFunction): Promise<ResolvedFunction> {
    const settings = { ...defaultSettings, ...input.settings };
    refuse([
      ...faultsOfName(input.name),
      ...faultsOfSettings(settings),
      ...faultsOfCode(input.code, settings),
    ]);
    const reference = { ...scope, name: input.name };
    const existing = await this.#find(reference);
    if (existing !== undefined && !isRepetition(existing, input.token)) {
      throw new FunctionError("Conflict", `Function already exist: ${input.name}`);
    }
    if (existing !== undefined) return resolve(reference, existing);
    await this.#checkLayers(settings);
    const code = await this.#store(reference, input.code);
    const stored = withLatest(emptyFunction(), { settings, code, now: this.#now(), token: input.token });
    await this.#save(reference, stored);
    return resolve(reference, stored);
  }

  async update(reference: FunctionReference, change: FunctionChange): Promise<ResolvedFunction> {
    const stored = await this.#load(reference);
    if (isRepetition(stored, change.token)) return resolve(reference, stored);
    const settings = { ...stored.latest.settings, ...change.settings };
    refuse([
      ...faultsOfSettings(settings),
      ...(change.code === undefined ? [] : faultsOfCode(change.code, settings)),
    ]);
    if (change.settings?.layers !== undefined) await this.#checkLayers(settings);
    const code = change.code === undefined ? stored.latest.code : await this.#store(reference, change.code);
    const next = withLatest(stored, { settings, code, now: this.#now(), token: change.token });
    await this.#save(reference, next);
    await this.#forgetUnused(stored, next);
    return resolve(reference, next);
  }

  /** What the reference stands for; `Function not found: <arn>` when nothing does. */
  async resolve(reference: FunctionReference): Promise<ResolvedFunction> {
    return resolve(reference, await this.#load(reference));
  }

  /** The same, or undefined. */
  async find(reference: FunctionReference): Promise<ResolvedFunction | undefined> {
    const stored = await this.#find(reference);
    if (stored === undefined) return undefined;
    return versionNamed(stored, reference.qualifier) === undefined ? undefined : resolve(reference, stored);
  }

  /** Deletes the function with all versions, or one version when the reference has a number. */
  async delete(reference: FunctionReference): Promise<void> {
    const stored = await this.#load(reference);
    const { qualifier } = reference;
    if (qualifier === undefined || qualifier === latest) {
      await this.#documents.delete(keyOf(reference));
      await this.#forgetUnused(stored, undefined);
      return;
    }
    const next = { ...stored, versions: stored.versions.filter((version) => version.version !== qualifier) };
    await this.#save(reference, next);
    await this.#forgetUnused(stored, next);
  }

  /** All functions of an account and region, by name. */
  async list(scope: FunctionScope): Promise<readonly ResolvedFunction[]> {
    const entries = await this.#documents.list(prefixOf(scope));
    return entries.map(({ key, value }) => {
      const name = key.slice(prefixOf(scope).length);
      return resolve({ ...scope, name }, parseStoredFunction(value, key));
    });
  }

  /** Freezes `$LATEST` as the next number; the newest one again when nothing changed since, as Lambda does. */
  async publishVersion(reference: FunctionReference, description?: string): Promise<ResolvedFunction> {
    const stored = await this.#load(withoutQualifier(reference));
    const newest = stored.versions.at(-1);
    if (newest !== undefined && newest.revision === stored.latest.revision) {
      return resolve({ ...reference, qualifier: newest.version }, stored);
    }
    const version = String(stored.nextVersion);
    const published = { ...stored.latest, version, ...(description === undefined ? {} : { description }) };
    const next = {
      ...stored,
      versions: [...stored.versions, published],
      nextVersion: stored.nextVersion + 1,
    };
    await this.#save(reference, next);
    return resolve({ ...reference, qualifier: version }, next);
  }

  /** Published versions, oldest first. */
  async versions(reference: FunctionReference): Promise<readonly FunctionVersion[]> {
    return (await this.#load(withoutQualifier(reference))).versions;
  }

  /** Creates or moves an alias. */
  async putAlias(
    reference: FunctionReference,
    alias: { readonly name: string; readonly version: string },
  ): Promise<void> {
    const stored = await this.#load(withoutQualifier(reference));
    if (versionNamed(stored, alias.version) === undefined) {
      throw notFound({ ...reference, qualifier: alias.version });
    }
    await this.#save(reference, { ...stored, aliases: { ...stored.aliases, [alias.name]: alias.version } });
  }

  async deleteAlias(reference: FunctionReference, name: string): Promise<void> {
    const stored = await this.#load(withoutQualifier(reference));
    const { [name]: _, ...aliases } = stored.aliases;
    await this.#save(reference, { ...stored, aliases });
  }

  /** Aliases and the versions that they name. */
  async aliases(reference: FunctionReference): Promise<Readonly<Record<string, string>>> {
    return (await this.#load(withoutQualifier(reference))).aliases;
  }

  /** Sets, or with undefined removes, the asynchronous-invocation settings of a function, version or alias. */
  async putEventInvoke(
    reference: FunctionReference,
    settings: EventInvokeSettings | undefined,
  ): Promise<void> {
    refuse(faultsOfEventInvoke(settings ?? {}));
    const stored = await this.#load(reference);
    const qualifier = reference.qualifier ?? latest;
    const { [qualifier]: _, ...others } = stored.eventInvoke;
    const eventInvoke = settings === undefined ? others : { ...others, [qualifier]: settings };
    await this.#save(reference, { ...stored, eventInvoke });
  }

  /** The stored bytes of inline or zip code. */
  async codeBytes(code: StoredCode): Promise<Uint8Array> {
    const bytes = code.kind === "directory" ? undefined : await this.#documents.getBlob(code.blob);
    if (bytes === undefined) throw new FunctionError("NotFound", "The code of the function is gone.");
    return bytes;
  }

  /** The code of a function's layers, in their order. */
  async layerCode(settings: FunctionSettings): Promise<readonly StoredCode[]> {
    const layers = await Promise.all(settings.layers.map((arn) => this.#layers.resolve(arn)));
    return layers.map((layer) => layer.code);
  }

  async #checkLayers(settings: FunctionSettings): Promise<void> {
    for (const arn of settings.layers) await this.#layers.resolve(arn);
  }

  async #store(reference: FunctionReference, code: CodeInput): Promise<StoredCode> {
    switch (code.kind) {
      case "directory":
        await checkDirectory(code.path);
        return { kind: "directory", path: code.path, sha256: sha256(Buffer.from(code.path)), size: 0 };
      case "zip":
        listArchive(code.bytes);
        return await this.#storeBytes(reference, { kind: "zip", bytes: code.bytes });
      case "inline":
        return await this.#storeBytes(reference, { kind: "inline", bytes: Buffer.from(code.source) });
    }
  }

  async #storeBytes(
    reference: FunctionReference,
    code: { readonly kind: "inline" | "zip"; readonly bytes: Uint8Array },
  ): Promise<StoredCode> {
    const hash = sha256(code.bytes);
    const blob = `${keyOf(reference)}/${Buffer.from(hash, "base64").toString("hex")}`;
    await this.#documents.putBlob(blob, code.bytes);
    return { kind: code.kind, blob, sha256: hash, size: code.bytes.length };
  }

  async #forgetUnused(before: StoredFunction, after: StoredFunction | undefined): Promise<void> {
    const kept = after === undefined ? new Set<string>() : blobsOf(after);
    for (const blob of blobsOf(before)) if (!kept.has(blob)) await this.#documents.deleteBlob(blob);
  }

  async #find(reference: FunctionReference): Promise<StoredFunction | undefined> {
    const value = await this.#documents.get(keyOf(reference));
    return value === undefined ? undefined : parseStoredFunction(value, keyOf(reference));
  }

  async #load(reference: FunctionReference): Promise<StoredFunction> {
    const stored = await this.#find(reference);
    if (stored === undefined) throw notFound(reference);
    return stored;
  }

  async #save(reference: FunctionReference, stored: StoredFunction): Promise<void> {
    await this.#documents.put(keyOf(reference), toJson(stored));
  }
}

function resolve(reference: FunctionReference, stored: StoredFunction): ResolvedFunction {
  const version = versionNamed(stored, reference.qualifier);
  if (version === undefined) throw notFound(reference);
  const eventInvoke = stored.eventInvoke[reference.qualifier ?? latest] ?? {};
  return { ...version, reference, arn: formatFunctionArn(reference), eventInvoke };
}

function versionNamed(stored: StoredFunction, qualifier: string | undefined): FunctionVersion | undefined {
  const number = stored.aliases[qualifier ?? latest] ?? qualifier ?? latest;
  if (number === latest) return stored.latest;
  return stored.versions.find((version) => version.version === number);
}

function withLatest(
  stored: Omit<StoredFunction, "latest">,
  change: { settings: FunctionSettings; code: StoredCode; now: number; token: string | undefined },
): StoredFunction {
  const changes = stored.changes + 1;
  return {
    ...stored,
    changes,
    lastToken: change.token ?? "",
    latest: {
      version: latest,
      settings: change.settings,
      code: change.code,
      modifiedAt: change.now,
      revision: `${changes}-${change.code.sha256}`,
    },
  };
}

function emptyFunction(): Omit<StoredFunction, "latest"> {
  return { versions: [], aliases: {}, eventInvoke: {}, nextVersion: 1, changes: 0, lastToken: "" };
}

function isRepetition(stored: StoredFunction, token: string | undefined): boolean {
  return token !== undefined && token !== "" && stored.lastToken === token;
}

function faultsOfCode(code: CodeInput, settings: FunctionSettings): readonly string[] {
  if (code.kind !== "inline") return [];
  if (!/^(?:nodejs|python)/.test(settings.runtime)) {
    return ["ZipFile can only be used when Runtime is set to either of nodejs or python."];
  }
  const size = Buffer.byteLength(code.source);
  if (size > inlineBytes) {
    return [`The inline code (ZipFile) has ${size} bytes; it can have at most ${inlineBytes} (4 MB).`];
  }
  return faultsOfInlineHandler(settings);
}

function faultsOfEventInvoke(settings: EventInvokeSettings): readonly string[] {
  const { maximumRetryAttempts: attempts = 2, maximumEventAgeSeconds: age = 21_600 } = settings;
  const prefix = "1 validation error detected: Value";
  return [
    ...(attempts >= 0 && attempts <= 2
      ? []
      : [
          `${prefix} '${attempts}' at 'maximumRetryAttempts' failed to satisfy constraint: Member must be between 0 and 2`,
        ]),
    ...(age >= 60 && age <= 21_600
      ? []
      : [
          `${prefix} '${age}' at 'maximumEventAgeInSeconds' failed to satisfy constraint: Member must be between 60 and 21600`,
        ]),
  ];
}

async function checkDirectory(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw new FunctionError("InvalidParameter", `There is no directory ${path}.`);
}

function refuse(faults: readonly string[]): void {
  const [first] = faults;
  if (first !== undefined) throw new FunctionError("InvalidParameter", first);
}

function notFound(reference: FunctionReference): FunctionError {
  return new FunctionError("NotFound", `Function not found: ${formatFunctionArn(reference)}`);
}

function blobsOf(stored: StoredFunction): ReadonlySet<string> {
  return new Set(
    [stored.latest, ...stored.versions].flatMap(({ code }) => (code.kind === "directory" ? [] : [code.blob])),
  );
}

function withoutQualifier({ partition, account, region, name }: FunctionReference): FunctionReference {
  return { partition, account, region, name };
}

function prefixOf({ partition, account, region }: FunctionScope): string {
  return `function/${partition}/${account}/${region}/`;
}

function keyOf(reference: FunctionReference): string {
  return `${prefixOf(reference)}${reference.name}`;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}

/** Drops undefined members, which JSON lacks. */
function toJson(stored: StoredFunction): Json {
  return JSON.parse(JSON.stringify(stored)) as Json;
}
