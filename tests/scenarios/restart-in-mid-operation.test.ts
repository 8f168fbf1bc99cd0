import { expect, onTestFinished, test } from "vitest";
import type { ProviderRequest } from "@custard/provider/protocol";
import type { StackId } from "../../packages/custard/src/engine/ids.ts";
import { VirtualClock } from "../../packages/custard/src/testing/virtual-clock.ts";
import { World, type Script } from "../../packages/custard/src/testing/world.ts";
import { Disk, ProcessJournal } from "../support/disk.ts";
import { bodyFor, custom, parameter } from "../support/scenario.ts";

/** Processes that follow each other on one disk, under one clock. */
class Machine {
  readonly #disk = new Disk();
  readonly #clock = new VirtualClock();
  #alive: ProcessJournal | undefined;

  start(script: Script): World {
    const journal = new ProcessJournal(this.#disk, { dies: () => false, appended: () => {} });
    this.#alive = journal;
    const world = new World({ script, journal, clock: this.#clock });
    onTestFinished(async () => {
      if (!journal.dead) await world.close();
    });
    return world;
  }

  /** As `kill -9` does, a while after the last thing that happened: nothing has an effect from now on. */
  kill(): void {
    this.#disk.write();
    this.#alive?.die();
  }
}

const silent: Script = () => "silence";
const succeed: Script = () => ({ answer: {} });
const never: Script = () => new Promise(() => {});

function body(resources: object): { templateBody: string } {
  return { templateBody: JSON.stringify({ Resources: resources }) };
}

function asked(world: World): readonly string[] {
  return world.requests.map(({ requestType, logicalId }) => `${requestType} ${logicalId}`);
}

test("a request that was delivered keeps its id and waits on for its answer", async () => {
  const machine = new Machine();
  const one = machine.start(silent);
  const stackId = await one.create(body({ A: custom(), B: custom({ Uses: { Ref: "A" } }) }));
  await one.quiet();
  const [request] = one.requests as [ProviderRequest];
  machine.kill();
  const two = machine.start(succeed);
  await two.quiet();
  expect(two.requests).toEqual([]);
  await two.respond(request, bodyFor(request));
  expect((await two.settle(stackId)).status).toBe("CREATE_COMPLETE");
  expect(asked(two)).toEqual(["Create B"]);
});

test("a request that may not have been delivered is delivered again, the very same (fact 7)", async () => {
  const machine = new Machine();
  const one = machine.start(never);
  const stackId = await one.create(body({ A: custom({ V: 1 }) }));
  await one.quiet();
  machine.kill();
  const two = machine.start(succeed);
  expect((await two.settle(stackId)).status).toBe("CREATE_COMPLETE");
  expect(two.requests).toEqual(one.requests);
});

test("a deadline that passed while no process ran is noticed at the start (fact 48)", async () => {
  const machine = new Machine();
  const one = machine.start(silent);
  const stackId = await one.create(body({ A: custom({ ServiceTimeout: 60 }) }));
  await one.quiet();
  machine.kill();
  one.clock.advance(3_600_000);
  const two = machine.start(succeed);
  expect((await two.settle(stackId)).status).toBe("ROLLBACK_COMPLETE");
  expect(asked(two)).toEqual(["Delete A"]);
});

test("an answer that was acknowledged is not lost, one that came in between is taken later", async () => {
  const machine = new Machine();
  const one = machine.start(silent);
  const stackId = await one.create(body({ A: custom(), B: custom({}, { DependsOn: "A" }) }));
  await one.quiet();
  const [a] = one.requests as [ProviderRequest];
  await one.respond(a, bodyFor(a));
  machine.kill();
  const two = machine.start(succeed);
  expect((await two.settle(stackId)).status).toBe("CREATE_COMPLETE");
  const events = await two.events(stackId);
  expect(
    events.filter(({ logicalId, status }) => logicalId === "A" && status === "CREATE_COMPLETE"),
  ).toHaveLength(1);
});

test("a rollback and a clean-up go on where they were", async () => {
  const machine = new Machine();
  const one = machine.start(succeed);
  const stackId = await one.create(body({ A: custom({ V: 1 }), Old: custom(), P: parameter() }));
  await one.settle(stackId);
  machine.kill();
  const two = machine.start((request) =>
    request.requestType === "Update" ? { answer: { Status: "FAILED" } } : "silence",
  );
  await two.engine.updateStack({
    stackName: "my-stack",
    ...body({ A: custom({ V: 2 }), P: parameter() }),
    onFailure: "ROLLBACK",
  });
  await two.settle(stackId);
  expect((await two.engine.stack(stackId)).status).toBe("UPDATE_ROLLBACK_FAILED");
  machine.kill();
  const three = machine.start(succeed);
  await three.engine.continueUpdateRollback({ stack: "my-stack" });
  expect((await three.settle(stackId)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
  await three.engine.updateStack({ stackName: "my-stack", ...body({ A: custom({ V: 3 }) }) });
  expect((await three.settle(stackId)).resources.map(({ logicalId }) => logicalId)).toEqual(["A"]);
  machine.kill();
  await expectUnchanged(machine.start(succeed), stackId, three);
});

async function expectUnchanged(world: World, stackId: StackId, before: World): Promise<void> {
  expect(await world.engine.resume()).toEqual([]);
  expect((await world.engine.stack(stackId)).status).toBe("UPDATE_COMPLETE");
  expect(asked(before).filter((line) => line.startsWith("Delete"))).toEqual(["Delete Old"]);
}

test("operations that are in progress are found at the start", async () => {
  const machine = new Machine();
  const one = machine.start(silent);
  const stackId = await one.create(body({ A: custom() }));
  await one.quiet();
  machine.kill();
  expect(await machine.start(silent).engine.resume()).toEqual([stackId]);
});

test("a long history is read from a snapshot, and means the same", async () => {
  const machine = new Machine();
  const one = machine.start(succeed);
  const resources = Object.fromEntries(
    Array.from({ length: 150 }, (_, index) => [`R${index}`, custom({ index })]),
  );
  const stackId = await one.create(body(resources));
  const created = await one.settle(stackId);
  const events = await one.events(stackId);
  machine.kill();
  const two = machine.start(succeed);
  const { snapshot, version } = await two.journal.load(stackId);
  expect(snapshot?.version).toBeGreaterThan(0);
  expect(version).toBeGreaterThan(500);
  expect(await two.engine.stack(stackId)).toEqual(created);
  expect(await two.events(stackId)).toEqual(events);
  await two.engine.updateStack({
    stackName: "my-stack",
    ...body({ ...resources, R0: custom({ index: "new" }) }),
  });
  expect((await two.settle(stackId)).status).toBe("UPDATE_COMPLETE");
  expect(asked(two)).toEqual(["Update R0"]);
});
