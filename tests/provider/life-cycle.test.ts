import { afterEach, describe, expect, test } from "vitest";
import { type Simulation, simulate } from "../../packages/custard/src/testing/simulate.ts";
import { matchers } from "../../packages/custard/src/testing/matchers.ts";
import { Kafka, topicOf } from "./kafka.ts";

const simulations: Simulation<unknown>[] = [];

function start(polls = 0, properties = {}) {
  const kafka = new Kafka();
  const sim = simulate(topicOf(kafka, polls), {
    properties: { Name: "a", Partitions: 3, ApiKey: "s3cr3t", ...properties },
  });
  simulations.push(sim);
  return { kafka, sim };
}

afterEach(async () => {
  for (const sim of simulations.splice(0)) await sim.close();
});

describe("a life", () => {
  test("create, update, delete: the id stays, attributes are typed values again", async () => {
    const { kafka, sim } = start();
    await sim.create();
    expect(sim).toMatchObject({ status: "CREATE_COMPLETE", id: "topic-1", orphans: [] });
    expect(sim.attributes).toEqual({ Arn: "arn:kafka:topic-1", Partitions: 3 });
    await sim.update({ Partitions: 6 });
    expect(sim).toMatchObject({ status: "UPDATE_COMPLETE", id: "topic-1", replaced: false });
    expect(sim.attributes.Partitions).toBe(6);
    await sim.delete();
    expect(sim.status).toBe("DELETE_COMPLETE");
    expect(kafka.topics.size).toBe(0);
    expect(sim.log).toEqual(["Create→create", "Update→update(topic-1)", "Delete→delete(topic-1)"]);
  });

  test("a change of what makes its identity replaces it; the old one goes in the clean-up", async () => {
    const { kafka, sim } = start();
    await sim.create();
    await sim.update({ Name: "b" });
    expect(sim).toMatchObject({ status: "UPDATE_COMPLETE", id: "topic-2", replaced: true, orphans: [] });
    expect(sim.log).toEqual(["Create→create", "Update→create", "Delete→delete(topic-1)"]);
    expect([...kafka.topics.keys()]).toEqual(["topic-2"]);
  });

  test("polls take no real time", async () => {
    const { sim } = start(20);
    await sim.create();
    expect(sim.status).toBe("CREATE_COMPLETE");
    expect(sim.log.filter((line) => line === "Create→poll(topic-1)")).toHaveLength(20);
  });
});

