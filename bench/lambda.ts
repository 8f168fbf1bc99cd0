/**
 * How soon a function answers: from spawn to its first answer, with and without a spare process, and warm; each from
 * the request to the verified PUT, beside a bare process of the same language in the same run. And what many requests
 * at once take: time, instances, memory.
 * `npm run build && node scripts/run-typescript.mjs bench/lambda.ts`
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { RequestId, LogicalId, StackId } from "../packages/custard/src/engine/ids.ts";
import type { ProviderRequest } from "../packages/provider/src/protocol.ts";
import type * as certificatesModule from "../packages/custard/src/response/certificate.ts";
import type * as endpointsModule from "../packages/custard/src/response/endpoint.ts";
import type * as redirectsModule from "../packages/custard/src/response/redirect.ts";
import type * as urlsModule from "../packages/custard/src/response/response-url.ts";
import type * as registriesModule from "../packages/custard/src/services/functions.ts";
import type * as storagesModule from "../packages/custard/src/storage/memory-documents.ts";
import type * as transportsModule from "../packages/custard/src/transports/lambda/lambda-transport.ts";
import type { Runtime } from "../packages/custard/src/services/function-settings.ts";

const { openCertificate } = (await built("response/certificate.js")) as typeof certificatesModule;
const { openResponseEndpoint } = (await built("response/endpoint.js")) as typeof endpointsModule;
const { redirectEnvironment } = (await built("response/redirect.js")) as typeof redirectsModule;
const { createResponseUrls, responseHost } = (await built("response/response-url.js")) as typeof urlsModule;
const { FunctionRegistry } = (await built("services/functions.js")) as typeof registriesModule;
const { MemoryDocuments } = (await built("storage/memory-documents.js")) as typeof storagesModule;
const { createLambdaTransport } = (await built(
  "transports/lambda/lambda-transport.js",
)) as typeof transportsModule;

/** Runtime files are found from where the built modules stand, so that these are measured and no bundle. */
async function built(module: string): Promise<unknown> {
  return await import(pathToFileURL(resolve("packages/custard/dist", module)).href);
}

const scope = { partition: "aws", account: "123456789012", region: "us-east-1" };
const directory = mkdtempSync(join(tmpdir(), "custard-bench-"));
/** So many requests at once, one round after the other. */
const rounds = [500, 500, 1000, 1000];
const clock = { now: () => Date.now(), sleep: () => Promise.resolve() };

interface Language {
  readonly name: string;
  readonly runtime: Runtime;
  readonly source: string;
  readonly bare: () => void;
}

const python = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], {
  encoding: "utf8",
}).trim();
const languages: readonly Language[] = [
  {
    name: "Node.js",
    runtime: "nodejs22.x",
    source:
      "const response = require('cfn-response'); exports.handler = (event, context) => response.send(event, context, 'SUCCESS', {})",
    bare: () => void execFileSync(process.execPath, ["-e", "0"]),
  },
  {
    name: "Python",
    runtime: "python3.12",
    source:
      "import cfnresponse\ndef handler(event, context):\n    cfnresponse.send(event, context, 'SUCCESS', {})",
    bare: () => void execFileSync(python, ["-c", "pass"]),
  },
];

