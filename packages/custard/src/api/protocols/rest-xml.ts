/** The REST protocol with XML bodies, as S3 speaks it. */
import { Readable } from "node:stream";
import { ApiError } from "../api-error.ts";
import { isStructure, type Operation, type ServiceModel, type Structure } from "../model.ts";
import { bucketInHost } from "../../services/s3-location.ts";
import type { WireAnswer, WireObject, WireRequest, WireValue } from "../wire.ts";
import { payloadOf, readBindings, writeBindings } from "./http-bindings.ts";
import { Routes } from "./http-routes.ts";
import type { Protocol } from "./protocol.ts";
import { readXml } from "./xml-reader.ts";
import { escapeXml, isWireObject, writeBody, writeElement } from "./xml-writer.ts";

const routesOf = new WeakMap<ServiceModel, Routes>();

export const restXml: Protocol = {
  address(model, request) {
    const routes = routesOf.get(model) ?? new Routes(model, withBucket);
    routesOf.set(model, routes);
    const found = routes.find(request, segmentsOf(request));
    if (found !== undefined) return found;
    throw new ApiError("MethodNotAllowed", "The specified method is not allowed against this resource.", {
      status: 405,
      details: { Method: request.method },
    });
  },

  parse({ model, request, addressed }) {
    const { input } = addressed.operation;
    if (input === undefined) return {};
    return { ...readBindings(input, request, addressed.labels), ...readBody(model, input, request.body) };
  },

  answer({ model, operation, output, requestId }) {
    const { status, headers } = writeBindings(operation, output);
    const body = bodyOf(model, operation, output);
    const xml = typeof body === "string" && body !== "" ? { "content-type": "application/xml" } : {};
    return { status, headers: { ...xml, ...headers, ...ids(requestId) }, body };
  },

  refuse({ request, error, requestId }) {
    const { code, message, details } = error;
    const members = Object.entries({
      Code: code,
      Message: message,
      ...details,
      RequestId: requestId,
      HostId: hostId,
    });
    const written = members.map(([name, text]) => `<${name}>${escapeXml(text)}</${name}>`).join("");
    return {
      status: error.status,
      headers: { "content-type": "application/xml", ...ids(requestId) },
      body: request.method === "HEAD" ? "" : `${declaration}<Error>${written}</Error>`,
    };
  },
};

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';
const hostId = "custard";

function ids(requestId: string): Record<string, string> {
  return { "x-amz-request-id": requestId, "x-amz-id-2": hostId };
}

/** The model's paths begin below the bucket; ours begin with it. */
function withBucket({ input }: Operation, path: string): readonly string[] {
  const inBucket = input?.members["Bucket"]?.label === true;
  const rest = path === "/" ? [] : path.split("/").slice(1);
  return inBucket ? ["{Bucket}", ...rest] : rest;
}

/** Keys may begin and end with slashes, and hold several in a row; buckets may come with one after them. */
function segmentsOf({ path, headers }: WireRequest): readonly string[] {
  const host = (headers["host"] ?? "").replace(/:\d+$/, "");
  const inHost = bucketInHost(host);
  try {
    const parts = path.slice(1).split("/").map(decodeURIComponent);
    const [bucket = "", ...rest] = inHost === undefined ? parts : [inHost, ...parts];
    if (bucket === "") return [];
    return rest.join("/") === "" ? [bucket] : [bucket, ...rest];
  } catch {
    throw new ApiError("InvalidURI", "Couldn't parse the specified URI.");
  }
}

function readBody(model: ServiceModel, input: Structure, body: Uint8Array): WireObject {
  const payload = payloadOf(input);
  if (payload === undefined || body.length === 0) return {};
  const { ref } = payload.member;
  if (ref === "blob" || ref === "stream") return { [payload.name]: body };
  if (ref === "string") return { [payload.name]: Buffer.from(body).toString("utf8") };
  if (typeof ref === "string" && isStructure(ref)) return { [payload.name]: readXml(model, ref, body) };
  throw new Error(`Bodies of kind ${JSON.stringify(ref)} are not read here.`);
}

function bodyOf(model: ServiceModel, operation: Operation, output: WireObject): WireAnswer["body"] {
  const structure = operation.output;
  if (structure === undefined) return "";
  const payload = payloadOf(structure);
  if (payload === undefined) return documentOf(model, operation, { structure, output });
  const value = output[payload.name];
  const { ref, name } = payload.member;
  if (typeof ref === "string" && isStructure(ref) && value !== undefined) {
    const element = name ?? model.structure(ref).name ?? ref.slice(1);
    return declaration + withNamespace(model, element, writeElement(model, element, { ref, value }));
  }
  return rawOf(value);
}

function documentOf(
  model: ServiceModel,
  { name }: Operation,
  { structure, output }: { structure: Structure; output: WireObject },
): string {
  const body = writeBody(model, structure.members, output);
  const isBare = body === "" && structure.name === undefined;
  if (isBare) return "";
  const element = structure.name ?? `${name}Result`;
  // The one document of S3 whose member isn't written as an element of its root, but as the root.
  const inner = name === "GetBucketLocation" ? rawText(output["LocationConstraint"]) : body;
  return declaration + withNamespace(model, element, `<${element}>${inner}</${element}>`);
}

function rawText(value: WireValue): string {
  return typeof value === "string" ? escapeXml(value) : "";
}

function withNamespace({ namespace }: ServiceModel, element: string, document: string): string {
  return document.replace(`<${element}`, `<${element} xmlns="${namespace}"`);
}

function rawOf(value: WireValue): WireAnswer["body"] {
  if (value === undefined) return "";
  if (typeof value === "string" || value instanceof Uint8Array || value instanceof Readable) return value;
  if (isWireObject(value)) throw new Error("A body was to be written, and a structure came.");
  throw new Error("A body was to be written, and something else came.");
}
