/** Exports and imports, and what guards them (fact 123). */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "@custard/provider/protocol";
import type { StackId } from "../../packages/custard/src/engine/ids.ts";
import type { World } from "../../packages/custard/src/testing/world.ts";
import { MemoryJournal } from "../../packages/custard/src/storage/memory-journal.ts";
import {
  custom,
  failure,
  lines,
  newest,
  plain,
  template,
  worldOf,
  type Answers,
} from "../support/op-world.ts";

let world: World;
let answers: Answers;
beforeEach(() => {
  answers = {};
  world = worldOf(answers);
});
afterEach(() => world.close());

const exported = (value: unknown, name = "shared"): JsonObject => ({
  Outputs: { Out: { Value: value as string, Export: { Name: name } } },
});
const exporter = (value = "one", name = "shared") => template({ E: plain() }, exported(value, name));
const importer = (name = "shared") => template({ I: custom({ Got: { "Fn::ImportValue": name } }) });

async function create(stackName: string, input: { templateBody: string }): Promise<StackId> {
  const id = await world.create({ stackName, ...input });
  expect((await world.settle(id)).status).toBe("CREATE_COMPLETE");
  return id;
}

async function update(stackName: string, input: { templateBody: string }): Promise<string> {
  const id = await world.engine.updateStack({ stackName, ...input });
  return (await world.settle(id)).status;
}

test("an import gets the exported value, and both sides are listed", async () => {
  const id = await create("exporter", exporter());
  await create("importer", importer());
  expect(world.requests.at(-1)?.properties["Got"]).toBe("one");
  expect(await world.engine.exports()).toEqual([{ name: "shared", value: "one", stackId: id }]);
  expect(await world.engine.importers("shared")).toEqual(["importer"]);
});

test("an import in an output, under a computed name, counts as well", async () => {
  await create("exporter", exporter("one", "exporter-shared"));
  const body = template(
    { X: plain() },
    {
      Parameters: { From: { Type: "String", Default: "exporter" } },
      Outputs: { O: { Value: { "Fn::ImportValue": { "Fn::Sub": "${From}-shared" } } } },
    },
  );
  const id = await create("importer", body);
  expect((await world.engine.stack(id)).outputs).toEqual([{ name: "O", value: "one" }]);
  await expect(world.engine.deleteStack({ stack: "exporter" })).rejects.toMatchObject({
    code: "ExportInUse",
  });
});

describe("an export that isn't there", () => {
  test("fails the stack on create, before any resource starts", async () => {
    const id = await world.create(importer());
    await world.settle(id);
    expect(await lines(world, id)).toEqual([
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "my-stack ROLLBACK_IN_PROGRESS No export named shared found. Rollback requested by user.",
      "my-stack ROLLBACK_COMPLETE",
    ]);
  });

  test("fails the stack on update", async () => {
    const id = await create("importer", template({ I: custom() }));
    const seen = await newest(world, id);
    expect(await update("importer", importer())).toBe("UPDATE_ROLLBACK_COMPLETE");
    expect((await lines(world, id, seen))[1]).toBe(
      "importer UPDATE_ROLLBACK_IN_PROGRESS No export named shared found",
    );
  });

  test("can come to be: the create then works", async () => {
    await world.settle(await world.create({ stackName: "importer", ...importer() }));
    await create("exporter", exporter());
    await world.engine.deleteStack({ stack: "importer" });
    await world.quiet();
    await create("importer", importer());
    expect(await world.engine.importers("shared")).toEqual(["importer"]);
  });

  test("is of another region", async () => {
    const id = await world.create({ stackName: "exporter", region: "eu-west-1", ...exporter() });
    await world.settle(id);
    expect((await world.settle(await world.create(importer()))).status).toBe("ROLLBACK_COMPLETE");
    expect(await world.engine.exports()).toEqual([]);
    expect(await world.engine.exports({ region: "eu-west-1" })).toHaveLength(1);
  });
});

