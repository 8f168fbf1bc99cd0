/**
 * The endpoint's socket: HTTP in, HTTP out, nothing of AWS.
 *
 * S1: a client that is slow, breaks off or sends nonsense costs itself only: every request has limits of its own.
 * S2: closing lets requests that are being answered end, and then nothing is open any more.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ApiError } from "./api-error.ts";
import { type Arrived, dispatch, type Dispatched, type Dispatching } from "./dispatch.ts";
import { loadModel, type ServiceModel } from "./model.ts";
import { parseFields } from "./protocols/form.ts";
import { bytesOf, readBody } from "./read-body.ts";
import type { BoundService } from "./service.ts";
import type { WireAnswer, WireRequest } from "./wire.ts";

/** What is told of each request. */
export interface RequestNote {
  readonly requestId: string;
  readonly service: string;
  readonly operation?: string;
  readonly account: string;
  readonly region: string;
  readonly status: number;
  /** The code of the refusal, when it is one. */
  readonly code?: string;
  /** How long it took, in milliseconds. */
  readonly took: number;
}

/** How an endpoint is set up. */
export interface ApiOptions extends Omit<Dispatching, "services" | "models"> {
  readonly services: readonly BoundService[];
  /** Default 127.0.0.1. Another than loopback needs `secretOf`. */
  readonly host?: string;
  /** 0 for any that is free. */
  readonly port: number;
  readonly note?: (note: RequestNote) => void;
  readonly version: string;
  /** How long clients may take. Default: see `usualLimits`. */
  readonly limits?: Partial<TimeLimits>;
}

/** How long clients may take, in milliseconds. */
export interface TimeLimits {
  /** For the head of a request. */
  readonly headers: number;
  /** For all of a request: a large upload over a slow line takes its time. */
  readonly request: number;
  /** Between two pieces of a request's body, and of an answer that is taken slowly. */
  readonly pause: number;
}

const usualLimits: TimeLimits = { headers: 20_000, request: 15 * 60_000, pause: 60_000 };

/** An endpoint that is open. */
export interface Api {
  readonly port: number;
  /** `http://127.0.0.1:4566` */
  readonly url: string;
  /** S2. Requests that wait for something are answered as they stand. */
  close(): Promise<void>;
}

const headerBytes = 64 * 1024;
/** Milliseconds for which the rest of a body that nobody wants is taken. */
const lingering = 2000;
/** Milliseconds after which requests that are still being answered are dropped when the endpoint closes. */
const lastMoments = 5_000;

/** Opens an endpoint. Throws when it would be open to others without asking who they are. */
export async function openApi(options: ApiOptions): Promise<Api> {
  const { host = "127.0.0.1" } = options;
  if (!isLoopback(host) && options.secretOf === undefined)
    throw new ApiError("InvalidHost", "An endpoint that others can reach must ask for signatures.");
  const models = new Map<string, ServiceModel>(options.services.map(({ name }) => [name, loadModel(name)]));
  const services = new Map(options.services.map((service) => [service.name, service]));
  const world: Dispatching = { ...options, services, models };
  const closing = new AbortController();
  const limits = { ...usualLimits, ...options.limits };
  // Node.js itself answers 400, 408 and 431 to what is no request, too slow, or has too large a head, and hangs up (S1).
  const server = createServer({
    maxHeaderSize: headerBytes,
    headersTimeout: limits.headers,
    requestTimeout: limits.request,
    connectionsCheckingInterval: Math.min(5000, limits.headers / 2),
    keepAliveTimeout: 65_000,
  });
  server.on("request", (message, response) => {
    endStalled(message, limits.pause);
    respond({ message, response, options, world, closing: closing.signal }).catch(options.trouble);
  });
  await listen(server, host, options.port);
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : options.port;
  return {
    port,
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    async close() {
      closing.abort(new Error("The endpoint is closing."));
      await closeServer(server);
    },
  };
}

/** Can only this machine reach an address? */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** S1: who stops in the middle of a request is hung up on; a whole one may take as long as it takes to answer it. */
function endStalled(message: IncomingMessage, pause: number): void {
  const { socket, headers } = message;
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  if (!hasBody) return;
  // Nobody listens for the timeout, so that Node.js ends the socket.
  socket.setTimeout(pause);
  message.once("end", () => socket.setTimeout(0));
}