describe("failures", () => {
  test("a create that fails before anything exists leaves nothing, and delete isn't called", async () => {
    const { kafka, sim } = start();
    sim.failNext("create", new Error("quota"));
    await sim.create();
    expect(sim).toMatchObject({ status: "ROLLBACK_COMPLETE", orphans: [] });
    expect(sim.reason).toContain("quota (in create)");
    expect(sim.log).toEqual(["Create→create"]);
    expect(kafka.topics.size).toBe(0);
  });

  test("a create that fails after adopt is cleaned up under the real id", async () => {
    const { kafka, sim } = start(2);
    sim.failNext("poll", new Error("broken"));
    await sim.create();
    expect(sim).toMatchObject({ status: "ROLLBACK_COMPLETE", orphans: [] });
    expect(sim.log).toEqual(["Create→create", "Create→poll(topic-1)", "Delete→delete(topic-1)"]);
    expect(kafka.topics.size).toBe(0);
  });

  test("another resource fails: the create is undone", async () => {
    const { kafka, sim } = start();
    await sim.createAndRollback();
    expect(sim).toMatchObject({ status: "ROLLBACK_COMPLETE", orphans: [] });
    expect(kafka.topics.size).toBe(0);
  });

  test("invalid properties fail by name, and nothing is run", async () => {
    const { sim } = start(0, { Partitions: "many" });
    await sim.create();
    expect(sim.reason).toContain("Partitions: ");
    expect(sim.log).toEqual([]);
  });

  test("a failed update keeps the id", async () => {
    const { kafka, sim } = start();
    await sim.create();
    sim.failNext("update", new Error("no capacity"));
    await sim.update({ Partitions: 9 });
    expect(sim).toMatchObject({ status: "UPDATE_ROLLBACK_COMPLETE", id: "topic-1", orphans: [] });
    expect(sim.reason).toContain("no capacity (in update)");
    expect(kafka.find("topic-1").partitions).toBe(3);
  });

  test("a refused change rolls back without being mistaken for a change", async () => {
    const { kafka, sim } = start();
    await sim.create();
    await sim.update({ Partitions: 2 });
    expect(sim).toMatchObject({ status: "UPDATE_ROLLBACK_COMPLETE", id: "topic-1" });
    expect(sim.reason).toContain("partitions can only grow");
    expect(sim.log).toEqual(["Create→create", "Update→read(topic-1)"]);
    expect(kafka.find("topic-1").partitions).toBe(3);
  });

  test("a replacement that fails rolls back to the old one, which was never touched", async () => {
    const { kafka, sim } = start();
    await sim.create();
    sim.failNext("create", new Error("quota"));
    await sim.update({ Name: "b" });
    expect(sim).toMatchObject({ status: "UPDATE_ROLLBACK_COMPLETE", id: "topic-1", orphans: [] });
    expect([...kafka.topics.keys()]).toEqual(["topic-1"]);
  });

  test("a replacement that fails half way is removed, and the old one is there", async () => {
    const { kafka, sim } = start(1);
    await sim.create();
    sim.failNext("poll", new Error("broken"));
    await sim.update({ Name: "b" });
    expect(sim).toMatchObject({ status: "UPDATE_ROLLBACK_COMPLETE", id: "topic-1", orphans: [] });
    expect([...kafka.topics.keys()]).toEqual(["topic-1"]);
  });

  test("after a replacement another resource fails: back to the old id, the new one is deleted", async () => {
    const { kafka, sim } = start();
    await sim.create();
    await sim.updateAndRollback({ Name: "b" });
    expect(sim).toMatchObject({ status: "UPDATE_ROLLBACK_COMPLETE", id: "topic-1", orphans: [] });
    expect([...kafka.topics.keys()]).toEqual(["topic-1"]);
  });

  test("an update that another resource undoes goes back to the old properties", async () => {
    const { kafka, sim } = start();
    await sim.create();
    await sim.updateAndRollback({ Nonce: "x" });
    expect(sim).toMatchObject({ status: "UPDATE_ROLLBACK_COMPLETE", id: "topic-1" });
    expect(kafka.find("topic-1").partitions).toBe(3);
  });

  test("what was removed by somebody else is deleted all the same", async () => {
    const { kafka, sim } = start();
    await sim.create();
    kafka.remove("topic-1");
    await sim.delete();
    expect(sim.status).toBe("DELETE_COMPLETE");
  });
});

test("matchers say what is wrong", async () => {
  const { sim } = start();
  sim.failNext("create", new Error("refused for s3cr3t and for open"));
  await sim.create();
  expect(matchers.toHaveNoOrphans(sim)).toMatchObject({ pass: true });
  expect(matchers.toHaveEnded(sim, "ROLLBACK_COMPLETE")).toMatchObject({ pass: true });
  expect(matchers.toHaveEnded(sim, "CREATE_COMPLETE").message()).toContain(
    "ROLLBACK_COMPLETE, CREATE_COMPLETE was asked for",
  );
  expect(matchers.toKeepSecret(sim, "s3cr3t")).toMatchObject({ pass: true });
  expect(matchers.toKeepSecret(sim, "open")).toMatchObject({ pass: false });
});

test("secrets and response URLs aren't logged, whatever the author logs", async () => {
  const { sim } = start();
  sim.failNext("create", new Error("refused for key s3cr3t"));
  await sim.create();
  expect(sim.reason).toContain("refused for key «redacted:6»");
  expect(sim.logs).not.toContain("s3cr3t");
  expect(sim.logs).not.toContain("https://");
});

test.each(Array.from({ length: 30 }, (_value, seed) => ({ seed })))(
  "chaos with seed $seed",
  async ({ seed }) => {
    const { kafka, sim } = start(2);
    await sim.chaos({
      seed,
      faults: ["duplicate", "put-500", "reset", "killed"],
      updates: [{ Partitions: 6 }, { Name: "b" }],
    });
    expect(kafka.topics.size).toBe(0);
  },
);
