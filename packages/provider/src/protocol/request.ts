import type { JsonObject } from "./json.ts";

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

type FourTexts = [string, string, string, string];

/** What is needed to answer at all. */
const addressing = ["ResponseURL", "StackId", "RequestId", "LogicalResourceId"];

/**
 * A typed request from what a Lambda function or a topic's subscriber was handed. Fields that it doesn't know are
 * ignored; an Update without `OldResourceProperties` has none (they are always there on AWS, fact 5).
 */
export function parseRequest(input: unknown): ParsedRequest {
  const wire = asObject(input);
  if (wire === undefined) return { ok: false, complaint: "Not an object" };
  const missing = addressing.find((name) => text(wire, name) === "");
  if (missing !== undefined) return { ok: false, complaint: `The request has no ${missing}` };
  const [responseUrl, stackId, requestId, logicalId] = addressing.map((name) =>
    text(wire, name),
  ) as FourTexts;
  const target = { responseUrl, stackId, requestId, logicalId };
  const physicalId = text(wire, "PhysicalResourceId");
  const request = parseKind(wire, target, physicalId);
  if (typeof request !== "string") return { ok: true, request };
  return { ok: false, complaint: request, addressee: physicalId === "" ? target : { ...target, physicalId } };
}

/** The request by its type, or what is wrong with it. */
function parseKind(wire: JsonObject, target: Addressee, physicalId: string): ProviderRequest | string {
  const properties = asObject(wire["ResourceProperties"] ?? {});
  if (properties === undefined) return "ResourceProperties is no object";
  const base: RequestBase = {
    ...target,
    serviceToken: text(wire, "ServiceToken"),
    resourceType: text(wire, "ResourceType") || "AWS::CloudFormation::CustomResource",
    properties,
  };
  const requestType = text(wire, "RequestType");
  if (requestType === "Create") return { ...base, requestType };
  if (requestType !== "Update" && requestType !== "Delete")
    return `Unknown RequestType '${requestType.slice(0, 40)}'`;
  if (physicalId === "") return `The ${requestType} has no PhysicalResourceId`;
  if (requestType === "Delete") return { ...base, requestType, physicalId };
  return { ...base, requestType, physicalId, oldProperties: asObject(wire["OldResourceProperties"]) ?? {} };
}

/** A member that is a string; empty when there is none. */
function text(holder: JsonObject, name: string): string {
  const value = holder[name];
  return typeof value === "string" ? value : "";
}

/** The border between what came as JSON and what the types say. */
function asObject(input: unknown): JsonObject | undefined {
  return typeof input === "object" && input !== null && !Array.isArray(input)
    ? (input as JsonObject)
    : undefined;
}
