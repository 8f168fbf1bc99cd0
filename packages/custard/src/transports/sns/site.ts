/** What SNS's own host names serve to subscribers: the certificate, and the links in messages. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { urlSuffixes } from "@custard/provider/protocol";
import { TopicError } from "../../services/topic-error.ts";
import type { TopicRegistry } from "../../services/topics.ts";
import type { Signer } from "./signer.ts";

/** What the site needs. */
export interface SiteOptions {
  readonly topics: TopicRegistry;
  readonly signer: () => Promise<Signer>;
}

const namespace = "http://sns.amazonaws.com/doc/2010-03-31/";

/** Is it SNS's host, of whatever region? */
export function isSnsHost(host: string): boolean {
  return urlSuffixes.some((suffix) => host.startsWith("sns.") && host.endsWith(`.${suffix}`));
}

/** Answers GET requests as SNS does. */
export function snsSite(options: SiteOptions): RequestListener {
  return (request, response) => {
    respond(options, request)
      .catch(refusal)
      .then((answer) => send(response, answer))
      .catch(() => response.destroy());
  };
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

async function respond(options: SiteOptions, request: IncomingMessage): Promise<Answer> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "https://sns");
  if (request.method !== "GET" && request.method !== "HEAD")
    return failure(400, "InvalidAction", "Only GET is served here.");
  if (pathname.endsWith(".pem")) return await certificate(options, pathname);
  const action = searchParams.get("Action") ?? "";
  if (action === "ConfirmSubscription") return await confirm(options, searchParams);
  if (action === "Unsubscribe") return await unsubscribe(options, searchParams);
  return failure(400, "InvalidAction", `The action ${action} is not valid for this web service.`);
}

async function certificate({ signer }: SiteOptions, pathname: string): Promise<Answer> {
  const { certificate: body, certificatePath } = await signer();
  if (pathname !== certificatePath) return { status: 404, type: "text/plain", body: "Not Found" };
  return { status: 200, type: "application/x-pem-file", body };
}

async function confirm({ topics }: SiteOptions, query: URLSearchParams): Promise<Answer> {
  const { arn } = await topics.confirm(query.get("TopicArn") ?? "", query.get("Token") ?? "");
  return success("ConfirmSubscription", `<SubscriptionArn>${escapeXml(arn)}</SubscriptionArn>`);
}

async function unsubscribe({ topics }: SiteOptions, query: URLSearchParams): Promise<Answer> {
  const arn = query.get("SubscriptionArn") ?? "";
  await topics.subscription(arn);
  await topics.unsubscribe(arn);
  return success("Unsubscribe", undefined);
}

function success(action: string, result: string | undefined): Answer {
  const content = result === undefined ? "" : `<${action}Result>${result}</${action}Result>`;
  return xml(
    200,
    `<${action}Response xmlns="${namespace}">${content}<ResponseMetadata><RequestId>${randomUUID()}</RequestId></ResponseMetadata></${action}Response>`,
  );
}

function refusal(error: unknown): Answer {
  if (!(error instanceof TopicError))
    return failure(500, "InternalFailure", "The request couldn't be served.");
  return failure(error.code === "NotFound" ? 404 : 400, error.code, error.message);
}

function failure(status: number, code: string, message: string): Answer {
  const error = `<Type>Sender</Type><Code>${code}</Code><Message>${escapeXml(message)}</Message>`;
  return xml(
    status,
    `<ErrorResponse xmlns="${namespace}"><Error>${error}</Error><RequestId>${randomUUID()}</RequestId></ErrorResponse>`,
  );
}

function xml(status: number, body: string): Answer {
  return { status, type: "text/xml", body };
}

function send(response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/gu, (character) => escapes[character] ?? character);
}
