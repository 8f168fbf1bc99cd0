import { describe, expect, test } from "vitest";
import { defineResource } from "./define-resource.ts";
import type { ResourceDefinition } from "./resource.ts";

/** A definition as from JavaScript, where nothing checks types. */
function define(changes: object): () => unknown {
  const definition = {
    type: "Custom::Note",
    create: async () => ({}),
    delete: async () => undefined,
    ...changes,
  };
  return () => defineResource(definition as unknown as ResourceDefinition<never, never, never>);
}

describe("a definition", () => {
  test("may have what its type says, and be defined again with changes", () => {
    const read = async () => ({});
    const resource = define({ read, update: undefined, timeouts: { create: "5m" }, replaceOn: ["Name"] })();
    expect(resource).toMatchObject({ type: "Custom::Note" });
    expect(define({ ...Object(resource), timeouts: {} })).not.toThrow();
    expect(Object(resource).describe().handlers).toEqual(["create", "delete", "read"]);
  });

  test.each<[says: string, changes: object]>([
    ["Not a type name: 'Note'", { type: "Note" }],
    ["Custom::Note: a definition has no 'onCreate', only type, properties", { onCreate: async () => ({}) }],
    ["Custom::Note: a definition has no 'replaceon'", { replaceon: ["Name"] }],
    ["Custom::Note needs a create handler", { create: undefined }],
    ["Custom::Note needs a delete handler", { delete: undefined }],
    ["Custom::Note: poll must be a function", { poll: true }],
    ["Custom::Note: replaceOn must be a list of names", { replaceOn: "Name" }],
    ["Custom::Note: sensitive must be a list of names", { sensitive: "ApiKey" }],
  ])("is refused: %s", (says, changes) => {
    expect(define(changes)).toThrow(TypeError);
    expect(define(changes)).toThrow(says);
  });
});
