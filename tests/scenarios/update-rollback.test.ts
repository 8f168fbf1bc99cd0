import { expect, test } from "vitest";
import type { ResourceTypes } from "../../packages/custard/src/engine/ports.ts";
import { custom, failure, parameter, scenario } from "../support/scenario.ts";

const succeed = { answer: {} };

test("a failed update is undone by another Update with new and old properties swapped (facts 70, 91)", async () => {
  const s = scenario({ "Update A": [failure, succeed] });
  await s.create({ Resources: { A: custom({ V: 1 }) }, Outputs: { V: { Value: "one" } } });
  await s.events();
  s.requests();
  const stack = await s.update({ Resources: { A: custom({ V: 2 }) }, Outputs: { V: { Value: "two" } } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "A UPDATE_IN_PROGRESS (A-1)",
      "A UPDATE_FAILED (A-1) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "my-stack UPDATE_ROLLBACK_IN_PROGRESS The following resource(s) failed to update: [A].",
      "A UPDATE_IN_PROGRESS (A-1)",
      "A UPDATE_COMPLETE (A-1)",
      "my-stack UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
      "my-stack UPDATE_ROLLBACK_COMPLETE",
    ]
  `);
  expect(s.requests()).toMatchInlineSnapshot(`
    [
      "Update A (A-1) {"V":"2"} was {"V":"1"}",
      "Update A (A-1) {"V":"1"} was {"V":"2"}",
    ]
  `);
  expect(stack.outputs).toEqual([{ name: "V", value: "one" }]);
  expect(JSON.parse(stack.templateBody)).toMatchObject({ Outputs: { V: { Value: "one" } } });
});

test("a replacement is rolled back by an Update to the new id, which the provider answers with the old (fact 69)", async () => {
  const s = scenario({
    "Update A": [{ answer: { PhysicalResourceId: "A-2" } }, { answer: { PhysicalResourceId: "A-1" } }],
    "Create B": failure,
  });
  await s.create({ Resources: { A: custom({ V: 1 }) } });
  await s.events();
  s.requests();
  const stack = await s.update({ Resources: { A: custom({ V: 2 }), B: custom({ Uses: { Ref: "A" } }) } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "A UPDATE_IN_PROGRESS (A-1)",
      "A UPDATE_IN_PROGRESS (A-1) Requested update requires the creation of a new physical resource; hence creating one.",
      "A UPDATE_IN_PROGRESS (A-2) Resource creation Initiated",
      "A UPDATE_COMPLETE (A-2)",
      "B CREATE_IN_PROGRESS",
      "B CREATE_IN_PROGRESS (B-1) Resource creation Initiated",
      "B CREATE_FAILED (B-1) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "my-stack UPDATE_ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [B].",
      "A UPDATE_IN_PROGRESS (A-2)",
      "A UPDATE_IN_PROGRESS (A-2) Requested update requires the creation of a new physical resource; hence creating one.",
      "A UPDATE_IN_PROGRESS (A-1) Resource creation Initiated",
      "A UPDATE_COMPLETE (A-1)",
      "my-stack UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
      "B DELETE_IN_PROGRESS (B-1)",
      "B DELETE_COMPLETE (B-1)",
      "A DELETE_IN_PROGRESS (A-2)",
      "A DELETE_COMPLETE (A-2)",
      "my-stack UPDATE_ROLLBACK_COMPLETE",
    ]
  `);
  expect(s.requests()).toMatchInlineSnapshot(`
    [
      "Update A (A-1) {"V":"2"} was {"V":"1"}",
      "Create B {"Uses":"A-2"}",
      "Update A (A-2) {"V":"1"} was {"V":"2"}",
      "Delete B (B-1) {"Uses":"A-2"}",
      "Delete A (A-2) {"V":"2"}",
    ]
  `);
  expect(stack.resources.map(({ logicalId, physicalId }) => `${logicalId} ${physicalId}`)).toEqual(["A A-1"]);
});

