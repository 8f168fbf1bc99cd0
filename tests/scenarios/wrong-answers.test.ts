import { expect, test } from "vitest";
import type { JsonObject } from "@custard/provider/protocol";
import { bodyFor, custom, scenario } from "../support/scenario.ts";

const long = (bytes: number) => "x".repeat(bytes);

/** A body of exactly so many bytes. */
function padded(fields: JsonObject, bytes: number): string {
  const bare = JSON.stringify({ ...fields, Data: { Pad: "" } });
  return JSON.stringify({ ...fields, Data: { Pad: long(bytes - bare.length) } });
}

test.each<{ name: string; change: JsonObject; reason: string }>([
  {
    name: "an empty PhysicalResourceId (37)",
    change: { PhysicalResourceId: "" },
    reason: "Invalid PhysicalResourceId",
  },
  {
    name: "a null as PhysicalResourceId (37)",
    change: { PhysicalResourceId: null },
    reason: "Invalid PhysicalResourceId",
  },
  {
    name: "a number as PhysicalResourceId (40)",
    change: { PhysicalResourceId: 7 },
    reason: "Invalid PhysicalResourceId",
  },
  {
    name: "a PhysicalResourceId of 1025 bytes (40)",
    change: { PhysicalResourceId: long(1025) },
    reason: "Invalid PhysicalResourceId",
  },
  {
    name: "no id in a FAILED answer, whose reason is lost (37)",
    change: { PhysicalResourceId: "", Status: "FAILED", Reason: "the real reason" },
    reason: "Invalid PhysicalResourceId",
  },
  {
    name: "FAILURE as Status (34)",
    change: { Status: "FAILURE" },
    reason: "Invalid Response object: 'FAILURE' is not a valid ResponseStatus",
  },
  {
    name: "success as Status (34)",
    change: { Status: "success" },
    reason: "Invalid Response object: 'success' is not a valid ResponseStatus",
  },
  {
    name: "a null as Reason (43)",
    change: { Reason: null },
    reason: "Invalid Response object: Reason must be a string, not null",
  },
  {
    name: "NoEcho that is no boolean",
    change: { NoEcho: "true" },
    reason: "Invalid Response object: NoEcho must be a Boolean, not a string",
  },
  {
    name: "Data that is no object",
    change: { Data: ["x"] },
    reason: "Invalid Response object: Data must be a JSON object, not an array",
  },
  {
    name: "a FAILED answer without Reason (32)",
    change: { Status: "FAILED" },
    reason:
      "Received response status [FAILED] from custom resource. Message returned:  (RequestId: <RequestId>)",
  },
  {
    name: "a FAILED answer (41)",
    change: { Status: "FAILED", Reason: "no luck" },
    reason:
      "Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
  },
])("$name fails a create, and its rollback deletes (facts 32 to 41)", async ({ change, reason }) => {
  const s = scenario({ Create: (request) => ({ body: bodyFor(request, change) }) });
  const stack = await s.create({ Resources: { A: custom() } });
  const failed = (await s.events()).find((line) => line.startsWith("A CREATE_FAILED"));
  expect(failed?.replace(/ \(.*?\)/, "")).toBe(`A CREATE_FAILED ${reason}`);
  expect(s.requests()).toHaveLength(2);
  expect(stack.status).toBe("ROLLBACK_COMPLETE");
});

test.each([
  { name: "nothing", body: "" },
  { name: "no JSON", body: "oops" },
  { name: "an array", body: "[]" },
  { name: "a scalar", body: '"SUCCESS"' },
  { name: "an object without Status", body: "{}" },
])("$name as body fails the resource at once, by name of the fault (question 2)", async ({ body }) => {
  const s = scenario({ Create: { body } });
  await s.create({ Resources: { A: custom() } });
  expect((await s.events()).find((line) => line.startsWith("A CREATE_FAILED"))).toMatch(
    /Invalid Response object: /,
  );
});

test("4096 bytes are taken, 4097 are too long, whatever they say (facts 35, 36)", async () => {
  const fits = scenario({
    Create: (request) => ({ body: padded(JSON.parse(bodyFor(request)) as JsonObject, 4096) }),
  });
  expect((await fits.create({ Resources: { A: custom() } })).status).toBe("CREATE_COMPLETE");
  const large = scenario({
    Create: (request) => ({
      body: padded(JSON.parse(bodyFor(request, { Status: "FAILED", Reason: "lost" })) as JsonObject, 4097),
    }),
  });
  await large.create({ Resources: { A: custom() } });
  expect((await large.events())[2]).toBe(
    "A CREATE_FAILED (my-stack-A-<random>) Response object is too long.",
  );
});

test("a physical id of 1024 bytes is taken (fact 40)", async () => {
  const s = scenario({ Create: { answer: { PhysicalResourceId: long(1024) } } });
  expect((await s.create({ Resources: { A: custom() } })).status).toBe("CREATE_COMPLETE");
});

test.each(["RequestId", "StackId", "LogicalResourceId"])(
  "a body with another %s is ignored; the request can still be answered (fact 33, question 4)",
  async (name) => {
    const s = scenario({ Create: "silence" });
    await s.begin({ Resources: { A: custom() } });
    await s.events();
    await s.world.respond(s.request(), bodyFor(s.request(), { [name]: "another" }));
    expect(await s.events()).toEqual([]);
    await s.world.respond(s.request(), bodyFor(s.request()));
    expect((await s.settle()).status).toBe("CREATE_COMPLETE");
  },
);

test("after an invalid id CloudFormation makes one up for the Delete; a second one ends the rollback (fact 39)", async () => {
  const s = scenario({
    Create: { answer: { PhysicalResourceId: "" } },
    Delete: { answer: { PhysicalResourceId: "" } },
  });
  const stack = await s.create({ Resources: { A: custom() } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "A CREATE_IN_PROGRESS",
      "A CREATE_FAILED (my-stack-A-<random>) Invalid PhysicalResourceId",
      "my-stack ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [A]. Rollback requested by user.",
      "A DELETE_IN_PROGRESS (my-stack-A-<random>)",
      "A DELETE_FAILED (my-stack-A-<random>) Invalid PhysicalResourceId",
      "my-stack ROLLBACK_FAILED The following resource(s) failed to delete: [A]. ",
    ]
  `);
  expect(stack.status).toBe("ROLLBACK_FAILED");
});

test.each(["Update", "Delete"] as const)(
  "an id is needed in the answer to %s too (fact 38)",
  async (type) => {
    const s = scenario({ [type]: { answer: { PhysicalResourceId: "" } } });
    await s.create({ Resources: { A: custom({ V: 1 }) } });
    await s.events();
    if (type === "Update") await s.update({ Resources: { A: custom({ V: 2 }) } });
    else await s.delete();
    const failed = (await s.events()).find((line) => line.includes("_FAILED"));
    expect(failed).toBe(`A ${type.toUpperCase()}_FAILED (A-1) Invalid PhysicalResourceId`);
  },
);

test("the text before 2021 and the one of today differ; today's is used (facts 41, 42, 44, 45)", async () => {
  const s = scenario({ "Create A": { answer: { Status: "FAILED", Reason: "no luck" } } });
  await s.create({ Resources: { A: custom() } });
  const told = (await s.events()).join("\n");
  expect(told).not.toContain("Failed to create resource.");
  expect(told).toContain("Received response status [FAILED] from custom resource. Message returned: no luck");
});