describe("an export in use", () => {
  beforeEach(async () => {
    await create("exporter", exporter());
    await create("importer", importer());
  });

  test("keeps its stack from being deleted", async () => {
    await expect(world.engine.deleteStack({ stack: "exporter" })).rejects.toThrow(
      "Export shared cannot be deleted as it is in use by importer",
    );
    expect((await world.engine.stack("exporter")).status).toBe("CREATE_COMPLETE");
  });

  test.each([
    {
      what: "removed",
      next: template({ E: plain({ Value: "2" }) }),
      reason: "Export shared cannot be deleted as it is in use by importer",
    },
    {
      what: "renamed",
      next: exporter("one", "other"),
      reason: "Export shared cannot be deleted as it is in use by importer",
    },
    {
      what: "changed",
      next: exporter("two"),
      reason: "Export shared cannot be updated as it is in use by importer",
    },
  ])("can't be $what", async ({ next, reason }) => {
    const seen = await newest(world, (await world.engine.stack("exporter")).stackId);
    expect(await update("exporter", next)).toBe("UPDATE_ROLLBACK_COMPLETE");
    const { stackId } = await world.engine.stack("exporter");
    expect(await lines(world, stackId, seen)).toContain(`exporter UPDATE_ROLLBACK_IN_PROGRESS ${reason}`);
    expect(await world.engine.exports()).toEqual([{ name: "shared", value: "one", stackId }]);
  });

  test("names all who use it", async () => {
    await create("second", importer());
    await create("third", importer());
    await expect(world.engine.deleteStack({ stack: "exporter" })).rejects.toThrow(
      "in use by importer, second and third",
    );
  });

  test("is free when its importer is deleted", async () => {
    await world.engine.deleteStack({ stack: "importer" });
    await world.quiet();
    await expect(world.engine.importers("shared")).rejects.toThrow(
      "Export 'shared' is not imported by any stack.",
    );
    await world.engine.deleteStack({ stack: "exporter" });
    await world.quiet();
    expect(await world.engine.exports()).toEqual([]);
  });

  test("is free when its importer uses it no more, and not before its update is sure", async () => {
    answers["Update I"] = (request) =>
      request.properties["Got"] === undefined ? failure("no") : { answer: {} };
    expect(await update("importer", template({ I: custom() }))).toBe("UPDATE_ROLLBACK_COMPLETE");
    expect(await world.engine.importers("shared")).toEqual(["importer"]);
    delete answers["Update I"];
    expect(await update("importer", template({ I: custom() }))).toBe("UPDATE_COMPLETE");
    await world.quiet();
    expect(await update("exporter", exporter("two"))).toBe("UPDATE_COMPLETE");
  });

  test("stays in use when it is dropped and taken up again", async () => {
    expect(await update("importer", template({ I: custom() }))).toBe("UPDATE_COMPLETE");
    expect(await update("importer", importer())).toBe("UPDATE_COMPLETE");
    await world.quiet();
    expect(await world.engine.importers("shared")).toEqual(["importer"]);
  });
});

test("an importer whose create fails has released what it asked for", async () => {
  answers["Create I"] = failure("no");
  await create("exporter", exporter());
  const id = await world.create({ stackName: "importer", ...importer() });
  expect((await world.settle(id)).status).toBe("ROLLBACK_COMPLETE");
  await world.quiet();
  const { stackId } = await world.engine.stack("exporter");
  await world.engine.deleteStack({ stack: stackId });
  expect((await world.settle(stackId)).status).toBe("DELETE_COMPLETE");
});

describe("an export name", () => {
  test("belongs to one stack: a second create rolls back", async () => {
    await create("first", exporter());
    const id = await world.create({ stackName: "second", ...exporter("two") });
    expect((await world.settle(id)).status).toBe("ROLLBACK_COMPLETE");
    expect(await lines(world, id)).toContain(
      "second ROLLBACK_IN_PROGRESS Export with name shared is already exported by stack first. Rollback requested by user.",
    );
  });

  test("is free again when its stack has given it up, or is gone", async () => {
    await create("first", exporter());
    expect(await update("first", template({ E: plain({ Value: "2" }) }))).toBe("UPDATE_COMPLETE");
    await create("second", exporter("two"));
    await world.engine.deleteStack({ stack: "second" });
    await world.quiet();
    expect(await update("first", exporter("three"))).toBe("UPDATE_COMPLETE");
  });

  test("stays with its stack when an update that gave it up is rolled back", async () => {
    const id = await create("first", exporter());
    answers["Create C"] = failure("no");
    expect(await update("first", template({ E: plain(), C: custom() }))).toBe("UPDATE_ROLLBACK_COMPLETE");
    expect(await world.engine.exports()).toEqual([{ name: "shared", value: "one", stackId: id }]);
  });
});

test("an import that was asked for goes on after a crash", async () => {
  const journal = new MemoryJournal();
  await world.close();
  world = worldOf(answers, { journal, seed: "first" });
  await create("exporter", exporter());
  const id = await world.create({ stackName: "importer", ...importer() });
  // Nothing of it was performed yet when the process ended.
  await world.close();
  world = worldOf(answers, { journal, seed: "second" });
  expect((await world.settle(id)).status).toBe("CREATE_COMPLETE");
  expect(await world.engine.importers("shared")).toEqual(["importer"]);
});