test("another id in a FAILED answer is adopted; the rollback's answer decides what is deleted (fact 71)", async () => {
  const s = scenario({
    "Update A": [
      { answer: { Status: "FAILED", Reason: "no luck", PhysicalResourceId: "log-stream" } },
      { answer: { PhysicalResourceId: "log-stream-2" } },
    ],
  });
  await s.create({ Resources: { A: custom({ V: 1 }) } });
  await s.events();
  s.requests();
  await s.update({ Resources: { A: custom({ V: 2 }) } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "A UPDATE_IN_PROGRESS (A-1)",
      "A UPDATE_FAILED (log-stream) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "my-stack UPDATE_ROLLBACK_IN_PROGRESS The following resource(s) failed to update: [A].",
      "A UPDATE_IN_PROGRESS (log-stream)",
      "A UPDATE_IN_PROGRESS (log-stream) Requested update requires the creation of a new physical resource; hence creating one.",
      "A UPDATE_IN_PROGRESS (log-stream-2) Resource creation Initiated",
      "A UPDATE_COMPLETE (log-stream-2)",
      "my-stack UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
      "A DELETE_IN_PROGRESS (A-1)",
      "A DELETE_COMPLETE (A-1)",
      "A DELETE_IN_PROGRESS (log-stream)",
      "A DELETE_COMPLETE (log-stream)",
      "my-stack UPDATE_ROLLBACK_COMPLETE",
    ]
  `);
  expect(s.requests()).toMatchInlineSnapshot(`
    [
      "Update A (A-1) {"V":"2"} was {"V":"1"}",
      "Update A (log-stream) {"V":"1"} was {"V":"2"}",
      "Delete A (A-1) {"V":"1"}",
      "Delete A (log-stream) {"V":"2"}",
    ]
  `);
});

test("UpdateReplacePolicy Retain holds for the id from before, whatever the rollback answers (facts 71, 82)", async () => {
  const s = scenario({ "Update A": [failure, { answer: { PhysicalResourceId: "A-3" } }] });
  await s.create({ Resources: { A: custom({ V: 1 }, { UpdateReplacePolicy: "Retain" }) } });
  await s.update({ Resources: { A: custom({ V: 2 }, { UpdateReplacePolicy: "Retain" }) } });
  expect((await s.events()).slice(-2)).toEqual([
    "A DELETE_SKIPPED (A-1)",
    "my-stack UPDATE_ROLLBACK_COMPLETE",
  ]);
  expect(s.world.requests.map(({ requestType }) => requestType)).toEqual(["Create", "Update", "Update"]);
});

test("a new resource of a failed update is deleted in the clean-up; its silence ends it, not the rollback (facts 81, 48)", async () => {
  const s = scenario({ "Create New": "silence", "Delete New": "silence" });
  await s.create({ Resources: { Function: custom({ V: 1 }) } });
  const start = s.world.clock.now();
  await s.events();
  const stack = await s.update({
    Resources: { Function: custom({ V: 1 }), Helper: custom(), New: custom({}, { DependsOn: "Helper" }) },
  });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "Helper CREATE_IN_PROGRESS",
      "Helper CREATE_IN_PROGRESS (Helper-1) Resource creation Initiated",
      "Helper CREATE_COMPLETE (Helper-1)",
      "New CREATE_IN_PROGRESS",
      "New CREATE_FAILED (my-stack-New-<random>) CloudFormation did not receive a response from your Custom Resource. Please check your logs for requestId [<RequestId>]. If you are using the Python cfn-response module, you may need to update your Lambda function code so that CloudFormation can attach the updated version.",
      "my-stack UPDATE_ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [New].",
      "my-stack UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
      "New DELETE_IN_PROGRESS (my-stack-New-<random>)",
      "New DELETE_FAILED (my-stack-New-<random>) CloudFormation did not receive a response from your Custom Resource. Please check your logs for requestId [<RequestId>]. If you are using the Python cfn-response module, you may need to update your Lambda function code so that CloudFormation can attach the updated version.",
      "Helper DELETE_IN_PROGRESS (Helper-1)",
      "Helper DELETE_COMPLETE (Helper-1)",
      "New DELETE_IN_PROGRESS (my-stack-New-<random>)",
      "New DELETE_FAILED (my-stack-New-<random>) CloudFormation did not receive a response from your Custom Resource. Please check your logs for requestId [<RequestId>]. If you are using the Python cfn-response module, you may need to update your Lambda function code so that CloudFormation can attach the updated version.",
      "New DELETE_IN_PROGRESS (my-stack-New-<random>)",
      "New DELETE_FAILED (my-stack-New-<random>) CloudFormation did not receive a response from your Custom Resource. Please check your logs for requestId [<RequestId>]. If you are using the Python cfn-response module, you may need to update your Lambda function code so that CloudFormation can attach the updated version.",
      "my-stack UPDATE_ROLLBACK_COMPLETE One or more resources could not be deleted.",
    ]
  `);
  expect(stack.status).toBe("UPDATE_ROLLBACK_COMPLETE");
  expect((s.world.clock.now() - start) / 3_600_000).toBe(4);
});

