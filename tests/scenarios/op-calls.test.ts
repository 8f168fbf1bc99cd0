/** How calls are taken: previous templates, repeated calls, refusals. */
import { afterEach, expect, test } from "vitest";
import type { World } from "../../packages/custard/src/testing/world.ts";
import { custom, lines, newest, serviceToken, template, worldOf, type Answers } from "../support/op-world.ts";

let world: World;
afterEach(() => world.close());

const withParameter = template(
  { A: { Type: "Custom::A", Properties: { ServiceToken: serviceToken, V: { Ref: "V" }, W: { Ref: "W" } } } },
  { Parameters: { V: { Type: "String" }, W: { Type: "String" } } },
);

test("an update with the previous template changes parameters alone; others keep their values", async () => {
  world = worldOf({});
  const id = await world.create({ ...withParameter, parameters: { V: "1", W: "1" } });
  await world.settle(id);
  await world.engine.updateStack({
    stackName: "my-stack",
    usePreviousTemplate: true,
    parameters: { V: "2" },
    previousParameters: ["W"],
  });
  expect((await world.settle(id)).status).toBe("UPDATE_COMPLETE");
  expect(world.requests.at(-1)).toMatchObject({ requestType: "Update", properties: { V: "2", W: "1" } });
});

test("an update needs a template, or the word that it is the previous one", async () => {
  world = worldOf({});
  await world.settle(await world.create({ ...withParameter, parameters: { V: "1", W: "1" } }));
  await expect(world.engine.updateStack({ stackName: "my-stack" })).rejects.toThrow(
    "Either Template URL or Template Body must be specified.",
  );
});

test("a call repeated with its token does nothing more", async () => {
  const answers: Answers = {};
  world = worldOf(answers);
  const create = { ...template({ A: custom({ V: "1" }) }), clientRequestToken: "create-1" };
  const id = await world.create(create);
  await world.settle(id);
  expect(await world.create(create)).toBe(id);
  await expect(world.create({ ...create, clientRequestToken: "create-2" })).rejects.toThrow(
    "Stack [my-stack] already exists",
  );

  const update = {
    stackName: "my-stack",
    ...template({ A: custom({ V: "2" }) }),
    clientRequestToken: "update-1",
  };
  await world.engine.updateStack(update);
  await world.engine.updateStack(update);
  await world.settle(id);
  const seen = await newest(world, id);
  await world.engine.updateStack(update);
  expect(await lines(world, id, seen)).toEqual([]);
  await expect(world.engine.updateStack({ ...update, clientRequestToken: "update-2" })).rejects.toThrow(
    "No updates are to be performed.",
  );
});

test("cancelling rolls back, also an update that would not have (facts 49, 66)", async () => {
  world = worldOf({
    "Update A": (request) =>
      "oldProperties" in request && request.properties["V"] === "2" ? "silence" : { answer: {} },
  });
  const id = await world.create(template({ A: custom({ V: "1" }) }));
  await world.settle(id);
  const seen = await newest(world, id);
  await world.engine.updateStack({
    stackName: "my-stack",
    ...template({ A: custom({ V: "2" }) }),
    disableRollback: true,
  });
  await world.quiet();
  await world.engine.cancelUpdate({ stack: id, clientRequestToken: "stop" });
  expect((await world.settle(id)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
  expect(await lines(world, id, seen)).toEqual([
    "my-stack UPDATE_IN_PROGRESS User Initiated",
    "A UPDATE_IN_PROGRESS",
    "A UPDATE_FAILED Resource update cancelled",
    "my-stack UPDATE_ROLLBACK_IN_PROGRESS Stack update cancelled",
    "A UPDATE_IN_PROGRESS",
    "A UPDATE_COMPLETE",
    "my-stack UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
    "my-stack UPDATE_ROLLBACK_COMPLETE",
  ]);
  await world.engine.cancelUpdate({ stack: id, clientRequestToken: "stop" });
  await expect(world.engine.cancelUpdate(id)).rejects.toThrow(
    "CancelUpdateStack cannot be called from current stack status",
  );
});

test.each([
  {
    tags: { "aws:mine": "x" },
    says: "aws: prefixed tag key names are not allowed for external use.",
  },
  {
    tags: { ["k".repeat(129)]: "x" },
    says: `1 validation error detected: Value '${"k".repeat(129)}' at 'tags.1.member.key' failed to satisfy constraint: Member must have length less than or equal to 128`,
  },
  {
    tags: { fine: "x", large: "v".repeat(257) },
    says: "at 'tags.2.member.value' failed to satisfy constraint: Member must have length less than or equal to 256",
  },
  {
    tags: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, "x"])),
    says: "at 'tags' failed to satisfy constraint: Member must have length less than or equal to 50",
  },
])("a stack takes no tags against the rules: $says", async ({ tags, says }) => {
  world = worldOf({});
  await expect(world.create({ ...template({ A: custom() }), tags })).rejects.toThrow(says);
});
