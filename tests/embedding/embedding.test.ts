/** The engine in another program, as docs/embedding.md shows it. */
import { readFile } from "node:fs/promises";
import { afterEach, describe, expect, test } from "vitest";
import { openEmbedded, type Embedded, type EmbeddedProvider } from "custard";
import { VirtualClock } from "../../packages/custard/src/testing/virtual-clock.ts";

const serviceToken = "arn:aws:lambda:us-east-1:123456789012:function:provider";
let custard: Embedded | undefined;
afterEach(() => custard?.close());

function open(provider: EmbeddedProvider, clock?: VirtualClock): Embedded {
  custard = openEmbedded({
    providers: { [serviceToken]: provider },
    ...(clock === undefined ? {} : { clock }),
  });
  return custard;
}

test("the program in the documentation does what is said of it", async () => {
  const [program, page] = await Promise.all(
    ["greeting.ts", "../../docs/embedding.md"].map((path) =>
      readFile(new URL(path, import.meta.url), "utf8"),
    ),
  );
  expect(page).toContain(`\`\`\`ts\n${program}\`\`\``);
  const { output, updated } = await import("./greeting.ts");
  expect(output).toBe("CREATE_COMPLETE: Hello, Ada!");
  expect(updated).toMatchObject({
    status: "SUCCESS",
    physicalId: "greeting-Grace",
    replaced: { physicalId: "greeting-Ada", deleted: true },
  });
});

test("what is closed does nothing more", async () => {
  const closed = open(() => ({}));
  const resource = closed.resource({ serviceToken });
  await resource.create({});
  await closed.close();
  const message = "The engine is closed: nothing more can be asked of it.";
  await expect(resource.update({ N: 2 })).rejects.toThrow(message);
  const template = { Resources: { A: { Type: "Custom::A", Properties: { ServiceToken: serviceToken } } } };
  const input = { stackName: "late", templateBody: JSON.stringify(template) };
  await expect(closed.engine.createStack(input)).rejects.toThrow(message);
  expect(await closed.engine.stacks()).toEqual([]);
});

describe("one custom resource without a stack", () => {
  test("lives: create, update, delete, with the old properties and its id", async () => {
    const seen: unknown[] = [];
    const resource = open((request) => {
      const { requestType, properties } = request;
      seen.push([requestType, properties["N"], "physicalId" in request ? request.physicalId : undefined]);
      return requestType === "Create" ? { physicalId: "r-1", data: { Got: "it" } } : {};
    }).resource({ serviceToken });
    expect(await resource.create({ N: 1 })).toEqual({
      status: "SUCCESS",
      physicalId: "r-1",
      attributes: { Got: "it" },
      noEcho: false,
    });
    expect(await resource.update({ N: "1" })).toMatchObject({ status: "SUCCESS", attributes: { Got: "it" } });
    expect(await resource.update({ N: 2 })).toMatchObject({ status: "SUCCESS", attributes: {} });
    expect(await resource.delete()).toMatchObject({ status: "SUCCESS", physicalId: "r-1" });
    expect(resource.physicalId).toBeUndefined();
    expect(seen).toEqual([
      ["Create", "1", undefined],
      ["Update", "2", "r-1"],
      ["Delete", "2", "r-1"],
    ]);
  });

  test("fails by its provider's word, and can then be deleted by the id in it", async () => {
    const deleted: string[] = [];
    const resource = open((request) => {
      if (request.requestType === "Delete") deleted.push(request.physicalId);
      return request.requestType === "Create" ? { status: "FAILED", reason: "no", physicalId: "half" } : {};
    }).resource({ serviceToken });
    const outcome = await resource.create({});
    expect(outcome).toMatchObject({ status: "FAILED", cause: "answered", physicalId: "half" });
    expect(outcome).toHaveProperty("reason", expect.stringContaining("Message returned: no (RequestId: "));
    await expect(resource.create({})).rejects.toThrow("created already");
    await resource.delete();
    expect(deleted).toEqual(["half"]);
  });

  test("keeps a replacement although the old one can't be deleted; that is tried three times", async () => {
    const asked: string[] = [];
    const resource = open(({ requestType }) => {
      asked.push(requestType);
      if (requestType === "Delete") return { status: "FAILED", reason: "in use" };
      return { physicalId: requestType };
    }).resource({ serviceToken });
    await resource.create({ N: 1 });
    expect(await resource.update({ N: 2 })).toMatchObject({
      physicalId: "Update",
      replaced: { physicalId: "Create", deleted: false },
    });
    expect(asked).toEqual(["Create", "Update", "Delete", "Delete", "Delete"]);
  });

  test("waits for its time limit, and deletes by an id that was made up", async () => {
    const clock = new VirtualClock();
    const deleted: string[] = [];
    const resource = open((request) => {
      if (request.requestType !== "Delete") return undefined;
      deleted.push(request.physicalId);
      return {};
    }, clock).resource({ serviceToken });
    const creating = resource.create({ ServiceTimeout: 30 });
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(30_000);
    expect(await creating).toMatchObject({ status: "FAILED", cause: "timed-out" });
    expect((await resource.delete()).status).toBe("SUCCESS");
    expect(deleted).toEqual([expect.stringMatching(/^embedded-Resource-/)]);
  });

  test("stops waiting when it is aborted", async () => {
    const stop = new AbortController();
    const resource = open(({ requestType }) => {
      if (requestType !== "Create") return {};
      stop.abort(new Error("enough"));
      return undefined;
    }).resource({ serviceToken });
    expect(await resource.create({}, { signal: stop.signal })).toEqual({
      status: "FAILED",
      cause: "aborted",
      reason: "Resource creation cancelled",
    });
    expect((await resource.delete()).status).toBe("SUCCESS");
  });

  test("sends nothing that can't be sent", async () => {
    const asked: string[] = [];
    const embedded = open(({ requestType }) => {
      asked.push(requestType);
      return {};
    });
    const bad = embedded.resource({ serviceToken });
    expect(await bad.create({ ServiceTimeout: 3601 })).toMatchObject({ status: "FAILED", cause: "not-sent" });
    expect(await embedded.resource({ serviceToken: "nobody" }).create({})).toMatchObject({
      cause: "refused",
    });
    await expect(bad.delete()).rejects.toThrow("create it first");
    await bad.create({});
    expect(await bad.update({ ServiceToken: "another" })).toMatchObject({
      cause: "not-sent",
      reason: "Modifying service token is not allowed.",
    });
    expect(asked).toEqual(["Create"]);
  });

  test.each<{ what: string; answer: EmbeddedProvider; cause: string }>([
    { what: "an id that is none", answer: () => ({ physicalId: "" }), cause: "malformed" },
    { what: "too much", answer: () => ({ data: { Big: "x".repeat(5000) } }), cause: "malformed" },
    {
      what: "an exception",
      answer: () => {
        throw new Error("boom");
      },
      cause: "silent",
    },
  ])("fails at $what", async ({ answer, cause }) => {
    const outcome = await open(answer).resource({ serviceToken }).create({});
    expect(outcome).toMatchObject({ status: "FAILED", cause });
  });
});

