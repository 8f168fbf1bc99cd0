/** Instances over time: frozen, reused, lost, left over, many at once. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { endLeftovers } from "../../packages/custard/src/transports/lambda/leftovers.ts";
import { startTimeOf } from "../../packages/custard/src/transports/lambda/process-facts.ts";
import { type TestLambda, memoryDocuments, openLambda, requestTo } from "./support.ts";

let lambda: TestLambda;
afterEach(async () => await lambda.close());

async function pidOf(name: string): Promise<number> {
  const { payload } = await lambda.run(name);
  return Number(Buffer.from(payload).toString());
}

function stateOf(pid: number): string | undefined {
  return /\) (\w) /.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
}

const pidHandlers = [
  { runtime: "nodejs20.x", code: "exports.handler = async () => process.pid" },
  { runtime: "python3.11", code: "import os\ndef handler(event, context):\n    return os.getpid()" },
];

test.each(pidHandlers)("$runtime: an idle instance is stopped and used again", async ({ runtime, code }) => {
  lambda = await openLambda();
  await lambda.create("f", code, { runtime });
  const pid = await pidOf("f");
  await expect.poll(() => stateOf(pid)).toBe("T");
  expect(await pidOf("f")).toBe(pid);
});

test("a program that a function started is stopped with it", async () => {
  lambda = await openLambda();
  await lambda.create(
    "f",
    "exports.handler = async () => require('child_process').spawn('sleep', ['60']).pid",
  );
  const pid = await pidOf("f");
  await expect.poll(() => stateOf(pid)).toBe("T");
});

test("an idle instance that was killed is replaced for the next event", async () => {
  lambda = await openLambda();
  await lambda.create("f", "exports.handler = async () => process.pid");
  const pid = await pidOf("f");
  process.kill(pid, "SIGKILL");
  expect(await pidOf("f")).not.toBe(pid);
});

test("an instance that is killed at the deadline takes its programs along", async () => {
  lambda = await openLambda();
  await lambda.create(
    "f",
    "exports.handler = () => { console.log('child', require('child_process').spawn('sleep', ['60']).pid); return new Promise(() => setTimeout(() => {}, 60000)) }",
    { timeoutSeconds: 1 },
  );
  const { log } = await lambda.run("f");
  const child = Number(/child (\d+)/.exec(log.join())?.[1]);
  await expect.poll(() => existsSync(`/proc/${child}`) && stateOf(child) !== "Z").toBe(false);
});

test("a new revision of a function gets new instances", async () => {
  lambda = await openLambda();
  await lambda.create("f", "exports.handler = async () => 1");
  await lambda.run("f");
  const reference = { partition: "aws", account: "123456789012", region: "us-east-1", name: "f" };
  await lambda.functions.update(reference, {
    code: { kind: "inline", source: "exports.handler = async () => 2" },
  });
  expect(Buffer.from((await lambda.run("f")).payload).toString()).toBe("2");
});

test("a burst on a quick function uses at most as many instances as there are cores", async () => {
  lambda = await openLambda({ cores: 2 });
  await lambda.create("f", "exports.handler = async () => process.pid");
  const pids = await Promise.all(Array.from({ length: 200 }, () => pidOf("f")));
  expect(new Set(pids).size).toBeLessThanOrEqual(2);
});

test("functions that wait don't keep others from running: more instances than cores", async () => {
  lambda = await openLambda({ cores: 1 });
  const code = "exports.handler = () => new Promise((resolve) => setTimeout(resolve, 2000, process.pid))";
  await lambda.create("f", code);
  const pids = await Promise.all(Array.from({ length: 3 }, () => pidOf("f")));
  expect(new Set(pids).size).toBe(3);
});

test("a spare process becomes its function's", async () => {
  lambda = await openLambda();
  void lambda.transport.prewarm("nodejs22.x");
  void lambda.transport.prewarm("python3.12");
  const own = { environment: { OWN: "own" } };
  await lambda.create(
    "n",
    "exports.handler = async () => [process.env.OWN, process.cwd() === process.env.LAMBDA_TASK_ROOT, process.argv.length]",
    own,
  );
  await lambda.create(
    "p",
    "import os, sys\ndef handler(event, context):\n    return [os.environ['OWN'], os.getcwd() == sys.path[0], len(sys.argv)]",
    { ...own, runtime: "python3.12" },
  );
  expect(JSON.parse(Buffer.from((await lambda.run("n")).payload).toString())).toEqual(["own", true, 3]);
  expect(JSON.parse(Buffer.from((await lambda.run("p")).payload).toString())).toEqual(["own", true, 1]);
});

test("closing in the middle of a start leaves nothing behind", async () => {
  lambda = await openLambda();
  await lambda.create("f", "exports.handler = async () => process.pid");
  const [ran] = await Promise.allSettled([lambda.run("f"), lambda.close()]);
  expect(ran).toMatchObject({ status: "rejected", reason: { code: "Closed" } });
  expect(await lambda.documents.list("lambda-process/")).toEqual([]);
});

test("closing lets a function that is about to return do so", async () => {
  lambda = await openLambda();
  const arn = await lambda.create(
    "f",
    "exports.handler = () => new Promise((resolve) => setTimeout(resolve, 100))",
  );
  const delivery = lambda.transport.deliver(requestTo(arn), new AbortController().signal);
  await expect.poll(() => lambda.trace.map(({ kind }) => kind)).toContain("invoked");
  await Promise.allSettled([delivery, lambda.close()]);
  expect(lambda.trace.map(({ kind }) => kind)).toContain("returned");
});

test("closing leaves nothing behind", async () => {
  lambda = await openLambda();
  await lambda.create("f", "exports.handler = async () => process.pid");
  void lambda.transport.prewarm("nodejs20.x");
  const pid = await pidOf("f");
  await lambda.close();
  expect(existsSync(`/proc/${pid}`)).toBe(false);
  expect(await lambda.documents.list("lambda-process/")).toEqual([]);
});

test("a frozen process that a killed engine left is ended; another of the same pid isn't", async () => {
  lambda = await openLambda();
  const documents = memoryDocuments();
  const [left, stranger] = [startSleep(), startSleep()];
  await documents.put(`lambda-process/${left.pid}`, { startTime: startTimeOf(left.pid ?? 0) ?? "" });
  await documents.put(`lambda-process/${stranger.pid}`, { startTime: "another" });
  process.kill(left.pid ?? 0, "SIGSTOP");
  expect(await endLeftovers(documents)).toBe(1);
  await once(left, "exit");
  expect(stranger.exitCode).toBeNull();
  stranger.kill("SIGKILL");
  expect(await documents.list("")).toEqual([]);
});

test("what a killed engine left is ended with its folder, though its state is never opened again", async () => {
  lambda = await openLambda();
  const [left, stranger] = [startSleep(), startSleep()];
  const ended = once(left, "exit");
  // No process has this number: it is larger than any.
  const abandoned = join(lambda.workDirectory, "functions-99999999-abc");
  mkdirSync(join(abandoned, "processes"), { recursive: true });
  writeFileSync(join(abandoned, "processes", String(left.pid)), startTimeOf(left.pid ?? 0) ?? "");
  writeFileSync(join(abandoned, "processes", String(stranger.pid)), "another");
  process.kill(left.pid ?? 0, "SIGSTOP");
  await lambda.create("f", "exports.handler = async () => process.pid");
  await pidOf("f");
  await ended;
  await expect.poll(() => existsSync(abandoned)).toBe(false);
  expect(stranger.exitCode).toBeNull();
  stranger.kill("SIGKILL");
});

test("a process is named in the engine's folder for as long as it lives", async () => {
  lambda = await openLambda();
  await lambda.create("f", "exports.handler = async () => process.pid");
  const pid = await pidOf("f");
  const [folder = ""] = readdirSync(lambda.workDirectory).filter((name) => name.startsWith("functions-"));
  expect(readFileSync(join(lambda.workDirectory, folder, "processes", String(pid)), "utf8")).toBe(
    startTimeOf(pid),
  );
});

function startSleep(): ReturnType<typeof spawn> {
  return spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
}