test("a rollback that fails stops in UPDATE_ROLLBACK_FAILED (fact 72)", async () => {
  const s = scenario({ "Update A": failure });
  await s.create({ Resources: { A: custom({ V: 1 }) } });
  await s.events();
  const stack = await s.update({ Resources: { A: custom({ V: 2 }) } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "A UPDATE_IN_PROGRESS (A-1)",
      "A UPDATE_FAILED (A-1) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "my-stack UPDATE_ROLLBACK_IN_PROGRESS The following resource(s) failed to update: [A].",
      "A UPDATE_IN_PROGRESS (A-1)",
      "A UPDATE_FAILED (A-1) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "my-stack UPDATE_ROLLBACK_FAILED The following resource(s) failed to update: [A].",
    ]
  `);
  expect(stack.status).toBe("UPDATE_ROLLBACK_FAILED");
  await expect(s.update({ Resources: { A: custom({ V: 3 }) } })).rejects.toThrow(
    "is in UPDATE_ROLLBACK_FAILED state and can not be updated.",
  );
});

test("a built-in type's replacement is undone without a request to the old one", async () => {
  const s = scenario({ "Create B": failure });
  await s.create({ Resources: { P: parameter({ Name: "one" }) } });
  await s.events();
  await s.update({ Resources: { P: parameter({ Name: "two" }), B: custom({ Uses: { Ref: "P" } }) } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "P UPDATE_IN_PROGRESS (my-stack-P-<random>) Requested update requires the creation of a new physical resource; hence creating one.",
      "P UPDATE_IN_PROGRESS (my-stack-P-<random>) Resource creation Initiated",
      "P UPDATE_COMPLETE (my-stack-P-<random>)",
      "B CREATE_IN_PROGRESS",
      "B CREATE_IN_PROGRESS (B-1) Resource creation Initiated",
      "B CREATE_FAILED (B-1) Received response status [FAILED] from custom resource. Message returned: no luck (RequestId: <RequestId>)",
      "my-stack UPDATE_ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [B].",
      "P UPDATE_COMPLETE (my-stack-P-<random>)",
      "my-stack UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
      "B DELETE_IN_PROGRESS (B-1)",
      "B DELETE_COMPLETE (B-1)",
      "P DELETE_IN_PROGRESS (my-stack-P-<random>)",
      "P DELETE_COMPLETE (my-stack-P-<random>)",
      "my-stack UPDATE_ROLLBACK_COMPLETE",
    ]
  `);
});

test("what the update hadn't come to is left alone (fact 21)", async () => {
  const s = scenario({ "Update A": [failure, succeed] });
  await s.create({ Resources: { A: custom({ V: 1 }), B: custom({ V: 1 }, { DependsOn: "A" }) } });
  s.requests();
  await s.update({ Resources: { A: custom({ V: 2 }), B: custom({ V: 2 }, { DependsOn: "A" }) } });
  expect(s.requests()).toEqual([
    'Update A (A-1) {"V":"2"} was {"V":"1"}',
    'Update A (A-1) {"V":"1"} was {"V":"2"}',
  ]);
});

