/** Kills engine processes at random moments of a stack's life, starts them again, and looks at what is left. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { ProviderRequest } from "@custard/provider/protocol";
import { openSqliteStorage } from "../../packages/custard/src/storage/open-sqlite.ts";
import { law, StackLaws } from "../simulation/laws.ts";
import { steps, type Step } from "./crash-plan.ts";

/** One life: where its state is, the bundle that runs it, and how often each of its operations is interrupted. */
export interface CrashRun {
  readonly directory: string;
  readonly program: string;
  readonly killsPerStep: number;
}

/** What happened in a life. */
export interface CrashResult {
  readonly kills: number;
  readonly deliveries: number;
}

/** Lives one life. Throws a `Violation` when something was lost. */
export async function crashRun(run: CrashRun): Promise<CrashResult> {
  let kills = 0;
  for (const step of steps) {
    for (let attempt = 0; attempt < run.killsPerStep; attempt += 1)
      if (await runProcess(run, { step, lifetime: Math.random() * 450 })) kills += 1;
    await runProcess(run, { step });
    await check(run, step);
  }
  const requests = readProviderLog(run.directory);
  checkProviders(requests);
  return { kills, deliveries: requests.length };
}

/** Returns whether the process had to be killed; it may have ended before. `lifetime`: in ms. */
function runProcess(run: CrashRun, life: { step: Step; lifetime?: number }): Promise<boolean> {
  const child = spawn(process.execPath, [run.program, run.directory, life.step.name], {
    stdio: ["ignore", "ignore", "pipe"],
    env: {},
  });
  let complaint = "";
  child.stderr.on("data", (text: Buffer) => (complaint += text.toString()));
  const timer =
    life.lifetime === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), life.lifetime);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(false);
      else if (signal === "SIGKILL") resolve(true);
      else reject(new Error(`the engine's process ended with ${code ?? signal}: ${complaint}`));
    });
  });
}

/** The operation has ended as it must, and the whole journal keeps the laws. */
async function check({ directory }: CrashRun, step: Step): Promise<void> {
  const storage = openSqliteStorage(directory);
  try {
    const summaries = await storage.journal.summaries();
    law(summaries.length === 1, () => `there are ${summaries.length} stacks`);
    for (const { stackId, status } of summaries) {
      law(status === step.ends, () => `${step.name} ended in ${status}`);
      const laws = new StackLaws(stackId, { faithful: true, tell: () => {} });
      laws.replay(await storage.journal.records(stackId, 0, 1e6), readProviderLog(directory));
    }
    law((await storage.journal.nextDue()) === undefined, () => "commands are left");
  } finally {
    await storage.close();
  }
}

function readProviderLog(directory: string): ProviderRequest[] {
  const path = join(directory, "provider.log");
  if (!existsSync(path)) return [];
  // A kill may cut the newest line.
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.endsWith("}"))
    .map((line) => JSON.parse(line) as ProviderRequest);
}

/** A request that is delivered again is the same; and in the end nothing is left of what was made. */
function checkProviders(requests: readonly ProviderRequest[]): void {
  const first = new Map<string, ProviderRequest>();
  const made = new Set<string>();
  for (const request of requests) {
    const earlier = first.get(request.requestId) ?? request;
    first.set(request.requestId, earlier);
    law(isDeepStrictEqual(earlier, request), () => `${request.requestId} changed`);
    const { logicalId, properties } = request;
    if (request.requestType === "Delete") made.delete(request.physicalId);
    else if (properties["Fail"] !== "yes") made.add(`${logicalId}-${JSON.stringify(properties["Name"])}`);
  }
  law(made.size === 0, () => `${[...made].join(", ")} were made and never deleted`);
}
