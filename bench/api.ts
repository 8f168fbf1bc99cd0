/**
 * Stacks per second through `custard serve` with its durable journal: created and described to their final status, by
 * boto3, by AWS's SDK for JavaScript, and by bare requests that cost the client next to nothing. Beside it, in the same
 * run, the same of moto's server where python has it; else what was once recorded of it. Goal: 5 times moto. Both are
 * warm: they have run for a while before. The clients' own work is part of each figure: with a server that costs nothing,
 * one boto3 would make 1000 stacks per second divided by its own milliseconds.
 */
import { execFile, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
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
  for (const peer of [custard, moto]) if (peer !== undefined) await byHand(peer.url, 8, 1);
  for (const resources of [1, 10]) await compare(resources);
} finally {
  await Promise.all([custard, moto].map((peer) => stop(peer)));
  rmSync(folder, { recursive: true, force: true });
}

async function compare(resources: number): Promise<void> {
  console.log(`stacks of ${resources} SNS topic${resources === 1 ? "" : "s"}, per second:`);
  for (const [what, measure] of measures(resources)) {
    const base =
      moto === undefined ? (recorded[resources] ?? Number.NaN) : (await measure(moto.url, "moto")).perSecond;
    const before = computed();
    const { perSecond, clientMs, made } = await measure(custard.url, "custard");
    const serverMs = (computed() - before) / made;
    console.log(
      `  ${what.padEnd(26)} moto ${base.toFixed(1)}, custard ${perSecond.toFixed(1)} = ${(perSecond / base).toFixed(1)} ×; ` +
        `for each the client computed ${clientMs.toFixed(1)} ms, the server ${serverMs.toFixed(1)} ms`,
    );
  }
}

/** The ways in which both are asked. */
function measures(
  resources: number,
): readonly (readonly [string, (url: string, prefix: string) => Promise<Rate>])[] {
  const boto3 = lacks("import boto3")
    ? []
    : [1, 4].map(
        (clients) =>
          [
            `boto3, ${clients} at once`,
            (url: string, prefix: string) => byBoto3(url, { clients, resources, prefix }),
          ] as const,
      );
  const sdk = [1, 8].map(
    (clients) =>
      [`JavaScript SDK, ${clients} at once`, (url: string) => bySdk(url, clients, resources)] as const,
  );
  const bare = [1, 8].map(
    (clients) =>
      [`bare requests, ${clients} at once`, (url: string) => byHand(url, clients, resources)] as const,
  );
  return [...boto3, ...sdk, ...bare];
}

/** What some clients reached together. */
interface Rate {
  readonly perSecond: number;
  /** Milliseconds that the clients computed for each stack. */
  readonly clientMs: number;
  readonly made: number;
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

async function byBoto3(
  url: string,
  { clients, resources, prefix }: { clients: number; resources: number; prefix: string },
): Promise<Rate> {
  const rates = await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const name = `${prefix}-${clients}-${client}-${resources}`;
      const { stdout } = await promisify(execFile)("python3", [
        script,
        url,
        String(resources),
        String(seconds),
        name,
      ]);
      const [perSecond = Number.NaN, clientMs = Number.NaN] = stdout.split(" ").map(Number);
      return { perSecond, clientMs };
    }),
  );
  const perSecond = rates.reduce((sum, one) => sum + one.perSecond, 0);
  const clientMs = rates.reduce((sum, one) => sum + one.clientMs, 0) / clients;
  return { perSecond, clientMs, made: perSecond * seconds };
}

async function bySdk(url: string, clients: number, resources: number): Promise<Rate> {
  const sdk = new CloudFormationClient(settings(url));
  const reached = await rate(clients, lifeBySdk(sdk, resources));
  sdk.destroy();
  return reached;
}

async function byHand(url: string, clients: number, resources: number): Promise<Rate> {
  const agent = new Agent({ keepAlive: true });
  const reached = await rate(clients, lifeByHand({ url, agent }, resources));
  agent.destroy();
  return reached;
}

/** So many at once create stacks for a while. */
async function rate(clients: number, life: (name: string) => Promise<void>): Promise<Rate> {
  let made = 0;
  const kind = Math.random().toString(36).slice(2);
  await life(`${kind}-first`);
  const [start, before] = [performance.now(), process.cpuUsage()];
  const until = start + seconds * 1000;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < until) {
        made += 1;
        await life(`s${kind}-${made}`);
      }
    }),
  );
  const { user, system } = process.cpuUsage(before);
  const perSecond = (made * 1000) / (performance.now() - start);
  return { perSecond, clientMs: (user + system) / 1000 / made, made };
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

function lifeByHand(at: Place, resources: number) {
  return async (name: string): Promise<void> => {
    const StackName = `a${name}`;
    await ask(at, { Action: "CreateStack", StackName, TemplateBody: template(resources) });
    for (;;) {
      const answer = await ask(at, { Action: "DescribeStacks", StackName });
      if (isMade(/<StackStatus>(\w+)/.exec(answer)?.[1] ?? "")) return;
    }
  };
}

/** Where bare requests go. */
interface Place {
  readonly url: string;
  readonly agent: Agent;
}

async function ask({ url, agent }: Place, parameters: Readonly<Record<string, string>>): Promise<string> {
  const body = new URLSearchParams({ Version: "2010-05-15", ...parameters }).toString();
  const headers = {
    // moto finds the service by it; neither checks the signature.
    authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/cloudformation/aws4_request, SignedHeaders=host, Signature=${"0".repeat(64)}`,
    "content-type": "application/x-www-form-urlencoded",
    "content-length": body.length,
  };
  const sent = request(url, { method: "POST", agent, headers });
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