describe("a provider in JavaScript, which no type holds to its word", () => {
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;

  test.each<{ returned: unknown; told: string }>([
    { returned: null, told: "it returned null, not an object like { physicalId, data }" },
    { returned: "x", told: "it returned a string, not an object like { physicalId, data }" },
    { returned: [], told: "it returned a list, not an object like { physicalId, data }" },
    {
      returned: { physicalID: "x" },
      told: "it returned a member physicalID, but an answer has only status, physicalId, reason, data, noEcho",
    },
    { returned: { data: circular }, told: "Converting circular structure to JSON" },
    { returned: { data: { Size: 1n } }, told: "Do not know how to serialize a BigInt" },
  ])("returns $returned: the request fails at once, alone and in a stack", async ({ returned, told }) => {
    const troubles: unknown[] = [];
    custard = openEmbedded({
      providers: { [serviceToken]: () => returned as ReturnType<EmbeddedProvider> },
      trouble: (error) => troubles.push(error),
    });
    const failed = await custard.resource({ serviceToken }).create({});
    expect(failed).toMatchObject({
      status: "FAILED",
      cause: "silent",
      reason: expect.stringContaining(told),
    });
    const Resource = { Type: "Custom::Thing", Properties: { ServiceToken: serviceToken } };
    const templateBody = JSON.stringify({ Resources: { Resource } });
    const stackId = await custard.engine.createStack({
      stackName: "one",
      templateBody,
      disableRollback: true,
    });
    const events = [];
    for await (const event of custard.engine.watch(stackId)) events.push(event);
    expect(
      events.find(({ status, logicalId }) => status === "CREATE_FAILED" && logicalId === "Resource"),
    ).toMatchObject({
      reason: expect.stringContaining(told),
    });
    expect(troubles).toHaveLength(2);
  });

  test("isn't there: the token is told", async () => {
    custard = openEmbedded({ providers: {} });
    expect(await custard.resource({ serviceToken }).create({})).toMatchObject({
      status: "FAILED",
      cause: "refused",
      reason: `There is no provider for the service token ${serviceToken}: give openEmbedded one.`,
    });
  });
});
