// The public entry `@custard/provider/proxy`: the response URL through an HTTP proxy.
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { directTransport, put, type Transport } from "./transport.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A transport that goes through the proxy that `HTTPS_PROXY` names (with CONNECT, so that the proxy sees the host
 * only), but for the hosts in `NO_PROXY`. Extra authorities come from `NODE_EXTRA_CA_CERTS`, as for all of Node.
 */
export function proxyTransport(environment: Environment = process.env): Transport {
  const proxy = environment["HTTPS_PROXY"] ?? environment["https_proxy"];
  const exceptions = (environment["NO_PROXY"] ?? environment["no_proxy"] ?? "")
    .split(",")
    .map((host) => host.trim());
  return async (url, body, allowed) => {
    const target = new URL(url);
    if (!proxy || target.protocol !== "https:" || isExcepted(target.hostname, exceptions)) {
      return directTransport(url, body, allowed);
    }
    const socket = await connectThrough(new URL(proxy), target, allowed.connect);
    return put(httpsRequest(url, { method: "PUT", agent: false, socket } as object), body, allowed);
  };
}

/** Is this host, or a domain above it, excepted? */
export function isExcepted(host: string, exceptions: readonly string[]): boolean {
  return exceptions.some((exception) => {
    const domain = exception.replace(/^\*?\./u, "");
    return exception === "*" || (domain !== "" && (host === domain || host.endsWith(`.${domain}`)));
  });
}

function connectThrough(proxy: URL, target: URL, timeout: number): Promise<Socket> {
  const host = `${target.hostname}:${target.port || "443"}`;
  const credentials = Buffer.from(
    `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`,
  );
  const headers = {
    host,
    ...(proxy.username && { "proxy-authorization": `Basic ${credentials.toString("base64")}` }),
  };
  return new Promise((resolve, reject) => {
    const asked = httpRequest({
      host: proxy.hostname,
      port: proxy.port || 80,
      method: "CONNECT",
      path: host,
      headers,
      timeout,
    });
    asked.once("timeout", () => asked.destroy(new Error(`the proxy didn't answer within ${timeout} ms`)));
    asked.once("error", reject);
    asked.once("connect", (response, socket) => {
      if (response.statusCode === 200) resolve(socket);
      else reject(new Error(`the proxy refused: HTTP ${response.statusCode}`));
    });
    asked.end();
  });
}
