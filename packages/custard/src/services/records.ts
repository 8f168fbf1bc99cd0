/**
 * Resources that are no more than what is said of them: kept, so that services can show what stacks made, and stacks
 * know of what was made otherwise. What a resource declares is kept in the form of its template.
 */
import type { Json, JsonObject } from "@custard/provider/protocol";
import type { Documents } from "../engine/ports.ts";

/** Where records of one type are. */
export interface RecordPlace {
  readonly partition: string;
  readonly account: string;
  readonly region: string;
  readonly type: string;
}

/** A kept resource; secrets in clear. */
export interface KeptRecord {
  /** Empty when no stack made it. */
  readonly stackId: string;
  readonly logicalId: string;
  readonly token: string;
  readonly properties: JsonObject;
  readonly attributes: JsonObject;
  /** Milliseconds since the epoch; absent in records of older state directories. */
  readonly createdAt?: number;
  /** What was added by other means than its stack; updates of the stack leave it alone. */
  readonly additions?: JsonObject;
}

/** A record with its physical id. */
export interface NamedRecord extends KeptRecord {
  readonly id: string;
}

/** Records in `Documents`, under `resource/<partition>/<account>/<region>/<type>/<physical id>`. */
export class Records {
  readonly #documents: Documents;
  readonly #now: () => number;

  constructor(documents: Documents, now: () => number) {
    this.#documents = documents;
    this.#now = now;
  }

  async find(place: RecordPlace, id: string): Promise<NamedRecord | undefined> {
    const value = await this.#documents.get(keyOf(place, id));
    return value === undefined ? undefined : parseRecord(value, id);
  }

  /** The records of one type, by id. */
  async list(place: RecordPlace): Promise<readonly NamedRecord[]> {
    const prefix = keyOf(place, "");
    const entries = await this.#documents.list(prefix);
    return entries.map(({ key, value }) => parseRecord(value, key.slice(prefix.length)));
  }

  /** Notes the time of the first put, unless the record has one. */
  async put(place: RecordPlace, id: string, record: KeptRecord): Promise<NamedRecord> {
    const { stackId, logicalId, token, properties, attributes, additions } = record;
    const createdAt = record.createdAt ?? this.#now();
    const kept = { stackId, logicalId, token, properties, attributes, createdAt };
    const whole = additions === undefined ? kept : { ...kept, additions };
    await this.#documents.put(keyOf(place, id), whole);
    return { ...whole, id };
  }

  async delete(place: RecordPlace, id: string): Promise<void> {
    await this.#documents.delete(keyOf(place, id));
  }
}

/** A record of what no stack made. */
export function ownRecord(properties: JsonObject, attributes: JsonObject): KeptRecord {
  return { stackId: "", logicalId: "", token: "", properties, attributes };
}

/** A text within what was declared; undefined when there is none. */
export function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The texts of a list; empty when there is none. */
export function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}

/** The objects of a list; empty when there is none. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** An object; an empty one when there is none. */
export function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** Tags in the form of templates, by key. */
export function declaredTags(value: Json | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(
    objectsOf(value).map(({ Key, Value }) => [textOf(Key) ?? "", textOf(Value) ?? ""]),
  );
}

/** Tags in the form of templates. */
export function toDeclaredTags(tags: Readonly<Record<string, string>>): readonly JsonObject[] {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function keyOf({ partition, account, region, type }: RecordPlace, id: string): string {
  const home = type.startsWith("AWS::IAM::") ? "global" : region;
  return `resource/${partition}/${account}/${home}/${type}/${id}`;
}

function parseRecord(value: unknown, id: string): NamedRecord {
  if (!isRecord(value)) throw new Error("A kept resource record is damaged.");
  const record: KeptRecord = value;
  return { ...record, id };
}

function isRecord(value: unknown): value is KeptRecord {
  return (
    typeof value === "object" &&
    value !== null &&
    "stackId" in value &&
    "logicalId" in value &&
    "token" in value
  );
}
