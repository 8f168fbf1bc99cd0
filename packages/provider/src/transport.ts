import type { ClientRequest } from "node:http";

/** How one PUT ended: the status, and the beginning of what the server said. */
export interface PutResult {
  readonly status: number;
  readonly body: string;
}

/** Milliseconds that one PUT may take. */
export interface PutLimits {
  readonly connect: number;
  readonly total: number;
}

/** Sends one PUT. Rejects when there is no answer at all. Replace it to go through a proxy or to test. */
export type Transport = (url: string, body: Uint8Array, allowed: PutLimits) => Promise<PutResult>;

const keptBody = 2048;

/**
 * The default: Node's own client, loaded when it is first needed. The URL goes out as it came; the length is counted
 * in bytes; there is no Content-Type (it would break old signatures, fact 28); redirects aren't followed; the
 * connection isn't kept.
 */
export const directTransport: Transport = async (url, body, allowed) => {
  const { request } = url.startsWith("http:") ? await import("node:http") : await import("node:https");
  return put(request(url, { method: "PUT", agent: false }), body, allowed);
};

/** Performs a PUT over a request that was just opened. */
export function put(outgoing: ClientRequest, body: Uint8Array, allowed: PutLimits): Promise<PutResult> {
  return new Promise((resolve, reject) => {
    const limit = (what: string, after: number) =>
      setTimeout(() => outgoing.destroy(new Error(`no ${what} within ${after} ms`)), after);
    const timers = [limit("connection", allowed.connect), limit("response", allowed.total)];
    outgoing.on("socket", (socket) => socket.once("connect", () => clearTimeout(timers[0])));
    outgoing.on("close", () => timers.forEach(clearTimeout));
    outgoing.on("error", reject);
    outgoing.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text = (text + chunk).slice(0, keptBody)));
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    outgoing.end(body);
  });
}
