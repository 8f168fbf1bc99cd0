/** Templates that must be worked on before they are one: transforms, SSM parameters, rules (fact 108). */
import { afterEach, describe, expect, test } from "vitest";
import type { Json } from "@custard/provider/protocol";
import type { TransformAnswer } from "../../packages/custard/src/template/process-template.ts";
import { MemoryJournal } from "../../packages/custard/src/storage/memory-journal.ts";
import type { World } from "../../packages/custard/src/testing/world.ts";
import { custom, lines, newest, template, worldOf } from "../support/op-world.ts";

let world: World;
afterEach(() => world.close());

const macro = (answer: TransformAnswer) => ({ transforms: { answer: async () => answer } });
const fragment = (value: Json): TransformAnswer => ({ kind: "fragment", value });
const before = template({ A: custom({ V: "before" }) }, { Transform: "Mine" });
const failed: TransformAnswer = {
  kind: "failed",
  message: "Transform 123456789012::Mine failed with: no idea",
};

describe("a macro", () => {
  test("makes the template; users see both, and the journal keeps both", async () => {
    const journal = new MemoryJournal();
    const after = { Resources: { B: custom({ V: "after" }) } };
    world = worldOf({}, { journal, ...macro(fragment(after)) });
    const id = await world.create(before);
    const stack = await world.settle(id);
    expect(stack.status).toBe("CREATE_COMPLETE");
    expect(stack.resources.map(({ logicalId }) => logicalId)).toEqual(["B"]);
    expect(stack.templateBody).toBe(before.templateBody);
    expect(JSON.parse(stack.processedTemplateBody ?? "")).toEqual(after);
    await world.close();
    world = worldOf({}, { journal, ...macro(fragment(after)) });
    expect(await world.engine.stack(id)).toEqual(stack);
    await expect(
      world.engine.updateStack({ stackName: "my-stack", usePreviousTemplate: true }),
    ).rejects.toThrow("No updates are to be performed.");
  });

  test("that fails fails the stack, before any resource starts (fact 108)", async () => {
    world = worldOf({}, macro(failed));
    const id = await world.create(before);
    expect((await world.settle(id)).status).toBe("ROLLBACK_COMPLETE");
    expect(await lines(world, id)).toEqual([
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "my-stack ROLLBACK_IN_PROGRESS Transform 123456789012::Mine failed with: no idea. Rollback requested by user.",
      "my-stack ROLLBACK_COMPLETE",
    ]);
  });

  test("that gives no template at all fails the stack in AWS's words", async () => {
    world = worldOf({}, macro(fragment("a text")));
    const id = await world.create(before);
    await world.settle(id);
    expect((await lines(world, id))[1]).toBe(
      "my-stack ROLLBACK_IN_PROGRESS Template format error: unsupported structure.. Rollback requested by user.",
    );
  });

  test("that fails on an update leaves the stack as it was", async () => {
    world = worldOf({}, macro(failed));
    const id = await world.create(template({ A: custom({ V: "1" }) }));
    await world.settle(id);
    const seen = await newest(world, id);
    const sent = world.requests.length;
    await world.engine.updateStack({ stackName: "my-stack", ...before });
    const stack = await world.settle(id);
    expect(stack.status).toBe("UPDATE_ROLLBACK_COMPLETE");
    expect(stack.resources.map(({ logicalId, properties }) => [logicalId, properties["V"]])).toEqual([
      ["A", "1"],
    ]);
    expect((await lines(world, id, seen))[1]).toBe(
      "my-stack UPDATE_ROLLBACK_IN_PROGRESS Transform 123456789012::Mine failed with: no idea",
    );
    expect(world.requests).toHaveLength(sent);
  });

  test("that fails makes a failed change set", async () => {
    world = worldOf({}, macro(failed));
    const { changeSets } = world.engine;
    const { changeSetId } = await changeSets.create({
      stackName: "my-stack",
      changeSetName: "a",
      changeSetType: "CREATE",
      ...before,
    });
    expect(await changeSets.describe({ changeSet: changeSetId })).toMatchObject({
      status: "FAILED",
      reason: "Transform 123456789012::Mine failed with: no idea",
    });
  });
});

test("language extensions need nobody", async () => {
  world = worldOf({});
  const body = template(
    { "Fn::ForEach::Things": ["Name", ["A", "B"], { "Thing${Name}": custom({ V: { Ref: "Name" } }) }] },
    { Transform: "AWS::LanguageExtensions" },
  );
  const stack = await world.settle(await world.create(body));
  expect(stack.status).toBe("CREATE_COMPLETE");
  expect(stack.resources.map(({ logicalId, properties }) => [logicalId, properties["V"]])).toEqual([
    ["ThingA", "A"],
    ["ThingB", "B"],
  ]);
});

describe("a parameter that names an SSM parameter", () => {
  const body = template(
    { A: custom({ V: { Ref: "P" } }) },
    { Parameters: { P: { Type: "AWS::SSM::Parameter::Value<String>", Default: "/p" } } },
  );

  test("has its value, looked up anew at each update", async () => {
    const parameters = { "/p": "one" };
    world = worldOf({}, { parameters });
    const id = await world.create(body);
    const stack = await world.settle(id);
    expect(stack.parameters).toEqual([{ name: "P", value: "/p", resolvedValue: "one" }]);
    parameters["/p"] = "two";
    await world.engine.updateStack({ stackName: "my-stack", ...body });
    expect((await world.settle(id)).status).toBe("UPDATE_COMPLETE");
    expect(world.requests.at(-1)?.properties["V"]).toBe("two");
  });

  test("that isn't there refuses the call", async () => {
    world = worldOf({});
    await expect(world.create(body)).rejects.toThrow(
      "Unable to fetch parameters [/p] from parameter store for this account.",
    );
    expect(await world.engine.stacks()).toEqual([]);
  });
});

test("a rule that doesn't hold refuses the call", async () => {
  world = worldOf({});
  const body = template(
    { A: custom() },
    {
      Parameters: { Size: { Type: "String", Default: "big" } },
      Rules: {
        Small: {
          Assertions: [
            { Assert: { "Fn::Equals": [{ Ref: "Size" }, "small"] }, AssertDescription: "Small only" },
          ],
        },
      },
    },
  );
  await expect(world.create(body)).rejects.toThrow("Small only");
  expect((await world.settle(await world.create({ ...body, parameters: { Size: "small" } }))).status).toBe(
    "CREATE_COMPLETE",
  );
});
