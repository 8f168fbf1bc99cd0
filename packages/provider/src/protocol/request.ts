import type { Json, JsonObject } from "./json.ts";

/** What identifies one request. Source: fact 7 (StackId + RequestId); the logical id is echoed beside them. */
export interface RequestIdentity {
  readonly stackId: string;
  readonly requestId: string;
  readonly logicalId: string;
}

interface RequestBase extends RequestIdentity {
  readonly serviceToken: string;
  /** Pre-signed: whoever has it can answer. Never log it. */
  readonly responseUrl: string;
  readonly resourceType: string;
  /** Every scalar is a string, at any depth (fact 10); contains `ServiceToken` (fact 3). */
  readonly properties: JsonObject;
}

/** What CloudFormation asks a provider. Wire form and field order: fact 1. */
export type ProviderRequest =
  | (RequestBase & { readonly requestType: "Create" })
  | (RequestBase & {
      readonly requestType: "Update";
      readonly physicalId: string;
      readonly oldProperties: JsonObject;
    })
  | (RequestBase & { readonly requestType: "Delete"; readonly physicalId: string });

/** Create, Update or Delete. */
export type RequestType = ProviderRequest["requestType"];

/** Where an answer can go even though the request itself is no good. */
export interface Addressee extends RequestIdentity {
  readonly responseUrl: string;
  readonly physicalId?: string;
}

/** A request, or what is wrong with it; `addressee` is there when a FAILED answer can still be sent. */
export type ParsedRequest =
  | { readonly ok: true; readonly request: ProviderRequest }
  | { readonly ok: false; readonly complaint: string; readonly addressee?: Addressee };

/** The request as it goes over the wire, fields in the order of fact 1. */
export function formatRequest(request: ProviderRequest): JsonObject {
  return {
    RequestType: request.requestType,
    ServiceToken: request.serviceToken,
    ResponseURL: request.responseUrl,
    StackId: request.stackId,
    RequestId: request.requestId,
    LogicalResourceId: request.logicalId,
    ...(request.requestType !== "Create" && { PhysicalResourceId: request.physicalId }),
    ResourceType: request.resourceType,
    ResourceProperties: request.properties,
    ...(request.requestType === "Update" && { OldResourceProperties: request.oldProperties }),
  };
}

/**
 * A typed request from what a Lambda function or a topic's subscriber was handed. Fields that it doesn't know are
 * ignored; an Update without `OldResourceProperties` has none (they are always there on AWS, fact 5).
 */
export function parseRequest(input: unknown): ParsedRequest {
  const wire = asObject(input);
  if (wire === undefined) return { ok: false, complaint: "The request is not a JSON object" };
  const addressee = parseAddressee(wire);
  if (typeof addressee === "string") return { ok: false, complaint: `The request has no ${addressee}` };
  const properties = asObject(wire["ResourceProperties"] ?? {});
  if (properties === undefined) {
    return { ok: false, complaint: "ResourceProperties is not an object", addressee };
  }
  return parseKind(wire, addressee, properties);
}

function parseKind(wire: JsonObject, addressee: Addressee, properties: JsonObject): ParsedRequest {
  const { physicalId, ...target } = addressee;
  const base: RequestBase = {
    ...target,
    serviceToken: text(wire["ServiceToken"]) ?? text(properties["ServiceToken"]) ?? "",
    resourceType: text(wire["ResourceType"]) ?? "AWS::CloudFormation::CustomResource",
    properties,
  };
  const requestType = wire["RequestType"];
  if (requestType === "Create") return { ok: true, request: { ...base, requestType } };
  if (requestType !== "Update" && requestType !== "Delete") {
    return { ok: false, complaint: `Unknown RequestType: ${describe(requestType)}`, addressee };
  }
  if (physicalId === undefined) {
    return { ok: false, complaint: `The ${requestType} request has no PhysicalResourceId`, addressee };
  }
  if (requestType === "Delete") return { ok: true, request: { ...base, requestType, physicalId } };
  const oldProperties = asObject(wire["OldResourceProperties"]) ?? {};
  return { ok: true, request: { ...base, requestType, physicalId, oldProperties } };
}

/** Whom to answer, or the name of the field that is missing. */
function parseAddressee(wire: JsonObject): Addressee | string {
  const responseUrl = text(wire["ResponseURL"]);
  const stackId = text(wire["StackId"]);
  const requestId = text(wire["RequestId"]);
  const logicalId = text(wire["LogicalResourceId"]);
  if (responseUrl === undefined) return "ResponseURL";
  if (stackId === undefined) return "StackId";
  if (requestId === undefined) return "RequestId";
  if (logicalId === undefined) return "LogicalResourceId";
  const physicalId = text(wire["PhysicalResourceId"]);
  return { responseUrl, stackId, requestId, logicalId, ...(physicalId !== undefined && { physicalId }) };
}

function text(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function describe(value: Json | undefined): string {
  return typeof value === "string" ? `'${value.slice(0, 40)}'` : "none";
}

/** The border between what came as JSON and what the types say. */
function asObject(input: unknown): JsonObject | undefined {
  return typeof input === "object" && input !== null && !Array.isArray(input)
    ? (input as JsonObject)
    : undefined;
}
