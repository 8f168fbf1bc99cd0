/** What happens between a decision and its provider: dynamic references, requests that nobody takes. */
import { afterEach, describe, expect, test } from "vitest";
import { MemoryJournal } from "../../packages/custard/src/storage/memory-journal.ts";
import type { World } from "../../packages/custard/src/testing/world.ts";
import { custom, lines, plain, requestLines, template, worldOf, type Answers } from "../support/op-world.ts";

let world: World;
afterEach(() => world.close());

describe("a dynamic reference", () => {
  const secret = "{{resolve:secretsmanager:db:SecretString:password}}";
  const plainly = "{{resolve:ssm:/name:1}}";

  test("is written out when its request is delivered, and kept as it is everywhere else", async () => {
    const journal = new MemoryJournal();
    const references = { [secret]: "opened sesame", [plainly]: "Ada" };
    world = worldOf({}, { journal, references });
    const id = await world.create(template({ A: custom({ Login: `${plainly}:${secret}` }) }));
    const stack = await world.settle(id);
    expect(world.requests[0]?.properties["Login"]).toBe("Ada:opened sesame");
    expect(stack.resources[0]?.properties["Login"]).toBe(`${plainly}:${secret}`);
    expect(JSON.stringify(await journal.records(id, 0, 100))).not.toContain("sesame");
    expect(JSON.stringify(await world.events(id))).not.toContain("sesame");
  });

  test("that leads nowhere fails its resource before anybody is asked, and nothing has to be deleted", async () => {
    world = worldOf({});
    const id = await world.create(
      template({ A: custom({ Login: secret }), P: plain({}, { DependsOn: "A" }) }),
    );
    expect((await world.settle(id)).status).toBe("ROLLBACK_COMPLETE");
    expect(await lines(world, id)).toContain(`A CREATE_FAILED Nothing is known of ${secret}.`);
    expect(requestLines(world)).toEqual([]);
  });

  test("fails a built-in type's resource likewise", async () => {
    world = worldOf({});
    const id = await world.create(template({ P: plain({ Value: plainly }) }));
    await world.settle(id);
    expect(await lines(world, id)).toContain(`P CREATE_FAILED Nothing is known of ${plainly}.`);
  });

  test("doesn't keep a resource from being deleted", async () => {
    const references: Record<string, string> = { [plainly]: "Ada" };
    world = worldOf({}, { references });
    const id = await world.create(template({ A: custom({ Login: plainly }) }));
    await world.settle(id);
    delete references[plainly];
    await world.engine.deleteStack({ stack: id });
    expect((await world.settle(id)).status).toBe("DELETE_COMPLETE");
    expect(world.requests.at(-1)).toMatchObject({ requestType: "Delete", properties: { Login: plainly } });
  });

  test("to a secure parameter is refused where CloudFormation doesn't take it (fact 14)", async () => {
    world = worldOf({});
    await expect(
      world.create(template({ A: custom({ Login: "{{resolve:ssm-secure:/p:1}}" }) })),
    ).rejects.toThrow("SSM Secure reference is not supported in: [Custom::Thing/Properties/Login]");
  });
});

test("a request that its transport refuses, say for its size, fails at once and is not followed by a Delete", async () => {
  const reason =
    "1048700 byte payload is too large for the Event invocation type (limit 1048576 bytes) (Service: AWSLambda; Status Code: 413)";
  const answers: Answers = { "Create A": { delivery: { kind: "refused", reason } } };
  world = worldOf(answers);
  const began = world.clock.now();
  const id = await world.create(template({ A: custom() }));
  expect((await world.settle(id)).status).toBe("ROLLBACK_COMPLETE");
  expect(world.clock.now()).toBe(began);
  expect(await lines(world, id)).toEqual([
    "my-stack CREATE_IN_PROGRESS User Initiated",
    "A CREATE_IN_PROGRESS",
    `A CREATE_FAILED ${reason}`,
    "my-stack ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [A]. Rollback requested by user.",
    "A DELETE_COMPLETE",
    "my-stack ROLLBACK_COMPLETE",
  ]);
  expect(requestLines(world)).toEqual(["Create A"]);
});
