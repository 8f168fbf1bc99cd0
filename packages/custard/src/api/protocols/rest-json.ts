/** The REST protocol with JSON bodies, as Lambda speaks it. */
import { Readable } from "node:stream";
import { ApiError, malformed } from "../api-error.ts";
import { isStructure, type Ref, type ServiceModel, type Structure } from "../model.ts";
import type { WireAnswer, WireObject, WireRequest, WireValue } from "../wire.ts";
import { headerText } from "./aws-json.ts";
import { payloadOf, readBindings, writeBindings } from "./http-bindings.ts";
import { Routes } from "./http-routes.ts";
import { parseJson, readMembers, writeJson } from "./json-value.ts";
import type { Protocol } from "./protocol.ts";
import { isWireObject } from "./xml-writer.ts";

const routesOf = new WeakMap<ServiceModel, Routes>();

export const restJson: Protocol = {
  address(model, request) {
    const routes = routesOf.get(model) ?? new Routes(model);
    routesOf.set(model, routes);
    const found = routes.find(request, pathOf(request));
    if (found !== undefined) return found;
    throw new ApiError("UnknownOperationException", "", { status: 404 });
  },

  parse({ model, request, addressed }) {
    const { input } = addressed.operation;
    if (input === undefined) return {};
    const bound = readBindings(input, request, addressed.labels);
    return { ...bound, ...readBody(model, input, request.body) };
  },

  answer({ model, operation, output }) {
    const { status, headers } = writeBindings(operation, output);
    const payload = operation.output === undefined ? undefined : payloadOf(operation.output);
    if (payload !== undefined)
      return {
        status,
        headers: { ...json, ...headers },
        body: payloadBody(model, payload.member.ref, output[payload.name]),
      };
    const body = operation.output === undefined ? "" : writeJson(model, operation.output, output);
    return { status, headers: body === "" ? headers : { ...json, ...headers }, body };
  },

  refuse({ error }) {
    const type = error.status >= 500 ? "Service" : "User";
    return {
      status: error.status,
      headers: { ...json, "x-amzn-errortype": headerText(error.code) },
      body: JSON.stringify({ Type: type, Message: error.message, message: error.message, ...error.details }),
    };
  },
};

const json = { "content-type": "application/json" };

/** Empty segments at the end come from clients that end paths with a slash. */
function pathOf({ path }: WireRequest): readonly string[] {
  try {
    const segments = path.split("/").slice(1).map(decodeURIComponent);
    return segments.at(-1) === "" ? segments.slice(0, -1) : segments;
  } catch {
    throw malformed("The path isn't encoded as it should be.");
  }
}

function readBody(model: ServiceModel, input: Structure, body: Uint8Array): WireObject {
  const payload = payloadOf(input);
  if (payload === undefined) return readMembers(model, input, parseJson(body));
  const { ref } = payload.member;
  if (ref === "blob" || ref === "stream") return { [payload.name]: body };
  if (typeof ref === "string" && isStructure(ref))
    return body.length === 0
      ? {}
      : { [payload.name]: readMembers(model, model.structure(ref), parseJson(body)) };
  throw new Error(`Bodies of kind ${JSON.stringify(ref)} are not read here.`);
}

function payloadBody(model: ServiceModel, ref: Ref, value: WireValue): WireAnswer["body"] {
  return typeof ref === "string" && isStructure(ref) && isWireObject(value)
    ? writeJson(model, model.structure(ref), value)
    : rawOf(value);
}

function rawOf(value: WireValue): WireAnswer["body"] {
  if (value === undefined) return "";
  if (typeof value === "string" || value instanceof Uint8Array || value instanceof Readable) return value;
  throw new Error("A body was to be written, and something else came.");
}
