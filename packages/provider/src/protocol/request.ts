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
