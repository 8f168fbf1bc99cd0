/** Parents and nested stacks, importers and exporters, with the process ending at any moment of what they do together. */
import { afterEach, expect, test } from "vitest";
import type { StackId } from "../../packages/custard/src/engine/ids.ts";
import { MemoryJournal } from "../../packages/custard/src/storage/memory-journal.ts";
import { VirtualClock } from "../../packages/custard/src/testing/virtual-clock.ts";
import type { World } from "../../packages/custard/src/testing/world.ts";
import { custom, failure, template, worldOf, type Answers } from "../support/op-world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const moments = Array.from({ length: 40 }, (_, index) => index);

const child = (value: string, more: boolean) =>
  template(
    { C: custom({ V: value }), ...(more ? { New: custom() } : { Gone: custom() }) },
    { Outputs: { V: { Value: value }, Shared: { Value: "s", Export: { Name: "shared" } } } },
  ).templateBody;

const parent = (bad: boolean) =>
  template({
    Child: { Type: "AWS::CloudFormation::Stack", Properties: { TemplateURL: "child.yaml" } },
    After: custom({ Got: { "Fn::GetAtt": "Child.Outputs.V" } }, {}),
    ...(bad ? { Bad: custom({}, { DependsOn: "After" }) } : {}),
  });

/** Runs what `begin` begins, ends the process after so many turns, and goes on in another one. */
async function interrupted(
  after: number,
  answers: Answers,
  begin: (world: World) => Promise<StackId>,
): Promise<{ world: World; id: StackId }> {
  const journal = new MemoryJournal();
  const clock = new VirtualClock();
  const templates: Record<string, string> = { "child.yaml": child("1", false) };
  const first = worldOf(answers, { journal, clock, templates, seed: "first" });
  world = first;
  const id = await first.create(parent(false));
  expect((await first.settle(id)).status).toBe("CREATE_COMPLETE");
  const user = await first.create({
    stackName: "user",
    ...template({ U: custom({ Got: { "Fn::ImportValue": "shared" } }) }),
  });
  await first.settle(user);
  templates["child.yaml"] = child("2", true);
  await begin(first);
  for (let turn = 0; turn < after; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  await first.close();
  // What the process had claimed is free again after a while.
  clock.advance(600_000);
  const second = worldOf(answers, { journal, clock, templates, seed: "second" });
  world = second;
  return { world: second, id };
}

async function childIn(
  now: World,
): Promise<{ status: string; resources: readonly string[]; value: unknown }> {
  const summary = (await now.engine.stacks()).find(({ stackName }) => stackName.startsWith("my-stack-Child"));
  const stack = await now.engine.stack(summary?.stackId ?? "");
  const { properties } = stack.resources[0] ?? {};
  return {
    status: stack.status,
    resources: stack.resources.map(({ logicalId }) => logicalId),
    value: properties?.["V"],
  };
}

test.each(moments)("an update that succeeds, interrupted after %d turns", async (after) => {
  const { world: now, id } = await interrupted(after, {}, (first) =>
    first.engine.updateStack({ stackName: "my-stack", ...parent(false) }),
  );
  expect((await now.settle(id)).status).toBe("UPDATE_COMPLETE");
  expect(await childIn(now)).toEqual({ status: "UPDATE_COMPLETE", resources: ["C", "New"], value: "2" });
  expect(await now.engine.importers("shared")).toEqual(["user"]);
});

test.each(moments)("an update that fails, interrupted after %d turns", async (after) => {
  const { world: now, id } = await interrupted(after, { "Create Bad": failure("no") }, (first) =>
    first.engine.updateStack({ stackName: "my-stack", ...parent(true) }),
  );
  expect((await now.settle(id)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
  expect(await childIn(now)).toEqual({
    status: "UPDATE_ROLLBACK_COMPLETE",
    resources: ["C", "Gone"],
    value: "1",
  });
});

test.each(moments)("a deletion of importer and exporter, interrupted after %d turns", async (after) => {
  const { world: now, id } = await interrupted(after, {}, async (first) => {
    await first.engine.deleteStack({ stack: "user" });
    return (await first.engine.stack("my-stack")).stackId;
  });
  for (const { stackId } of await now.engine.stacks()) await now.settle(stackId);
  await now.quiet();
  await now.engine.deleteStack({ stack: id });
  expect((await now.settle(id)).status).toBe("DELETE_COMPLETE");
  expect(await now.engine.exports()).toEqual([]);
});
