import { ApiError } from "./api-error.ts";
import { isStructure, type Ref, type ServiceModel, type Structure } from "./model.ts";
import { isWireObject } from "./protocols/xml-writer.ts";
import type { WireObject, WireValue } from "./wire.ts";

/**
 * What a caller gave, member by member. The codec has seen to it that each value is of the kind that the model says;
 * asking for a member that the model lacks, or as another kind, is a bug.
 */
export class Input {
  readonly #model: ServiceModel;
  readonly #structure: Structure | undefined;
  readonly #object: WireObject;

  constructor(model: ServiceModel, structure: Structure | undefined, object: WireObject) {
    this.#model = model;
    this.#structure = structure;
    this.#object = object;
  }

  text(name: string): string | undefined {
    const value = this.#value(name);
    return value === undefined || typeof value === "string" ? value : wrong(name);
  }

  /** The same for a member that must be there. */
  need(name: string): string {
    return this.text(name) ?? this.#missing(name);
  }

  number(name: string): number | undefined {
    const value = this.#value(name);
    return value === undefined || typeof value === "number" ? value : wrong(name);
  }

  flag(name: string): boolean | undefined {
    const value = this.#value(name);
    return value === undefined || typeof value === "boolean" ? value : wrong(name);
  }

  bytes(name: string): Uint8Array | undefined {
    const value = this.#value(name);
    return value === undefined || value instanceof Uint8Array ? value : wrong(name);
  }

  texts(name: string): readonly string[] | undefined {
    return this.#list(name)?.map((value) => (typeof value === "string" ? value : wrong(name)));
  }

  object(name: string): Input | undefined {
    const value = this.#value(name);
    return value === undefined ? undefined : this.#inner(name, this.#refOf(name), value);
  }

  /** An empty list when there is none. */
  objects(name: string): readonly Input[] {
    const ref = this.#refOf(name);
    const item = typeof ref === "object" && "list" in ref ? ref.list : wrong(name);
    return (this.#list(name) ?? []).map((value) => this.#inner(name, item, value));
  }

  /** A map of texts. */
  map(name: string): Readonly<Record<string, string>> | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (!isWireObject(value)) return wrong(name);
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, typeof each === "string" ? each : wrong(name)]),
    );
  }

  /** A map of structures. */
  objectMap(name: string): Readonly<Record<string, Input>> | undefined {
    const value = this.#value(name);
    const ref = this.#refOf(name);
    if (value === undefined) return undefined;
    if (!isWireObject(value) || typeof ref !== "object" || !("map" in ref)) return wrong(name);
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, this.#inner(name, ref.map, each)]),
    );
  }

  /** Does the operation have such a member at all? */
  knows(name: string): boolean {
    return Object.hasOwn(this.#structure?.members ?? {}, name);
  }

  has(name: string): boolean {
    return this.#value(name) !== undefined;
  }

  /** All of it as it came, for what is kept as a record. */
  whole(): WireObject {
    return this.#object;
  }

  #list(name: string): readonly WireValue[] | undefined {
    const value = this.#value(name);
    return value === undefined || Array.isArray(value) ? value : wrong(name);
  }

  #inner(name: string, ref: Ref, value: WireValue): Input {
    if (!isStructure(ref)) return wrong(name);
    // A map's entry may come without its value.
    const object = value === undefined ? {} : isWireObject(value) ? value : wrong(name);
    return new Input(this.#model, this.#model.structure(ref), object);
  }

  #value(name: string): WireValue {
    this.#refOf(name);
    return this.#object[name];
  }

  #refOf(name: string): Ref {
    const members = this.#structure?.members ?? {};
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (member === undefined) throw new Error(`The model has no member ${name}.`);
    return member.ref;
  }

  #missing(name: string): never {
    const member = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
    const code = this.#model.protocol === "awsQuery" ? "ValidationError" : "ValidationException";
    throw new ApiError(
      code,
      `1 validation error detected: Value null at '${member}' failed to satisfy constraint: Member must not be null`,
    );
  }
}

function wrong(name: string): never {
  throw new Error(`${name} is of another kind in the model.`);
}
