/** The JSON protocols 1.0 and 1.1: the operation stands in a header, all else in the body. */
import { ApiError } from "../api-error.ts";
import type { ServiceModel } from "../model.ts";
import type { WireRequest } from "../wire.ts";
import { parseJson, readMembers, writeJson } from "./json-value.ts";
import type { Protocol } from "./protocol.ts";

export const awsJson: Protocol = {
  address(model, request) {
    const { service, name } = parseTarget(request);
    const operation = service === model.target ? model.operations.get(name) : undefined;
    if (operation !== undefined) return { operation, labels: {} };
    throw new ApiError("UnknownOperationException", "");
  },

  parse({ model, request, addressed }) {
    const { input } = addressed.operation;
    const json = parseJson(request.body);
    return input === undefined ? {} : readMembers(model, input, json);
  },

  answer({ model, operation, output }) {
    const body = operation.output === undefined ? "" : writeJson(model, operation.output, output);
    return { status: 200, headers: { "content-type": contentType(model) }, body };
  },

  refuse({ model, error }) {
    // Some services call it Message, some message; clients read both.
    const body = JSON.stringify({ __type: error.code, message: error.message, ...error.details });
    return {
      status: error.status,
      headers: {
        "content-type": contentType(model),
        "x-amzn-errortype": headerText(error.code),
        ...queryError(model, error),
      },
      body,
    };
  },
};

/** `AmazonSSM.GetParameter`; botocore puts a longer name of the service before CloudTrail's. */
export function parseTarget({ headers }: WireRequest): { readonly service: string; readonly name: string } {
  const [name = "", service = ""] = (headers["x-amz-target"] ?? "").split(".").toReversed();
  return { service, name };
}

function contentType({ protocol }: ServiceModel): string {
  return protocol === "awsJson1.0" ? "application/x-amz-json-1.0" : "application/x-amz-json-1.1";
}

/** Clients that know a service by its older protocol want the code that it had there. */
function queryError(model: ServiceModel, { code, status }: ApiError): Readonly<Record<string, string>> {
  if (model.forms !== true) return {};
  const known = model.errors[code]?.code ?? code;
  return { "x-amzn-query-error": headerText(`${known};${status >= 500 ? "Receiver" : "Sender"}`) };
}

/** Codes are ours, but nothing that isn't a header may become one. */
export function headerText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?");
}
