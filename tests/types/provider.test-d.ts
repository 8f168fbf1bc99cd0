/** What must compile, and what must not. Checked by `npm run check:types`: an expected error that isn't one is one. */
import { defineResource, type JsonObject } from "@custard/provider";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { simulate } from "../../packages/custard/src/testing.ts";

const gone = async (): Promise<void> => undefined;
const attributes = z.object({ Arn: z.string(), Size: z.number() });

/** Properties and state are what the schemas and `pending` say. */
defineResource({
  type: "Custom::Topic",
  properties: z.object({ Name: z.string(), Partitions: z.number().default(1) }),
  attributes,
  sensitive: ["Name", "Arn"],
  replaceOn: ["Name"],
  immutable: { Partitions: (old, now) => now >= old || "no" },
  create: async ({ properties, ctx }) => {
    const partitions: number = properties.Partitions;
    return ctx.pending({ job: `${partitions}` }, { every: "15s" });
  },
  poll: async ({ state, id }) => {
    const job: string = state.job;
    return { Arn: `${id}${job}`, Size: 1 };
  },
  update: async ({ changed, old, ctx }) => {
    if (changed("Partitions"))
      return ctx.replace("other", { Arn: "a", Size: old.ok ? old.value.Partitions : 0 });
    return { Arn: "a", Size: 1 };
  },
  delete: gone,
});

/** Other libraries. */
defineResource({
  type: "Custom::Valibot",
  properties: v.object({ Name: v.string() }),
  create: async ({ properties }) => ({ id: properties.Name satisfies string }),
  delete: gone,
});
defineResource({
  type: "Custom::Arktype",
  properties: type({ Name: "string" }),
  create: async ({ properties }) => ({ id: properties.Name satisfies string }),
  delete: gone,
});

/** Without schemas. */
defineResource({
  type: "Custom::Free",
  create: async ({ properties }) => ({ attributes: { Given: properties satisfies JsonObject } }),
  update: gone,
  delete: gone,
});

/** An id in `update` would replace the resource. */
defineResource({
  type: "Custom::Topic",
  attributes,
  create: async () => ({ id: "a", attributes: { Arn: "a", Size: 1 } }),
  // @ts-expect-error an update can't change the id by returning one
  update: async () => ({ id: "b", Arn: "a", Size: 1 }),
  delete: gone,
});
defineResource({
  type: "Custom::Free",
  create: gone,
  // @ts-expect-error nor where any attributes are allowed
  update: async () => ({ id: "b" }),
  delete: gone,
});

/** A missing attribute breaks whoever asks for it. */
defineResource({
  type: "Custom::Topic",
  attributes,
  // @ts-expect-error Size is missing
  create: async () => ({ id: "a", attributes: { Arn: "a" } }),
  delete: gone,
});
defineResource({
  type: "Custom::Topic",
  attributes,
  create: async () => ({ attributes: { Arn: "a", Size: 1 } }),
  // @ts-expect-error Size is missing
  update: async () => ({ Arn: "a" }),
  delete: gone,
});
defineResource({
  type: "Custom::Topic",
  attributes,
  // @ts-expect-error no attributes at all
  create: async () => ({ id: "a" }),
  delete: gone,
});

/** Names must exist. */
defineResource({
  type: "Custom::Topic",
  properties: z.object({ Name: z.string() }),
  // @ts-expect-error there is no such property
  replaceOn: ["Nmae"],
  create: gone,
  delete: gone,
});
defineResource({
  type: "Custom::Topic",
  properties: z.object({ Name: z.string() }),
  create: gone,
  update: async ({ changed }) => {
    // @ts-expect-error there is no such property
    changed("Nmae");
  },
  delete: gone,
});

/** A type name begins with Custom::. */
defineResource({
  // @ts-expect-error
  type: "Topic",
  create: gone,
  delete: gone,
});

/** State is JSON. */
defineResource({
  type: "Custom::Topic",
  create: async ({ ctx }) => {
    // @ts-expect-error a function doesn't survive until the next poll
    return ctx.pending({ when: () => 1 });
  },
  delete: gone,
});

/** A simulation takes the schema's properties, some of them, as a template writes them. */
const Note = defineResource({
  type: "Custom::Note",
  properties: z.object({ Title: z.string(), Copies: z.number() }),
  create: gone,
  delete: gone,
});
const sim = simulate(Note, { properties: { Title: "Milk", Copies: "2", ServiceTimeout: 30 } });
void sim.update({ Copies: 3 });
void sim.chaos({ seed: 1, updates: [{ Title: "Bread" }] });
// @ts-expect-error there is no such property
simulate(Note, { properties: { Tilte: "Milk" } });
// @ts-expect-error there is no such property
void sim.update({ Tilte: "Milk" });
// @ts-expect-error there is no such handler
sim.failNext("frob", new Error("no"));
/** What an older template says has the type of any JSON; without a schema all names are allowed. */
const older: JsonObject = { Subject: "Milk" };
simulate(Note, { properties: older });
simulate(defineResource({ type: "Custom::Free", create: gone, delete: gone }), {
  properties: { Any: ["a"] },
});