try {
  for (const language of languages) await measure(language);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function measure(language: Language): Promise<void> {
  const bare = await median(7, async () => await timeOf(async () => language.bare()));
  const cold = await median(7, async () => await firstAnswer(language, false));
  const started = await median(7, async () => await spareStart(language));
  const spare = await median(7, async () => await firstAnswer(language, true));
  const warm = await warmAnswers(language, 500);
  show(`${language.name}: bare process`, bare, bare);
  show(`${language.name}: spawn to first answer`, cold, bare);
  show(`${language.name}: spare process until its handler is called`, started, bare);
  show(`${language.name}: spare process to first answer`, spare, bare);
  show(`${language.name}: warm request to verified PUT, p50`, warm.p50, bare);
  show(`${language.name}: warm request to verified PUT, p99`, warm.p99, bare);
  print(
    `${language.name}: 500 requests at once took ${warm.burst.toFixed(0)} ms on ${warm.instances} instances`,
  );
  const shown = warm.memory.map(({ after, engine, functions }) => `${after}: ${engine} + ${functions}`);
  print(`${language.name}: MB of engine + functions after so many requests at once: ${shown.join(", ")}`);
}

async function firstAnswer(language: Language, withSpare: boolean): Promise<number> {
  return await withFunction(language, async ({ deliver, prewarm }) => {
    if (withSpare) await ready(prewarm);
    return await timeOf(async () => await deliver(0));
  });
}

/** From the request to the start of its invocation. */
async function spareStart(language: Language): Promise<number> {
  return await withFunction(language, async ({ deliver, prewarm, invokedAt }) => {
    await ready(prewarm);
    const before = performance.now();
    await deliver(0);
    return invokedAt() - before;
  });
}

async function ready(prewarm: () => Promise<void>): Promise<void> {
  await prewarm();
  await new Promise((done) => setTimeout(done, 500));
}

interface Memory {
  readonly after: number;
  readonly engine: number;
  readonly functions: number;
}

async function warmAnswers(
  language: Language,
  times: number,
): Promise<{ p50: number; p99: number; burst: number; instances: number; memory: readonly Memory[] }> {
  return await withFunction(language, async ({ deliver, instances }) => {
    await deliver(0);
    const found: number[] = [];
    for (let turn = 1; turn <= times; turn += 1) found.push(await timeOf(async () => await deliver(turn)));
    const sorted = found.toSorted((one, other) => one - other);
    const memory: Memory[] = [];
    let burst = 0;
    let done = times + 1;
    for (const round of rounds) {
      const many = Array.from({ length: round }, (_, turn) => done + turn);
      const took = await timeOf(async () => await Promise.all(many.map(async (turn) => await deliver(turn))));
      if (burst === 0) burst = took;
      done += round;
      memory.push({ after: done - times - 1, ...memoryNow() });
    }
    const at = (part: number) => sorted[Math.floor(times * part)] ?? Number.NaN;
    return { p50: at(0.5), p99: at(0.99), burst, instances: instances(), memory };
  });
}

/** Resident megabytes of this process and of its children. */
function memoryNow(): Omit<Memory, "after"> {
  global.gc?.();
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ");
  const megabytes = (pid: string) =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  const functions = children.reduce((sum, pid) => sum + megabytes(pid), 0);
  return { engine: Math.round(megabytes("self")), functions: Math.round(functions) };
}

interface World {
  readonly deliver: (turn: number) => Promise<void>;
  readonly prewarm: () => Promise<void>;
  readonly instances: () => number;
  /** When the latest invocation began. */
  readonly invokedAt: () => number;
}

async function withFunction<Result>(
  language: Language,
  use: (world: World) => Promise<Result>,
): Promise<Result> {
  const host = responseHost(scope.region, scope.partition);
  const certificate = await openCertificate({
    directory: join(directory, "tls"),
    hosts: [host],
    now: Date.now(),
  });
  const urls = createResponseUrls({ secret: "a secret of the bench" });
  // Told once and forgotten, so that the bench's own memory is flat.
  const arrived = new Set<string>();
  const endpoint = await openResponseEndpoint({
    verify: (request) => urls.verify(request),
    certificate,
    clock,
    onResponse: async ({ requestId }) => void arrived.add(requestId),
  });
  const functions = new FunctionRegistry(new MemoryDocuments());
  const { transport, instances, invokedAt } = openTransport(functions, {
    answered: ({ requestId }) => arrived.has(requestId),
    environment: (family) =>
      redirectEnvironment({
        port: endpoint.port,
        caFile: certificate.caFile,
        bundleFile: certificate.bundleFile,
        runtime: family === "custom" ? "any" : family,
      }),
  });
  const settings = { runtime: language.runtime, handler: "index.handler" };
  const { arn } = await functions.create(scope, {
    name: "f",
    code: { kind: "inline", source: language.source },
    settings,
  });
  const deliver = async (turn: number) => {
    const request = requestTo(arn, `request-${turn}`);
    const target = { ...request, ...scope, issuedAt: Date.now() };
    const responseUrl = urls.urlFor(target);
    await transport.deliver({ ...request, responseUrl }, new AbortController().signal);
    if (!arrived.delete(request.requestId)) throw new Error("A request stayed without an answer.");
  };
  try {
    return await use({
      deliver,
      prewarm: () => transport.prewarm(language.runtime),
      instances,
      invokedAt,
    });
  } finally {
    await transport.close();
    await endpoint.close();
  }
}

function openTransport(
  functions: registriesModule.FunctionRegistry,
  options: Pick<transportsModule.LambdaTransportOptions, "answered" | "environment">,
): Pick<World, "instances" | "invokedAt"> & { readonly transport: transportsModule.LambdaTransport } {
  let [instances, invoked] = [0, 0];
  const transport = createLambdaTransport({
    ...options,
    functions,
    documents: new MemoryDocuments(),
    clock,
    traces: {
      note: ({ kind, text }) => {
        if (kind === "invoked") invoked = performance.now();
        if (text.startsWith("INIT_START")) instances += 1;
      },
      ofRequest: async () => [],
    },
    workDirectory: join(directory, "work"),
  });
  return { transport, instances: () => instances, invokedAt: () => invoked };
}

function requestTo(
  serviceToken: string,
  requestId: string,
): ProviderRequest & { stackId: StackId; logicalId: LogicalId; requestId: RequestId } {
  return {
    requestType: "Create",
    serviceToken,
    responseUrl: "",
    stackId: "arn:aws:cloudformation:us-east-1:123456789012:stack/bench/00000000" as StackId,
    requestId: requestId as RequestId,
    logicalId: "Thing" as LogicalId,
    resourceType: "Custom::Thing",
    properties: { ServiceToken: serviceToken },
  };
}

async function timeOf(act: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await act();
  return performance.now() - before;
}

async function median(times: number, measureOnce: () => Promise<number>): Promise<number> {
  const found: number[] = [];
  for (let turn = 0; turn < times; turn += 1) found.push(await measureOnce());
  return found.toSorted((one, other) => one - other)[Math.floor(times / 2)] ?? Number.NaN;
}

function show(what: string, milliseconds: number, baseline: number): void {
  print(`${what}: ${milliseconds.toFixed(1)} ms (${(milliseconds / baseline).toFixed(2)} of a bare process)`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
