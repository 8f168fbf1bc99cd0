/**
 * A process that runs the engine on a state directory until one step of the crash plan has ended. It may be killed at
 * any moment and started again. Arguments: the directory, the step's name.
 */
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProviderRequest } from "@custard/provider/protocol";
import { Engine } from "../../packages/custard/src/engine/engine.ts";
import type { LogicalId, RequestId, StackId } from "../../packages/custard/src/engine/ids.ts";
import type { Delivery } from "../../packages/custard/src/engine/ports.ts";
import { StackError } from "../../packages/custard/src/engine/stack-error.ts";
import { openSqliteStorage } from "../../packages/custard/src/storage/open-sqlite.ts";
import { steps, type Step } from "./crash-plan.ts";

const [, , directory = "", name = ""] = process.argv;
const stackName = "crashing";
const storage = openSqliteStorage(directory);
const engine = new Engine(
  {
    journal: storage.journal,
    clock: { now: Date.now, sleep: async (delay, signal) => sleep(delay, undefined, signal && { signal }) },
    types: {
      facts: () => undefined,
      perform: () => Promise.reject(new Error("there are custom resources only")),
    },
    transports: [{ serves: () => true, deliver }],
    responseUrls: { urlFor: ({ requestId }) => `https://response.invalid/${requestId}` },
    traces: storage.traces,
    failFast: false,
    trouble: (error) => {
      throw error;
    },
  },
  { region: "us-east-1", account: "123456789012", newSeed: randomUUID },
);

/** What the providers saw outlives every process, as the providers' own state does. */
async function deliver(request: ProviderRequest): Promise<Delivery> {
  appendFileSync(join(directory, "provider.log"), `${JSON.stringify(request)}\n`);
  await sleep(1 + Math.random() * 12);
  const { stackId, requestId, logicalId, properties } = request;
  const failed = properties["Fail"] === "yes";
  const physicalId = request.requestType === "Delete" ? request.physicalId : idOf(request);
  const body = new TextEncoder().encode(
    JSON.stringify({
      Status: failed ? "FAILED" : "SUCCESS",
      Reason: "as planned",
      StackId: stackId,
      RequestId: requestId,
      LogicalResourceId: logicalId,
      PhysicalResourceId: failed && request.requestType === "Update" ? request.physicalId : physicalId,
    }),
  );
  await engine.receive({
    stackId: stackId as StackId,
    requestId: requestId as RequestId,
    logicalId: logicalId as LogicalId,
    body,
    length: body.length,
  });
  return { kind: "over" };
}

function idOf({ logicalId, properties }: ProviderRequest): string {
  return `${logicalId}-${JSON.stringify(properties["Name"])}`;
}

async function run(step: Step): Promise<void> {
  const stackId = await begin(step);
  if (stackId !== undefined) await engine.settled(stackId);
  await engine.close();
  await storage.close();
}

/** The same token each time: a call that was accepted before a crash isn't accepted twice. */
async function begin({ name: clientRequestToken, templateBody }: Step): Promise<StackId | undefined> {
  try {
    if (templateBody === undefined) {
      const { stackId } = await engine.stack(stackName);
      await engine.deleteStack({ stack: stackName, clientRequestToken });
      return stackId;
    }
    const input = { stackName, templateBody, clientRequestToken };
    return await (clientRequestToken === "create" ? engine.createStack(input) : engine.updateStack(input));
  } catch (error) {
    // Deleted already, before the last crash.
    if (error instanceof StackError && error.code === "StackNotFound") return undefined;
    throw error;
  }
}

const step = steps.find((candidate) => candidate.name === name);
if (step === undefined) throw new Error(`no step ${name}`);
engine.start();
await run(step);