interface Exchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly options: ApiOptions;
  readonly world: Dispatching;
  readonly closing: AbortSignal;
}

async function respond(exchange: Exchange): Promise<void> {
  const { message, response, options, world, closing } = exchange;
  const startedAt = performance.now();
  const gone = new AbortController();
  response.once("close", () => gone.abort(new Error("The client has gone.")));
  const signal = AbortSignal.any([gone.signal, closing]);
  const requestId = randomUUID();
  const arrived: Arrived = {
    request: toWireRequest(message),
    requestId,
    signal,
    read: (limit) => readBody(message, limit),
    stream: () => bytesOf(message),
  };
  const internal = answerInternally(arrived, options);
  if (internal !== undefined) return await send(exchange, internal);
  const dispatched = await dispatch(arrived, world);
  const { answer, scope, service, operation, code } = dispatched;
  options.note?.({
    requestId,
    service,
    ...(operation === undefined ? {} : { operation }),
    account: scope.account,
    region: scope.region,
    status: answer.status,
    ...(code === undefined ? {} : { code }),
    took: Math.round(performance.now() - startedAt),
  });
  await send(exchange, withRequestId(dispatched, requestId));
}

/** What stands under `/_custard/`. */
function answerInternally({ request }: Arrived, { version }: ApiOptions): WireAnswer | undefined {
  const { path, method } = request;
  if (!path.startsWith("/_custard/")) return undefined;
  if (path === "/_custard/health" && (method === "GET" || method === "HEAD"))
    return json(200, { status: "ok", version });
  return json(404, { message: "There is nothing here." });
}

/** An answer of JSON. */
function json(status: number, value: unknown): WireAnswer {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

function withRequestId({ answer }: Dispatched, requestId: string): WireAnswer {
  return { ...answer, headers: { "x-amzn-requestid": requestId, ...answer.headers } };
}

async function send(exchange: Exchange, answer: WireAnswer): Promise<void> {
  const { message, response } = exchange;
  const { status, headers, body } = answer;
  makeReady(exchange);
  if (body instanceof Readable) {
    response.writeHead(status, headers);
    // A client that goes away ends the stream (S1).
    await pipeline(message.method === "HEAD" ? Readable.from([]) : body, response).catch(() => undefined);
    if (message.method === "HEAD") body.destroy();
    return;
  }
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const bodiless = status === 204 || status === 304;
  const length =
    bodiless || headers["content-length"] !== undefined ? {} : { "content-length": bytes.length };
  response.writeHead(status, { ...length, ...headers });
  response.end(bodiless || message.method === "HEAD" ? undefined : bytes);
}

function makeReady({ message, response, closing, options }: Exchange): void {
  // Who takes no more of an answer is hung up on as well (S1).
  response.socket?.setTimeout(options.limits?.pause ?? usualLimits.pause);
  if (!message.complete) discard(message);
  // S2.
  if (closing.aborted) response.setHeader("connection", "close");
}

/**
 * Nobody wants what is left of a body. A client that is still sending it would lose the answer if it were hung up on at
 * once, so that it gets a moment for the rest.
 */
function discard(message: IncomingMessage): void {
  const late = setTimeout(() => message.destroy(), lingering);
  message.once("close", () => clearTimeout(late));
  message.resume();
}

function toWireRequest(message: IncomingMessage): WireRequest {
  const [path = "/", ...rest] = (message.url ?? "/").split("?");
  const headers = Object.entries(message.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === "string" ? value : value.join(",")] as const],
  );
  return {
    method: message.method ?? "GET",
    path: path.startsWith("/") ? path : `/${path}`,
    query: queryOf(rest.join("?")),
    headers: Object.fromEntries(headers),
  };
}

/** What isn't encoded as it should be is taken as it stands: only whoever reads it knows how to refuse it. */
function queryOf(text: string): WireRequest["query"] {
  try {
    // In a query a plus is a plus: clients encode blanks as %20.
    return parseFields(text.replaceAll("+", "%2B"));
  } catch {
    return [[text, ""]];
  }
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function closeServer(server: Server): Promise<void> {
  const late = setTimeout(() => server.closeAllConnections(), lastMoments);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(late);
}
