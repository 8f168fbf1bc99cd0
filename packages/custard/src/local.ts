/** Wires everything for one state directory on this machine; the only file that knows every adapter. */
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { partitionOf } from "@custard/provider/protocol";
import { Engine } from "./engine/engine.ts";
import type { RequestId, StackId } from "./engine/ids.ts";
import type { Documents } from "./engine/ports.ts";
import { createResourceTypes } from "./resources/resource-types.ts";
import { openCertificate } from "./response/certificate.ts";
import { openResponseEndpoint } from "./response/endpoint.ts";
import { redirectEnvironment } from "./response/redirect.ts";
import { createResponseUrls, responseHost } from "./response/response-url.ts";
import { FunctionRegistry } from "./services/functions.ts";
import { LayerRegistry } from "./services/layers.ts";
import { createS3 } from "./services/s3.ts";
import { systemClock } from "./services/system-clock.ts";
import type { TraceLog } from "./services/traces.ts";
import { openSqliteStorage, type SqliteStorage } from "./storage/open-sqlite.ts";
import { createLambdaTransport, type LambdaTransport } from "./transports/lambda/lambda-transport.ts";
import { endLeftovers } from "./transports/lambda/leftovers.ts";

/** How an engine on this machine is set up. */
export interface LocalOptions {
  /** Where everything is kept; made when missing. One process uses it at a time. */
  readonly stateDirectory: string;
  /** 12 digits; default 123456789012. */
  readonly account?: string;
  /** Default us-east-1. */
  readonly region?: string;
  /** Fail a request at once whose provider has certainly ended without answering. Default true. */
  readonly failFast?: boolean;
  /** Milliseconds before a failed function's second and third attempt. Default 1,000 and 2,000; AWS takes minutes. */
  readonly retryDelays?: readonly number[];
  /** Told of trouble that will be tried again. Default: nobody. */
  readonly trouble?: (error: unknown) => void;
}

/** An engine at work. */
export interface Local {
  readonly engine: Engine;
  readonly traces: TraceLog;
  readonly lambda: LambdaTransport;
  /** Stops everything; operations in flight go on when the directory is opened again. */
  close(): Promise<void>;
}

/** Milliseconds in which a body that a function has sent before it ended is sure to have been read. */
const lastWords = 50;

/** Opens a state directory and goes on with what is in flight there. Throws `StorageError` `Locked` when it is in use. */
export async function openLocal(options: LocalOptions): Promise<Local> {
  const storage = openSqliteStorage(resolve(options.stateDirectory));
  try {
    return await wire(options, storage);
  } catch (error) {
    await storage.close();
    throw error;
  }
}

async function wire(options: LocalOptions, storage: SqliteStorage): Promise<Local> {
  const { account = "123456789012", region = "us-east-1", failFast = true } = options;
  const { journal, documents, traces } = storage;
  const s3 = createS3({ documents, directory: join(resolve(options.stateDirectory), "objects") });
  const [secret, certificate, workDirectory] = await Promise.all([
    persistentSecret(documents, "secret/response-urls"),
    openCertificate({
      directory: join(resolve(options.stateDirectory), "tls"),
      hosts: [responseHost(region, partitionOf(region))],
      now: Date.now(),
    }),
    makeWorkDirectory(),
    endLeftovers(documents),
    s3.sweep(),
  ]);
  const responseUrls = createResponseUrls({ secret });
  const functions = new FunctionRegistry(documents);
  const layers = new LayerRegistry(documents);
  const endpoint = await openResponseEndpoint({
    verify: (request) => responseUrls.verify(request),
    onResponse: (arrived) => engine.receive(arrived),
    certificate,
    traces,
    clock: systemClock,
  });
  const lambda = createLambdaTransport({
    functions,
    documents,
    traces,
    clock: systemClock,
    workDirectory,
    failFast,
    ...(options.retryDelays === undefined ? {} : { retryDelays: options.retryDelays }),
    answered: (request) => wasAnswered(engine, request),
    environment: (family) =>
      redirectEnvironment({
        port: endpoint.port,
        caFile: certificate.caFile,
        bundleFile: certificate.bundleFile,
        runtime: family === "custom" ? "any" : family,
      }),
  });
  const engine = new Engine(
    {
      journal,
      clock: systemClock,
      types: createResourceTypes({ documents, functions, layers, s3 }),
      transports: [lambda],
      responseUrls,
      traces,
      failFast,
      trouble: options.trouble ?? (() => undefined),
    },
    { region, account, newSeed: () => randomBytes(16).toString("hex") },
  );
  engine.start();
  return {
    engine,
    traces,
    lambda,
    async close() {
      await engine.close();
      await lambda.close();
      await endpoint.close();
      await storage.close();
    },
  };
}

/** Kept with the state, so that a request gets the same URL after a restart. */
async function persistentSecret(documents: Documents, key: string): Promise<string> {
  const kept = await documents.get(key);
  if (typeof kept === "string") return kept;
  const secret = randomBytes(32).toString("hex");
  await documents.put(key, secret);
  return secret;
}

/** Outside of any project, so that functions find no packages but their own. */
async function makeWorkDirectory(): Promise<string> {
  const directory = join(tmpdir(), `custard-${process.getuid?.() ?? "user"}`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return directory;
}

async function wasAnswered(
  engine: Engine,
  request: { stackId: string; requestId: string },
): Promise<boolean> {
  const isPending = () => engine.isPending(request.stackId as StackId, request.requestId as RequestId);
  if (!(await isPending())) return true;
  await systemClock.sleep(lastWords);
  return !(await isPending());
}
