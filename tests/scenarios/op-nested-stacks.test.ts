/** Stacks in stacks: outputs, parameters, updates, failures, rollback (fact 92). */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "@custard/provider/protocol";
import type { StackId } from "../../packages/custard/src/engine/ids.ts";
import type { World } from "../../packages/custard/src/testing/world.ts";
import { MemoryJournal } from "../../packages/custard/src/storage/memory-journal.ts";
import {
  custom,
  failure,
  lines,
  newest,
  plain,
  requestLines,
  template,
  worldOf,
  type Answers,
} from "../support/op-world.ts";

let world: World;
let answers: Answers;
let templates: Record<string, string>;

beforeEach(() => {
  answers = {};
  templates = {};
  world = worldOf(answers, { templates });
});
afterEach(() => world.close());

const nested = (properties: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  Type: "AWS::CloudFormation::Stack",
  Properties: { TemplateURL: "child.yaml", ...properties },
  ...more,
});

const withValue = (id: string, value: string): string =>
  template(
    { [id]: custom({ V: { Ref: "V" } }) },
    {
      Parameters: { V: { Type: "String", Default: value } },
      Outputs: { Id: { Value: { Ref: id } }, V: { Value: { Ref: "V" } } },
    },
  ).templateBody;

async function create(input: { templateBody: string }, settled = "CREATE_COMPLETE"): Promise<StackId> {
  const id = await world.create(input);
  expect((await world.settle(id)).status).toBe(settled);
  return id;
}

async function update(input: { templateBody: string; disableRollback?: boolean }): Promise<string> {
  const id = await world.engine.updateStack({ stackName: "my-stack", ...input });
  return (await world.settle(id)).status;
}

/** The ARN of the nested stack under a logical id. */
async function childOf(parent: string, logicalId = "Child"): Promise<StackId> {
  const { resources } = await world.engine.stack(parent);
  return resources.find((resource) => resource.logicalId === logicalId)?.physicalId as string as StackId;
}

const ofStack = (all: readonly string[], name: string): readonly string[] =>
  all.filter((line) => line.startsWith(`${name} `));

