/** SNS with everything around it, for tests with real sockets and real processes. */
import { spawn } from "node:child_process";
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from "node:http";
import { request as requestHttps } from "node:https";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import type { JsonObject, ProviderRequest } from "@custard/provider/protocol";
import { onTestFinished } from "vitest";
import type { Clock, TraceEntry } from "../../packages/custard/src/engine/ports.ts";
import { issueSigningCertificate } from "../../packages/custard/src/response/issue-certificate.ts";
import { redirectEnvironment } from "../../packages/custard/src/response/redirect.ts";
import { QueueRegistry } from "../../packages/custard/src/services/queues.ts";
import { TopicRegistry } from "../../packages/custard/src/services/topics.ts";
import {
  createSnsTransport,
  type SnsTransport,
} from "../../packages/custard/src/transports/sns/sns-transport.ts";
import { openLambda, type TestLambda } from "../lambda/support.ts";
import { openResponseWorld, type ResponseWorld } from "../support/response-world.ts";

export const scope = { partition: "aws", account: "123456789012", region: "us-east-1" };

/** A clock whose sleeps take no time, and that remembers how long they would have been. */
export interface NotingClock extends Clock {
  readonly slept: readonly number[];
}

/** What a test has in hand. Everything ends with the test. */
export interface SnsWorld {
  readonly topics: TopicRegistry;
  readonly queues: QueueRegistry;
  readonly sns: SnsTransport;
  readonly lambda: TestLambda;
  readonly response: ResponseWorld;
  readonly clock: NotingClock;
  readonly traces: readonly TraceEntry[];
  readonly topicArn: string;
  /** GETs a URL of SNS's host at the endpoint, as a redirected sender does. */
  get(url: string): Promise<{ readonly status: number; readonly body: string }>;
  /** A request to the topic. */
  request(more?: Partial<ProviderRequest>): ProviderRequest;
  deliver(request?: ProviderRequest): ReturnType<SnsTransport["deliver"]>;
}

/** Opens one with a topic in it. */
export async function openSns(
  options: {
    readonly answered?: boolean;
    readonly topic?: Readonly<Record<string, string>>;
    readonly subscriberHosts?: readonly string[];
  } = {},
): Promise<SnsWorld> {
  const response = await openResponseWorld();
  const traces: TraceEntry[] = [];
  const lambda = await openLambda({
    answered: () => options.answered ?? false,
    environment: (family) =>
      redirectEnvironment({
        port: response.endpoint.port,
        caFile: response.certificate.caFile,
        bundleFile: response.certificate.bundleFile,
        runtime: family === "custom" ? "any" : family,
      }),
  });
  const { documents } = lambda;
  const topics = new TopicRegistry(documents);
  const queues = new QueueRegistry(documents);
  const clock = notingClock();
  const sns = createSnsTransport({
    topics,
    queues,
    documents,
    clock,
    traces: { note: (entry) => void traces.push(entry), ofRequest: async () => traces },
    functions: lambda.transport,
    issue: async () =>
      issueSigningCertificate("sns.amazonaws.com", { from: Date.now(), until: Date.now() + 86_400_000 }),
    answered: () => options.answered ?? false,
    ...(options.subscriberHosts === undefined ? {} : { subscriberHosts: options.subscriberHosts }),
  });
  response.endpoint.serve(sns.site.matches, sns.site.listener);
  onTestFinished(async () => {
    await sns.close();
    await lambda.close();
  });
  const { arn: topicArn } = await topics.create(scope, { name: "requests", attributes: options.topic ?? {} });
  const request = (more: Partial<ProviderRequest> = {}) => requestTo(topicArn, response, more);
  return {
    topics,
    queues,
    sns,
    lambda,
    response,
    clock,
    traces,
    topicArn,
    request,
    get: (url) => getAt(response, url),
    deliver: (given = request()) => sns.deliver(given, new AbortController().signal),
  };
}

function notingClock(): NotingClock {
  const slept: number[] = [];
  return {
    slept,
    now: () => Date.now(),
    async sleep(delay, signal) {
      signal?.throwIfAborted();
      slept.push(delay);
    },
  };
}

