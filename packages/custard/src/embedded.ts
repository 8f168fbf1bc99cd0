/** The engine in another program: providers are its own functions, nothing is stored, no server is needed. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  limits,
  partitionOf,
  type Json,
  type JsonObject,
  type ProviderRequest,
} from "@custard/provider/protocol";
import { DrivenResource, type Send } from "./engine/driven-resource.ts";
import { Engine } from "./engine/engine.ts";
import type { LogicalId, RequestId, StackId } from "./engine/ids.ts";
import type { ArrivedResponse, Clock, Delivery, Journal, ResourceTypes, Transport } from "./engine/ports.ts";
import { createResourceTypes } from "./resources/resource-types.ts";
import { createLookups } from "./services/lookups.ts";
import { createTemplates } from "./services/templates.ts";
import { openServices } from "./services/open-services.ts";
import { SingleRequests } from "./services/single-requests.ts";
import { systemClock } from "./services/system-clock.ts";
import { BufferedTraces, MemoryTraceStore } from "./services/traces.ts";
import { MemoryDocuments } from "./storage/memory-documents.ts";
import { MemoryJournal } from "./storage/memory-journal.ts";

/** What a provider answers. What is left out is filled in: success, an id for a create, the same id else. */
export interface ProviderAnswer {
  readonly status?: "SUCCESS" | "FAILED";
  /** At most 1024 bytes. */
  readonly physicalId?: string;
  readonly reason?: string;
  readonly data?: JsonObject;
  readonly noEcho?: boolean;
}

/**
 * A provider in this program. Without an answer it is silent, and the request waits for its time limit. What it throws
 * is no answer: it is told as trouble, and the request fails at once.
 */
export type EmbeddedProvider = (
  request: ProviderRequest,
  signal: AbortSignal,
) => ProviderAnswer | undefined | Promise<ProviderAnswer | undefined>;

/** How an engine is embedded; all but the providers have defaults. */
export interface EmbeddedOptions {
  /** By service token: the ARN of a Lambda function or SNS topic, which needn't exist. */
  readonly providers: Readonly<Record<string, EmbeddedProvider>>;
  /** Default 123456789012. */
  readonly account?: string;
  /** Default us-east-1. */
  readonly region?: string;
  /** Where stacks are kept. Default: in memory, as long as the program runs. */
  readonly journal?: Journal;
  /** Default: the real time. */
  readonly clock?: Clock;
  /** Types beside custom resources. Default: all that Custard knows. */
  readonly types?: ResourceTypes;
  /** Told of trouble that will be tried again. Default: nobody. */
  readonly trouble?: (error: unknown) => void;
}

/** A custom resource to drive without a stack. Its property `ServiceTimeout` limits each request, as in a template. */
export interface DriveInput {
  readonly serviceToken: string;
  /** Default `AWS::CloudFormation::CustomResource`. */
  readonly resourceType?: string;
  /** Default `Resource`. */
  readonly logicalId?: string;
}

/** An engine at work in this program. */
export interface Embedded {
  readonly engine: Engine;
  /** One custom resource of its own; nothing is asked for until it is told to. */
  resource(input: DriveInput): DrivenResource;
  /** Ends it: what is asked afterwards throws. Operations in a journal of your own go on when it is opened again. */
  close(): Promise<void>;
}

/** Opens an engine for the providers of this program. */
export function openEmbedded(options: EmbeddedOptions): Embedded {
  const { account = "123456789012", region = "us-east-1", clock = systemClock } = options;
  const traces = new BufferedTraces(new MemoryTraceStore());
  // Bodies of objects are the one thing that needs a folder; it comes to be when the first is put.
  const stateDirectory = join(tmpdir(), `custard-embedded-${randomUUID()}`);
  const services = openServices({ documents: new MemoryDocuments(), stateDirectory });
  const responseUrls = {
    urlFor: ({ requestId }: { requestId: string }) => `https://embedded.invalid/${requestId}`,
  };
  const receive = async (arrived: ArrivedResponse) => {
    if (!singles.receive(arrived)) await engine.receive(arrived);
  };
  const transports = [createTransport(options, receive)];
  const singles = new SingleRequests({ transports, urls: responseUrls, traces, clock });
  const engine = new Engine(
    {
      journal: options.journal ?? new MemoryJournal(),
      clock,
      types: options.types ?? createResourceTypes(services),
      lookups: createLookups(services),
      templates: createTemplates(services.s3),
      transports,
      responseUrls,
      traces,
      failFast: true,
      trouble: options.trouble ?? (() => undefined),
    },
    { region, account, newSeed: randomUUID },
  );
  engine.start();
  let closed = false;
  return {
    engine,
    resource: (input) => drive(singles, { ...input, account, region, isClosed: () => closed }),
    async close() {
      closed = true;
      await engine.close();
      await traces.close();
      await rm(stateDirectory, { recursive: true, force: true });
    },
  };
}

