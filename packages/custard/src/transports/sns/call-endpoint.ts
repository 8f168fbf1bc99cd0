import { type ClientRequest, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

/** How a call of an endpoint ended. */
export type CallOutcome =
  | { readonly kind: "answered"; readonly status: number }
  /** No connection: it has certainly got nothing. */
  | { readonly kind: "unreachable"; readonly reason: string }
  /** It may have got the message. */
  | { readonly kind: "unanswered"; readonly reason: string };

/** What is sent. */
export interface EndpointCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** SNS waits for an answer for 15 s. */
const patienceMs = 15_000;

/** POSTs to an endpoint. Rejects only when aborted. */
export async function callEndpoint(call: EndpointCall, signal: AbortSignal): Promise<CallOutcome> {
  signal.throwIfAborted();
  const limit = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const outcome = await post(call, limit);
  signal.throwIfAborted();
  return outcome;
}

/** An endpoint without what may be secret in it: credentials and query. */
export function shownEndpoint(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

function post(call: EndpointCall, signal: AbortSignal): Promise<CallOutcome> {
  return new Promise((resolve) => {
    const url = new URL(call.url);
    const options = {
      method: "POST",
      headers: { ...call.headers, "content-length": String(Buffer.byteLength(call.body)) },
      // Each delivery stands alone, so that none depends on what became of another one's connection.
      agent: false,
      signal,
    };
    const request = url.protocol === "https:" ? requestHttps(url, options) : requestHttp(url, options);
    const isConnected = watchConnection(request, url.protocol);
    request.once("error", (error) => {
      const reason = signal.aborted ? `no answer within ${patienceMs / 1000} s` : reasonOf(error);
      resolve({ kind: isConnected() ? "unanswered" : "unreachable", reason });
    });
    request.once("response", (response) => {
      response.resume();
      resolve({ kind: "answered", status: response.statusCode ?? 0 });
      // Nobody reads the answer's body: a long one isn't waited for.
      response.once("error", () => undefined);
      response.socket.setTimeout(1000, () => response.destroy());
    });
    request.end(call.body);
  });
}

function watchConnection(request: ClientRequest, protocol: string): () => boolean {
  let connected = false;
  request.once("socket", (socket) =>
    socket.once(protocol === "https:" ? "secureConnect" : "connect", () => {
      connected = true;
    }),
  );
  return () => connected;
}

/** Trying all addresses of a name fails with all their errors together, and without a message. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError) {
    const [first] = error.errors.filter((one) => one instanceof Error);
    return first?.message ?? "connection failed";
  }
  return error.message;
}
