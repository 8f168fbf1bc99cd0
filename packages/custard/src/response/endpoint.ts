/**
 * The TLS server that response URLs lead to: S3's buckets for responses and for wait conditions of all regions, and
 * further hosts on the same port.
 * It listens on 127.0.0.1 only; children reach it by the redirect.
 *
 * It owns connections: who is asked by name, limits of size and time, and broken HTTP. What a bucket does with a
 * request is `receive-response.ts` and `receive-signal.ts`.
 */
import { STATUS_CODES } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { Server } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { callbackify } from "node:util";
import type { Certificate } from "./certificate.ts";
import { newIds, receiveResponse, refuse } from "./receive-response.ts";
import type { Bucket, Exchange } from "./receive-response.ts";
import { receiveSignal, type WaitBucket } from "./receive-signal.ts";
import { isResponseHost } from "./response-url.ts";
import { formatS3Error, s3Error } from "./s3-error.ts";
import type { S3ErrorCode } from "./s3-error.ts";
import { isWaitHost } from "./wait-url.ts";

/** The running server. */
export interface ResponseEndpoint {
  readonly port: number;
  /** Serves further hosts, e.g. SNS's certificates. Names come in lower case and without a port. */
  serve(matches: (host: string) => boolean, listener: RequestListener): void;
  /** Serves a connection that came by another way, out of a sandbox. */
  accept(socket: Socket): void;
  /** Takes no more connections, lets requests in flight be answered, then ends. */
  close(): Promise<void>;
}

/** As long as S3 waits for a silent sender, roughly. Frozen senders lose their connection after it, as on AWS. */
const s3IdleTimeout = 20_000;
const headersTimeout = 20_000;
const maxHeaderSize = 16_384;
/** How long requests in flight may take at the end. */
const closingTime = 1_000;

interface Site {
  readonly matches: (host: string) => boolean;
  readonly listener: RequestListener;
}

/** Opens the endpoint on an ephemeral port of 127.0.0.1. */
export async function openResponseEndpoint(
  options: Bucket & {
    /** May still be in the making: handshakes wait for it. */
    readonly certificate: Certificate | Promise<Certificate>;
    /** The buckets of wait conditions. Default: there are none. */
    readonly waits?: WaitBucket;
    /** After so many ms of silence a sender is given up. */
    readonly idleTimeout?: number;
  },
): Promise<ResponseEndpoint> {
  const sites: Site[] = [];
  const inFlight = new WeakMap<Duplex, Exchange>();
  const server = createTlsServer(Promise.resolve(options.certificate));
  server.timeout = options.idleTimeout ?? s3IdleTimeout;
  const handle = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void => {
    const exchange: Exchange = { request, response, host: hostOf(request), expectsContinue, surplus: 0 };
    inFlight.set(request.socket, exchange);
    response.once("close", () => inFlight.delete(request.socket));
    const site = sites.find(({ matches }) => matches(exchange.host));
    if (site === undefined) serveBucket(options, options.waits, exchange);
    else serveSite(site, exchange);
  };
  server.on("request", (request, response) => handle(request, response, false));
  server.on("checkContinue", (request, response) => handle(request, response, true));
  server.on("clientError", (error: ParseError, socket) =>
    answerBrokenHttp(error, socket, inFlight.get(socket)),
  );
  server.on("timeout", (socket) => answerSilence(socket, inFlight.get(socket)));
  const connections = connectionsOf(server);
  await listen(server);
  return {
    port: portOf(server),
    serve: (matches, listener) => void sites.push({ matches, listener }),
    accept: (socket) => void server.emit("connection", socket),
    close: () =>
      close(
        server,
        [...connections].filter((connection) => !inFlight.has(connection)),
      ),
  };
}

