/**
 * Lambda layers: what `AWS::Lambda::LayerVersion` and the endpoint publish, and what the Lambda transport unpacks.
 *
 * Invariants
 * L1: a published version never changes, and its number is never given again.
 * L2: a publication that comes twice with one token gives one version.
 */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import type { Json } from "@custard/provider/protocol";
import type { Documents } from "../engine/ports.ts";
import { listArchive } from "./code-archive.ts";
import type { FunctionScope } from "./function-arn.ts";
import { FunctionError } from "./function-error.ts";
import type { CodeInput, StoredCode } from "./function-record.ts";
import { KeyedTurns } from "./keyed-turns.ts";

/** A layer, or one version of it. */
export interface LayerReference extends FunctionScope {
  readonly name: string;
  readonly version?: number;
}

/** What is said of a layer version. */
export interface LayerDescription {
  readonly description: string;
  readonly licenseInfo?: string;
  readonly compatibleRuntimes: readonly string[];
  readonly compatibleArchitectures: readonly string[];
}

/** A new version of a layer. */
export interface NewLayerVersion extends Partial<LayerDescription> {
  readonly code: Exclude<CodeInput, { readonly kind: "inline" }>;
  /** The same for every repetition of one call (L2). */
  readonly token?: string;
}

/** A published version; its code is unpacked over `/opt`. */
export interface LayerVersion extends LayerDescription {
  readonly arn: string;
  readonly version: number;
  readonly code: StoredCode;
  readonly createdAt: number;
}

interface StoredLayer {
  readonly nextVersion: number;
  /** Oldest first. */
  readonly versions: readonly (LayerVersion & { readonly token: string })[];
}

const arnForm = /^arn:(aws[a-z-]*):lambda:([a-z0-9-]+):(\d{12}):layer:([a-zA-Z0-9_-]{1,140})(?::(\d+))?$/;

/** Reads the ARN of a layer or of one of its versions; undefined when it is none. */
export function parseLayerArn(text: string): LayerReference | undefined {
  const [, partition, region, account, name, version] = arnForm.exec(text) ?? [];
  if (partition === undefined || region === undefined || account === undefined || name === undefined)
    return undefined;
  const reference = { partition, region, account, name };
  return version === undefined ? reference : { ...reference, version: Number(version) };
}

/** `arn:aws:lambda:us-east-1:123456789012:layer:name[:version]` */
function formatLayerArn({ partition, region, account, name, version }: LayerReference): string {
  const arn = `arn:${partition}:lambda:${region}:${account}:layer:${name}`;
  return version === undefined ? arn : `${arn}:${version}`;
}

/** Layers in `Documents`, under `layer/<partition>/<account>/<region>/<name>`. Throws `FunctionError`. */
export class LayerRegistry {
  readonly #documents: Documents;
  readonly #turns = new KeyedTurns();
  readonly #now: () => number;

  constructor(documents: Documents, now: () => number = Date.now) {
    this.#documents = documents;
    this.#now = now;
  }

