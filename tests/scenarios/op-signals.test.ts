/** Wait conditions, signals to resources, and notification topics. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "@custard/provider/protocol";
import type { LogicalId, StackId } from "../../packages/custard/src/engine/ids.ts";
import type { World } from "../../packages/custard/src/testing/world.ts";
import { custom, failure, lines, plain, template, worldOf } from "../support/op-world.ts";

let world: World;
beforeEach(() => {
  world = worldOf({});
});
afterEach(() => world.close());

async function signal(id: StackId, content: JsonObject | string): Promise<void> {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const body = new TextEncoder().encode(text);
  await world.engine.receiveSignal({ stackId: id, logicalId: "Handle" as LogicalId, body });
}

const ok = (uniqueId: string, data = ""): JsonObject => ({
  Status: "SUCCESS",
  UniqueId: uniqueId,
  Data: data,
  Reason: "done",
});

describe("a wait condition", () => {
  const waiting = (properties: JsonObject = {}) =>
    template(
      {
        Handle: { Type: "AWS::CloudFormation::WaitConditionHandle" },
        Wait: {
          Type: "AWS::CloudFormation::WaitCondition",
          Properties: { Handle: { Ref: "Handle" }, Timeout: 60, ...properties },
        },
      },
      { Outputs: { Data: { Value: { "Fn::GetAtt": "Wait.Data" } }, Url: { Value: { Ref: "Handle" } } } },
    );

  test("is complete after its signals, each unique id once", async () => {
    const id = await world.create(waiting({ Count: "2" }));
    await world.quiet();
    await signal(id, ok("a", "first"));
    await signal(id, ok("a", "again"));
    expect((await world.engine.stack(id)).status).toBe("CREATE_IN_PROGRESS");
    await signal(id, ok("b", "second"));
    const stack = await world.settle(id);
    expect(stack.status).toBe("CREATE_COMPLETE");
    expect(stack.outputs[0]?.value).toBe('{"a":"first","b":"second"}');
    expect(stack.outputs[1]?.value).toMatch(/^https:/);
    expect((await lines(world, id)).filter((line) => line.startsWith("Wait"))).toEqual([
      "Wait CREATE_IN_PROGRESS",
      "Wait CREATE_IN_PROGRESS Resource creation Initiated",
      "Wait CREATE_COMPLETE",
    ]);
    const wait = stack.resources.find(({ logicalId }) => logicalId === "Wait");
    expect(wait?.physicalId).toBe(`${id}/Handle`);
  });

  test("counts signals that came before it began to wait", async () => {
    const slow = template({
      Handle: { Type: "AWS::CloudFormation::WaitConditionHandle" },
      First: custom({}, { DependsOn: "Handle" }),
      Wait: {
        Type: "AWS::CloudFormation::WaitCondition",
        DependsOn: "First",
        Properties: { Handle: { Ref: "Handle" }, Timeout: 60 },
      },
    });
    await world.close();
    world = worldOf({
      "Create First": async () => {
        await signal(id, ok("early"));
        return { answer: {} };
      },
    });
    const id = await world.create(slow);
    expect((await world.settle(id)).status).toBe("CREATE_COMPLETE");
  });

  test.each<{ what: string; content: JsonObject | string; reason: string }>([
    {
      what: "a failure",
      content: { Status: "FAILURE", UniqueId: "i-1", Reason: "no disk" },
      reason: "WaitCondition received failed message: 'no disk' for uniqueId: i-1",
    },
    { what: "what is no signal", content: "{}", reason: "Unparsable WaitCondition data" },
    { what: "no JSON", content: "hello", reason: "Unparsable WaitCondition data" },
  ])("fails at $what", async ({ content, reason }) => {
    const id = await world.create(waiting());
    await world.quiet();
    await signal(id, content);
    expect((await world.settle(id)).status).toBe("ROLLBACK_COMPLETE");
    expect(await lines(world, id)).toContain(`Wait CREATE_FAILED ${reason}`);
  });

  test("fails when its time has passed", async () => {
    const id = await world.create(waiting({ Count: 3 }));
    await world.quiet();
    await signal(id, ok("a"));
    expect((await world.settle(id)).status).toBe("ROLLBACK_COMPLETE");
    expect(await lines(world, id)).toContain(
      "Wait CREATE_FAILED WaitCondition timed out. Received 1 conditions when expecting 3",
    );
  });

  test("can't be updated, and is deleted without anybody being asked", async () => {
    const id = await world.create(waiting());
    await world.quiet();
    await signal(id, ok("a"));
    await world.settle(id);
    await world.engine.updateStack({ stackName: "my-stack", ...waiting({ Count: 2 }) });
    expect((await world.settle(id)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
    expect(await lines(world, id)).toContain(
      "Wait UPDATE_FAILED Update to resource type AWS::CloudFormation::WaitCondition is not supported.",
    );
    await world.engine.deleteStack({ stack: id });
    expect((await world.settle(id)).status).toBe("DELETE_COMPLETE");
  });

  test("that failed and is made again is one physical resource, deleted once", async () => {
    await world.close();
    world = worldOf({ "Create Bad": failure("no luck") });
    const first = waiting();
    const id = await world.create({ ...first, onFailure: "DO_NOTHING" });
    expect((await world.settle(id)).status).toBe("CREATE_FAILED");
    // Its second attempt is cancelled, since something else fails.
    const { Resources, ...rest } = JSON.parse(first.templateBody) as { Resources: JsonObject };
    const next = template({ ...Resources, Bad: custom() }, rest);
    await world.engine.updateStack({ stackName: "my-stack", ...next, onFailure: "DELETE" });
    expect((await world.settle(id)).status).toBe("DELETE_COMPLETE");
    const events = await lines(world, id);
    expect(events.filter((line) => line.startsWith("Wait DELETE"))).toEqual([
      "Wait DELETE_IN_PROGRESS",
      "Wait DELETE_COMPLETE",
    ]);
  });

  test("that is cancelled where it begins keeps the id that was shown", async () => {
    // Both begin at once, and the first can't: its provider gave no such attribute.
    const broken = template({
      A: custom(),
      Handle: { Type: "AWS::CloudFormation::WaitConditionHandle" },
      Wait: {
        Type: "AWS::CloudFormation::WaitCondition",
        DependsOn: "A",
        Properties: { Handle: { Ref: "Handle" }, Timeout: 60 },
      },
      P: plain({ Value: { "Fn::GetAtt": ["A", "Missing"] } }),
    });
    const id = await world.create(broken);
    expect((await world.settle(id)).status).toBe("ROLLBACK_COMPLETE");
    const events = await world.events(id);
    expect(
      events
        .filter(({ logicalId }) => logicalId === "Wait")
        .map(({ status, physicalId, reason = "" }) => [status, physicalId, reason]),
    ).toEqual([
      ["CREATE_IN_PROGRESS", "", ""],
      ["CREATE_IN_PROGRESS", `${id}/Handle`, "Resource creation Initiated"],
      ["CREATE_FAILED", `${id}/Handle`, "Resource creation cancelled"],
      ["DELETE_IN_PROGRESS", `${id}/Handle`, ""],
      ["DELETE_COMPLETE", `${id}/Handle`, ""],
    ]);
  });

  test("that has neither a handle with a timeout nor a creation policy fails", async () => {
    const id = await world.create(template({ Wait: { Type: "AWS::CloudFormation::WaitCondition" } }));
    expect((await world.settle(id)).status).toBe("ROLLBACK_COMPLETE");
  });
});

describe("a creation policy", () => {
  const instance = (policy: JsonObject, properties: JsonObject = {}) =>
    template({
      I: {
        Type: "AWS::EC2::Instance",
        Properties: properties,
        CreationPolicy: { ResourceSignal: policy },
      },
      After: plain({}, { DependsOn: "I" }),
    });

  test("keeps a resource in progress until its signals have come", async () => {
    const id = await world.create(instance({ Count: 2, Timeout: "PT5M" }));
    await world.quiet();
    const target = { stack: id, logicalId: "I", status: "SUCCESS" } as const;
    await world.engine.signalResource({ ...target, uniqueId: "a" });
    await world.engine.signalResource({ ...target, uniqueId: "b" });
    expect((await world.settle(id)).status).toBe("CREATE_COMPLETE");
    expect((await lines(world, id)).filter((line) => line.startsWith("I "))).toEqual([
      "I CREATE_IN_PROGRESS",
      "I CREATE_IN_PROGRESS Resource creation Initiated",
      "I CREATE_IN_PROGRESS Received SUCCESS signal with UniqueId a",
      "I CREATE_IN_PROGRESS Received SUCCESS signal with UniqueId b",
      "I CREATE_COMPLETE",
    ]);
    await expect(world.engine.signalResource({ ...target, uniqueId: "c" })).rejects.toThrow(
      "Resource I is in CREATE_COMPLETE state and cannot be signaled",
    );
  });

  test("fails the resource at a failure, and the resource is deleted", async () => {
    const id = await world.create(instance({}));
    await world.quiet();
    await world.engine.signalResource({ stack: id, logicalId: "I", uniqueId: "a", status: "FAILURE" });
    expect((await world.settle(id)).status).toBe("ROLLBACK_COMPLETE");
    const all = await lines(world, id);
    expect(all).toContain("I CREATE_FAILED Received FAILURE signal with UniqueId a");
    expect(all).toContain("I DELETE_COMPLETE");
  });

  test("fails the resource when its time has passed", async () => {
    const id = await world.create(instance({ Count: 2, Timeout: "PT1M30S" }));
    await world.quiet();
    await world.engine.signalResource({ stack: id, logicalId: "I", uniqueId: "a", status: "SUCCESS" });
    const began = world.clock.now();
    await world.settle(id);
    expect(world.clock.now() - began).toBe(90_000);
    expect(await lines(world, id)).toContain(
      "I CREATE_FAILED Failed to receive 1 resource signal(s) within the specified duration",
    );
  });

  describe("of a resource that is replaced", () => {
    async function replace(): Promise<StackId> {
      const id = await world.create(instance({ Count: 1, Timeout: "PT1M" }));
      await world.quiet();
      await signal(id, "a");
      expect((await world.settle(id)).status).toBe("CREATE_COMPLETE");
      const next = instance({ Count: 1, Timeout: "PT1M" }, { Name: "other" });
      await world.engine.updateStack({ stackName: "my-stack", ...next });
      await world.quiet();
      return id;
    }

    async function signal(id: StackId, uniqueId: string, status: "SUCCESS" | "FAILURE" = "SUCCESS") {
      await world.engine.signalResource({ stack: id, logicalId: "I", uniqueId, status });
    }

    test("keeps the new one in progress until its own signals have come", async () => {
      const id = await replace();
      expect((await world.engine.stack(id)).status).toBe("UPDATE_IN_PROGRESS");
      await signal(id, "b");
      expect((await world.settle(id)).status).toBe("UPDATE_COMPLETE");
      const all = await lines(world, id);
      expect(all.slice(all.indexOf("my-stack UPDATE_IN_PROGRESS User Initiated"))).toEqual([
        "my-stack UPDATE_IN_PROGRESS User Initiated",
        "I UPDATE_IN_PROGRESS Requested update requires the creation of a new physical resource; hence creating one.",
        "I UPDATE_IN_PROGRESS Resource creation Initiated",
        "I UPDATE_IN_PROGRESS Received SUCCESS signal with UniqueId b",
        "I UPDATE_COMPLETE",
        "my-stack UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
        "I DELETE_IN_PROGRESS",
        "I DELETE_COMPLETE",
        "my-stack UPDATE_COMPLETE",
      ]);
    });

    test("takes the new one back at a failure, or when its time has passed", async () => {
      const id = await replace();
      const [old] = (await world.engine.stack(id)).resources;
      await signal(id, "b", "FAILURE");
      expect((await world.settle(id)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
      expect((await world.engine.stack(id)).resources[0]?.physicalId).toBe(old?.physicalId);
      await world.engine.updateStack({
        stackName: "my-stack",
        ...instance({ Count: 1, Timeout: "PT1M" }, { Name: "third" }),
      });
      expect((await world.settle(id)).status).toBe("UPDATE_ROLLBACK_COMPLETE");
      const all = await lines(world, id);
      expect(all).toContain("I UPDATE_FAILED Received FAILURE signal with UniqueId b");
      expect(all).toContain(
        "I UPDATE_FAILED Failed to receive 1 resource signal(s) within the specified duration",
      );
      expect(all.filter((line) => line === "I DELETE_COMPLETE")).toHaveLength(2);
    });
  });

  test("means nothing to types that CloudFormation doesn't heed it for", async () => {
    const id = await world.create(
      template({ P: plain({}, { CreationPolicy: { ResourceSignal: { Count: 5 } } }) }),
    );
    expect((await world.settle(id)).status).toBe("CREATE_COMPLETE");
  });
});

describe("notification topics", () => {
  const topic = "arn:aws:sns:us-east-1:123456789012:events";

  test("get every stack event, as CloudFormation words it", async () => {
    const id = await world.create({
      ...template({ A: custom() }),
      notificationArns: [topic],
      clientRequestToken: "token-1",
    });
    await world.settle(id);
    await world.quiet();
    const events = await world.events(id);
    expect(world.notifications).toHaveLength(events.length);
    expect(new Set(world.notifications.map(({ topicArn, subject }) => `${topicArn} ${subject}`))).toEqual(
      new Set([`${topic} AWS CloudFormation Notification`]),
    );
    const [first] = world.notifications;
    expect(first?.message.split("\n")).toEqual(
      expect.arrayContaining([
        `StackId='${id}'`,
        "LogicalResourceId='my-stack'",
        "ResourceStatus='CREATE_IN_PROGRESS'",
        "ResourceStatusReason='User Initiated'",
        "ResourceType='AWS::CloudFormation::Stack'",
        "ClientRequestToken='token-1'",
      ]),
    );
  });

  test("hear nothing that is not to be seen", async () => {
    const body = template(
      { A: custom({ Secret: { Ref: "S" } }) },
      { Parameters: { S: { Type: "String", NoEcho: true } } },
    );
    const id = await world.create({ ...body, parameters: { S: "hidden" }, notificationArns: [topic] });
    await world.settle(id);
    await world.quiet();
    expect(JSON.stringify(world.notifications)).not.toContain("hidden");
    expect(JSON.stringify(world.notifications)).toContain("*****");
  });
});
