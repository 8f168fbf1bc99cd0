/**
 * The server's side: a socket on the loopback interface for the command lines of this machine's user.
 *
 * RL1: nothing is read of a request that doesn't know the secret, which is compared in constant time.
 * RL2: an answer is JSON lines: `{"item":…}` for each of a stream, then `{"value":…}` or `{"error":…}`. One that ends
 *      without either was cut off.
 * RL3: a command line that goes away ends what only it waits for, never a stack's operation.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { removeAddress, writeAddress } from "./address.ts";
import { callsOf, type RemoteWorld } from "./calls.ts";
import { encodeError, type ErrorLine } from "./error-codec.ts";

/** How a server is opened to command lines. */
export interface ListenerOptions {
  readonly stateDirectory: string;
  readonly version: string;
  readonly world: RemoteWorld;
  readonly trouble: (error: unknown) => void;
}

/** Milliseconds for the head of a request, and for all of it. */
const headersTime = 10_000;
const requestTime = 60_000;
/** Bytes of a call: a template has at most 1 MB, a configuration may carry a few secrets. */
const bodyBytes = 32 * 1024 * 1024;
/** Milliseconds that calls get to end when the server closes. */
const lastMoments = 1000;

/** Opens a server to the command lines of this machine, and says in the state directory where it is. */
export async function listenForCommandLines(options: ListenerOptions): Promise<{ close(): Promise<void> }> {
  const { stateDirectory, version } = options;
  const secret = randomBytes(32).toString("base64url");
  const closing = new AbortController();
  const server = createServer({ headersTimeout: headersTime, requestTimeout: requestTime });
  server.on("request", (message, response) => {
    answer({ message, response, secret, options, closing: closing.signal }).catch(options.trouble);
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  await writeAddress(stateDirectory, { pid: process.pid, port: await listen(server), secret, version });
  return {
    async close() {
      await removeAddress(stateDirectory);
      closing.abort(new Error("The server is closing."));
      const late = setTimeout(() => server.closeAllConnections(), lastMoments);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
      clearTimeout(late);
    },
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("A TCP server has a port.");
  return address.port;
}

interface Exchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly secret: string;
  readonly options: ListenerOptions;
  readonly closing: AbortSignal;
}

async function answer(exchange: Exchange): Promise<void> {
  const { message, response, secret, options, closing } = exchange;
  response.setHeader("connection", "close");
  // RL1
  if (!isSame(message.headers.authorization ?? "", `Bearer ${secret}`)) {
    response.writeHead(401).end();
    return;
  }
  const gone = new AbortController();
  response.once("close", () => gone.abort(new Error("The command line has gone.")));
  const signal = AbortSignal.any([gone.signal, closing]);
  const write = async (line: object): Promise<void> => {
    if (!response.write(`${JSON.stringify(line)}\n`)) await once(response, "drain", { signal });
  };
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  try {
    const calls = callsOf(options.world, signal);
    const result = invoke(calls, parseCall(await readText(message)));
    await write(isStream(result) ? await passOn(result, write) : { value: await result });
  } catch (error) {
    // RL2: cut off, as the end of the server is no answer of the engine's. RL3.
    if (signal.aborted) return void response.destroy();
    await write({ error: encodeError(error) ?? unexpected(error, options) });
  }
  response.end();
}

function isSame(given: string, right: string): boolean {
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(given), hash(right));
}

async function readText(message: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Without an encoding set, a request's chunks are buffers.
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bodyBytes) throw new Error(`A call has at most ${bodyBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

interface GivenCall {
  readonly name: string;
  readonly given: readonly unknown[];
}

/** Who knows the secret is a command line of the same version: only the outline is checked. */
function parseCall(text: string): GivenCall {
  const value: unknown = JSON.parse(text);
  const { name, given }: Partial<Record<keyof GivenCall, unknown>> =
    typeof value === "object" && value !== null ? value : {};
  if (typeof name !== "string" || !Array.isArray(given)) throw new Error("That is no call.");
  return { name, given };
}

function invoke(calls: object, { name, given }: GivenCall): unknown {
  const call: unknown = Object.hasOwn(calls, name) ? Reflect.get(calls, name) : undefined;
  if (typeof call !== "function") throw new Error(`There is no call ${name}.`);
  return Reflect.apply(call, undefined, given);
}

function isStream(result: unknown): result is AsyncIterable<unknown> {
  return typeof result === "object" && result !== null && Symbol.asyncIterator in result;
}

async function passOn(
  items: AsyncIterable<unknown>,
  write: (line: object) => Promise<void>,
): Promise<object> {
  for await (const item of items) await write({ item });
  return {};
}

function unexpected(error: unknown, { trouble }: ListenerOptions): ErrorLine {
  trouble(error);
  const message = error instanceof Error ? error.message : String(error);
  return { name: "RemoteError", code: "ServerFailed", message };
}