describe("a nested stack", () => {
  test("is created with its parameters, and its outputs are attributes", async () => {
    templates["child.yaml"] = withValue("C", "default");
    const id = await create(
      template({
        Child: nested({ Parameters: { V: "given" } }),
        After: custom({
          Got: { "Fn::GetAtt": ["Child", "Outputs.Id"] },
          V: { "Fn::GetAtt": "Child.Outputs.V" },
        }),
      }),
    );
    expect(world.requests.at(-1)?.properties).toMatchObject({ Got: "C-1", V: "given" });
    const child = await world.engine.stack(await childOf(id));
    expect(child).toMatchObject({ status: "CREATE_COMPLETE", parentId: id, rootId: id });
    expect(child.stackName).toMatch(/^my-stack-Child-[A-Za-z0-9]{12}$/);
    expect(ofStack(await lines(world, id), "Child")).toEqual([
      "Child CREATE_IN_PROGRESS",
      "Child CREATE_IN_PROGRESS Resource creation Initiated",
      "Child CREATE_COMPLETE",
    ]);
  });

  test("is deleted with its parent, in reverse order", async () => {
    templates["child.yaml"] = withValue("C", "1");
    const id = await create(template({ Child: nested(), A: custom({}, { DependsOn: "Child" }) }));
    const child = await childOf(id);
    const sent = world.requests.length;
    await world.engine.deleteStack({ stack: id });
    expect((await world.settle(id)).status).toBe("DELETE_COMPLETE");
    expect((await world.engine.stack(child)).status).toBe("DELETE_COMPLETE");
    expect(requestLines(world, sent)).toEqual(["Delete A A-1", "Delete C C-1"]);
  });

  test("of an unknown output fails who asks for it", async () => {
    templates["child.yaml"] = withValue("C", "1");
    const id = await create(
      template({ Child: nested(), A: custom({ Got: { "Fn::GetAtt": "Child.Outputs.None" } }) }),
      "ROLLBACK_COMPLETE",
    );
    expect(ofStack(await lines(world, id), "A")[0]).toMatch(
      /^A CREATE_FAILED Output 'None' not found in stack 'arn:/,
    );
  });

  test("whose template can't be had, or is none, fails its resource and leaves no stack behind", async () => {
    const id = await create(template({ Child: nested({ TemplateURL: "none.yaml" }) }), "ROLLBACK_COMPLETE");
    expect(ofStack(await lines(world, id), "Child")).toContain(
      "Child CREATE_FAILED There is no template none.yaml.",
    );
    await world.engine.deleteStack({ stack: id });
    await world.quiet();
    templates["child.yaml"] = JSON.stringify({ Resources: {} });
    const other = await create(template({ Child: nested() }), "ROLLBACK_COMPLETE");
    expect(ofStack(await lines(world, other), "Child")).toContain(
      "Child CREATE_FAILED Template format error: At least one Resources member must be defined.",
    );
    expect((await world.engine.stacks()).map(({ stackName }) => stackName)).toEqual(["my-stack", "my-stack"]);
  });

  test("may have nested stacks of its own", async () => {
    templates["child.yaml"] = template(
      { Inner: nested({ TemplateURL: "inner.yaml" }) },
      {
        Outputs: { Id: { Value: { "Fn::GetAtt": "Inner.Outputs.Id" } } },
      },
    ).templateBody;
    templates["inner.yaml"] = withValue("C", "1");
    const id = await create(
      template({ Child: nested() }, { Outputs: { Id: { Value: { "Fn::GetAtt": "Child.Outputs.Id" } } } }),
    );
    expect((await world.engine.stack(id)).outputs).toEqual([{ name: "Id", value: "C-1" }]);
    const inner = await childOf(await childOf(id), "Inner");
    expect(await world.engine.stack(inner)).toMatchObject({ parentId: await childOf(id), rootId: id });

    templates["inner.yaml"] = withValue("C", "2");
    expect(
      await update(
        template({ Child: nested() }, { Outputs: { Id: { Value: { "Fn::GetAtt": "Child.Outputs.Id" } } } }),
      ),
    ).toBe("UPDATE_COMPLETE");
    expect((await world.engine.stack(inner)).status).toBe("UPDATE_COMPLETE");
    answers["Create Bad"] = failure("no");
    templates["inner.yaml"] = withValue("C", "3");
    expect(await update(template({ Child: nested(), Bad: custom({}, { DependsOn: "Child" }) }))).toBe(
      "UPDATE_ROLLBACK_COMPLETE",
    );
    const restored = await world.engine.stack(inner);
    expect([restored.status, restored.resources[0]?.properties["V"]]).toEqual([
      "UPDATE_ROLLBACK_COMPLETE",
      "2",
    ]);
  });
});