function createTlsServer(certificate: Promise<Certificate>): Server {
  const contextFor = callbackify(async (host: string) => (await certificate).contextFor(host.toLowerCase()));
  const server = createServer({
    SNICallback: contextFor,
    minVersion: "TLSv1.2",
    ALPNProtocols: ["http/1.1"],
    handshakeTimeout: headersTimeout,
    headersTimeout,
    // S3 knows no limit for a whole request, only for silence.
    requestTimeout: 0,
    maxHeaderSize,
  });
  // For clients that name no host. Whoever makes the certificate hears of trouble with it.
  certificate.then(
    ({ fallback }) => server.setSecureContext(fallback),
    () => undefined,
  );
  return server;
}

function serveSite({ listener }: Site, { request, response, expectsContinue }: Exchange): void {
  if (expectsContinue) response.writeContinue();
  listener(request, response);
}

function serveBucket(bucket: Bucket, waits: WaitBucket | undefined, exchange: Exchange): void {
  if (isResponseHost(exchange.host)) {
    void receiveResponse(bucket, exchange);
    return;
  }
  if (waits !== undefined && isWaitHost(exchange.host)) {
    void receiveSignal(waits, exchange);
    return;
  }
  const [name = ""] = exchange.host.split(".", 1);
  refuse(bucket, exchange, s3Error("NoSuchBucket", { BucketName: name }));
}

function hostOf(request: IncomingMessage): string {
  return (request.headers.host ?? "").toLowerCase().replace(/:\d+$/u, "");
}

// ------------------------------------------------------------------------------------- broken connections

interface ParseError extends Error {
  readonly code?: string;
  /** Bytes of `rawPacket` that were understood. */
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

const parseFaults: Readonly<Record<string, S3ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "RequestTimeout",
  HPE_HEADER_OVERFLOW: "RequestHeaderSectionTooLarge",
};

/**
 * Node's parser fails on bytes after a body's announced end. S3 takes the body and never looks at them: so the answer
 * that is under way must go out undisturbed. Senders get there by giving a string's length as content-length.
 */
function answerBrokenHttp(error: ParseError, socket: Duplex, exchange: Exchange | undefined): void {
  if (exchange !== undefined && exchange.request.complete) {
    // After `Connection: close` the parser counts the first surplus byte as parsed.
    const first = error.code === "HPE_CLOSED_CONNECTION" ? 1 : 0;
    exchange.surplus += (error.rawPacket?.length ?? 0) - (error.bytesParsed ?? 0) + first;
    return;
  }
  const code = parseFaults[error.code ?? ""] ?? "BadRequest";
  answerRaw(socket, error.code === "ECONNRESET" ? undefined : code);
}

/** A sender that is silent in mid-request is told so; a connection at rest is closed. */
function answerSilence(socket: Duplex, exchange: Exchange | undefined): void {
  // The answer waits for storage: that isn't the sender's fault.
  if (exchange?.request.complete === true) return;
  answerRaw(socket, exchange === undefined ? undefined : "RequestTimeout");
}

function answerRaw(socket: Duplex, code: S3ErrorCode | undefined): void {
  if (code === undefined || !socket.writable) {
    socket.destroy();
    return;
  }
  const error = s3Error(code);
  const ids = newIds();
  const text = formatS3Error(error, ids);
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ""}`,
    `x-amz-request-id: ${ids.requestId}`,
    `x-amz-id-2: ${ids.hostId}`,
    "content-type: application/xml",
    `content-length: ${Buffer.byteLength(text)}`,
    "connection: close",
    "server: AmazonS3",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`, () => socket.destroy());
}

// --------------------------------------------------------------------------------------------- life

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the response endpoint has no port");
  return address.port;
}

function connectionsOf(server: Server): ReadonlySet<Duplex> {
  const connections = new Set<Duplex>();
  server.on("secureConnection", (connection) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
  });
  return connections;
}

function close(server: Server, idle: readonly Duplex[]): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    // Node's own notion of idle leaves out connections that have asked for nothing yet.
    for (const connection of idle) connection.destroy();
    // Connections that are busy now end as soon as they are idle.
    server.keepAliveTimeout = 1;
    // A sender that never ends its request can't hold the process.
    setTimeout(() => server.closeAllConnections(), closingTime).unref();
  });
}
