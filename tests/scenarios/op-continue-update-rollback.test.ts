/** A rollback that fails, and how it goes on (fact 72). */
import { afterEach, expect, test } from "vitest";
import type { StackId } from "../../packages/custard/src/engine/ids.ts";
import type { World } from "../../packages/custard/src/testing/world.ts";
import {
  custom,
  failure,
  lines,
  newest,
  requestLines,
  template,
  worldOf,
  type Answers,
} from "../support/op-world.ts";

let world: World;
afterEach(() => world.close());

const first = template({ A: custom({ V: "1" }), B: custom({ V: "1" }, { DependsOn: "A" }) });
const second = template({ A: custom({ V: "2" }), B: custom({ V: "2" }, { DependsOn: "A" }) });

/** A stack whose update failed at B, and whose rollback of B failed as well. */
async function stuck(answers: Answers): Promise<StackId> {
  world = worldOf(answers);
  const id = await world.create(first);
  await world.settle(id);
  answers["Update B"] = failure("stuck");
  await world.engine.updateStack({ stackName: "my-stack", ...second });
  const stack = await world.settle(id);
  expect([stack.status, stack.reason]).toEqual([
    "UPDATE_ROLLBACK_FAILED",
    "The following resource(s) failed to update: [B].",
  ]);
  return id;
}

test("continuing sends the failed restoration again, and what was restored is left alone", async () => {
  const answers: Answers = {};
  const id = await stuck(answers);
  delete answers["Update B"];
  const seen = await newest(world, id);
  const sent = world.requests.length;
  await world.engine.continueUpdateRollback({ stack: id });
  expect((await world.settle(id)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
  expect(await lines(world, id, seen)).toEqual([
    "my-stack UPDATE_ROLLBACK_IN_PROGRESS User Initiated",
    "B UPDATE_IN_PROGRESS",
    "B UPDATE_COMPLETE",
    "my-stack UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
    "my-stack UPDATE_ROLLBACK_COMPLETE",
  ]);
  const [again] = world.requests.slice(sent);
  expect(again).toMatchObject({ requestType: "Update", properties: { V: "1" }, oldProperties: { V: "2" } });
});

test("a skipped resource counts as rolled back, and its provider isn't asked", async () => {
  const answers: Answers = {};
  const id = await stuck(answers);
  const seen = await newest(world, id);
  const sent = world.requests.length;
  await world.engine.continueUpdateRollback({ stack: id, skip: ["B"], clientRequestToken: "again" });
  const stack = await world.settle(id);
  expect(stack.status).toBe("UPDATE_ROLLBACK_COMPLETE");
  expect(await lines(world, id, seen)).toEqual([
    "my-stack UPDATE_ROLLBACK_IN_PROGRESS User Initiated",
    "B UPDATE_COMPLETE",
    "my-stack UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
    "my-stack UPDATE_ROLLBACK_COMPLETE",
  ]);
  expect(requestLines(world, sent)).toEqual([]);
  const events = (await world.events(id)).filter(({ sequence }) => sequence > seen);
  expect(new Set(events.map(({ clientRequestToken }) => clientRequestToken))).toEqual(new Set(["again"]));
  // The next update starts from the old declaration, as if it had been rolled back.
  await world.engine.updateStack({ stackName: "my-stack", ...second });
  await world.quiet();
  expect(world.requests.slice(sent, sent + 2)).toMatchObject([
    { logicalId: "A", oldProperties: { V: "1" } },
    { logicalId: "B", oldProperties: { V: "1" } },
  ]);
});

test("a rollback that fails again can be continued again", async () => {
  const answers: Answers = {};
  const id = await stuck(answers);
  await world.engine.continueUpdateRollback({ stack: id });
  expect((await world.settle(id)).status).toBe("UPDATE_ROLLBACK_FAILED");
  await world.engine.continueUpdateRollback({ stack: id, skip: ["B"] });
  expect((await world.settle(id)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
});

test("only what failed to roll back can be skipped", async () => {
  const id = await stuck({});
  await expect(world.engine.continueUpdateRollback({ stack: id, skip: ["A"] })).rejects.toThrow("[A]");
  expect((await world.engine.stack(id)).status).toBe("UPDATE_ROLLBACK_FAILED");
});

test("there is nothing to continue elsewhere; and until then the stack can only be deleted", async () => {
  const answers: Answers = {};
  const id = await stuck(answers);
  await expect(world.engine.updateStack({ stackName: "my-stack", ...second })).rejects.toThrow(
    `Stack:${id} is in UPDATE_ROLLBACK_FAILED state and can not be updated.`,
  );
  await world.engine.deleteStack({ stack: id });
  expect((await world.settle(id)).status).toBe("DELETE_COMPLETE");
  await expect(world.engine.continueUpdateRollback({ stack: id })).rejects.toThrow(
    "RollbackUpdatedStack cannot be called from current stack status",
  );
});
