import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineResource } from "./define-resource.ts";
import { sealedStore } from "./drivers/rest-store.ts";
import { selfInvokeDriver } from "./drivers/self-invoke.ts";
import { memoryJournal } from "./journal.ts";
import { lambdaHandler } from "./lambda-handler.ts";
import type { JsonObject } from "./protocol/json.ts";
import type { Options, Provider } from "./provider.ts";

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const context = { getRemainingTimeInMillis: () => 60_000 };

/** An invocation of a handler, and what came to the response URLs. */
function invoker(provider: Provider, options: Options = {}) {
  const puts: { url: string; answer: JsonObject }[] = [];
  const handler = lambdaHandler(provider, {
    logger: quiet,
    transport: async (url, body) => {
      puts.push({ url, answer: JSON.parse(Buffer.from(body).toString()) as JsonObject });
      return { status: 200, body: "" };
    },
    ...options,
  });
  return { puts, invoke: (event: unknown, ctx = context) => handler(event, ctx) };
}

function event(change: JsonObject = {}): JsonObject {
  return {
    RequestType: "Create",
    ServiceToken: "arn:aws:lambda:us-east-1:123456789012:function:provider",
    ResponseURL: "https://bucket.test/key?sig=1",
    StackId: "arn:aws:cloudformation:us-east-1:123456789012:stack/my-stack/guid",
    RequestId: "request-1",
    LogicalResourceId: "Thing",
    ResourceType: "Custom::Thing",
    ResourceProperties: { ServiceToken: "x", Size: "3" },
    ...change,
  };
}

function counting(create: () => Promise<{ id?: string; attributes: { N: number } }>) {
  return defineResource({
    type: "Custom::Thing",
    properties: z.object({ Size: z.number() }),
    attributes: z.object({ N: z.number() }),
    create: async () => create(),
    update: async () => ({ N: 0 }),
    delete: async () => undefined,
  });
}

test("the handler has exactly two parameters (Node 24)", () => {
  expect(lambdaHandler(async () => undefined)).toHaveLength(2);
});

describe("one request, delivered twice", () => {
  test("is worked on once; the same answer goes to the newest URL", async () => {
    let calls = 0;
    const { puts, invoke } = invoker(counting(async () => ({ attributes: { N: (calls += 1) } })));
    await invoke(event());
    await invoke(event({ ResponseURL: "https://bucket.test/key?sig=2" }));
    expect(calls).toBe(1);
    expect(puts.map(({ url }) => url.slice(-1))).toEqual(["1", "2"]);
    expect(puts[1]?.answer).toEqual(puts[0]?.answer);
  });

  test("at the same time: the second waits for the first", async () => {
    let calls = 0;
    let finish: () => void = () => undefined;
    const clock = {
      now: () => 0,
      sleep: (delay: number) => new Promise<void>((done) => delay === 1000 && (finish(), setImmediate(done))),
    };
    const resource = counting(async () => {
      calls += 1;
      await new Promise<void>((done) => (finish = done));
      return { id: "thing-1", attributes: { N: 1 } };
    });
    const { puts, invoke } = invoker(resource, { clock });
    await Promise.all([invoke(event()), invoke(event())]);
    expect(calls).toBe(1);
    expect(puts.map(({ answer }) => answer["PhysicalResourceId"])).toEqual(["thing-1", "thing-1"]);
  });

  test("that waits until its time is up isn't answered a second time: its invocation fails", async () => {
    const journal = memoryJournal();
    let finish: () => void = () => undefined;
    const begun = new Promise<void>((done) => (finish = done));
    let end: () => void = () => undefined;
    const resource = counting(async () => {
      finish();
      await new Promise<void>((done) => (end = done));
      return { attributes: { N: 1 } };
    });
    const { puts, invoke } = invoker(resource, { journal });
    const first = invoke(event());
    await begun;
    const second = invoke(event(), { getRemainingTimeInMillis: () => 2500 });
    await expect(second).rejects.toThrow("Another delivery of this request is at work");
    expect(puts).toEqual([]);
    end();
    await first;
    expect(puts[0]?.answer).toMatchObject({ Status: "SUCCESS" });
  });

  test("is tried again when it failed", async () => {
    let calls = 0;
    const { puts, invoke } = invoker(
      counting(async () => {
        calls += 1;
        if (calls === 1) throw new Error("try again");
        return { attributes: { N: calls } };
      }),
    );
    await invoke(event());
    await invoke(event());
    expect(puts.map(({ answer }) => answer["Status"])).toEqual(["FAILED", "SUCCESS"]);
  });

  test("when the answer could not be delivered, the same bytes are sent, and the work isn't done twice", async () => {
    let calls = 0;
    let refusals = 2;
    const sent: string[] = [];
    const { invoke } = invoker(
      counting(async () => ({ attributes: { N: (calls += 1) } })),
      {
        transport: async (_url, body) => {
          sent.push(Buffer.from(body).toString());
          return { status: (refusals -= 1) >= 0 ? 403 : 200, body: "" };
        },
      },
    );
    await expect(invoke(event())).rejects.toThrow("HTTP 403");
    await invoke(event());
    expect(calls).toBe(1);
    expect(new Set(sent).size).toBe(1);
  });
});

