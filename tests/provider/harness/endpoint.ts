import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { openCertificate } from "../../../packages/custard/src/response/certificate.ts";
import { redirectEnvironment } from "../../../packages/custard/src/response/redirect.ts";

/** What happens to the next PUT; when none is left it is taken. */
export type PutFault = 200 | 307 | 403 | 500 | 503 | "reset" | "silence";

/** One PUT that arrived. */
export interface ArrivedPut {
  readonly url: string;
  readonly contentLength: string | undefined;
  readonly contentType: string | undefined;
  readonly body: Buffer;
  /** Was it taken, as S3 takes a response? */
  readonly taken: boolean;
}

/** A response endpoint on a real TLS listener, with faults. */
export interface FaultyEndpoint {
  readonly puts: ArrivedPut[];
  /** For a child: leads the response hosts to this endpoint. */
  readonly environment: Record<string, string>;
  /** From now on: these faults in order; `repeat` takes the last one for all that follow. */
  inject(faults: readonly PutFault[], repeat?: boolean): void;
  close(): Promise<void>;
}

/** From the repository's root, since a bundled script doesn't stand where its sources do. */
const hook = resolve("packages/custard/runtimes/node/redirect.cjs");

/** Opens an endpoint for these hosts. */
export async function openFaultyEndpoint(
  directory: string,
  hosts: readonly string[],
): Promise<FaultyEndpoint> {
  const certificate = await openCertificate({ directory, hosts, now: Date.now() });
  const puts: ArrivedPut[] = [];
  let script: readonly PutFault[] = [];
  let forever = false;
  const next = (): PutFault => {
    const [fault = 200, ...rest] = script;
    if (!forever || rest.length > 0) script = rest;
    return fault;
  };
  const server = createServer({ ...certificate.fallback }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const fault = next();
      puts.push({ ...described(request), body: Buffer.concat(chunks), taken: fault === 200 });
      answer(fault, request, response);
    });
  });
  // A sender that counts its length wrongly sends more than it announced: S3 has answered by then.
  server.on("clientError", () => undefined);
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    puts,
    environment: {
      ...redirectEnvironment({ port, runtime: "node", ...certificate }),
      NODE_OPTIONS: `--require "${hook}"`,
    },
    inject: (faults, repeat = false) => {
      script = faults;
      forever = repeat;
      puts.length = 0;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((closed) => void server.close(() => closed()));
    },
  };
}

function described(request: IncomingMessage): Pick<ArrivedPut, "url" | "contentLength" | "contentType"> {
  const { headers } = request;
  return {
    url: request.url ?? "",
    contentLength: headers["content-length"],
    contentType: headers["content-type"],
  };
}

function answer(fault: PutFault, request: IncomingMessage, response: ServerResponse): void {
  switch (fault) {
    case "reset":
      request.socket.destroy();
      return;
    case "silence":
      return;
    case 307:
      response.writeHead(307, { location: "https://elsewhere.invalid/" }).end();
      return;
    case 200:
    case 403:
    case 500:
    case 503:
      response.writeHead(fault).end(fault === 200 ? "" : "<Error><Code>Fault</Code></Error>");
      return;
  }
}
