import type { JsonObject } from "./protocol/json.ts";
import { maxPhysicalIdBytes, maxResponseBytes as budget } from "./protocol/limits.ts";
import type { RequestIdentity } from "./protocol/request.ts";
import { formatResponse, isPhysicalId, type ProviderResponse } from "./protocol/response.ts";

/** What goes to the response URL, and what it says: a SUCCESS that is too long for the wire becomes a FAILED. */
export interface Encoded {
  readonly bytes: Uint8Array;
  readonly response: ProviderResponse;
}

/**
 * The bytes of an answer: valid UTF-8 JSON of at most 4096 bytes (fact 35) with the request's ids verbatim.
 * A reason is cut in the middle to fit. Attributes are never cut: when they don't fit the answer is FAILED, with the
 * real id so that the roll back cleans up, and names the largest.
 */
export function encodeResponse(response: ProviderResponse, identity: RequestIdentity): Encoded {
  const bytes = toBytes(response, identity);
  if (bytes.length <= budget) return { bytes, response };
  if (response.status === "SUCCESS") {
    const reason = describeOverflow(response.data, bytes.length);
    return encodeResponse({ status: "FAILED", physicalId: response.physicalId, reason }, identity);
  }
  const withReason = (reason: string) => ({ ...response, reason });
  const reason = shorten(response.reason, (text) => toBytes(withReason(text), identity).length <= budget);
  return { bytes: toBytes(withReason(reason), identity), response: withReason(reason) };
}

/** Refuses what no answer can carry as an id (fact 40). Control characters take six bytes each on the wire. */
export function validId(id: string): string {
  const fits = isPhysicalId(id) && Buffer.byteLength(JSON.stringify(id)) < 2 * maxPhysicalIdBytes;
  if (!fits) throw new TypeError("Not a physical id: 1 to 1024 bytes");
  return id;
}

function toBytes(response: ProviderResponse, identity: RequestIdentity): Uint8Array {
  return Buffer.from(JSON.stringify(formatResponse(response, identity)));
}

function describeOverflow(data: JsonObject, length: number): string {
  const largest = Object.entries(data)
    .map(([name, value]) => [JSON.stringify(value).length, name] as const)
    .toSorted(([a], [b]) => b - a)
    .slice(0, 3);
  const sizes = largest.map(([size, name]) => `${name} (${size})`);
  return `The response has ${length} bytes, over ${budget}. Largest attributes: ${sizes.join(", ")}`;
}

/** The longest form that fits: 70 % of what is kept from the start, 30 % from the end, no character cut in two. */
function shorten(text: string, fits: (text: string) => boolean): string {
  const points = Array.from(text.length > 2 * budget ? text.slice(0, budget) + text.slice(-budget) : text);
  const cut = (kept: number) => {
    const head = Math.ceil(kept * 0.7);
    const ends = [...points.slice(0, head), " … ", ...points.slice(points.length - kept + head)];
    return ends.join("").replaceAll(/\p{Surrogate}/gu, "");
  };
  let [least, most] = [0, points.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(cut(middle))) least = middle;
    else most = middle - 1;
  }
  return cut(least);
}
