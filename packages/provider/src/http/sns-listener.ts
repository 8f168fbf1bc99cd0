import type { IncomingMessage, ServerResponse } from "node:http";
import { get } from "node:https";
import { jsonLogger, type Logger } from "../log.ts";
import type { Options, Provider } from "../provider.ts";
import { server } from "../serve.ts";
import { isSnsUrl } from "./sns-url.ts";
import { parseSnsMessage, type SnsMessage, verifySns } from "./verify-sns.ts";

/** How messages are taken. */
export interface SnsListenerOptions extends Options {
  /** ARNs of the topics whose messages are taken and whose subscriptions are confirmed; all others are refused. */
  readonly topics: readonly string[];
  /** How long one request may be worked on, in milliseconds. Default: an hour. */
  readonly timeLimit?: number;
  /** Fetches certificates and confirmations. Default: `node:https`. */
  readonly fetchText?: (url: string) => Promise<string>;
}

/** Give it to `http.createServer`, or mount it in a web framework before any body parser. */
export type SnsListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** SNS's own limit, and room for the envelope. */
const longestBody = 300_000;
const fetchTimeout = 10_000;
const certificates = 16;

/**
 * Serves CloudFormation's requests that come by SNS topics: checks the signature and the topic, confirms
 * subscriptions, says 200 at once (SNS waits 15 seconds only) and answers the request when the work is done.
 */
export function snsListener(provider: Provider, options: SnsListenerOptions): SnsListener {
  const { topics, timeLimit = 3_600_000, fetchText = fetchOverHttps, logger = jsonLogger() } = options;
  const serve = server(provider, options);
  const fetchOnce = cached(fetchText);
  const accept = async (message: SnsMessage): Promise<number> => {
    if (!topics.includes(message.TopicArn)) return 403;
    if (!(await verifySns(message, fetchOnce))) return 403;
    switch (message.Type) {
      case "SubscriptionConfirmation":
        return confirm(message, fetchText);
      case "UnsubscribeConfirmation":
        return 200;
      case "Notification":
        work(message);
        return 200;
    }
  };
  const work = (message: SnsMessage) => {
    const end = Date.now() + timeLimit;
    serve(parse(message.Message), { remaining: () => end - Date.now() }).catch((error: unknown) =>
      logger.error("a request could not be answered", { error: String(error) }),
    );
  };
  return async (request, response) => {
    const status = await statusOf(request, accept, logger);
    response.writeHead(status).end();
  };
}

async function statusOf(
  request: IncomingMessage,
  accept: (message: SnsMessage) => Promise<number>,
  logger: Logger,
): Promise<number> {
  if (request.method !== "POST") return 405;
  const body = await readBody(request);
  if (body === undefined) return 413;
  const message = parseSnsMessage(body);
  if (message === undefined) return 400;
  try {
    const status = await accept(message);
    if (status !== 200) logger.warn("a message was refused", { topic: message.TopicArn, status });
    return status;
  } catch (error) {
    logger.error("a message could not be handled", { topic: message.TopicArn, error: String(error) });
    return 500;
  }
}

async function confirm(
  { SubscribeURL: url = "" }: SnsMessage,
  fetchText: (url: string) => Promise<string>,
): Promise<number> {
  if (!isSnsUrl(url)) return 403;
  await fetchText(url);
  return 200;
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestBody) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Remembers the certificates, not failures to get them. */
function cached(fetchText: (url: string) => Promise<string>): (url: string) => Promise<string> {
  const known = new Map<string, Promise<string>>();
  return (url) => {
    const found = known.get(url);
    if (found !== undefined) return found;
    const [oldest] = known.keys();
    if (known.size >= certificates && oldest !== undefined) known.delete(oldest);
    const fetched = fetchText(url);
    known.set(url, fetched);
    fetched.catch(() => known.delete(url));
    return fetched;
  };
}

function fetchOverHttps(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { timeout: fetchTimeout }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text = (text + chunk).slice(0, longestBody)));
      response.on("end", () =>
        response.statusCode === 200 ? resolve(text) : reject(new Error(`HTTP ${response.statusCode}`)),
      );
    });
    asked.once("timeout", () => asked.destroy(new Error("no answer")));
    asked.once("error", reject);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