describe("ids", () => {
  test("a journal that fails keeps no answer back", async () => {
    const broken = () => Promise.reject(new Error("throttled"));
    const journal = { get: broken, put: broken, putIfAbsent: broken, delete: broken };
    const { puts, invoke } = invoker(
      counting(async () => ({ attributes: { N: 1 } })),
      { journal },
    );
    await invoke(event());
    expect(puts[0]?.answer).toMatchObject({ Status: "SUCCESS", Data: { N: 1 } });
  });

  test("a Delete with an id that CloudFormation made up succeeds and deletes nothing", async () => {
    const deleted: string[] = [];
    const resource = defineResource({
      type: "Custom::Thing",
      create: async () => ({}),
      delete: async ({ id }) => void deleted.push(id),
    });
    const { puts, invoke } = invoker(resource);
    const PhysicalResourceId = "my-stack-Thing-O95385LWRHB6";
    await invoke(event({ RequestType: "Delete", PhysicalResourceId }));
    expect(deleted).toEqual([]);
    expect(puts[0]?.answer).toMatchObject({ Status: "SUCCESS", PhysicalResourceId });
  });

  test("when the cancelled create had made something, that is deleted", async () => {
    const deleted: string[] = [];
    let started: () => void = () => undefined;
    const hasStarted = new Promise<void>((done) => (started = done));
    const resource = defineResource({
      type: "Custom::Thing",
      async create({ ctx }) {
        ctx.adopt("thing-7");
        started();
        await new Promise((_done, stop) =>
          ctx.signal.addEventListener("abort", () => stop(ctx.signal.reason as Error)),
        );
        return {};
      },
      delete: async ({ id }) => void deleted.push(id),
    });
    const { puts, invoke } = invoker(resource);
    const create = invoke(event());
    await hasStarted;
    const PhysicalResourceId = "my-stack-Thing-O95385LWRHB6";
    await invoke(event({ RequestType: "Delete", RequestId: "request-2", PhysicalResourceId }));
    await create;
    expect(deleted).toEqual(["thing-7"]);
    expect(new Set(puts.map(({ answer }) => answer["Status"]))).toEqual(new Set(["FAILED", "SUCCESS"]));
    expect(JSON.stringify(puts)).toContain("A newer request for this resource has come");
  });

  test("properties of an older shape don't block a Delete", async () => {
    const { puts, invoke } = invoker(counting(async () => ({ attributes: { N: 1 } })));
    await invoke(
      event({ RequestType: "Delete", PhysicalResourceId: "thing-1", ResourceProperties: { Old: "x" } }),
    );
    expect(puts[0]?.answer).toMatchObject({ Status: "SUCCESS", PhysicalResourceId: "thing-1" });
  });

  test("migrations turn older shapes into newer ones", async () => {
    const seen: unknown[] = [];
    const resource = defineResource({
      type: "Custom::Thing",
      properties: z.object({ Size: z.number() }),
      migrations: [({ Length, ...others }) => ({ ...others, Size: Length ?? "0" })],
      create: async ({ properties }) => void seen.push(properties),
      delete: async () => undefined,
    });
    const { invoke } = invoker(resource);
    await invoke(event({ ResourceProperties: { Length: "9" } }));
    expect(seen).toEqual([{ Size: 9 }]);
  });
});

