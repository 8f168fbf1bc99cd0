/** What becomes of a stack whose create or update fails: OnFailure, DisableRollback, RollbackStack (facts 84, 89, 91). */
import { afterEach, describe, expect, test } from "vitest";
import type { World } from "../../packages/custard/src/testing/world.ts";
import {
  custom,
  failure,
  lines,
  newest,
  plain,
  requestLines,
  template,
  worldOf,
  type Answers,
} from "../support/op-world.ts";

let world: World;
afterEach(() => world.close());

const chain = template({ A: custom(), B: custom({}, { DependsOn: "A" }) });

describe("a failed create", () => {
  test("without rollback keeps what was created, and independent paths go on (fact 84)", async () => {
    world = worldOf({ "Create A": failure("no") });
    const id = await world.create({
      ...template({
        A: custom(),
        B: custom({}, { DependsOn: "A" }),
        C: custom(),
        D: custom({}, { DependsOn: "C" }),
      }),
      disableRollback: true,
    });
    const stack = await world.settle(id);
    expect(stack.status).toBe("CREATE_FAILED");
    expect(stack.reason).toBe("The following resource(s) failed to create: [A]. ");
    expect(stack.resources.map(({ logicalId, status }) => `${logicalId} ${status}`)).toEqual([
      "A CREATE_FAILED",
      "C CREATE_COMPLETE",
      "D CREATE_COMPLETE",
    ]);
    expect(requestLines(world).some((line) => line.startsWith("Delete"))).toBe(false);
  });

  test("is undone by RollbackStack: all that it has is deleted", async () => {
    world = worldOf({ "Create B": failure("no") });
    const id = await world.create({ ...chain, disableRollback: true });
    await world.settle(id);
    const seen = await newest(world, id);
    await world.engine.rollbackStack({ stack: id });
    expect((await world.settle(id)).status).toBe("ROLLBACK_COMPLETE");
    expect(await lines(world, id, seen)).toEqual([
      "my-stack ROLLBACK_IN_PROGRESS User Initiated",
      "B DELETE_IN_PROGRESS",
      "B DELETE_COMPLETE",
      "A DELETE_IN_PROGRESS",
      "A DELETE_COMPLETE",
      "my-stack ROLLBACK_COMPLETE",
    ]);
  });

  test("is finished by an update; what had failed is deleted in its clean-up", async () => {
    const answers: Answers = { "Create B": failure("no") };
    world = worldOf(answers);
    const id = await world.create({ ...chain, disableRollback: true });
    await world.settle(id);
    delete answers["Create B"];
    answers["Create B"] = { answer: { PhysicalResourceId: "B-2" } };
    const seen = await newest(world, id);
    await world.engine.updateStack({ stackName: "my-stack", usePreviousTemplate: true });
    expect((await world.settle(id)).status).toBe("UPDATE_COMPLETE");
    expect(await lines(world, id, seen)).toEqual([
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "B CREATE_IN_PROGRESS",
      "B CREATE_IN_PROGRESS Resource creation Initiated",
      "B CREATE_COMPLETE",
      "my-stack UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
      "B DELETE_IN_PROGRESS",
      "B DELETE_COMPLETE",
      "my-stack UPDATE_COMPLETE",
    ]);
    expect(requestLines(world).slice(2)).toEqual(["Create B", "Delete B B-1"]);
  });

  test("whose second create gives the failed one's id keeps that one", async () => {
    const answers: Answers = { "Create B": failure("no") };
    world = worldOf(answers);
    const id = await world.create({ ...chain, disableRollback: true });
    await world.settle(id);
    delete answers["Create B"];
    await world.engine.updateStack({ stackName: "my-stack", usePreviousTemplate: true });
    const stack = await world.settle(id);
    expect(stack.status).toBe("UPDATE_COMPLETE");
    expect(requestLines(world)).toEqual(["Create A", "Create B", "Create B"]);
  });

  test("and failed again with rollback has no stable state: everything goes", async () => {
    world = worldOf({ "Create B": failure("no") });
    const id = await world.create({ ...chain, disableRollback: true });
    await world.settle(id);
    const seen = await newest(world, id);
    await world.engine.updateStack({ stackName: "my-stack", usePreviousTemplate: true });
    expect((await world.settle(id)).status).toBe("ROLLBACK_COMPLETE");
    expect((await lines(world, id, seen)).filter((line) => line.startsWith("my-stack"))).toEqual([
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "my-stack ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [B]. Rollback requested by user.",
      "my-stack ROLLBACK_COMPLETE",
    ]);
  });

  test("with OnFailure DELETE is gone (fact 89)", async () => {
    world = worldOf({ "Create B": failure("no") });
    const id = await world.create({ ...chain, onFailure: "DELETE" });
    expect((await world.settle(id)).status).toBe("DELETE_COMPLETE");
    expect((await lines(world, id)).filter((line) => line.startsWith("my-stack"))).toEqual([
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "my-stack DELETE_IN_PROGRESS The following resource(s) failed to create: [B]. Delete requested by user.",
      "my-stack DELETE_COMPLETE",
    ]);
  });

  test("can't be asked for both OnFailure and DisableRollback (fact 125)", async () => {
    world = worldOf({});
    await expect(world.create({ ...chain, onFailure: "DELETE", disableRollback: true })).rejects.toThrow(
      "Either DisableRollback or OnFailure can be specified, not both.",
    );
  });

  test("within TimeoutInMinutes is none; after it the stack rolls back, and in-flight creates are cancelled", async () => {
    world = worldOf({ "Create B": "silence" });
    const id = await world.create({ ...chain, timeoutMinutes: 5 });
    expect((await world.settle(id)).status).toBe("ROLLBACK_COMPLETE");
    expect((await lines(world, id)).slice(3, 7)).toEqual([
      "A CREATE_COMPLETE",
      "B CREATE_IN_PROGRESS",
      "B CREATE_FAILED Resource creation cancelled",
      "my-stack ROLLBACK_IN_PROGRESS Stack creation time exceeded the specified timeout. Rollback requested by user.",
    ]);
  });

  test("within TimeoutInMinutes leaves no alarm behind when it ends well", async () => {
    world = worldOf({});
    const id = await world.create({ ...chain, timeoutMinutes: 5 });
    await world.settle(id);
    expect(await world.journal.nextDue()).toBeUndefined();
  });
});

