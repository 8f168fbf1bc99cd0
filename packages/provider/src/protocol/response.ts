import type { Json, JsonObject } from "./json.ts";
import { maxPhysicalIdBytes, maxResponseBytes } from "./limits.ts";
import type { RequestIdentity, RequestType } from "./request.ts";

/** What a provider answers, inside. Wire form: fact 32. */
export type ProviderResponse =
  | {
      readonly status: "SUCCESS";
      readonly physicalId: string;
      readonly data: JsonObject;
      readonly noEcho: boolean;
      readonly reason?: string;
    }
  | { readonly status: "FAILED"; readonly physicalId: string; readonly reason: string };

/** Why a body is no answer. The engine fails the resource with the fault's text, but for `WrongRequest`. */
export type ResponseFault =
  | "TooLong"
  | "NotJson"
  | "NotAnObject"
  | "NoStatus"
  | "UnknownStatus"
  | "InvalidPhysicalId"
  | "ReasonNotString"
  | "NoEchoNotBoolean"
  | "DataNotAnObject"
  | "WrongRequest";

/**
 * What a body amounts to.
 * - `answer`: a valid answer to the request.
 * - `malformed`: the resource fails at once with `reason`.
 * - `foreign`: it names another request; it is ignored and the request stays pending.
 */
export type ResponseVerdict =
  | { readonly kind: "answer"; readonly response: ProviderResponse }
  | {
      readonly kind: "malformed";
      readonly fault: Exclude<ResponseFault, "WrongRequest">;
      readonly reason: string;
      /** The Reason of a FAILED that `reason` hides. */
      readonly hidden?: string;
    }
  | { readonly kind: "foreign"; readonly fault: "WrongRequest"; readonly reason: string };

/** The request that a body is judged against. */
export type AnsweredRequest = RequestIdentity & { readonly requestType: RequestType };

type Malformed = Extract<ResponseVerdict, { kind: "malformed" }>;

/**
 * Judges a body. `body` holds at least the first 4097 bytes of it, `length` is how many there were.
 *
 * The order of the checks is what a provider sees: length (fact 36), JSON, another request's ids, `Status`
 * (fact 34), missing ids, `PhysicalResourceId` (it masks the reason, whatever the request type: facts 37 and 38),
 * and for a SUCCESS the types of `Reason`, `NoEcho` and `Data`. The last two mean nothing on Delete.
 */
export function parseResponse(body: Uint8Array, length: number, request: AnsweredRequest): ResponseVerdict {
  if (length > maxResponseBytes) return malformed("TooLong", "Response object is too long.");
  const parsed = parseObject(body);
  if (!parsed.ok) return parsed.verdict;
  const wire = parsed.object;
  const foreign = foreignId(wire, request, (id) => id !== undefined);
  if (foreign !== undefined) return foreign;
  const status = wire["Status"];
  if (status !== "SUCCESS" && status !== "FAILED") return badStatus(status);
  const missing = foreignId(wire, request, (id) => id === undefined);
  if (missing !== undefined) return missing;
  const physicalId = wire["PhysicalResourceId"];
  if (!isPhysicalId(physicalId)) {
    const hidden = status === "FAILED" ? failureReason(wire["Reason"]) : "";
    const verdict = malformed("InvalidPhysicalId", "Invalid PhysicalResourceId");
    return hidden === "" ? verdict : { ...verdict, hidden };
  }
  if (status === "SUCCESS") return parseSuccess(wire, physicalId, request.requestType);
  return { kind: "answer", response: { status, physicalId, reason: failureReason(wire["Reason"]) } };
}

/** The response as it goes over the wire, with the request's ids. */
export function formatResponse(response: ProviderResponse, request: RequestIdentity): JsonObject {
  const { status, reason, physicalId } = response;
  return {
    Status: status,
    ...(reason !== undefined && { Reason: reason }),
    PhysicalResourceId: physicalId,
    StackId: request.stackId,
    RequestId: request.requestId,
    LogicalResourceId: request.logicalId,
    ...(status === "SUCCESS" && {
      ...(response.noEcho && { NoEcho: true }),
      ...(Object.keys(response.data).length > 0 && { Data: response.data }),
    }),
  };
}

/** Can this be a physical id: a non-empty string of at most 1024 bytes (fact 40)? */
export function isPhysicalId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && Buffer.byteLength(value) <= maxPhysicalIdBytes;
}

