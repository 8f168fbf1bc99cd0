/** A service that knows topics, and a resource for them: what the life-cycle tests work with. */
import { defineResource, NotFound, type Resource } from "@custard/provider";
import { z } from "zod";

/** One topic of the service. */
export interface Topic {
  readonly name: string;
  partitions: number;
  ready: boolean;
}

/** A service in memory; a topic's id is made by the service. */
export class Kafka {
  readonly topics = new Map<string, Topic>();
  #made = 0;

  create(name: string, partitions: number): string {
    for (const topic of this.topics.values())
      if (topic.name === name) throw new Error(`${name} exists already`);
    this.#made += 1;
    const id = `topic-${this.#made}`;
    this.topics.set(id, { name, partitions, ready: false });
    return id;
  }

  find(id: string): Topic {
    const topic = this.topics.get(id);
    if (topic === undefined) throw new NotFound(`there is no topic ${id}`);
    return topic;
  }

  remove(id: string): void {
    this.find(id);
    this.topics.delete(id);
  }
}

const properties = z.object({
  Name: z.string().min(1),
  Partitions: z.number().int().min(1),
  ApiKey: z.string().optional(),
  Nonce: z.string().optional(),
});
const attributes = z.object({ Arn: z.string(), Partitions: z.number() });

type Properties = z.infer<typeof properties>;
type Attributes = z.infer<typeof attributes>;

/** The resource over that service. */
export function topicOf(kafka: Kafka, polls = 0): Resource<Properties, Attributes, { left: number }> {
  const read = (id: string): Attributes => ({
    Arn: `arn:kafka:${id}`,
    Partitions: kafka.find(id).partitions,
  });
  return defineResource({
    type: "Custom::Topic",
    properties,
    attributes,
    sensitive: ["ApiKey"],
    replaceOn: ["Name"],
    immutable: { Partitions: (old, now) => now >= old || "partitions can only grow" },
    async create({ properties: { Name, Partitions }, ctx }) {
      const id = ctx.adopt(kafka.create(Name, Partitions));
      ctx.log.info("made", { id });
      return polls > 0 ? ctx.pending({ left: polls }, { every: "15s" }) : { id, attributes: read(id) };
    },
    async poll({ id, state, ctx }) {
      if (state.left > 1) return ctx.pending({ left: state.left - 1 }, { every: "15s" });
      return read(id);
    },
    async update({ id, properties: { Partitions }, changed }) {
      if (changed("Partitions")) kafka.find(id).partitions = Partitions;
      return read(id);
    },
    async delete({ id }) {
      kafka.remove(id);
    },
    async read({ id }) {
      return read(id);
    },
  });
}