describe("attributes", () => {
  test("that are missing fail the create under its real id, so that it is cleaned up", async () => {
    const { puts, invoke } = invoker(
      counting(async () => ({ id: "thing-1", attributes: {} as { N: number } })),
    );
    await invoke(event());
    expect(puts[0]?.answer).toMatchObject({ Status: "FAILED", PhysicalResourceId: "thing-1" });
    expect(JSON.stringify(puts[0]?.answer)).toContain("The attributes aren't what was declared: N");
  });

  test("that are sensitive are answered with NoEcho", async () => {
    const resource = defineResource({
      type: "Custom::Thing",
      attributes: z.object({ Password: z.string() }),
      sensitive: ["Password"],
      create: async () => ({ attributes: { Password: "s3cr3t" } }),
      delete: async () => undefined,
    });
    const { puts, invoke } = invoker(resource);
    await invoke(event());
    expect(puts[0]?.answer).toMatchObject({ NoEcho: true, Data: { Password: "s3cr3t" } });
  });

  test("that don't fit go through overflow", async () => {
    const resource = defineResource({
      type: "Custom::Thing",
      attributes: z.object({ Text: z.string() }),
      overflow: ({ Text }) => ({ Text: Text.slice(0, 10) }),
      create: async () => ({ attributes: { Text: "x".repeat(5000) } }),
      delete: async () => undefined,
    });
    const { puts, invoke } = invoker(resource);
    await invoke(event());
    expect(puts[0]?.answer).toMatchObject({ Status: "SUCCESS", Data: { Text: "xxxxxxxxxx" } });
  });
});

describe("pending work", () => {
  const polled = (polls: string[]) =>
    defineResource({
      type: "Custom::Thing",
      create: async ({ ctx }) => {
        ctx.adopt("thing-1");
        return ctx.pending({ left: 2 }, { every: "10s" });
      },
      poll: async ({ state, id, ctx }) => {
        polls.push(id);
        return state.left > 1 ? ctx.pending({ left: state.left - 1 }, { every: "10s" }) : { Done: "yes" };
      },
      delete: async () => undefined,
    });

  test("without a driver fails when the function's time isn't enough", async () => {
    const { puts, invoke } = invoker(polled([]));
    await invoke(event(), { getRemainingTimeInMillis: () => 8000 });
    expect(puts[0]?.answer).toMatchObject({ Status: "FAILED", PhysicalResourceId: "thing-1" });
    expect(JSON.stringify(puts[0]?.answer)).toContain("it needs a driver");
  });

  test("goes on in other invocations, and its request isn't taken up by a repeated delivery", async () => {
    const events: unknown[] = [];
    const client = {
      invoke: async ({ Payload }: { Payload: Uint8Array }) =>
        void events.push(JSON.parse(Buffer.from(Payload).toString())),
    };
    const driver = selfInvokeDriver({
      client,
      functionName: "f",
      store: sealedStore("a secret of thirty-two characters"),
    });
    const polls: string[] = [];
    const { puts, invoke } = invoker(polled(polls), { driver, journal: memoryJournal() });
    const short = { getRemainingTimeInMillis: () => 8000 };
    await invoke(event(), short);
    await invoke(event(), short);
    expect(events).toHaveLength(1);
    while (events.length > 0) await invoke(events.shift(), short);
    expect(polls).toEqual(["thing-1", "thing-1"]);
    expect(puts).toHaveLength(1);
    expect(puts[0]?.answer).toMatchObject({
      Status: "SUCCESS",
      PhysicalResourceId: "thing-1",
      Data: { Done: "yes" },
    });
  });

  test("ends with its own time limit", async () => {
    let now = 0;
    const resource = defineResource({
      type: "Custom::Thing",
      timeouts: { create: "1m" },
      create: async ({ ctx }) => ctx.pending(null, { every: "25s" }),
      poll: async ({ ctx }) => ctx.pending(null, { every: "25s" }),
      delete: async () => undefined,
    });
    const sleepers: { at: number; wake: () => void }[] = [];
    const clock = {
      now: () => now,
      sleep: (delay: number) => new Promise<void>((wake) => void sleepers.push({ at: now + delay, wake })),
    };
    const { puts, invoke } = invoker(resource, { clock });
    const done = invoke(event(), { getRemainingTimeInMillis: () => 900_000 - now });
    while (puts.length === 0) {
      for (let turn = 0; turn < 20; turn++) await new Promise((next) => setImmediate(next));
      sleepers.sort((a, b) => a.at - b.at);
      const next = sleepers.shift();
      now = next?.at ?? now;
      next?.wake();
    }
    await done;
    expect(JSON.stringify(puts[0]?.answer)).toContain("Not done within 60 s");
  });
});