describe("a failed update", () => {
  const first = template({ A: custom({ V: "1" }), B: custom({ V: "1" }, { DependsOn: "A" }) });
  const second = template({
    A: custom({ V: "2" }),
    B: custom({ V: "2" }, { DependsOn: "A" }),
    C: custom({}, { DependsOn: "B" }),
  });

  test("without rollback stays as it is, and RollbackStack brings the old state back", async () => {
    const answers: Answers = { "Create C": failure("no") };
    world = worldOf(answers);
    const id = await world.create(first);
    await world.settle(id);
    await world.engine.updateStack({ stackName: "my-stack", ...second, disableRollback: true });
    expect((await world.settle(id)).status).toBe("UPDATE_FAILED");
    const seen = await newest(world, id);
    const sent = world.requests.length;
    await world.engine.rollbackStack({ stack: id });
    const stack = await world.settle(id);
    expect(stack.status).toBe("UPDATE_ROLLBACK_COMPLETE");
    expect(await lines(world, id, seen)).toEqual([
      "my-stack UPDATE_ROLLBACK_IN_PROGRESS User Initiated",
      "A UPDATE_IN_PROGRESS",
      "A UPDATE_COMPLETE",
      "B UPDATE_IN_PROGRESS",
      "B UPDATE_COMPLETE",
      "my-stack UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
      "C DELETE_IN_PROGRESS",
      "C DELETE_COMPLETE",
      "my-stack UPDATE_ROLLBACK_COMPLETE",
    ]);
    expect(world.requests.slice(sent, sent + 2).map(({ properties }) => properties["V"])).toEqual(["1", "1"]);
    expect(JSON.parse(stack.templateBody)).toEqual(JSON.parse(first.templateBody));
  });

  test("twice without rollback goes back to the last stable state, not to the one between", async () => {
    const answers: Answers = { "Create C": failure("no") };
    world = worldOf(answers);
    const id = await world.create(first);
    await world.settle(id);
    await world.engine.updateStack({ stackName: "my-stack", ...second, disableRollback: true });
    await world.settle(id);
    const third = template({ A: custom({ V: "2" }), B: custom({ V: "3" }), C: custom() });
    await world.engine.updateStack({ stackName: "my-stack", ...third, disableRollback: true });
    expect((await world.settle(id)).status).toBe("UPDATE_FAILED");
    await world.engine.rollbackStack({ stack: id });
    const stack = await world.settle(id);
    expect(stack.status).toBe("UPDATE_ROLLBACK_COMPLETE");
    expect(stack.resources.map(({ logicalId, properties }) => [logicalId, properties["V"]])).toEqual([
      ["A", "1"],
      ["B", "1"],
    ]);
    expect(JSON.parse(stack.templateBody)).toEqual(JSON.parse(first.templateBody));
  });

  test("of a refused change needs no request to go on from", async () => {
    world = worldOf({});
    const id = await world.create(first);
    await world.settle(id);
    const other = template({
      A: custom({ ServiceToken: "arn:aws:lambda:us-east-1:123456789012:function:other" }),
    });
    await world.engine.updateStack({ stackName: "my-stack", ...other, disableRollback: true });
    expect((await world.settle(id)).status).toBe("UPDATE_FAILED");
    const sent = world.requests.length;
    await world.engine.updateStack({ stackName: "my-stack", ...first });
    const stack = await world.settle(id);
    expect(stack.status).toBe("UPDATE_COMPLETE");
    expect(stack.resources.map(({ status }) => status)).toEqual(["UPDATE_COMPLETE", "CREATE_COMPLETE"]);
    expect(requestLines(world, sent)).toEqual([]);
  });

  test("deletes what it created although it is to be retained, with RetainExceptOnCreate (fact 83)", async () => {
    world = worldOf({ "Create C": failure("no") });
    const id = await world.create(first);
    await world.settle(id);
    const kept = { DeletionPolicy: "Retain" };
    const wish = template({
      A: custom({ V: "1" }),
      B: custom({ V: "1" }, { DependsOn: "A" }),
      D: plain({}, kept),
      C: custom({}, { DependsOn: "D" }),
    });
    await world.engine.updateStack({ stackName: "my-stack", ...wish });
    await world.settle(id);
    expect((await lines(world, id)).filter((line) => line.startsWith("D DELETE"))).toEqual([
      "D DELETE_SKIPPED",
    ]);
    const seen = await newest(world, id);
    await world.engine.updateStack({ stackName: "my-stack", ...wish, retainExceptOnCreate: true });
    await world.settle(id);
    expect((await lines(world, id, seen)).filter((line) => line.startsWith("D DELETE"))).toEqual([
      "D DELETE_IN_PROGRESS",
      "D DELETE_COMPLETE",
    ]);
  });

  test("RollbackStack is refused where nothing has stopped at a failure", async () => {
    world = worldOf({});
    const id = await world.create(first);
    await world.settle(id);
    await expect(world.engine.rollbackStack({ stack: id })).rejects.toThrow(
      "RollbackStack cannot be called from current stack status",
    );
  });
});
