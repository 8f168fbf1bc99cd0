import { expect, onTestFinished, test } from "vitest";
import type { ProviderRequest } from "@custard/provider/protocol";
import type { StackId } from "../../packages/custard/src/engine/ids.ts";
import { VirtualClock } from "../../packages/custard/src/testing/virtual-clock.ts";
import { World, type Script, type WorldOptions } from "../../packages/custard/src/testing/world.ts";
import { Disk, ProcessJournal } from "../support/disk.ts";
import { bodyFor, custom, parameter } from "../support/scenario.ts";

/** Processes that follow each other on one disk, under one clock. */
class Machine {
  readonly #disk = new Disk();
  readonly #clock = new VirtualClock();
  #alive: ProcessJournal | undefined;

  /** `diesAfter`: the process ends as soon as it has written a record of this kind. */
  start(
    script: Script,
    { diesAfter, ...options }: Pick<WorldOptions, "templates"> & { readonly diesAfter?: string } = {},
  ): World {
    const journal: ProcessJournal = new ProcessJournal(this.#disk, {
      dies: () => false,
      appended: ({ records }) => {
        if (diesAfter !== undefined && JSON.stringify(records).includes(`"kind":"${diesAfter}"`))
          journal.die();
      },
    });
    this.#alive = journal;
    const world = new World({ script, journal, clock: this.#clock, ...options });
    onTestFinished(async () => {
      if (!journal.dead) await world.close();
    });
    return world;
  }

  /**
   * As `kill -9` does: nothing has an effect from now on. A while after the last thing that happened, unless something
   * is `unwritten`: then what was done last is done again.
   */
  kill({ unwritten = false }: { readonly unwritten?: boolean } = {}): void {
    if (!unwritten) this.#disk.write();
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

const gone: Script = () => ({ delivery: { kind: "refused", reason: "Function not found: provider" } });

test("a request that may have been delivered, and that nobody takes any more, has to be undone", async () => {
  const machine = new Machine();
  const one = machine.start(never);
  const stackId = await one.create(body({ A: custom({ V: 1 }) }));
  await one.quiet();
  machine.kill();
  const two = machine.start((request) => (request.requestType === "Create" ? gone(request) : { answer: {} }));
  expect((await two.settle(stackId)).status).toBe("ROLLBACK_COMPLETE");
  expect(asked(two)).toEqual(["Create A", "Delete A"]);
});

test("an update that may have been delivered, and that nobody takes any more, is taken back", async () => {
  const machine = new Machine();
  const one = machine.start((request) =>
    request.requestType === "Create" ? { answer: {} } : never(request),
  );
  const stackId = await one.create(body({ A: custom({ V: 1 }) }));
  await one.settle(stackId);
  await one.engine.updateStack({ stackName: "my-stack", ...body({ A: custom({ V: 2 }) }) });
  await one.quiet();
  machine.kill();
  let refused = false;
  const two = machine.start((request) => {
    if (refused) return { answer: {} };
    refused = true;
    return gone(request);
  });
  expect((await two.settle(stackId)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
  expect(two.requests.map(({ properties }) => properties["V"])).toEqual(["2", "1"]);
});

test("a nested stack that has begun goes on although its template can't be read any more", async () => {
  const machine = new Machine();
  const templates: Record<string, string> = { "child.yaml": body({ C: custom() }).templateBody };
  const one = machine.start(never, { templates });
  const nested = { Type: "AWS::CloudFormation::Stack", Properties: { TemplateURL: "child.yaml" } };
  const stackId = await one.create(body({ Child: nested }));
  await one.quiet();
  machine.kill({ unwritten: true });
  delete templates["child.yaml"];
  const two = machine.start(succeed, { templates });
  expect((await two.settle(stackId)).status).toBe("CREATE_COMPLETE");
  const events = await two.events(stackId);
  expect(events.map(({ logicalId, status, reason }) => [logicalId, status, reason])).toEqual([
    ["my-stack", "CREATE_IN_PROGRESS", "User Initiated"],
    ["Child", "CREATE_IN_PROGRESS", undefined],
    ["Child", "CREATE_IN_PROGRESS", "Resource creation Initiated"],
    ["Child", "CREATE_COMPLETE", undefined],
    ["my-stack", "CREATE_COMPLETE", undefined],
  ]);
});

test("an export isn't kept for a stack that gave up before it heard of it", async () => {
  const machine = new Machine();
  const exported = {
    ...(JSON.parse(body({ P: parameter() }).templateBody) as object),
    Outputs: { Out: { Value: "v", Export: { Name: "shared" } } },
  };
  const one = machine.start(succeed, { diesAfter: "importer-added" });
  const exporter = await one.create({ stackName: "exporter", templateBody: JSON.stringify(exported) });
  await one.settle(exporter);
  const importer = await one.create({
    ...body({ A: custom({ Got: { "Fn::ImportValue": "shared" } }) }),
    timeoutMinutes: 1,
  });
  await one.quiet();
  one.clock.advance(120_000);
  const two = machine.start(succeed);
  expect((await two.settle(importer)).status).toBe("ROLLBACK_COMPLETE");
  await two.quiet();
  await two.engine.deleteStack({ stack: "exporter" });
  expect((await two.settle(exporter)).status).toBe("DELETE_COMPLETE");
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