describe("envelopes", () => {
  const ok = async () => ({ attributes: { A: "1" } });

  test("each record of a topic is answered, a bad one blocks none", async () => {
    const { puts, invoke } = invoker(ok);
    const record = (message: unknown) => ({ EventSource: "aws:sns", Sns: { Message: message } });
    const good = [event(), event({ RequestId: "request-2" })].map((one) => record(JSON.stringify(one)));
    await expect(invoke({ Records: [good[0], record("no JSON"), good[1]] })).rejects.toThrow("Not an object");
    expect(puts.map(({ answer }) => answer["RequestId"])).toEqual(["request-1", "request-2"]);
  });

  test("messages of a queue, in a topic's envelope or raw; what failed is listed for SQS", async () => {
    const { puts, invoke } = invoker(ok);
    const enveloped = JSON.stringify({ Type: "Notification", Message: JSON.stringify(event()) });
    const raw = JSON.stringify(event({ RequestId: "request-2" }));
    const bodies = [enveloped, raw, "no JSON"];
    const Records = bodies.map((body, index) => ({ messageId: `m-${index}`, body }));
    expect(await invoke({ Records })).toEqual({ batchItemFailures: [{ itemIdentifier: "m-2" }] });
    expect(puts.map(({ answer }) => answer["RequestId"])).toEqual(["request-1", "request-2"]);
  });
});

describe("which resource answers", () => {
  const named = (type: `Custom::${string}`) =>
    defineResource({
      type,
      create: async () => ({ attributes: { Type: type } }),
      delete: async () => undefined,
    });

  test("the one of the request's type", async () => {
    const { puts, invoke } = invoker([named("Custom::Other"), named("Custom::Thing")]);
    await invoke(event());
    expect(puts[0]?.answer).toMatchObject({ Data: { Type: "Custom::Thing" } });
  });

  test("none: the request fails by name of the type", async () => {
    const { puts, invoke } = invoker([named("Custom::Other")]);
    await invoke(event());
    expect(JSON.stringify(puts[0]?.answer)).toContain(
      "No resource of type Custom::Thing here, only: Custom::Other",
    );
  });

  test("one that is loaded with the first request", async () => {
    const { puts, invoke } = invoker({ load: async () => ({ Thing: named("Custom::Thing"), other: 5 }) });
    await invoke(event());
    expect(puts[0]?.answer).toMatchObject({ Status: "SUCCESS" });
  });
});

test("twenty requests at once don't mix", async () => {
  const { puts, invoke } = invoker(async ({ properties }) => {
    await new Promise((next) => setImmediate(next));
    return { id: `id-${JSON.stringify(properties["N"])}`, attributes: { N: properties["N"] ?? "" } };
  });
  const numbers = Array.from({ length: 20 }, (_value, index) => String(index));
  await Promise.all(
    numbers.map((N) => invoke(event({ RequestId: `request-${N}`, ResourceProperties: { N } }))),
  );
  for (const N of numbers) {
    const put = puts.find(({ answer }) => answer["RequestId"] === `request-${N}`);
    expect(put?.answer).toMatchObject({ PhysicalResourceId: `id-"${N}"`, Data: { N } });
  }
});

test("pending without a poll handler fails at once, and what was adopted is cleaned up under its id", async () => {
  const resource = defineResource({
    type: "Custom::Thing",
    create: async ({ ctx }) => {
      ctx.adopt("made");
      return ctx.pending({ job: 1 }, { every: "15m" });
    },
    delete: async () => undefined,
  });
  const { puts, invoke } = invoker(resource);
  await invoke(event());
  expect(puts[0]?.answer).toMatchObject({
    Status: "FAILED",
    Reason: "ctx.pending() was returned, but the resource has no poll handler (in create)",
    PhysicalResourceId: "made",
  });
});

test("attributes that the schema doesn't have are left out, and a warning names them", async () => {
  const warnings: unknown[] = [];
  const resource = counting(async () => {
    const attributes = { N: 1, Extra: "lost" };
    return { attributes };
  });
  const logger = { ...quiet, warn: (msg: string, fields?: object) => void warnings.push({ msg, ...fields }) };
  const { puts, invoke } = invoker(resource, { logger });
  await invoke(event());
  expect(puts[0]?.answer["Data"]).toEqual({ N: 1 });
  expect(warnings).toMatchObject([
    { msg: "attributes were left out, as their schema doesn't have them", lost: ["Extra"] },
  ]);
});
