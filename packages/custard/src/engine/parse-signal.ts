import type { Json } from "@custard/provider/protocol";
import type { Signal } from "./stack.ts";

/** Reads what came at a wait condition's URL: `{Status, Reason, UniqueId, Data}`; anything else is an invalid signal. */
export function parseSignal(body: Uint8Array): Signal {
  const json = parseJson(new TextDecoder().decode(body));
  const invalid: Signal = { uniqueId: "", status: "INVALID" };
  if (typeof json !== "object" || json === null || Array.isArray(json)) return invalid;
  const {
    Status: status,
    UniqueId: uniqueId,
    Reason: reason,
    Data: data,
  } = json as { readonly [key: string]: Json };
  if ((status !== "SUCCESS" && status !== "FAILURE") || typeof uniqueId !== "string") return invalid;
  return {
    uniqueId,
    status,
    ...(typeof reason === "string" ? { reason } : {}),
    ...(typeof data === "string" ? { data } : {}),
  };
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
