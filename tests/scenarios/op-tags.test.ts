/** The tags of a stack reach what takes tags; a custom resource doesn't, and its provider hears nothing of them. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ResourceTask, ResourceTypes } from "../../packages/custard/src/engine/ports.ts";
import type { World } from "../../packages/custard/src/testing/world.ts";
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
let tasks: ResourceTask[];

const types: ResourceTypes = {
  facts: (type) => ({
    kind: "builtin",
    createOnly: new Set(["Name"]),
    snapshots: false,
    takesTags: type === "AWS::SSM::Parameter",
  }),
  perform: async (task) => {
    tasks.push(task);
    return { kind: "done", physicalId: task.physicalId, attributes: {} };
  },
};

beforeEach(() => {
  answers = {};
  tasks = [];
  world = worldOf(answers, { types });
});
afterEach(() => world.close());

const without = { Type: "AWS::SNS::Subscription", Properties: {} };
const resources = { A: custom(), P: plain({ Value: "1" }), Q: without };
const stack = { stackName: "my-stack", ...template(resources) };

async function created(): Promise<ReturnType<World["create"]>> {
  const id = await world.create({ ...stack, tags: { team: "one" } });
  await world.settle(id);
  tasks = [];
  return id;
}

function tagsGiven(): readonly string[] {
  return tasks.map(({ action, logicalId, tags }) => `${action} ${logicalId} ${JSON.stringify(tags)}`);
}

test("a change of them alone updates what takes tags, and nothing else", async () => {
  const id = await created();
  const seen = await newest(world, id);
  await world.engine.updateStack({ ...stack, tags: { team: "two" } });
  expect((await world.settle(id)).status).toBe("UPDATE_COMPLETE");
  expect(await lines(world, id, seen)).toEqual([
    "my-stack UPDATE_IN_PROGRESS User Initiated",
    "P UPDATE_IN_PROGRESS",
    "P UPDATE_COMPLETE",
    "my-stack UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
    "my-stack UPDATE_COMPLETE",
  ]);
  expect(tagsGiven()).toEqual(['update P {"team":"two"}']);
  expect(requestLines(world)).toEqual(["Create A"]);
});

test("the same ones in another order change nothing", async () => {
  const id = await world.create({ ...stack, tags: { a: "1", b: "2" } });
  await world.settle(id);
  await expect(world.engine.updateStack({ ...stack, tags: { b: "2", a: "1" } })).rejects.toMatchObject({
    code: "NoUpdates",
  });
});

test("a rollback brings the old ones back", async () => {
  const id = await created();
  answers["Create Bad"] = failure("no");
  const bad = template({ ...resources, Bad: custom({}, { DependsOn: "P" }) });
  await world.engine.updateStack({ ...stack, ...bad, tags: { team: "two" } });
  expect((await world.settle(id)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
  expect(tagsGiven()).toEqual(['update P {"team":"two"}', 'update P {"team":"one"}']);
});

test("a change set says whose tags would change", async () => {
  await created();
  const sets = world.engine.changeSets;
  const { changeSetId } = await sets.create({ ...stack, changeSetName: "tags", tags: { team: "two" } });
  const { changes } = await sets.describe({ changeSet: changeSetId });
  expect(changes).toMatchObject([
    {
      action: "Modify",
      logicalId: "P",
      replacement: "False",
      scope: ["Tags"],
      details: [
        {
          target: { attribute: "Tags", requiresRecreation: "Never" },
          evaluation: "Static",
          changeSource: "DirectModification",
        },
      ],
    },
  ]);
});

test("a policy that protects a resource protects its tags", async () => {
  const id = await created();
  const Statement = [
    { Effect: "Deny", Action: "Update:Modify", Principal: "*", Resource: "LogicalResourceId/P" },
    { Effect: "Allow", Action: "Update:*", Principal: "*", Resource: "*" },
  ];
  await world.engine.setStackPolicy(id, JSON.stringify({ Statement }));
  await world.engine.updateStack({ ...stack, tags: { team: "two" } });
  expect((await world.settle(id)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
  expect(tagsGiven()).toEqual([]);
});
