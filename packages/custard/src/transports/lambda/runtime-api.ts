/**
 * The Runtime API that one instance of a function speaks to. Source: Lambda's runtime API page; facts 1.2 of the
 * Lambda study.
 *
 * Owns the listener and the order of calls. What a call means for the instance is the instance's.
 *
 * Invariants
 * A1. One listener per instance: the address has no credentials, so a shared one would let a function answer for
 *     another. Our own bootstraps show a token besides, so that no other user of the machine gets their events.
 * A2. An event is handed out only to a waiting `/next`; a `/next` in the middle of an invocation is refused.
 * A3. Only the invocation in flight can be answered, and once.
 * A4. The calls of one connection are taken in their order, also when the next is sent before the first is answered.
 */
import { randomUUID, timingSafeEqual } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Json } from "@custard/provider/protocol";

/** An error as a runtime reports it. */
export interface RuntimeReport {
  readonly errorType: string;
  readonly errorMessage: string;
  /** The report as posted: what a synchronous caller gets. */
  readonly payload: Uint8Array;
}

/** What the instance does about the calls of its process. */
export interface RuntimeApiListener {
  /** The process asks for an event. */
  onNext(): void;
  onResponse(payload: Uint8Array): void;
  onError(report: RuntimeReport): void;
  onInitError(report: RuntimeReport): void;
}

/** One event for the process. */
export interface RuntimeEvent {
  readonly requestId: string;
  readonly functionArn: string;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  readonly payload: Uint8Array;
  readonly clientContext?: string;
}

/** Lambda's limit for a result: 6 MB and some bytes for its envelope. */
const resultBytes = 6_291_556;

const base = "/2018-06-01/runtime";

/** One listener on the loopback address for one process. */
export class RuntimeApi {
  /** What callers must show; custom runtimes can't be asked for it. */
  readonly token = randomUUID();
  readonly #server: Server;
  readonly #asksForToken: boolean;
  #listener: RuntimeApiListener = deaf;
  #assignment: Json | undefined;
  #waitingForAssignment: ServerResponse | undefined;
  #waitingForEvent: ServerResponse | undefined;
  readonly #turns = new WeakMap<Socket, Promise<void>>();
  #current: string | undefined;

  private constructor(asksForToken: boolean) {
    this.#asksForToken = asksForToken;
    this.#server = createServer((request, response) => this.#serveInTurn(request, response));
    // A frozen process holds its `/next` open for as long as it is idle.
    this.#server.requestTimeout = 0;
    this.#server.headersTimeout = 0;
    this.#server.keepAliveTimeout = 0;
  }

  /** Opens the listener; with `asksForToken`, for a process that is told the token. */
  static async open({ asksForToken }: { readonly asksForToken: boolean }): Promise<RuntimeApi> {
    const api = new RuntimeApi(asksForToken);
    await new Promise<void>((resolve, reject) => {
      api.#server.once("error", reject);
      api.#server.listen(0, "127.0.0.1", resolve);
    });
    return api;
  }

  /** Says who hears the calls; to be called before the process is started. */
  attach(listener: RuntimeApiListener): void {
    this.#listener = listener;
  }

  /** Value of `AWS_LAMBDA_RUNTIME_API`. */
  get address(): string {
    return `127.0.0.1:${portOf(this.#server)}`;
  }

  /** Tells a spare process whose function it becomes. */
  assign(assignment: Json): void {
    this.#assignment = assignment;
    this.#answerAssignment();
  }