function requestTo(
  topicArn: string,
  response: ResponseWorld,
  more: Partial<ProviderRequest>,
): ProviderRequest {
  const requestId = "6a1b2c3d-0000-4000-8000-000000000001";
  const base: ProviderRequest = {
    requestType: "Create",
    serviceToken: topicArn,
    responseUrl: response.url(requestId),
    stackId: "arn:aws:cloudformation:us-east-1:123456789012:stack/test/00000000-0000-4000-8000-000000000000",
    requestId,
    logicalId: "Thing",
    resourceType: "Custom::Thing",
    properties: { ServiceToken: topicArn, Size: "3" },
  };
  return Object.assign(base, more);
}

async function getAt(response: ResponseWorld, url: string): Promise<{ status: number; body: string }> {
  const { hostname, pathname, search } = new URL(url);
  return await new Promise((resolve, reject) => {
    const request = requestHttps({
      host: "127.0.0.1",
      port: response.endpoint.port,
      servername: hostname,
      headers: { host: hostname },
      path: `${pathname}${search}`,
      ca: readFileSync(response.certificate.caFile),
    });
    request.once("error", reject);
    request.once("response", (got) => {
      void text(got).then((body) => resolve({ status: got.statusCode ?? 0, body }), reject);
    });
    request.end();
  });
}

/** What an HTTP subscriber got. */
export interface Got {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: JsonObject;
}

/** An HTTP server that subscribes; by default it answers 200 to everything. */
export async function openSubscriber(
  answer: (got: Got, response: ServerResponse) => void | Promise<void> = ok,
) {
  const got: Got[] = [];
  const serve: RequestListener = (request, response) => {
    void text(request).then(async (body) => {
      const one = { headers: request.headers, body, json: parse(body) };
      got.push(one);
      await answer(one, response);
    });
  };
  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const notifications = () =>
    got.filter(({ headers }) => headers["x-amz-sns-message-type"] === "Notification");
  return { url: `http://127.0.0.1:${address.port}/hook`, got, notifications };
}

/** Answers with 200. */
function ok(_: Got, response: ServerResponse): void {
  response.end();
}

/** A subscriber that confirms when it is asked, and then answers as told. */
export async function openConfirmed(
  world: SnsWorld,
  answer: (got: Got, response: ServerResponse) => void | Promise<void> = ok,
) {
  return await openSubscriber(async (got, response) => {
    if (got.json["Type"] !== "SubscriptionConfirmation") return await answer(got, response);
    await world.get(member(got.json, "SubscribeURL"));
    response.end();
  });
}

/** The port of an HTTP server that has ended. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return typeof address === "object" && address !== null ? address.port : 0;
}

function parse(body: string): JsonObject {
  try {
    return JSON.parse(body) as JsonObject;
  } catch {
    return {};
  }
}

/** A member of a message that is a text. */
export function member(json: JsonObject | undefined, name: string): string {
  const value = json?.[name];
  if (typeof value !== "string") throw new Error(`the message has no ${name}`);
  return value;
}

/** What AWS's own validator, unmodified in a process of its own, says to messages: `valid`, or its complaint. */
export async function validate(
  response: ResponseWorld,
  messages: readonly unknown[],
): Promise<readonly string[]> {
  const source = `
    const MessageValidator = require("sns-validator");
    const validator = new MessageValidator();
    const one = (message) => new Promise((resolve) => validator.validate(message, (error) => resolve(error ? error.message : "valid")));
    let input = "";
    process.stdin.on("data", (chunk) => { input += chunk; });
    process.stdin.on("end", async () => console.log(JSON.stringify(await Promise.all(JSON.parse(input).map(one)))));`;
  const environment = redirectEnvironment({
    port: response.endpoint.port,
    caFile: response.certificate.caFile,
    bundleFile: response.certificate.bundleFile,
    runtime: "node",
  });
  const child = spawn(process.execPath, ["-e", source], {
    cwd: import.meta.dirname,
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify(messages));
  return JSON.parse(await text(child.stdout)) as readonly string[];
}