  async publish(reference: LayerReference, input: NewLayerVersion): Promise<LayerVersion> {
    checkName(reference.name);
    return await this.#turns.run(keyOf(reference), async () => {
      const layer = await this.#load(reference);
      const repeated = layer.versions.find(({ token }) => token !== "" && token === input.token);
      if (repeated !== undefined) return repeated;
      const version = layer.nextVersion;
      const made = {
        ...describe(input),
        arn: formatLayerArn({ ...reference, version }),
        version,
        code: await this.#store({ ...reference, version }, input.code),
        createdAt: this.#now(),
        token: input.token ?? "",
      };
      await this.#save(reference, { nextVersion: version + 1, versions: [...layer.versions, made] });
      return made;
    });
  }

  /** The version that a reference names, or undefined. */
  async find(reference: LayerReference): Promise<LayerVersion | undefined> {
    const { versions } = await this.#load(reference);
    return versions.find(({ version }) => version === reference.version);
  }

  /** The same by its ARN; `ResourceNotFoundException` in Lambda's words when there is none. */
  async resolve(arn: string): Promise<LayerVersion> {
    const reference = parseLayerArn(arn);
    const found = reference === undefined ? undefined : await this.find(reference);
    if (found !== undefined) return found;
    throw new FunctionError("NotFound", `Layer version ${arn} does not exist.`);
  }

  /** Versions of a layer, newest first. */
  async versions(reference: LayerReference): Promise<readonly LayerVersion[]> {
    return (await this.#load(reference)).versions.toReversed();
  }

  /** Layers that have versions, each with its newest. */
  async list(
    scope: FunctionScope,
  ): Promise<readonly { readonly name: string; readonly newest: LayerVersion }[]> {
    const prefix = keyOf({ ...scope, name: "" });
    const entries = await this.#documents.list(prefix);
    return entries.flatMap(({ key, value }) => {
      const newest = parseLayer(value).versions.at(-1);
      return newest === undefined ? [] : [{ name: key.slice(prefix.length), newest }];
    });
  }

  /** What isn't there is fine, as with Lambda. */
  async delete(reference: LayerReference): Promise<void> {
    await this.#turns.run(keyOf(reference), async () => {
      const layer = await this.#load(reference);
      const gone = layer.versions.find(({ version }) => version === reference.version);
      if (gone === undefined) return;
      await this.#save(reference, { ...layer, versions: layer.versions.filter((each) => each !== gone) });
      if (gone.code.kind !== "directory") await this.#documents.deleteBlob(gone.code.blob);
    });
  }

  /** The zip archive of a version; a directory has none. */
  async codeBytes(code: StoredCode): Promise<Uint8Array> {
    const bytes = code.kind === "directory" ? undefined : await this.#documents.getBlob(code.blob);
    if (bytes === undefined) throw new FunctionError("NotFound", "The content of the layer is gone.");
    return bytes;
  }

  async #store(reference: LayerReference, code: NewLayerVersion["code"]): Promise<StoredCode> {
    if (code.kind === "directory") {
      const found = await stat(code.path).catch(() => undefined);
      if (found?.isDirectory() !== true)
        throw new FunctionError("InvalidParameter", `There is no directory ${code.path}.`);
      return { kind: "directory", path: code.path, sha256: sha256(Buffer.from(code.path)), size: 0 };
    }
    listArchive(code.bytes);
    const blob = `${keyOf(reference)}/${reference.version ?? 0}`;
    await this.#documents.putBlob(blob, code.bytes);
    return { kind: "zip", blob, sha256: sha256(code.bytes), size: code.bytes.length };
  }

  async #load(reference: LayerReference): Promise<StoredLayer> {
    const value = await this.#documents.get(keyOf(reference));
    return value === undefined ? { nextVersion: 1, versions: [] } : parseLayer(value);
  }

  async #save(reference: LayerReference, layer: StoredLayer): Promise<void> {
    await this.#documents.put(keyOf(reference), JSON.parse(JSON.stringify(layer)) as Json);
  }
}

function keyOf({ partition, account, region, name }: LayerReference): string {
  return `layer/${partition}/${account}/${region}/${name}`;
}

function checkName(name: string): void {
  if (/^[a-zA-Z0-9_-]{1,140}$/.test(name)) return;
  throw new FunctionError(
    "InvalidParameter",
    `1 validation error detected: Value '${name}' at 'layerName' failed to satisfy constraint: Member must satisfy regular expression pattern: (arn:[a-zA-Z0-9-]+:lambda:[a-zA-Z0-9-]+:\\d{12}:layer:[a-zA-Z0-9-_]+)|[a-zA-Z0-9-_]+`,
  );
}

function describe(input: NewLayerVersion): LayerDescription {
  const { description = "", licenseInfo, compatibleRuntimes = [], compatibleArchitectures = [] } = input;
  return {
    description,
    compatibleRuntimes,
    compatibleArchitectures,
    ...(licenseInfo === undefined ? {} : { licenseInfo }),
  };
}

/** Our own storage: only the outline is checked. */
function parseLayer(value: Json): StoredLayer {
  if (typeof value !== "object" || value === null || !("versions" in value) || !("nextVersion" in value))
    throw new Error("A stored layer is damaged.");
  return value as unknown as StoredLayer;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}
