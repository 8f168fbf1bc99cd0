import type { ValueMap } from "../template/value.ts";
import { revealMap } from "../template/value.ts";
import type { ConfigStore } from "../services/config-store.ts";
import type { Handler, Made } from "./handler.ts";
import type { KeptRecords } from "./kept-records.ts";
import { placeholderAttributes, placeholderId } from "./placeholder.ts";
import type { RecordType } from "./record-type.ts";
import type { ResourceSchema } from "./schema.ts";
import type { Subject } from "./subject.ts";

/** Makes, changes and deletes resources of a record type. */
export function recordHandler(type: RecordType, schema: ResourceSchema, records: KeptRecords): Handler {
  return {
    async create(subject) {
      const physicalId = type.physicalId?.(subject) ?? placeholderId(subject, schema);
      const made = describe({ type, schema, subject }, physicalId);
      await records.create(subject.task, physicalId, contentOf(subject, made));
      return made;
    },
    async update(subject) {
      const made = describe({ type, schema, subject }, subject.task.physicalId);
      await records.update(subject.task, contentOf(subject, made));
      return made;
    },
    delete: ({ task }) => records.delete(task),
  };
}

/**
 * Makes resources of a type that nothing stands behind; nothing is kept of them. What the user's configuration gives
 * exactly is taken from there.
 */
export function placeholderHandler(schema: ResourceSchema, config: ConfigStore): Handler {
  async function made(subject: Subject, usualId: () => string): Promise<Made> {
    const { type, logicalId } = subject.task;
    const given = await config.resource(type, logicalId);
    const described = describe({ type: {}, schema, subject }, given?.physicalId ?? usualId());
    return { ...described, attributes: { ...described.attributes, ...given?.attributes } };
  }
  return {
    create: (subject) => made(subject, () => placeholderId(subject, schema)),
    // An id that the configuration gives only now is another resource's: it takes effect with the next replacement.
    async update(subject) {
      const { physicalId } = subject.task;
      return { ...(await made(subject, () => physicalId)), physicalId };
    },
    async delete() {},
  };
}

interface Described {
  readonly type: RecordType;
  readonly schema: ResourceSchema;
  readonly subject: Subject;
}

function describe({ type, schema, subject }: Described, physicalId: string): Made {
  const attributes: ValueMap = {
    ...placeholderAttributes(subject, schema, physicalId),
    ...type.attributes?.(subject, physicalId),
  };
  return { physicalId, attributes };
}

function contentOf({ properties }: Subject, { attributes }: Made) {
  return { properties, attributes: revealMap(attributes) };
}
