/** Layer versions: what `AWS::Lambda::LayerVersion` makes, and functions lay under their code. */
import { createHash } from "node:crypto";
import type { Json } from "@custard/provider/protocol";
import type { Documents } from "../engine/ports.ts";
import { listArchive } from "./code-archive.ts";
import type { FunctionScope } from "./function-arn.ts";
import { FunctionError } from "./function-error.ts";

/** A new layer version. */
export interface NewLayerVersion {
  readonly name: string;
  /** A zip archive. */
  readonly bytes: Uint8Array;
  readonly description?: string;
  readonly compatibleRuntimes?: readonly string[];
  /** The same for every repetition of one call. */
  readonly token?: string;
}

/** A layer version as kept. */
export interface LayerVersion {
  readonly arn: string;
  readonly version: number;
  readonly description: string;
  readonly compatibleRuntimes: readonly string[];
  readonly sha256: string;
  readonly size: number;
  /** Key of the archive's blob. */
  readonly blob: string;
  readonly token: string;
}

const arnForm = /^arn:([a-z-]+):lambda:([a-z0-9-]+):(\d{12}):layer:([a-zA-Z0-9_-]+):(\d+)$/;

/** Layers by account, region and name, kept in `Documents`. Throws `FunctionError` with Lambda's own texts. */
export class LayerRegistry {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Publishes the next version. A repetition with the same token gets the version that the first call made. */
  async publish(scope: FunctionScope, layer: NewLayerVersion): Promise<LayerVersion> {
    listArchive(layer.bytes);
    const versions = await this.versions(scope, layer.name);
    const repeated = versions.find(({ token }) => token !== "" && token === layer.token);
    if (repeated !== undefined) return repeated;
    const version = (await this.#lastNumber(scope, layer.name)) + 1;
    const key = keyOf(scope, layer.name, version);
    const made: LayerVersion = {
      arn: `arn:${scope.partition}:lambda:${scope.region}:${scope.account}:layer:${layer.name}:${version}`,
      version,
      description: layer.description ?? "",
      compatibleRuntimes: layer.compatibleRuntimes ?? [],
      sha256: createHash("sha256").update(layer.bytes).digest("base64"),
      size: layer.bytes.length,
      blob: key,
      token: layer.token ?? "",
    };
    await this.#documents.putBlob(key, layer.bytes);
    await this.#documents.put(lastKeyOf(scope, layer.name), version);
    await this.#documents.put(key, { ...made });
    return made;
  }

  /** `Layer version … does not exist.` when it doesn't. */
  async resolve(arn: string): Promise<LayerVersion> {
    const stored = await this.#documents.get(keyOfArn(arn) ?? "");
    if (stored === undefined) {
      throw new FunctionError("InvalidParameter", `Layer version ${arn} does not exist.`);
    }
    return parseLayerVersion(stored, arn);
  }

  /** The archive of a layer version. */
  async bytes(layer: LayerVersion): Promise<Uint8Array> {
    const bytes = await this.#documents.getBlob(layer.blob);
    if (bytes === undefined) throw new FunctionError("NotFound", `The content of ${layer.arn} is gone.`);
    return bytes;
  }

  /** Versions of a layer, in the order of their keys. */
  async versions(scope: FunctionScope, name: string): Promise<readonly LayerVersion[]> {
    const entries = await this.#documents.list(`${prefixOf(scope, name)}/`);
    return entries.map(({ key, value }) => parseLayerVersion(value, key));
  }

  /** Deletes a version; its number isn't given again. One that is gone already is no fault, as on Lambda. */
  async delete(arn: string): Promise<void> {
    const key = keyOfArn(arn);
    if (key === undefined) return;
    await this.#documents.delete(key);
    await this.#documents.deleteBlob(key);
  }

  async #lastNumber(scope: FunctionScope, name: string): Promise<number> {
    const last = await this.#documents.get(lastKeyOf(scope, name));
    return typeof last === "number" ? last : 0;
  }
}

function prefixOf({ partition, account, region }: FunctionScope, name: string): string {
  return `layer/${partition}/${account}/${region}/${name}`;
}

function keyOf(scope: FunctionScope, name: string, version: number): string {
  return `${prefixOf(scope, name)}/${version}`;
}

function lastKeyOf(scope: FunctionScope, name: string): string {
  return `last-${prefixOf(scope, name)}`;
}

function keyOfArn(arn: string): string | undefined {
  const [, partition, region, account, name, version] = arnForm.exec(arn) ?? [];
  if (partition === undefined || region === undefined || account === undefined || name === undefined)
    return undefined;
  return keyOf({ partition, account, region }, name, Number(version));
}

/** The documents are our own storage, so that only the outline is checked. */
function parseLayerVersion(value: Json, key: string): LayerVersion {
  if (!isLayerVersion(value)) throw new Error(`The stored layer version ${key} is damaged.`);
  return value;
}

function isLayerVersion(value: unknown): value is LayerVersion {
  return (
    typeof value === "object" && value !== null && "arn" in value && "blob" in value && "sha256" in value
  );
}
