/** A Lambda with memory storage, for tests that run real processes. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json, ProviderRequest } from "@custard/provider/protocol";
import type { Clock, Documents, TraceEntry, Traces } from "../../packages/custard/src/engine/ports.ts";
import type { CodeInput } from "../../packages/custard/src/services/function-record.ts";
import type { FunctionSettings } from "../../packages/custard/src/services/function-settings.ts";
import { FunctionRegistry } from "../../packages/custard/src/services/functions.ts";
import {
  type InvocationResult,
  type LambdaTransport,
  type LambdaTransportOptions,
  createLambdaTransport,
} from "../../packages/custard/src/transports/lambda/lambda-transport.ts";

export const scope = { partition: "aws", account: "123456789012", region: "us-east-1" };

/** Documents in memory. */
export function memoryDocuments(): Documents {
  const values = new Map<string, Json>();
  const blobs = new Map<string, Uint8Array>();
  return {
    get: async (key) => values.get(key),
    put: async (key, value) => void values.set(key, value),
    delete: async (key) => void values.delete(key),
    list: async (prefix) =>
      [...values]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, value]) => ({ key, value }))
        .toSorted((one, other) => (one.key < other.key ? -1 : 1)),
    getBlob: async (key) => blobs.get(key),
    putBlob: async (key, bytes) => void blobs.set(key, bytes),
    deleteBlob: async (key) => void blobs.delete(key),
  };
}

/** A clock whose sleeps take no time: retries come at once. */
const hastyClock: Clock = { now: () => Date.now(), sleep: async () => undefined };

/** What a test has in hand. */
export interface TestLambda {
  readonly workDirectory: string;
  readonly transport: LambdaTransport;
  readonly functions: FunctionRegistry;
  readonly documents: Documents;
  readonly trace: TraceEntry[];
  /** Makes a function and returns its ARN. */
  create(name: string, code: string | CodeInput, settings?: Partial<FunctionSettings>): Promise<string>;
  /** Runs it once. */
  run(name: string, event?: Json): Promise<InvocationResult>;
  close(): Promise<void>;
}

/** Opens one; close it after the test. */
export async function openLambda(options: Partial<LambdaTransportOptions> = {}): Promise<TestLambda> {
  const documents = memoryDocuments();
  const functions = new FunctionRegistry(documents);
  const trace: TraceEntry[] = [];
  const traces: Traces = {
    note: (entry) => void trace.push(entry),
    ofRequest: async (requestId) => trace.filter((entry) => entry.requestId === requestId),
  };
  const workDirectory = await mkdtemp(join(tmpdir(), "custard-lambda-test-"));
  const transport = createLambdaTransport({
    functions,
    documents,
    traces,
    workDirectory,
    clock: hastyClock,
    answered: () => false,
    ...options,
  });
  return {
    workDirectory,
    transport,
    functions,
    documents,
    trace,
    async create(name, code, settings = {}) {
      const input: CodeInput = typeof code === "string" ? { kind: "inline", source: code } : code;
      const defaults = { runtime: "nodejs22.x", handler: "index.handler", timeoutSeconds: 5 };
      return (await functions.create(scope, { name, code: input, settings: { ...defaults, ...settings } }))
        .arn;
    },
    run: (name, event = {}) =>
      transport.invoke({ reference: { ...scope, name }, payload: Buffer.from(JSON.stringify(event)) }),
    async close() {
      await transport.close();
      await rm(workDirectory, { recursive: true, force: true });
    },
  };
}

/** A request to a function. */
export function requestTo(
  serviceToken: string,
  id = "6a1b2c3d-0000-4000-8000-000000000001",
): ProviderRequest {
  return {
    requestType: "Create",
    serviceToken,
    responseUrl: `https://example.invalid/answer?X-Amz-Signature=${"5ec3e7".repeat(10)}`,
    stackId: "arn:aws:cloudformation:us-east-1:123456789012:stack/test/00000000-0000-4000-8000-000000000000",
    requestId: id,
    logicalId: "Thing",
    resourceType: "Custom::Thing",
    properties: { ServiceToken: serviceToken, Size: "3" },
  };
}