test("what could not be delivered needs no undoing", async () => {
  const s = scenario({ "Update A": { delivery: { kind: "refused", reason: "Function not found" } } });
  await s.create({ Resources: { A: custom({ V: 1 }) } });
  s.requests();
  const stack = await s.update({ Resources: { A: custom({ V: 2 }) } });
  expect(stack.status).toBe("UPDATE_ROLLBACK_COMPLETE");
  expect(s.requests()).toHaveLength(1);
});

test("a rollback that could not be delivered is delivered when it is continued", async () => {
  const s = scenario({
    "Update A": [failure, { delivery: { kind: "refused", reason: "Function not found" } }, succeed],
  });
  await s.create({ Resources: { A: custom({ V: 1 }) } });
  await s.update({ Resources: { A: custom({ V: 2 }) } });
  s.requests();
  await s.world.engine.continueUpdateRollback({ stack: "my-stack" });
  expect((await s.settle()).status).toBe("UPDATE_ROLLBACK_COMPLETE");
  expect(s.requests()).toEqual(['Update A (A-1) {"V":"1"} was {"V":"2"}']);
});

test("cancelling an update rolls it back (facts 49, 66)", async () => {
  const s = scenario({ "Update A": ["silence", succeed] });
  await s.create({ Resources: { A: custom({ V: 1 }) } });
  await expect(s.world.engine.cancelUpdate("my-stack")).rejects.toThrow("CancelUpdateStack");
  await s.events();
  s.requests();
  await s.beginUpdate({ Resources: { A: custom({ V: 2 }) } });
  await s.world.engine.cancelUpdate("my-stack");
  await s.settle();
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack UPDATE_IN_PROGRESS User Initiated",
      "A UPDATE_IN_PROGRESS (A-1)",
      "A UPDATE_FAILED (A-1) Resource update cancelled",
      "my-stack UPDATE_ROLLBACK_IN_PROGRESS Stack update cancelled",
      "A UPDATE_IN_PROGRESS (A-1)",
      "A UPDATE_COMPLETE (A-1)",
      "my-stack UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
      "my-stack UPDATE_ROLLBACK_COMPLETE",
    ]
  `);
  expect(s.requests()).toMatchInlineSnapshot(`
    [
      "Update A (A-1) {"V":"2"} was {"V":"1"}",
      "Update A (A-1) {"V":"1"} was {"V":"2"}",
    ]
  `);
});

test("what a built-in type's replacement replaced comes back, also when an update of the new one failed later", async () => {
  const types: ResourceTypes = {
    facts: () => ({ kind: "builtin", createOnly: new Set(["Name"]), snapshots: false }),
    perform: async ({ action, properties, physicalId }) =>
      action === "update" && properties["Value"] === 3
        ? { kind: "failed", reason: "no luck", physicalId }
        : { kind: "done", physicalId, attributes: {} },
  };
  const s = scenario({ "Update A": [failure, succeed] }, { types });
  const resources = (Name: string, Value: number) => ({
    P: parameter({ Name, Value }),
    A: custom({ V: Value }, { DependsOn: "P" }),
  });
  await s.create({ Resources: resources("one", 1) });
  const [before] = (await s.view()).resources;
  await s.update({ Resources: resources("two", 2) }, { disableRollback: true });
  const [replaced] = (await s.view()).resources;
  expect(replaced?.physicalId).not.toBe(before?.physicalId);
  const stack = await s.update({ Resources: resources("two", 3) });
  expect(stack.status).toBe("UPDATE_ROLLBACK_COMPLETE");
  expect(stack.resources[0]).toMatchObject({
    physicalId: before?.physicalId,
    properties: { Name: "one", Value: 1 },
  });
  const deleted = (await s.rawEvents()).filter(({ status }) => status === "DELETE_COMPLETE");
  expect(deleted.map(({ physicalId }) => physicalId)).toEqual([replaced?.physicalId]);
});
