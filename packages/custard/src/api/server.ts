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
  /** What stands under `/_custard/`; a path that it doesn't have gives undefined. */
  readonly internal?: (arrived: Arrived, path: string) => Promise<WireAnswer | undefined>;
  readonly version: string;
}

/** An endpoint that is open. */
export interface Api {
  readonly port: number;
  /** `http://127.0.0.1:4566` */
  readonly url: string;
  /** S2. Requests that wait for something are answered as they stand. */
  close(): Promise<void>;
}

const headerBytes = 64 * 1024;
/** Milliseconds for the headers of a request, and for all of it: a large upload over a slow line takes its time. */
const headersTime = 20_000;
const requestTime = 15 * 60_000;
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
  const server = createServer({
    maxHeaderSize: headerBytes,
    headersTimeout: headersTime,
    requestTimeout: requestTime,
    keepAliveTimeout: 65_000,
  });
  server.on("request", (message, response) => {
    respond({ message, response, options, world, closing: closing.signal }).catch(options.trouble);
  });
  // Sockets that break are the clients' own affair (S1).
  server.on("clientError", (_error, socket) => socket.destroy());
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
  const internal = await answerInternally(arrived, options);
  if (internal !== undefined) return await send(exchange, { ...internal, headers: internal.headers });
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

async function answerInternally(arrived: Arrived, options: ApiOptions): Promise<WireAnswer | undefined> {
  const { path, method } = arrived.request;
  if (!path.startsWith("/_custard/")) return undefined;
  const name = path.slice("/_custard/".length);
  if (name === "health" && (method === "GET" || method === "HEAD"))
    return json(200, { status: "ok", version: options.version });
  return (await options.internal?.(arrived, name)) ?? json(404, { message: "There is nothing here." });
}

/** An answer of JSON. */
function json(status: number, value: unknown): WireAnswer {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

function withRequestId({ answer }: Dispatched, requestId: string): WireAnswer {
  return { ...answer, headers: { "x-amzn-requestid": requestId, ...answer.headers } };
}

async function send({ message, response }: Exchange, answer: WireAnswer): Promise<void> {
  const { status, headers, body } = answer;
  // What was not read of a body that nobody wants would be taken for the next request.
  if (!message.complete) response.setHeader("connection", "close");
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
