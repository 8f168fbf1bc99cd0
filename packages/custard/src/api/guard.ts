/**
 * Keeps web pages out: whoever is on this machine may call an endpoint that asks for no signature, but a page in a
 * browser on it may not.
 */
import { isIP } from "node:net";
import { ApiError } from "./api-error.ts";
import type { WireRequest } from "./wire.ts";

/** Throws `ApiError` when a request comes from a web page, or by a name that may have been made to lead here. */
export function refuseBrowsers(request: WireRequest): void {
  const { headers } = request;
  const site = headers["sec-fetch-site"];
  if (headers["origin"] !== undefined || (site !== undefined && site !== "none"))
    throw denied("Web pages can't call this endpoint.");
  if (!isKnownHost(headers["host"] ?? ""))
    throw denied("This endpoint is not served under that host name: use http://127.0.0.1 and the port.");
}

/** Is it an address, a name of this machine, or one of AWS's, which somebody leads here on purpose? */
function isKnownHost(host: string): boolean {
  const name = host
    .replace(/:\d+$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase();
  return (
    name === "" ||
    isIP(name) !== 0 ||
    /^(?:.+\.)?localhost$/.test(name) ||
    /\.amazonaws\.com(?:\.cn)?$/.test(name) ||
    name === "host.docker.internal"
  );
}

function denied(message: string): ApiError {
  return new ApiError("AccessDenied", message, { status: 403 });
}