function drive(
  singles: SingleRequests,
  input: DriveInput & {
    readonly account: string;
    readonly region: string;
    readonly isClosed: () => boolean;
  },
): DrivenResource {
  const {
    serviceToken,
    resourceType = "AWS::CloudFormation::CustomResource",
    logicalId = "Resource",
  } = input;
  const { account, region, isClosed } = input;
  const scope = { account, region, partition: partitionOf(region) };
  const stackId = `arn:${scope.partition}:cloudformation:${region}:${account}:stack/embedded/${randomUUID()}`;
  const base = { serviceToken, resourceType, scope, stackId, logicalId };
  const send: Send = async (request, signal) => {
    if (isClosed()) throw new Error("The engine is closed: nothing more can be asked of it.");
    const { ServiceTimeout: timeout = limits.defaultServiceTimeout.value } = request.properties;
    const wanted = { ...base, ...request, timeoutSeconds: Number(timeout) };
    const { request: sent, outcome } = await singles.send(wanted, signal);
    return { requestId: sent.requestId, end: outcome };
  };
  return new DrivenResource({
    send,
    serviceToken,
    madeUpId: `embedded-${logicalId}-${randomUUID().slice(24)}`,
  });
}

function createTransport(
  { providers, trouble = () => undefined }: EmbeddedOptions,
  receive: (arrived: ArrivedResponse) => Promise<void>,
): Transport {
  return {
    serves: (serviceToken) =>
      Object.hasOwn(providers, serviceToken) || /^arn:[^:]*:(?:lambda|sns):/u.test(serviceToken),
    async deliver(request, signal): Promise<Delivery> {
      const provider = Object.hasOwn(providers, request.serviceToken)
        ? providers[request.serviceToken]
        : undefined;
      if (provider === undefined) {
        const reason = `There is no provider for the service token ${request.serviceToken}: give openEmbedded one.`;
        return { kind: "refused", reason };
      }
      try {
        const answer = answerOf(await provider(request, signal));
        if (answer !== undefined) await receive(arrivedOf(request, answer));
        return { kind: "over" };
      } catch (error) {
        trouble(error);
        const message = error instanceof Error ? error.message : String(error);
        return { kind: "silent", advice: `The provider ended without an answer: ${message}` };
      }
    },
  };
}

const members: ReadonlySet<string> = new Set<keyof ProviderAnswer>([
  "status",
  "physicalId",
  "reason",
  "data",
  "noEcho",
]);

/** What a provider returned, which types don't promise where it is JavaScript. Throws when it is no answer. */
function answerOf(value: unknown): ProviderAnswer | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const what = value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
    throw new TypeError(`it returned ${what}, not an object like { physicalId, data }`);
  }
  const unknown = Object.keys(value).find((name) => !members.has(name));
  if (unknown === undefined) return value;
  throw new TypeError(`it returned a member ${unknown}, but an answer has only ${[...members].join(", ")}`);
}

function arrivedOf(request: ProviderRequest, answer: ProviderAnswer): ArrivedResponse {
  const bytes = new TextEncoder().encode(JSON.stringify(responseOf(request, answer)));
  return {
    stackId: request.stackId as StackId,
    logicalId: request.logicalId as LogicalId,
    requestId: request.requestId as RequestId,
    body: bytes.subarray(0, limits.keptResponseBytes.value),
    length: bytes.length,
  };
}

function responseOf(request: ProviderRequest, answer: ProviderAnswer): Json {
  const { status = "SUCCESS", reason, data, noEcho } = answer;
  const physicalId =
    answer.physicalId ??
    (request.requestType === "Create" ? `${request.logicalId}-${request.requestId}` : request.physicalId);
  return {
    Status: status,
    PhysicalResourceId: physicalId,
    StackId: request.stackId,
    RequestId: request.requestId,
    LogicalResourceId: request.logicalId,
    ...(reason === undefined ? {} : { Reason: reason }),
    ...(data === undefined ? {} : { Data: data }),
    ...(noEcho === undefined ? {} : { NoEcho: noEcho }),
  };
}
