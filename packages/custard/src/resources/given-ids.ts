import type { PhysicalId } from "../engine/ids.ts";
import type { Documents, ResourceTask } from "../engine/ports.ts";

/**
 * The ids that resources got on their creation, where those aren't the generated ones. A creation may be cancelled
 * before the engine has heard of its id; the Delete that follows then carries the generated one.
 */
export class GivenIds {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Of a creation that is done. */
  async note(task: ResourceTask, physicalId: PhysicalId): Promise<void> {
    if (physicalId !== task.physicalId)
      await this.#documents.put(prefixOf(task) + task.physicalId, physicalId);
  }

  /** What a Delete is really about. */
  async find(task: ResourceTask): Promise<PhysicalId> {
    const given = await this.#documents.get(prefixOf(task) + task.physicalId);
    return typeof given === "string" ? (given as PhysicalId) : task.physicalId;
  }

  /** Of a resource that is gone. */
  async forget(task: ResourceTask, physicalId: PhysicalId): Promise<void> {
    for (const { key, value } of await this.#documents.list(prefixOf(task)))
      if (value === physicalId) await this.#documents.delete(key);
  }
}

function prefixOf({ stackId, logicalId }: ResourceTask): string {
  return `given-id/${stackId}/${logicalId}/`;
}
