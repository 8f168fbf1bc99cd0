import { defineResource, lambdaHandler, type Resource } from "@custard/provider";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  type Given,
  type Matchers,
  matchers,
  type Simulation,
  simulate,
} from "../../packages/custard/src/testing.ts";

declare module "vitest" {
  interface Matchers<T> extends CustardMatchers<T> {}
}
type CustardMatchers<T> = Matchers<T>;

expect.extend(matchers);

const Note = defineResource({
  type: "Custom::Note",
  properties: z.object({ Title: z.string(), Copies: z.number().default(1) }),
  create: async () => ({ id: "note" }),
  update: async () => undefined,
  delete: async () => undefined,
});

const open: Simulation<unknown>[] = [];

function start<P, A, S>(resource: Resource<P, A, S>, properties: Given<NoInfer<P>> = {}): Simulation<A, P> {
  const sim = simulate(resource, { properties, patience: 300 });
  open.push(sim);
  return sim;
}

/** As from JavaScript, where nothing checks types. */
function untyped(value: unknown): never {
  return value as never;
}

afterEach(async () => {
  for (const sim of open.splice(0)) await sim.close();
});

describe("what isn't a resource", () => {
  test.each([
    ["an object", {}],
    ["a handler", lambdaHandler(Note)],
    ["a definition", { type: "Custom::Note", create: async () => ({}), delete: async () => undefined }],
    ["nothing", undefined],
  ])("%s", (_name, given) => {
    expect(() => simulate(untyped(given))).toThrow("simulate takes a resource made by defineResource");
  });

  test("properties in the place of options", () => {
    expect(() => simulate(Note, untyped({ Title: "Milk" }))).toThrow(
      "simulate has no option Title, only properties and patience: put it inside of properties if it is one",
    );
  });
});

describe("the order of things", () => {
  test("nothing can be changed before it is there", async () => {
    const sim = start(Note, { Title: "Milk" });
    await expect(sim.update({ Copies: 2 })).rejects.toThrow("Nothing has been created");
    await expect(sim.updateAndRollback({ Copies: 2 })).rejects.toThrow("Nothing has been created");
    await expect(sim.delete()).rejects.toThrow("Nothing has been created");
    await sim.create();
    expect(sim).toHaveEnded("CREATE_COMPLETE");
  });

  test("what is there can't be created again, unless it was deleted or rolled back", async () => {
    const sim = start(Note, { Title: "Milk" });
    await sim.createAndRollback();
    await sim.create();
    const again = "It has been created already: change it with update(), or call delete() first";
    await expect(sim.create()).rejects.toThrow(again);
    await expect(sim.createAndRollback()).rejects.toThrow(again);
    await sim.delete();
    await sim.create();
    expect(sim).toHaveEnded("CREATE_COMPLETE");
  });
});

describe("faults and failures", () => {
  test("chaos without a list of faults takes all of them", async () => {
    const sim = start(Note, { Title: "Milk" });
    await sim.chaos({ seed: 3 });
    expect(sim).toHaveEnded("DELETE_COMPLETE");
    for (const trace of ["signal: killed", "socket hang up", "500"]) expect(sim.logs).toContain(trace);
  });

  test("chaos needs a seed and faults that there are", async () => {
    const sim = start(Note, { Title: "Milk" });
    await expect(sim.chaos(untyped({}))).rejects.toThrow("chaos needs a seed: a whole number");
    await expect(sim.chaos({ seed: 1, faults: untyped(["flood"]) })).rejects.toThrow(
      "There is no fault flood, only duplicate, put-500, reset, killed",
    );
  });

  test("only a handler that the resource has can fail", () => {
    const sim = start(Note, { Title: "Milk" });
    expect(() => sim.failNext(untyped("frob"), new Error("no"))).toThrow(
      "Custom::Note has no handler frob, only create, update, delete",
    );
    expect(() => sim.failNext("poll", new Error("no"))).toThrow("Custom::Note has no handler poll");
    expect(() => sim.failNext("create", untyped(undefined))).toThrow("failNext needs the error");
  });
});

describe("a handler that takes its time", () => {
  const slow = (work: (signal: AbortSignal) => Promise<unknown>) =>
    defineResource({
      type: "Custom::Slow",
      create: async ({ ctx }) => void (await work(ctx.signal)),
      delete: async () => undefined,
    });

  test("one that never settles is named", async () => {
    const sim = start(slow(() => new Promise(() => undefined)));
    await expect(sim.create()).rejects.toThrow(
      /^The create handler of Custom::Slow hangs: it never settled, .*300 ms.*ctx\.signal/s,
    );
    expect(sim).toHaveEnded("ROLLBACK_COMPLETE");
    expect(sim.reason).toContain("in create");
  });

  test("with the patience of a default it is named before a test runner's 5 s are over", async () => {
    const sim = simulate(slow(() => new Promise(() => undefined)));
    open.push(sim);
    await expect(sim.create()).rejects.toThrow("The create handler of Custom::Slow hangs");
  }, 4000);

  test("one that gives up when it is told to has only been too slow", async () => {
    const sim = start(
      slow(
        (signal) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => reject(new Error("gave up"))),
          ),
      ),
    );
    await sim.create();
    expect(sim).toHaveEnded("ROLLBACK_COMPLETE");
  });
});

test("matchers take simulations only", () => {
  expect(() => expect({}).toHaveNoOrphans()).toThrow(
    "toHaveNoOrphans takes a simulation, as simulate() gives it",
  );
  expect(() => expect(Promise.resolve()).toHaveEnded("CREATE_COMPLETE")).toThrow(
    "toHaveEnded takes a simulation, as simulate() gives it; this is a promise: await it before",
  );
  expect(() => expect(undefined).toKeepSecret("x")).toThrow("toKeepSecret takes a simulation");
});
