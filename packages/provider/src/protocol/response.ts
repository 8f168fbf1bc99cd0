import type { JsonObject } from "./json.ts";

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
  | "NoEchoNotBoolean"
  | "DataNotAnObject"
  | "WrongRequest";

/**
 * What a body amounts to.
 * - `answer`: a valid answer to the request.
 * - `malformed`: the resource fails at once with `reason` (design decisions of section 9).
 * - `foreign`: it names another request; it is ignored and the request stays pending.
 */
export type ResponseVerdict =
  | { readonly kind: "answer"; readonly response: ProviderResponse }
  | {
      readonly kind: "malformed";
      readonly fault: Exclude<ResponseFault, "WrongRequest">;
      readonly reason: string;
    }
  | { readonly kind: "foreign"; readonly fault: "WrongRequest"; readonly reason: string };
