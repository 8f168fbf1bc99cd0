import { describe, expect, test } from "vitest";
import type { Rest } from "../driver.ts";
import { memoryJournal } from "../journal.ts";
import { journalStore, sealedStore } from "./rest-store.ts";
import { schedulerDriver } from "./scheduler.ts";
import { selfInvokeDriver } from "./self-invoke.ts";
import { stepFunctionsDriver } from "./step-functions.ts";

const secret = "a secret of thirty-two characters";
const rest: Rest = {
  request: {
    requestType: "Update",
    serviceToken: "arn:aws:lambda:us-east-1:123456789012:function:provider",
    responseUrl: "https://bucket.test/key?X-Amz-Signature=hidden",
    stackId: "s",
    requestId: "r",
    logicalId: "Thing",
    resourceType: "Custom::Thing",
    properties: { A: "1" },
    oldProperties: {},
    physicalId: "thing-1",
  },
  startedAt: Date.now(),
  continued: { id: "thing-1", state: { job: 5 } },
};

describe.each([
  { name: "sealed", store: sealedStore(secret) },
  { name: "in a journal", store: journalStore(memoryJournal()) },
])("the rest, $name", ({ store }) => {
  test("goes to another invocation, and tells nobody the response URL", async () => {
    const payloads: Uint8Array[] = [];
    const client = { invoke: async (input: { Payload: Uint8Array }) => void payloads.push(input.Payload) };
    const driver = selfInvokeDriver({ client, functionName: "f", store });
    await driver.handOver(rest, 5000);
    const text = Buffer.from(payloads[0] ?? "").toString();
    expect(text).not.toContain("hidden");
    expect(text).not.toContain("bucket");
    expect(await driver.resume(JSON.parse(text))).toEqual(rest);
  });

  test("events of others are none of ours", async () => {
    const driver = selfInvokeDriver({ client: { invoke: async () => undefined }, store });
    for (const event of [undefined, {}, { custard: "continue" }, { reference: "x" }]) {
      expect(await driver.resume(event)).toBeUndefined();
    }
  });

  test("a forged reference is refused", async () => {
    const driver = selfInvokeDriver({ client: { invoke: async () => undefined }, store });
    await expect(driver.resume({ custard: "continue", reference: "AAAA" })).rejects.toThrow(
      "The continuation",
    );
  });
});

test("a sealed reference can't be changed, is another one's secret, and expires", async () => {
  let now = 0;
  const store = sealedStore(secret, () => now);
  const reference = await store.save({ a: 1 }, 1000);
  const bytes = Buffer.from(reference, "base64url");
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  await expect(store.load(bytes.toString("base64url"))).rejects.toThrow("can't be opened");
  await expect(sealedStore(`${secret}!`).load(reference)).rejects.toThrow("can't be opened");
  now = 1000;
  await expect(store.load(reference)).rejects.toThrow("expired");
  expect(() => sealedStore("short")).toThrow("at least 32");
});

test("EventBridge Scheduler gets one schedule that deletes itself", async () => {
  const inputs: object[] = [];
  const client = { createSchedule: async (input: object) => void inputs.push(input) };
  const clock = { now: () => Date.UTC(2026, 11, 1, 12, 0, 30) };
  const driver = schedulerDriver({
    client,
    functionArn: "fn",
    roleArn: "role",
    store: sealedStore(secret),
    clock,
  });
  await driver.handOver({ ...rest, startedAt: clock.now() }, 90_000);
  expect(inputs).toMatchObject([
    {
      ScheduleExpression: "at(2026-12-01T12:02:00)",
      FlexibleTimeWindow: { Mode: "OFF" },
      ActionAfterCompletion: "DELETE",
      Target: { Arn: "fn", RoleArn: "role" },
    },
  ]);
});

test("Step Functions gets seconds and the event", async () => {
  const inputs: { stateMachineArn: string; input: string }[] = [];
  const client = {
    startExecution: async (input: { stateMachineArn: string; input: string }) => void inputs.push(input),
  };
  const driver = stepFunctionsDriver({ client, stateMachineArn: "machine", store: sealedStore(secret) });
  await driver.handOver(rest, 14_500);
  expect(inputs[0]?.stateMachineArn).toBe("machine");
  const { seconds, event } = JSON.parse(inputs[0]?.input ?? "") as { seconds: number; event: unknown };
  expect(seconds).toBe(15);
  expect(await driver.resume(event)).toEqual(rest);
});
