import { defineResource } from "@custard/provider";
import { z } from "zod";
import { kafka } from "./kafka.ts";

export const Topic = defineResource({
  type: "Custom::KafkaTopic",
  properties: z.object({
    Name: z.string().max(200),
    Partitions: z.number().int().min(1), // arrives as "6", the handler sees 6
    Compact: z.boolean().default(false), // arrives as "false", the handler sees false
    ApiKey: z.string(),
  }),
  attributes: z.object({ Arn: z.string(), Endpoint: z.string(), Partitions: z.number() }),
  sensitive: ["ApiKey"],
  replaceOn: ["Name"],
  immutable: { Partitions: (old, now) => now >= old || "partitions can only grow" },
  timeouts: { create: "5m" },

  async create({ properties, ctx }) {
    const id = ctx.adopt();
    await kafka.create(id, properties);
    return ctx.pending({ asked: 0 }, { every: "100ms" });
  },
  async poll({ id, state, ctx }) {
    if (!(await kafka.isReady(id))) return ctx.pending({ asked: state.asked + 1 }, { every: "100ms" });
    return kafka.describe(id);
  },
  async update({ id, properties }) {
    await kafka.grow(id, properties.Partitions);
    return kafka.describe(id);
  },
  async delete({ id }) {
    await kafka.remove(id);
  },
  async read({ id }) {
    return kafka.describe(id);
  },
});