describe("a failing nested create", () => {
  test("fails its parent with its reason, and is deleted by the parent's rollback (fact 92)", async () => {
    templates["child.yaml"] = template({ C: custom(), D: custom({}, { DependsOn: "C" }) }).templateBody;
    answers["Create D"] = failure("no");
    const id = await create(template({ Child: nested() }), "ROLLBACK_COMPLETE");
    const child = (await world.engine.stacks()).at(-1)?.stackId as StackId;
    expect(await lines(world, id)).toEqual(
      [
        "my-stack CREATE_IN_PROGRESS User Initiated",
        "Child CREATE_IN_PROGRESS",
        "Child CREATE_IN_PROGRESS Resource creation Initiated",
        `Child CREATE_FAILED Embedded stack ${child} was not successfully created: The following resource(s) failed to create: [D]. `.trimEnd(),
        "my-stack ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [Child]. Rollback requested by user.",
        "Child DELETE_IN_PROGRESS",
        "Child DELETE_COMPLETE",
        "my-stack ROLLBACK_COMPLETE",
      ].map((line) => line.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")),
    );
    const { stackName } = await world.engine.stack(child);
    expect(ofStack(await lines(world, child), stackName)).toEqual([
      `${stackName} CREATE_IN_PROGRESS User Initiated`,
      `${stackName} CREATE_FAILED The following resource(s) failed to create: [D].`,
      `${stackName} DELETE_IN_PROGRESS User Initiated`,
      `${stackName} DELETE_COMPLETE`,
    ]);
  });

  test("is cancelled when a sibling fails, and deleted with what it has begun", async () => {
    templates["child.yaml"] = template({ C: custom() }).templateBody;
    answers["Create C"] = "silence";
    answers["Create Bad"] = async () => {
      await world.quiet();
      return failure("no");
    };
    const id = await create(template({ Child: nested(), Bad: custom() }), "ROLLBACK_COMPLETE");
    expect(ofStack(await lines(world, id), "Child")).toContain(
      "Child CREATE_FAILED Resource creation cancelled",
    );
    const all = await world.engine.stacks();
    expect(all.map(({ status }) => status)).toEqual(["ROLLBACK_COMPLETE", "DELETE_COMPLETE"]);
    expect(requestLines(world).filter((line) => line.startsWith("Delete C"))).toHaveLength(1);
  });
});

describe("an update of a parent", () => {
  const parent = (more: JsonObject = {}) => template({ Child: nested(), ...more });

  test("updates its nested stack also when only that one's template has changed", async () => {
    templates["child.yaml"] = withValue("C", "1");
    const id = await create(parent());
    const child = await childOf(id);
    templates["child.yaml"] = withValue("C", "2");
    const seen = await newest(world, child);
    expect(await update(parent())).toBe("UPDATE_COMPLETE");
    const { stackName } = await world.engine.stack(child);
    expect(await lines(world, child, seen)).toEqual([
      `${stackName} UPDATE_IN_PROGRESS User Initiated`,
      "C UPDATE_IN_PROGRESS",
      "C UPDATE_COMPLETE",
      `${stackName} UPDATE_COMPLETE_CLEANUP_IN_PROGRESS`,
      `${stackName} UPDATE_COMPLETE`,
    ]);
  });

  test("leaves a nested stack without changes alone", async () => {
    templates["child.yaml"] = withValue("C", "1");
    const id = await create(parent());
    const child = await childOf(id);
    const seen = await newest(world, child);
    expect(await update(parent({ A: custom() }))).toBe("UPDATE_COMPLETE");
    expect(await lines(world, child, seen)).toEqual([]);
    expect(ofStack(await lines(world, id), "Child").slice(-2)).toEqual([
      "Child UPDATE_IN_PROGRESS",
      "Child UPDATE_COMPLETE",
    ]);
  });

  test("lets its nested stack clean up only when nothing can fail any more", async () => {
    templates["child.yaml"] = template({ C: custom(), Gone: custom() }).templateBody;
    const id = await create(parent());
    const child = await childOf(id);
    templates["child.yaml"] = template({ C: custom() }).templateBody;
    answers["Create Late"] = "silence";
    await world.engine.updateStack({
      stackName: "my-stack",
      ...parent({ Late: custom({}, { DependsOn: "Child" }) }),
    });
    await world.quiet();
    expect((await world.engine.stack(child)).status).toBe("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS");
    expect(requestLines(world).some((line) => line.startsWith("Delete"))).toBe(false);
    const late = world.requests.at(-1);
    if (late !== undefined)
      await world.respond(
        late,
        JSON.stringify({
          Status: "SUCCESS",
          PhysicalResourceId: "L",
          StackId: late.stackId,
          RequestId: late.requestId,
          LogicalResourceId: "Late",
        }),
      );
    expect((await world.settle(id)).status).toBe("UPDATE_COMPLETE");
    expect((await world.engine.stack(child)).status).toBe("UPDATE_COMPLETE");
    expect(requestLines(world).filter((line) => line.startsWith("Delete"))).toEqual(["Delete Gone Gone-1"]);
  });

  test("that fails takes its nested stack back, with all that it had", async () => {
    templates["child.yaml"] = template({ C: custom({ V: "1" }), Kept: custom() }).templateBody;
    const id = await create(parent());
    const child = await childOf(id);
    templates["child.yaml"] = template({ C: custom({ V: "2" }), New: custom() }).templateBody;
    answers["Create Bad"] = failure("no");
    const seen = await newest(world, child);
    const sent = world.requests.length;
    expect(await update(parent({ Bad: custom({}, { DependsOn: "Child" }) }))).toBe(
      "UPDATE_ROLLBACK_COMPLETE",
    );
    const after = await world.engine.stack(child);
    expect(after.status).toBe("UPDATE_ROLLBACK_COMPLETE");
    expect(after.resources.map(({ logicalId, status }) => `${logicalId} ${status}`)).toEqual([
      "C UPDATE_COMPLETE",
      "Kept CREATE_COMPLETE",
    ]);
    expect(ofStack(await lines(world, child, seen), after.stackName)).toEqual([
      `${after.stackName} UPDATE_IN_PROGRESS User Initiated`,
      `${after.stackName} UPDATE_COMPLETE_CLEANUP_IN_PROGRESS`,
      `${after.stackName} UPDATE_ROLLBACK_IN_PROGRESS`,
      `${after.stackName} UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS`,
      `${after.stackName} UPDATE_ROLLBACK_COMPLETE`,
    ]);
    expect(requestLines(world, sent).toSorted()).toEqual([
      "Create Bad",
      "Create New",
      "Delete Bad Bad-1",
      "Delete New New-1",
      "Update C C-1",
      "Update C C-1",
    ]);
  });

  test("fails when its nested stack's does, with that one's status and reason", async () => {
    templates["child.yaml"] = withValue("C", "1");
    const id = await create(parent());
    const child = await childOf(id);
    templates["child.yaml"] = withValue("C", "2");
    answers["Update C"] = (request) => (request.properties["V"] === "2" ? failure("no") : { answer: {} });
    expect(await update(parent())).toBe("UPDATE_ROLLBACK_COMPLETE");
    expect((await world.engine.stack(child)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
    const [failed] = (await world.engine.events(id)).filter(({ status }) => status === "UPDATE_FAILED");
    expect(failed?.reason).toBe(
      `Embedded stack ${child} was not successfully updated. Currently in UPDATE_ROLLBACK_IN_PROGRESS with reason: The following resource(s) failed to update: [C].`,
    );
  });

  test("can't go back when its nested stack can't; continuing goes on there, and can skip there", async () => {
    templates["child.yaml"] = withValue("C", "1");
    const id = await create(parent());
    const child = await childOf(id);
    templates["child.yaml"] = withValue("C", "2");
    answers["Update C"] = failure("stuck");
    expect(await update(parent())).toBe("UPDATE_ROLLBACK_FAILED");
    expect((await world.engine.stack(child)).status).toBe("UPDATE_ROLLBACK_FAILED");
    await world.engine.continueUpdateRollback({ stack: id });
    expect((await world.settle(id)).status).toBe("UPDATE_ROLLBACK_FAILED");
    const { stackName } = await world.engine.stack(child);
    await world.engine.continueUpdateRollback({ stack: id, skip: [`${stackName}.C`] });
    expect((await world.settle(id)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
    expect((await world.engine.stack(child)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
  });

  test("without rollback leaves both as they are; RollbackStack takes both back", async () => {
    templates["child.yaml"] = withValue("C", "1");
    const id = await create(parent());
    const child = await childOf(id);
    templates["child.yaml"] = withValue("C", "2");
    answers["Create Bad"] = failure("no");
    expect(
      await update({ ...parent({ Bad: custom({}, { DependsOn: "Child" }) }), disableRollback: true }),
    ).toBe("UPDATE_FAILED");
    expect((await world.engine.stack(child)).status).toBe("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS");
    // Going on from there updates the nested stack once more.
    templates["child.yaml"] = withValue("C", "3");
    expect(
      await update({ ...parent({ Bad: custom({}, { DependsOn: "Child" }) }), disableRollback: true }),
    ).toBe("UPDATE_FAILED");
    await world.engine.rollbackStack({ stack: id });
    expect((await world.settle(id)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
    const after = await world.engine.stack(child);
    expect([after.status, after.resources[0]?.properties["V"]]).toEqual(["UPDATE_ROLLBACK_COMPLETE", "1"]);
  });

  test("adds and removes nested stacks; one that a failed update added is deleted again", async () => {
    templates["child.yaml"] = withValue("C", "1");
    const id = await create(template({ A: plain() }));
    answers["Create Bad"] = failure("no");
    expect(
      await update(template({ A: plain(), Child: nested(), Bad: custom({}, { DependsOn: "Child" }) })),
    ).toBe("UPDATE_ROLLBACK_COMPLETE");
    expect(await update(template({ A: plain(), Child: nested() }))).toBe("UPDATE_COMPLETE");
    const child = await childOf(id);
    expect(await update(template({ A: plain() }))).toBe("UPDATE_COMPLETE");
    expect((await world.engine.stack(child)).status).toBe("DELETE_COMPLETE");
    expect((await world.engine.stacks()).map(({ status }) => status)).toEqual([
      "UPDATE_COMPLETE",
      "DELETE_COMPLETE",
      "DELETE_COMPLETE",
    ]);
  });
});

test("a nested stack that can't be deleted fails its parent's deletion; the next one tries again", async () => {
  templates["child.yaml"] = withValue("C", "1");
  const id = await create(template({ Child: nested() }));
  const child = await childOf(id);
  answers["Delete C"] = failure("in use");
  await world.engine.deleteStack({ stack: id });
  expect((await world.settle(id)).status).toBe("DELETE_FAILED");
  const [failed] = (await world.engine.events(id)).filter(
    ({ status, logicalId }) => status === "DELETE_FAILED" && logicalId === "Child",
  );
  expect(failed?.reason).toBe(
    `Embedded stack ${child} was not successfully deleted: The following resource(s) failed to delete: [C]. `,
  );
  delete answers["Delete C"];
  await world.engine.deleteStack({ stack: id });
  expect((await world.settle(id)).status).toBe("DELETE_COMPLETE");
});

test("an export of a nested stack that is in use keeps its parent from being deleted", async () => {
  templates["child.yaml"] = template(
    { C: custom() },
    { Outputs: { O: { Value: "v", Export: { Name: "deep" } } } },
  ).templateBody;
  const id = await create(template({ Child: nested() }));
  const user = await world.create({
    stackName: "user",
    ...template({ U: custom({ Got: { "Fn::ImportValue": "deep" } }) }),
  });
  expect((await world.settle(user)).status).toBe("CREATE_COMPLETE");
  await world.engine.deleteStack({ stack: id });
  expect((await world.settle(id)).status).toBe("DELETE_FAILED");
});

test("a crash at any moment loses neither parent nor child", async () => {
  templates["child.yaml"] = withValue("C", "1");
  const journal = new MemoryJournal();
  for (let steps = 0; steps < 12; steps += 1) {
    await world.close();
    const name = `my-stack-${"abcdefghijkl"[steps]}`;
    world = worldOf(answers, { templates, journal, seed: `${steps}` });
    const id = await world.create({ stackName: name, ...template({ Child: nested() }) });
    for (let turn = 0; turn < steps; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await world.close();
    world = worldOf(answers, { templates, journal, seed: `again-${steps}` });
    expect((await world.settle(id)).status).toBe("CREATE_COMPLETE");
  }
  const all = await world.engine.stacks();
  expect(all.filter(({ status }) => status === "CREATE_COMPLETE")).toHaveLength(24);
});

describe("a change set with nested stacks", () => {
  const parentOf = (value: string) =>
    template({ Child: nested({ Parameters: { V: value } }), Still: nested({ TemplateURL: "still.yaml" }) });
  const sets = () => world.engine.changeSets;

  /** A parent with two nested stacks, and a change set that would update one of them, and one in that. */
  async function prepared(): Promise<{ id: StackId; changeSetId: string }> {
    templates["leaf.yaml"] = withValue("L", "leaf");
    templates["still.yaml"] = withValue("S", "still");
    templates["child.yaml"] = template(
      {
        C: custom({ V: { Ref: "V" } }),
        Leaf: nested({ TemplateURL: "leaf.yaml", Parameters: { V: { Ref: "V" } } }),
      },
      { Parameters: { V: { Type: "String" } } },
    ).templateBody;
    const id = await create(parentOf("1"));
    const { changeSetId } = await sets().create({
      stackName: "my-stack",
      changeSetName: "changes",
      includeNestedStacks: true,
      ...parentOf("2"),
    });
    return { id, changeSetId };
  }

  test("tells what would change in them, down to the innermost", async () => {
    const { id, changeSetId } = await prepared();
    const root = await sets().describe({ changeSet: changeSetId });
    const change = root.changes.find(({ logicalId }) => logicalId === "Child");
    expect(root).toMatchObject({ includesNested: true, stackId: id });
    const child = await sets().describe({ changeSet: change?.changeSetId ?? "" });
    expect(child).toMatchObject({
      stackId: await childOf(id),
      status: "CREATE_COMPLETE",
      executionStatus: "AVAILABLE",
      nestedIn: { parent: changeSetId, root: changeSetId },
      changes: [
        { action: "Modify", logicalId: "C" },
        { action: "Modify", logicalId: "Leaf" },
      ],
    });
    const leaf = await sets().describe({ changeSet: child.changes[1]?.changeSetId ?? "" });
    expect(leaf).toMatchObject({
      nestedIn: { parent: child.changeSetId, root: changeSetId },
      changes: [{ action: "Modify", logicalId: "L" }],
    });
    // What stays as it is has none.
    expect(await sets().list(await childOf(id, "Still"))).toEqual([]);
  });

  test("is executed as a whole, by its root", async () => {
    const { id, changeSetId } = await prepared();
    const [nestedSet] = await sets().list(await childOf(id));
    await expect(sets().execute({ changeSet: nestedSet?.changeSetId ?? "" })).rejects.toThrow(
      `is of a nested stack: execute the root change set [${changeSetId}]`,
    );
    await sets().execute({ changeSet: changeSetId });
    expect((await world.settle(id)).status).toBe("UPDATE_COMPLETE");
    expect((await world.engine.stack(await childOf(id))).parameters).toMatchObject([
      { name: "V", value: "2" },
    ]);
    expect(await sets().list(await childOf(id))).toEqual([]);
  });

  test("goes as a whole", async () => {
    const { id, changeSetId } = await prepared();
    const child = await childOf(id);
    const leaf = await childOf(child, "Leaf");
    expect(await sets().list(leaf)).toHaveLength(1);
    await sets().delete({ changeSet: changeSetId });
    await world.quiet();
    expect([await sets().list(child), await sets().list(leaf)]).toEqual([[], []]);
  });

  describe("that would be added", () => {
    const inReview = async () =>
      (await world.engine.stacks()).filter(({ status }) => status === "REVIEW_IN_PROGRESS");

    /** A change set that would add a nested stack, and one in that. */
    async function announced(type: "CREATE" | "UPDATE"): Promise<string> {
      templates["leaf.yaml"] = withValue("L", "leaf");
      templates["child.yaml"] = template({
        C: custom(),
        Leaf: nested({ TemplateURL: "leaf.yaml" }),
      }).templateBody;
      if (type === "UPDATE") await create(template({ A: plain() }));
      const { changeSetId } = await sets().create({
        stackName: "my-stack",
        changeSetName: "changes",
        changeSetType: type,
        includeNestedStacks: true,
        ...template({ A: plain(), Child: nested() }),
      });
      return changeSetId;
    }

    test.each(["CREATE", "UPDATE"] as const)(
      "are there in review, and go when they are made (%s)",
      async (type) => {
        const changeSetId = await announced(type);
        const root = await sets().describe({ changeSet: changeSetId });
        const { changeSetId: childSet = "" } =
          root.changes.find(({ logicalId }) => logicalId === "Child") ?? {};
        const child = await sets().describe({ changeSet: childSet });
        expect(child).toMatchObject({
          type: "CREATE",
          executionStatus: "AVAILABLE",
          nestedIn: { parent: changeSetId, root: changeSetId },
          changes: [
            { action: "Add", logicalId: "C" },
            { action: "Add", logicalId: "Leaf", changeSetId: expect.stringContaining(":changeSet/") },
          ],
        });
        const shell = await world.engine.stack(child.stackId);
        expect(shell).toMatchObject({
          status: "REVIEW_IN_PROGRESS",
          parentId: root.stackId,
          rootId: root.stackId,
        });
        const { length } = await inReview();
        expect(length).toBe(type === "CREATE" ? 3 : 2);
        await sets().execute({ changeSet: changeSetId });
        expect((await world.settle(root.stackId)).status).toBe(`${type}_COMPLETE`);
        await world.quiet();
        expect(await inReview()).toEqual([]);
        const made = await childOf("my-stack");
        expect(made).not.toBe(child.stackId);
        expect((await world.engine.stack(made)).status).toBe("CREATE_COMPLETE");
        expect((await world.engine.stack(child.stackId)).status).toBe("DELETE_COMPLETE");
      },
    );

    test.each<[string, (changeSet: string) => Promise<unknown>]>([
      ["is deleted", (changeSet) => sets().delete({ changeSet })],
      ["is void, since the stack was changed", () => update(template({ A: plain({ Value: "2" }) }))],
      ["goes with its stack", () => world.engine.deleteStack({ stack: "my-stack" })],
    ])("go with the change set that %s", async (_, end) => {
      const changeSetId = await announced("UPDATE");
      expect(await inReview()).toHaveLength(2);
      await end(changeSetId);
      await world.quiet();
      expect(await inReview()).toEqual([]);
      // Nobody was asked for anything that was only thought of.
      expect(requestLines(world)).toEqual([]);
    });
  });
});

test("a nested stack that is being updated goes with a parent that never was complete", async () => {
  templates["child.yaml"] = template({ C: custom({ V: "1" }) }).templateBody;
  answers["Create Bad"] = failure("no");
  const bad = { Bad: custom({}, { DependsOn: "Child" }) };
  const id = await world.create({ ...template({ Child: nested(), ...bad }), onFailure: "DO_NOTHING" });
  expect((await world.settle(id)).status).toBe("CREATE_FAILED");
  const child = await childOf("my-stack");
  templates["child.yaml"] = template({ C: custom({ V: "2" }) }).templateBody;
  answers["Update C"] = "silence";
  await world.engine.updateStack({ stackName: "my-stack", ...template({ Child: nested() }) });
  await world.quiet();
  expect((await world.engine.stack(child)).status).toBe("UPDATE_IN_PROGRESS");
  await world.engine.cancelUpdate("my-stack");
  expect((await world.settle(id)).status).toBe("ROLLBACK_COMPLETE");
  expect((await world.engine.stack(child)).status).toBe("DELETE_COMPLETE");
  expect(requestLines(world).at(-1)).toBe("Delete C C-1");
});
