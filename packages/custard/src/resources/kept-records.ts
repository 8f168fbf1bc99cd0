/**
 * What record types keep, by type and physical id.
 *
 * Invariants
 * K1: an id belongs to the resource that took it first, until that one is deleted.
 * K2: a create that comes twice with one token changes nothing the second time.
 */
import type { Json, JsonObject } from "@custard/provider/protocol";
import type { Documents, ResourceTask } from "../engine/ports.ts";
import { alreadyExists, ResourceFailure } from "./failure.ts";

/** A kept resource; secrets in clear. */
export interface KeptRecord {
  readonly stackId: string;
  readonly logicalId: string;
  readonly token: string;
  readonly properties: JsonObject;
  readonly attributes: JsonObject;
}

/** Records of resources in `Documents`, under `resource/<partition>/<account>/<region>/<type>/<physical id>`. */
export class KeptRecords {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Throws `ResourceFailure` when the id belongs to another resource. */
  async create(task: ResourceTask, physicalId: string, content: RecordContent): Promise<void> {
    const owner = await this.find(task, physicalId);
    if (owner !== undefined && !isSame(owner, task)) throw inUse(owner, task, physicalId);
    await this.#put(task, physicalId, content);
  }

  /**
   * Says why an id can't be taken that a service says is in use: by a resource of a stack, or by what was made
   * otherwise. Throws `ResourceFailure`.
   */
  async refuseTaken(task: ResourceTask, physicalId: string): Promise<never> {
    const owner = await this.find(task, physicalId);
    throw owner === undefined
      ? new ResourceFailure(`${physicalId} already exists`)
      : inUse(owner, task, physicalId);
  }

  /** Does the resource of this task have the id? */
  async owns(task: ResourceTask): Promise<boolean> {
    const owner = await this.find(task, task.physicalId);
    return owner?.stackId === task.stackId && owner.logicalId === task.logicalId;
  }

  async update(task: ResourceTask, content: RecordContent): Promise<void> {
    await this.#put(task, task.physicalId, content);
  }

  /** Leaves a record alone that belongs to another resource. */
  async delete(task: ResourceTask): Promise<void> {
    if (await this.owns(task)) await this.#documents.delete(keyOf(task, task.physicalId));
  }

  async find(task: ResourceTask, physicalId: string): Promise<KeptRecord | undefined> {
    const value = await this.#documents.get(keyOf(task, physicalId));
    return value === undefined ? undefined : parseRecord(value);
  }

  #put(task: ResourceTask, physicalId: string, content: RecordContent): Promise<void> {
    const { stackId, logicalId, token } = task;
    return this.#documents.put(keyOf(task, physicalId), { stackId, logicalId, token, ...content });
  }
}

interface RecordContent {
  readonly properties: JsonObject;
  readonly attributes: JsonObject;
}

function isSame(owner: KeptRecord, task: ResourceTask): boolean {
  return owner.stackId === task.stackId && owner.logicalId === task.logicalId && owner.token === task.token;
}

/** A replacement that keeps its custom name can't exist beside the old resource. */
function inUse(owner: KeptRecord, task: ResourceTask, physicalId: string): ResourceFailure {
  if (owner.stackId !== task.stackId || owner.logicalId !== task.logicalId)
    return alreadyExists(physicalId, owner.stackId);
  return new ResourceFailure(
    `CloudFormation cannot update a stack when a custom-named resource requires replacing. Rename ${physicalId} and update the stack again.`,
  );
}

function keyOf({ partition, account, region, type }: ResourceTask, physicalId: string): string {
  const home = type.startsWith("AWS::IAM::") ? "global" : region;
  return `resource/${partition}/${account}/${home}/${type}/${physicalId}`;
}

function parseRecord(value: Json): KeptRecord {
  if (!isRecord(value)) throw new Error("A kept resource record is damaged.");
  return value;
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
