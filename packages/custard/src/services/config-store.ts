/**
 * The configuration in force in a state directory.
 *
 * Invariants
 * C1: what a deployment was configured with holds for whatever goes on later in the same directory, until another
 *     deployment brings its own.
 * C2: a parameter or secret is seeded when it isn't there or when the configuration says something new about it: what a
 *     user changed since by other means stays.
 */
import { createHash } from "node:crypto";
import type { Json } from "@custard/provider/protocol";
import type { Documents } from "../engine/ports.ts";
import { type Config, emptyConfig, type GivenParameter, type GivenResource } from "./config.ts";
import type { ParameterScope, ParameterStore } from "./parameters.ts";
import { SecretError } from "./secret-error.ts";
import type { SecretStore } from "./secrets.ts";

/** The stores that are seeded. */
interface SeededStores {
  readonly parameters: ParameterStore;
  readonly secrets: SecretStore;
}

/** All but what is seeded: values of secrets are kept where secrets are, and only there. */
type KeptConfig = Pick<Config, "resources" | "functions" | "runtimes" | "python">;

const configKey = "config";

/** Keeps a configuration in `Documents`. */
export class ConfigStore {
  readonly #documents: Documents;
  readonly #stores: SeededStores;
  #current: Promise<KeptConfig> | undefined;

  constructor(documents: Documents, stores: SeededStores) {
    this.#documents = documents;
    this.#stores = stores;
  }

  /** Puts a configuration in force, and what it seeds into that account and region. */
  async apply(config: Config, scope: ParameterScope): Promise<void> {
    const { resources, functions, runtimes, python } = config;
    const kept: KeptConfig = { resources, functions, runtimes, ...(python === undefined ? {} : { python }) };
    await this.#documents.put(configKey, JSON.parse(JSON.stringify(kept)) as Json);
    this.#current = Promise.resolve(kept);
    for (const [name, parameter] of Object.entries(config.parameters))
      await this.#seedParameter(scope, name, parameter);
    for (const [name, text] of Object.entries(config.secrets)) await this.#seedSecret(scope, name, text);
  }

  /** Exact values for a resource: by its logical id, else by its type. */
  async resource(type: string, logicalId: string): Promise<GivenResource | undefined> {
    const { logicalIds, types } = (await this.#get()).resources;
    if (Object.hasOwn(logicalIds, logicalId)) return logicalIds[logicalId];
    return Object.hasOwn(types, type) ? types[type] : undefined;
  }

  /** Where a function's code is, instead of where its template says. */
  async functionSource(logicalId: string): Promise<string | undefined> {
    const { functions } = await this.#get();
    return Object.hasOwn(functions, logicalId) ? functions[logicalId] : undefined;
  }

  /** What a function that declares this runtime is to run on instead. */
  async runtime(declared: string): Promise<string | undefined> {
    const { runtimes } = await this.#get();
    return Object.hasOwn(runtimes, declared) ? runtimes[declared] : undefined;
  }

  async python(): Promise<string | undefined> {
    return (await this.#get()).python;
  }

  #get(): Promise<KeptConfig> {
    this.#current ??= this.#documents.get(configKey).then(parse);
    return this.#current;
  }

  async #seedParameter(scope: ParameterScope, name: string, given: GivenParameter): Promise<void> {
    const { parameters } = this.#stores;
    const exists = (await parameters.find(scope, name)) !== undefined;
    await this.#seed(keyOf("parameter", scope, name), { exists, said: given }, async () => {
      await parameters.put(scope, { ...given, name, overwrite: true, allowReserved: true });
    });
  }

  async #seedSecret(scope: ParameterScope, name: string, text: string): Promise<void> {
    const { secrets } = this.#stores;
    const exists = await secrets.describe(scope, name).then(() => true, isMissing);
    await this.#seed(keyOf("secret", scope, name), { exists, said: text }, async () => {
      if (exists) await secrets.put(scope, name, { content: { text } });
      else await secrets.create(scope, { name, content: { text } });
    });
  }

  /** C2; what was said is remembered as a hash. */
  async #seed(
    key: string,
    { exists, said }: { readonly exists: boolean; readonly said: unknown },
    put: () => Promise<void>,
  ): Promise<void> {
    const hash = createHash("sha256").update(JSON.stringify(said)).digest("hex");
    if (exists && (await this.#documents.get(key)) === hash) return;
    await put();
    await this.#documents.put(key, hash);
  }
}

function isMissing(error: unknown): false {
  if (error instanceof SecretError && error.code === "ResourceNotFoundException") return false;
  throw error;
}

function keyOf(kind: string, { partition, account, region }: ParameterScope, name: string): string {
  return `seed/${kind}/${partition}/${account}/${region}/${name}`;
}

/** Our own storage: only the outline is checked. */
function parse(value: Json | undefined): KeptConfig {
  if (value === undefined) return emptyConfig;
  if (typeof value !== "object" || value === null || !("resources" in value) || !("functions" in value))
    throw new Error("The kept configuration is damaged.");
  // `runtimes` is younger than state directories may be.
  return { ...emptyConfig, ...(value as unknown as KeptConfig) };
}
