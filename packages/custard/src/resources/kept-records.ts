/**
 * What record types keep, by type and physical id.
 *
 * Invariants
 * K1: an id belongs to the resource that took it first, until that one is deleted.
 * K2: a create that comes twice with one token changes nothing the second time.
 */
import type { JsonObject } from "@custard/provider/protocol";
import type { ResourceTask } from "../engine/ports.ts";
import type { KeptRecord, NamedRecord, Records } from "../services/records.ts";
import { alreadyExists, ResourceFailure } from "./failure.ts";

/** Records of the resources of stacks. */
export class KeptRecords {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** Throws `ResourceFailure` when the id belongs to another resource. */
  async create(task: ResourceTask, physicalId: string, content: RecordContent): Promise<void> {
    const owner = await this.find(task, physicalId);
    if (owner !== undefined && !isSame(owner, task)) throw inUse(owner, task, physicalId);
    await this.#put(task, { id: physicalId, content, before: owner });
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
    const before = await this.find(task, task.physicalId);
    await this.#put(task, { id: task.physicalId, content, before });
  }

  /** Leaves a record alone that belongs to another resource. */
  async delete(task: ResourceTask): Promise<void> {
    if (await this.owns(task)) await this.#records.delete(task, task.physicalId);
  }

  async find(task: ResourceTask, physicalId: string): Promise<NamedRecord | undefined> {
    return await this.#records.find(task, physicalId);
  }

  async #put(
    task: ResourceTask,
    { id, content, before }: { id: string; content: RecordContent; before: KeptRecord | undefined },
  ): Promise<void> {
    const { stackId, logicalId, token } = task;
    await this.#records.put(task, id, { ...before, stackId, logicalId, token, ...content });
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
  if (owner.stackId === "") return new ResourceFailure(`${physicalId} already exists`);
  if (owner.stackId !== task.stackId || owner.logicalId !== task.logicalId)
    return alreadyExists(physicalId, owner.stackId);
  return new ResourceFailure(
    `CloudFormation cannot update a stack when a custom-named resource requires replacing. Rename ${physicalId} and update the stack again.`,
  );
}