function parseSuccess(wire: JsonObject, physicalId: string, requestType: RequestType): ResponseVerdict {
  const reason = wire["Reason"];
  if (reason !== undefined && typeof reason !== "string") {
    return malformed("ReasonNotString", wrongType("Reason", "a string", reason));
  }
  const base = { status: "SUCCESS", physicalId, ...(reason !== undefined && { reason }) } as const;
  if (requestType === "Delete") {
    return { kind: "answer", response: { ...base, data: {}, noEcho: false } };
  }
  const noEcho = wire["NoEcho"] ?? false;
  if (typeof noEcho !== "boolean")
    return malformed("NoEchoNotBoolean", wrongType("NoEcho", "a Boolean", noEcho));
  // Python's `cfnresponse.send(event, context, SUCCESS, None)` sends a null: no data.
  const data = wire["Data"] ?? {};
  if (!isObject(data)) return malformed("DataNotAnObject", wrongType("Data", "a JSON object", data));
  return { kind: "answer", response: { ...base, data, noEcho } };
}

/** A missing Reason is an empty message; one that is no string is shown as JSON, so that nothing is lost. */
function failureReason(reason: Json | undefined): string {
  if (reason === undefined || reason === null) return "";
  return typeof reason === "string" ? reason : JSON.stringify(reason);
}

function foreignId(
  wire: JsonObject,
  request: RequestIdentity,
  counts: (id: Json | undefined) => boolean,
): ResponseVerdict | undefined {
  const expected = {
    RequestId: request.requestId,
    StackId: request.stackId,
    LogicalResourceId: request.logicalId,
  };
  const wrong = Object.entries(expected).find(([name, id]) => counts(wire[name]) && wire[name] !== id);
  if (wrong === undefined) return undefined;
  const [name] = wrong;
  const reason =
    wire[name] === undefined
      ? `The response has no ${name}; CloudFormation ignores it`
      : `The response's ${name} is not the request's; CloudFormation ignores it`;
  return { kind: "foreign", fault: "WrongRequest", reason };
}

function badStatus(status: Json | undefined): Malformed {
  if (status === undefined) return malformed("NoStatus", "Invalid Response object: it has no Status");
  const shown = (typeof status === "string" ? status : JSON.stringify(status)).slice(0, 100);
  return malformed("UnknownStatus", `Invalid Response object: '${shown}' is not a valid ResponseStatus`);
}

type ParsedBody =
  | { readonly ok: true; readonly object: JsonObject }
  | { readonly ok: false; readonly verdict: Malformed };

function parseObject(body: Uint8Array): ParsedBody {
  const text = decode(body);
  if (text === undefined) return notJson("it is not UTF-8");
  if (text === "") return notJson("it is empty");
  if (text.startsWith("\uFEFF")) return notJson("it starts with a byte order mark");
  const parsed = parseJson(text);
  if (!parsed.ok) return notJson(parsed.complaint);
  if (isObject(parsed.value)) return { ok: true, object: parsed.value };
  const message = `Invalid Response object: it must be a JSON object, not ${kindOf(parsed.value)}`;
  return { ok: false, verdict: malformed("NotAnObject", message) };
}

function decode(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** The parser's own message may quote the body, which may hold secrets; so only what kind of fault it is. */
function parseJson(text: string): { ok: true; value: Json } | { ok: false; complaint: string } {
  try {
    const value: Json = JSON.parse(text);
    return { ok: true, value };
  } catch (error) {
    const endsEarly = error instanceof SyntaxError && /end of JSON|Unterminated/u.test(error.message);
    return {
      ok: false,
      complaint: endsEarly
        ? "it ends too early (is Content-Length counted in characters instead of bytes?)"
        : "it can't be parsed",
    };
  }
}

function notJson(complaint: string): ParsedBody {
  return {
    ok: false,
    verdict: malformed("NotJson", `Invalid Response object: it is not valid JSON: ${complaint}`),
  };
}

function wrongType(name: string, expected: string, found: Json): string {
  return `Invalid Response object: ${name} must be ${expected}, not ${kindOf(found)}`;
}

function malformed(fault: Malformed["fault"], reason: string): Malformed {
  return { kind: "malformed", fault, reason };
}

function kindOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
