import type { Json } from "@custard/provider/protocol";
import type { Documents } from "../engine/ports.ts";

/** Where macros live. */
export interface MacroScope {
  readonly partition: string;
  readonly account: string;
  readonly region: string;
}

/** A macro, as templates name it, and the function behind it. */
export interface Macro {
  readonly name: string;
  /** ARN or name. */
  readonly functionName: string;
}

/** Macros in `Documents`, under `macro/<partition>/<account>/<region>/<name>`. */
export class MacroRegistry {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  async find(scope: MacroScope, name: string): Promise<Macro | undefined> {
    const value = await this.#documents.get(keyOf(scope, name));
    return value === undefined ? undefined : parse(value);
  }

  /** Makes a macro, or changes it. */
  async put(scope: MacroScope, { name, functionName }: Macro): Promise<void> {
    await this.#documents.put(keyOf(scope, name), { name, functionName });
  }

  async delete(scope: MacroScope, name: string): Promise<void> {
    await this.#documents.delete(keyOf(scope, name));
  }
}

function keyOf({ partition, account, region }: MacroScope, name: string): string {
  return `macro/${partition}/${account}/${region}/${name}`;
}

function parse(value: Json): Macro {
  if (typeof value === "object" && value !== null && "name" in value && "functionName" in value) {
    const { name, functionName } = value;
    if (typeof name === "string" && typeof functionName === "string") return { name, functionName };
  }
  throw new Error("A stored macro is damaged.");
}
