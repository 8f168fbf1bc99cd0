import { defineResource } from "@custard/provider";
import { z } from "zod";
import { createNote, deleteNote, readNote, updateNote } from "./notes.ts";

/** A note: replace it by what you need. */
export const Note = defineResource({
  type: "Custom::Note",
  // What templates may set. Everything arrives as a string; here numbers and booleans are what they should be.
  properties: z.object({
    Title: z.string().min(1).max(80),
    Text: z.string().default(""),
    Copies: z.number().int().min(1).default(1),
  }),
  // What Fn::GetAtt may ask for. Leave one out in a handler, and it doesn't compile.
  attributes: z.object({ Url: z.string(), Words: z.number() }),
  // A note with another title is another note: CloudFormation deletes the old one when all else is done.
  replaceOn: ["Title"],

  async create({ properties, ctx }) {
    // From here on a failure is cleaned up under this id.
    const id = ctx.adopt();
    await createNote(id, properties);
    return { id, attributes: await readNote(id) };
  },
  async update({ id, properties }) {
    await updateNote(id, properties);
    return readNote(id);
  },
  async delete({ id }) {
    await deleteNote(id);
  },
  async read({ id }) {
    return readNote(id);
  },
});
