import { readFileSync } from "node:fs";

/** What an attribute holds. */
export type AttributeKind = "text" | "number" | "boolean" | "list" | "map";

/** What is known of a resource type from its published schema. */
export interface ResourceSchema {
  /** Attributes or properties that make up what `Ref` gives; more than one are joined by `|`. */
  readonly identifier: readonly string[];
  /** Those that tell a resource from all others of its type, where they aren't these. */
  readonly primary?: readonly string[];
  /** The form of its ARN, with `${Partition}`, `${Region}`, `${Account}` and names of its own. */
  readonly arn?: string;
  readonly attributes: Readonly<Record<string, AttributeKind>>;
  readonly required?: readonly string[];
  /** Properties whose change always causes replacement. */
  readonly createOnly?: readonly string[];
  /** Does it take tags? */
  readonly tags?: true;
}

/** The published schemas, as `scripts/reduce-schemas.mjs` writes them at build time: a line per type. */
const file = new URL("../../dist/resource-schemas.txt", import.meta.url);

/** Looks resource types up; the file is read at the first question, and only lines asked for are parsed. */
export class Schemas {
  readonly #known = new Map<string, ResourceSchema | undefined>();
  #text: string | undefined;

  /** Undefined when CloudFormation has no such type. */
  find(type: string): ResourceSchema | undefined {
    if (!this.#known.has(type)) this.#known.set(type, this.#read(type));
    return this.#known.get(type);
  }

  #read(type: string): ResourceSchema | undefined {
    this.#text ??= readSchemas();
    const start = this.#text.indexOf(`\n${type}\t`);
    if (start < 0) return undefined;
    const end = this.#text.indexOf("\n", start + 1);
    // The border of our own generated file: the script and this type are kept together by a test.
    return JSON.parse(this.#text.slice(start + type.length + 2, end)) as ResourceSchema;
  }
}

function readSchemas(): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new Error("The resource schemas are missing: `npm run build` makes them.", { cause });
  }
}
