/**
 * What stands behind AWS's host names for functions: the endpoint of this machine when it runs, and else a refusal in
 * the words of the service's protocol. So no function reaches AWS itself, also with an SDK that doesn't know
 * `AWS_ENDPOINT_URL` (boto3 before 1.28), and whoever tries is told so at once.
 */
import { randomUUID } from "node:crypto";
import { request as forward } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { urlSuffixes } from "@custard/provider/protocol";

/** A site of the response endpoint. */
export interface AwsSite {
  readonly matches: (host: string) => boolean;
  readonly listener: RequestListener;
}

/** `endpointUrl` gives the endpoint's address, while it runs. Response buckets and SNS's certificates are others'. */
export function createAwsSite(endpointUrl: () => string | undefined): AwsSite {
  return {
    matches: (host) => urlSuffixes.some((suffix) => host.endsWith(`.${suffix}`)),
    listener(request, response) {
      const url = endpointUrl();
      if (url === undefined) refuse(request, response);
      else pass(url, { request, response });
    },
  };
}

/** The Host header stays: signatures cover it. */
function pass(
  url: string,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): void {
  const { method = "GET", url: path = "/", headers } = request;
  const { hostname, port } = new URL(url);
  const passed = forward({ host: hostname, port, method, path, headers, setHost: false }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  // The endpoint has gone, or the sender has: either way nobody can be answered.
  passed.on("error", () => response.destroy());
  response.once("close", () => passed.destroy());
  request.pipe(passed);
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  const name = request.headers.host ?? "AWS";
  const message = `Functions don't reach AWS from here, and nothing on this machine stands for ${name}: run custard serve to have AWS's calls answered locally.`;
  const { type, text } = refusalText(request, message);
  request.resume();
  response.writeHead(403, {
    "content-type": type,
    "content-length": Buffer.byteLength(text),
    "x-amzn-requestid": randomUUID(),
    "x-amzn-errortype": "AccessDeniedException",
  });
  response.end(text);
}

function refusalText(
  { headers, url = "" }: IncomingMessage,
  message: string,
): { readonly type: string; readonly text: string } {
  const contentType = headers["content-type"] ?? "";
  const shown = message.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const fault = `<Code>AccessDenied</Code><Message>${shown}</Message>`;
  if (contentType.startsWith("application/x-www-form-urlencoded")) {
    const text = `<ErrorResponse><Error><Type>Sender</Type>${fault}</Error><RequestId>${randomUUID()}</RequestId></ErrorResponse>`;
    return { type: "text/xml", text };
  }
  if (
    headers["x-amz-target"] !== undefined ||
    /^\/20\d\d-\d\d-\d\d\//u.test(url) ||
    contentType.includes("json")
  )
    return {
      type: "application/x-amz-json-1.1",
      text: JSON.stringify({ __type: "AccessDeniedException", message, Message: message }),
    };
  return { type: "application/xml", text: `<Error>${fault}</Error>` };
}