  /** Hands an event to the waiting process; false when none waits any more. */
  give(event: RuntimeEvent): boolean {
    const response = this.#waitingForEvent;
    if (response === undefined || response.destroyed) return false;
    this.#waitingForEvent = undefined;
    this.#current = event.requestId;
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": event.payload.length,
      "lambda-runtime-aws-request-id": event.requestId,
      "lambda-runtime-deadline-ms": String(event.deadline),
      "lambda-runtime-invoked-function-arn": event.functionArn,
      "lambda-runtime-trace-id": traceIdOf(event),
      ...(event.clientContext === undefined ? {} : { "lambda-runtime-client-context": event.clientContext }),
    });
    response.end(event.payload);
    return true;
  }

  /** Serves a connection that came by another way, out of a sandbox. */
  accept(socket: Socket): void {
    this.#server.emit("connection", socket);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #serveInTurn(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const before = this.#turns.get(socket);
    const served =
      before === undefined
        ? this.#serve(request, response)
        : before.then(() => this.#serve(request, response));
    this.#turns.set(socket, served);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if (!this.#isPermitted(request)) {
        refuse(response, forbidden);
        return;
      }
      await this.#route(request, response);
    } catch {
      // The process ended in the middle of its call: its exit says the rest.
      response.destroy();
    }
  }

  #isPermitted({ headers }: IncomingMessage): boolean {
    // A web page can reach the loopback address too, but not without saying so.
    if (headers.origin !== undefined || headers["sec-fetch-site"] !== undefined) return false;
    return !this.#asksForToken || isEqual(String(headers["custard-token"]), this.token);
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = `${request.method} ${request.url}`;
    if (target === `GET ${base}/invocation/next`) return this.#onNext(response);
    if (target === "GET /custard/assignment") return this.#onAssignment(response);
    const body = await readBody(request);
    if (target === `POST ${base}/init/error`) {
      this.#listener.onInitError(parseReport(body, request.headers));
      return accept(response);
    }
    const [, requestId, kind] =
      /^POST \/2018-06-01\/runtime\/invocation\/([^/]+)\/(response|error)$/.exec(target) ?? [];
    if (requestId === undefined) return refuse(response, unknownCall);
    if (requestId !== this.#current) return refuse(response, invalidRequest);
    this.#onAnswer({ kind, body, headers: request.headers }, response);
  }

  #onNext(response: ServerResponse): void {
    if (this.#current !== undefined) return refuse(response, invalidState);
    this.#waitingForEvent = response;
    this.#listener.onNext();
  }

  #onAssignment(response: ServerResponse): void {
    this.#waitingForAssignment = response;
    this.#answerAssignment();
  }

  #answerAssignment(): void {
    if (this.#assignment === undefined || this.#waitingForAssignment === undefined) return;
    sendJson(this.#waitingForAssignment, 200, this.#assignment);
    this.#waitingForAssignment = undefined;
  }

  #onAnswer(
    answer: { kind: string | undefined; body: Buffer; headers: IncomingMessage["headers"] },
    response: ServerResponse,
  ): void {
    this.#current = undefined;
    if (answer.kind === "error") {
      this.#listener.onError(parseReport(answer.body, answer.headers));
      return accept(response);
    }
    if (answer.body.length > resultBytes) {
      this.#listener.onError(tooLarge(answer.body.length));
      return refuse(response, tooLargeRefusal);
    }
    this.#listener.onResponse(answer.body);
    accept(response);
  }
}

const deaf: RuntimeApiListener = {
  onNext: () => undefined,
  onResponse: () => undefined,
  onError: () => undefined,
  onInitError: () => undefined,
};

interface Refusal {
  readonly status: number;
  readonly errorType: string;
  readonly errorMessage: string;
}

const forbidden: Refusal = {
  status: 403,
  errorType: "Forbidden",
  errorMessage: "This is another process's Runtime API",
};
const unknownCall: Refusal = {
  status: 404,
  errorType: "NotFound",
  errorMessage: "No such call of the Runtime API",
};
const invalidRequest: Refusal = {
  status: 400,
  errorType: "InvalidRequestID",
  errorMessage: "Invalid request ID",
};
const invalidState: Refusal = {
  status: 403,
  errorType: "InvalidStateTransition",
  errorMessage: "Transition from Running to Ready is not allowed",
};
const tooLargeRefusal: Refusal = {
  status: 413,
  errorType: "RequestEntityTooLarge",
  errorMessage: `Exceeded maximum allowed payload size (${resultBytes} bytes).`,
};

/** What a synchronous caller gets for a result that is too large. */
function tooLarge(length: number): RuntimeReport {
  const errorType = "Function.ResponseSizeTooLarge";
  const errorMessage = `Response payload size (${length} bytes) exceeded maximum allowed payload size (${resultBytes} bytes).`;
  return { errorType, errorMessage, payload: Buffer.from(JSON.stringify({ errorType, errorMessage })) };
}

/** A report is what a function's runtime says: anything may be missing. */
function parseReport(body: Buffer, headers: IncomingMessage["headers"]): RuntimeReport {
  const report = parseObject(body);
  const header = headers["lambda-runtime-function-error-type"];
  const errorType = textOf(report["errorType"]) ?? (typeof header === "string" ? header : "Runtime.Unknown");
  return { errorType, errorMessage: textOf(report["errorMessage"]) ?? "", payload: body };
}

function parseObject(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function accept(response: ServerResponse): void {
  sendJson(response, 202, { status: "OK" });
}

function refuse(response: ServerResponse, { status, ...body }: Refusal): void {
  sendJson(response, status, { ...body });
}

function sendJson(response: ServerResponse, status: number, body: Json): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { "content-type": "application/json", "content-length": bytes.length });
  response.end(bytes);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    // Beyond the limit only the length counts.
    if (length <= resultBytes + 1) chunks.push(bytes);
    else chunks.splice(1, chunks.length, Buffer.alloc(resultBytes + 1));
  }
  return Buffer.concat(chunks);
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("A1: the Runtime API has no port");
  return address.port;
}

function traceIdOf(event: RuntimeEvent): string {
  const seconds = Math.floor(event.deadline / 1000).toString(16);
  const id = event.requestId.replaceAll("-", "").padEnd(40, "0");
  return `Root=1-${seconds}-${id.slice(0, 24)};Parent=${id.slice(16, 32)};Sampled=0`;
}
