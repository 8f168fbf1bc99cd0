/**
 * Stacks per second through `custard serve` with its durable journal: created and described to their final status, by
 * boto3, by AWS's SDK for JavaScript, and by bare requests that cost the client next to nothing. Beside it, in the same
 * run, moto's server where python has it; else what was once recorded of it. Goal: 5 times moto.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
} from "@aws-sdk/client-cloudformation";

/** Recorded: moto 5.2.1, boto3, one client, create and describe, on 2 cores. */
const recorded: Readonly<Record<number, number>> = { 1: 60.8, 10: 57.3 };
const seconds = 3;
const script = resolve("bench/api-client.py");

/** A server at work. */
interface Peer {
  readonly url: string;
  readonly child: ChildProcess;
}

const folder = mkdtempSync(join(tmpdir(), "custard-bench-"));
const custard = await startCustard();
const moto = lacks("import moto.server") ? undefined : await startMoto();
try {
  for (const resources of [1, 10]) await compare(resources);
} finally {
  await Promise.all([custard, moto].map((peer) => stop(peer)));
  rmSync(folder, { recursive: true, force: true });
}

async function compare(resources: number): Promise<void> {
  console.log(`stacks of ${resources} SNS topic${resources === 1 ? "" : "s"}, per second:`);
  const base =
    moto === undefined ? (recorded[resources] ?? Number.NaN) : byBoto3(moto.url, resources, "moto");
  const origin = moto === undefined ? "recorded elsewhere: moto isn't installed here" : "measured";
  console.log(`  moto, boto3, 1 client              ${base.toFixed(1)} (${origin})`);
  if (!lacks("import boto3"))
    print("boto3, 1 client", await cost(async () => byBoto3(custard.url, resources, "boto")), base);
  for (const clients of [1, 8]) {
    const sdk = new CloudFormationClient(settings(custard.url));
    print(
      `JavaScript SDK, ${clients} at once`,
      await cost(() => rate(clients, lifeBySdk(sdk, resources))),
      base,
    );
    sdk.destroy();
  }
  const agent = new Agent({ keepAlive: true });
  for (const clients of [1, 8])
    print(
      `bare requests, ${clients} at once`,
      await cost(() => rate(clients, lifeByHand(agent, resources))),
      base,
    );
  agent.destroy();
}

function print(what: string, { perSecond, share, each }: Cost, base: number): void {
  const server = `the server computed ${each.toFixed(1)} ms for each, ${(share * 100).toFixed(0)} % of the time`;
  console.log(
    `  custard, ${what.padEnd(26)}${perSecond.toFixed(1)} = ${(perSecond / base).toFixed(1)} × moto; ${server}`,
  );
}

interface Cost {
  readonly perSecond: number;
  /** Of the time, how much the server computed. */
  readonly share: number;
  /** Milliseconds that the server computed for each stack. */
  readonly each: number;
}

async function cost(measure: () => Promise<number>): Promise<Cost> {
  const [time, before] = [performance.now(), computed()];
  const perSecond = await measure();
  const share = (computed() - before) / (performance.now() - time);
  return { perSecond, share, each: (share * 1000) / perSecond };
}

/** Milliseconds that the server has computed; NaN where nobody tells. */
function computed(): number {
  try {
    const fields =
      readFileSync(`/proc/${custard.child.pid ?? 0}/stat`, "utf8")
        .split(") ")[1]
        ?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}

function byBoto3(url: string, resources: number, prefix: string): number {
  const argv = [script, url, String(resources), String(seconds), `${prefix}-${resources}`];
  return Number(execFileSync("python3", argv, { encoding: "utf8" }));
}

/** So many at once create stacks for a while. */
async function rate(clients: number, life: (name: string) => Promise<void>): Promise<number> {
  let made = 0;
  const kind = Math.random().toString(36).slice(2);
  await life(`${kind}-first`);
  const start = performance.now();
  const until = start + seconds * 1000;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < until) {
        made += 1;
        await life(`s${kind}-${made}`);
      }
    }),
  );
  return (made * 1000) / (performance.now() - start);
}

function lifeBySdk(client: CloudFormationClient, resources: number) {
  return async (name: string): Promise<void> => {
    const StackName = `a${name}`;
    await client.send(new CreateStackCommand({ StackName, TemplateBody: template(resources) }));
    for (;;) {
      const { Stacks } = await client.send(new DescribeStacksCommand({ StackName }));
      if (isMade(Stacks?.[0]?.StackStatus ?? "")) return;
    }
  };
}

function lifeByHand(agent: Agent, resources: number) {
  return async (name: string): Promise<void> => {
    const StackName = `a${name}`;
    await ask(agent, { Action: "CreateStack", StackName, TemplateBody: template(resources) });
    for (;;) {
      const answer = await ask(agent, { Action: "DescribeStacks", StackName });
      if (isMade(/<StackStatus>(\w+)/.exec(answer)?.[1] ?? "")) return;
    }
  };
}

async function ask(agent: Agent, parameters: Readonly<Record<string, string>>): Promise<string> {
  const body = new URLSearchParams({ Version: "2010-05-15", ...parameters }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded", "content-length": body.length };
  const sent = request(custard.url, { method: "POST", agent, headers });
  sent.end(body);
  const [answer] = await once(sent, "response");
  let text = "";
  for await (const chunk of answer) text += String(chunk);
  return text;
}

function isMade(status: string): boolean {
  if (status === "CREATE_COMPLETE") return true;
  if (status.endsWith("_IN_PROGRESS")) return false;
  throw new Error(`A stack is ${status}.`);
}

function template(resources: number): string {
  const topics = Array.from({ length: resources }, (_, index) => [
    `Topic${index}`,
    { Type: "AWS::SNS::Topic" },
  ]);
  return JSON.stringify({ Resources: Object.fromEntries(topics) });
}

function settings(endpoint: string) {
  return { endpoint, region: "us-east-1", credentials: { accessKeyId: "test", secretAccessKey: "test" } };
}

/** Describes are held until a stack is made, so that nobody has to ask twice. */
async function startCustard(): Promise<Peer> {
  const argv = [
    resolve("packages/custard/bin/custard.js"),
    "serve",
    "--port",
    "0",
    "--json",
    "--hold",
    "all",
  ];
  const child = spawn(process.execPath, argv, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  const [first] = (await once(child.stdout, "data")) as [Buffer];
  return { url: (JSON.parse(first.toString()) as { url: string }).url, child };
}

async function startMoto(): Promise<Peer> {
  const port = await freePort();
  const argv = ["-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)];
  const child = spawn("python3", argv, { cwd: folder, stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(url).then(
      () => true,
      () => false,
    ))
  )
    await setTimeout(100);
  return { url, child };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function lacks(statement: string): boolean {
  return spawnSync("python3", ["-c", statement], { stdio: "ignore" }).status !== 0;
}

async function stop(peer: Peer | undefined): Promise<void> {
  if (peer === undefined) return;
  peer.child.kill("SIGTERM");
  await once(peer.child, "exit");
}
