/** Deleting in every state: protection, retained resources, force, busy stacks (facts 78, 79, 82, 122, 124). */
import { afterEach, expect, test } from "vitest";
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

const two = template({ A: custom(), B: custom({}, { DependsOn: "A" }) });

test("a protected stack is not deleted until its protection ends (fact 122)", async () => {
  world = worldOf({});
  const id = await world.create({ ...two, terminationProtection: true });
  await world.settle(id);
  await expect(world.engine.deleteStack({ stack: id })).rejects.toThrow(
    "Stack [my-stack] cannot be deleted while TerminationProtection is enabled",
  );
  await world.engine.setTerminationProtection(id, false);
  await world.engine.deleteStack({ stack: id });
  expect((await world.settle(id)).status).toBe("DELETE_COMPLETE");
  await expect(world.engine.setTerminationProtection(id, true)).rejects.toThrow(
    "UpdateTerminationProtection cannot be called from current stack status",
  );
});

test("what can't be deleted is tried again by the next delete, or retained (facts 78, 79)", async () => {
  world = worldOf({ "Delete B": failure("in use") });
  const id = await world.create(two);
  await world.settle(id);
  await world.engine.deleteStack({ stack: id });
  const stack = await world.settle(id);
  expect([stack.status, stack.reason]).toEqual([
    "DELETE_FAILED",
    "The following resource(s) failed to delete: [B]. ",
  ]);
  await world.engine.deleteStack({ stack: id });
  expect((await world.settle(id)).status).toBe("DELETE_FAILED");
  const seen = await newest(world, id);
  await world.engine.deleteStack({ stack: id, retain: ["B"] });
  expect((await world.settle(id)).status).toBe("DELETE_COMPLETE");
  expect(await lines(world, id, seen)).toEqual([
    "my-stack DELETE_IN_PROGRESS User Initiated",
    "B DELETE_SKIPPED",
    "my-stack DELETE_COMPLETE",
  ]);
});

test("a retained resource is left alone with all physical resources that it has", async () => {
  const answers: Answers = {
    "Create A": { answer: { PhysicalResourceId: "old" } },
    "Update A": { answer: { PhysicalResourceId: "new" } },
    "Update B": failure("no"),
    "Delete A": failure("in use"),
  };
  world = worldOf(answers);
  const at = (V: string) => template({ A: custom({ V }), B: custom({ V }, { DependsOn: "A" }) });
  const id = await world.create(at("1"));
  await world.settle(id);
  await world.engine.updateStack({ stackName: "my-stack", ...at("2"), disableRollback: true });
  expect((await world.settle(id)).status).toBe("UPDATE_FAILED");
  await world.engine.deleteStack({ stack: id });
  expect((await world.settle(id)).status).toBe("DELETE_FAILED");
  const asked = world.requests.length;
  await world.engine.deleteStack({ stack: id, retain: ["A"] });
  expect((await world.settle(id)).status).toBe("DELETE_COMPLETE");
  expect(requestLines(world, asked)).toEqual([]);
});

test("retained resources of a failed rollback are left alone too (fact 79)", async () => {
  world = worldOf({ "Create B": failure("no"), "Delete B": failure("in use") });
  const id = await world.create(two);
  expect((await world.settle(id)).status).toBe("ROLLBACK_FAILED");
  await world.engine.deleteStack({ stack: id });
  expect((await world.settle(id)).status).toBe("DELETE_FAILED");
  await world.engine.deleteStack({ stack: id, retain: ["B"] });
  expect((await world.settle(id)).status).toBe("DELETE_COMPLETE");
});

test("retaining and force are for stacks in DELETE_FAILED, and for what still is (fact 124)", async () => {
  world = worldOf({ "Delete B": failure("in use") });
  const id = await world.create(two);
  await world.settle(id);
  await expect(world.engine.deleteStack({ stack: id, retain: ["B"] })).rejects.toThrow(
    `Invalid operation on stack [${id}]. When you delete a stack, specify which resources to retain only when the stack is in the DELETE_FAILED state.`,
  );
  await expect(world.engine.deleteStack({ stack: id, force: true })).rejects.toThrow("DELETE_FAILED");
  await world.engine.deleteStack({ stack: id });
  await world.settle(id);
  await expect(world.engine.deleteStack({ stack: id, retain: ["A"] })).rejects.toThrow(
    "The specified resources to retain must be in a valid state. Do not specify resources that are in the DELETE_COMPLETE state.",
  );
});

test("force ends a stack although something is left; it is reported", async () => {
  world = worldOf({ "Delete B": failure("in use") });
  const id = await world.create(two);
  await world.settle(id);
  await world.engine.deleteStack({ stack: id });
  await world.settle(id);
  const seen = await newest(world, id);
  await world.engine.deleteStack({ stack: id, force: true });
  expect((await world.settle(id)).status).toBe("DELETE_COMPLETE");
  expect((await lines(world, id, seen)).map((line) => line.split(" Received")[0])).toEqual([
    "my-stack DELETE_IN_PROGRESS User Initiated",
    "B DELETE_IN_PROGRESS",
    "B DELETE_FAILED",
    "my-stack DELETE_COMPLETE",
  ]);
  // Its name is free again.
  await world.create(template({ C: custom() }));
});

test("an update in progress is not deleted; a create in progress is, and deletes what is in flight", async () => {
  const answers: Answers = { "Create B": "silence" };
  world = worldOf(answers);
  const id = await world.create(two);
  await world.quiet();
  await world.engine.deleteStack({ stack: id });
  expect((await world.settle(id)).status).toBe("DELETE_COMPLETE");
  expect(requestLines(world).map((line) => line.split(" my-stack-B-")[0])).toEqual([
    "Create A",
    "Create B",
    "Delete B",
    "Delete A A-1",
  ]);

  delete answers["Create B"];
  answers["Update A"] = "silence";
  const other = await world.create(template({ A: custom({ V: "1" }) }));
  await world.settle(other);
  await world.engine.updateStack({ stackName: "my-stack", ...template({ A: custom({ V: "2" }) }) });
  await expect(world.engine.deleteStack({ stack: other })).rejects.toThrow(
    "Stack [my-stack] cannot be deleted while in status UPDATE_IN_PROGRESS",
  );
});
