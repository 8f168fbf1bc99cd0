import { onTestFinished } from "vitest";
import type { LogicalId, RequestId, StackId } from "../../packages/custard/src/engine/ids.ts";
import type { ArrivedResponse, TraceEntry } from "../../packages/custard/src/engine/ports.ts";
import { openCertificate } from "../../packages/custard/src/response/certificate.ts";
import type { Certificate } from "../../packages/custard/src/response/certificate.ts";
import { openResponseEndpoint } from "../../packages/custard/src/response/endpoint.ts";
import type { ResponseEndpoint } from "../../packages/custard/src/response/endpoint.ts";
import { createResponseUrls, responseHost } from "../../packages/custard/src/response/response-url.ts";
import type { SignatureStyle } from "../../packages/custard/src/response/sign.ts";
import { temporaryDirectory } from "./state-directory.ts";

/** A response endpoint with everything around it, closed after the running test. */
export interface ResponseWorld {
  readonly endpoint: ResponseEndpoint;
  readonly certificate: Certificate;
  readonly host: string;
  readonly arrived: readonly ArrivedResponse[];
  readonly traces: readonly TraceEntry[];
  /** A URL for a request of this name. */
  url(requestId: string, options?: { readonly style?: SignatureStyle; readonly issuedAt?: number }): string;
}

/** What a test may decide about its world. */
export interface ResponseWorldOptions {
  readonly region?: string;
  readonly partition?: string;
  readonly onResponse?: (arrived: ArrivedResponse) => Promise<void>;
  readonly idleTimeout?: number;
}

/** Opens one. Its clock is the real one, since TLS clients look at theirs. */
export async function openResponseWorld(options: ResponseWorldOptions = {}): Promise<ResponseWorld> {
  const { region = "us-east-1", partition = "aws" } = options;
  const host = responseHost(region, partition);
  const hosts = ["localhost", "127.0.0.1", host];
  const certificate = await openCertificate({ directory: temporaryDirectory(), hosts, now: Date.now() });
  const arrived: ArrivedResponse[] = [];
  const traces: TraceEntry[] = [];
  const secret = "a secret of the tests";
  const urls = createResponseUrls({ secret });
  const endpoint = await openResponseEndpoint({
    verify: (request) => urls.verify(request),
    certificate,
    ...(options.idleTimeout !== undefined && { idleTimeout: options.idleTimeout }),
    clock: { now: Date.now, sleep: () => Promise.reject(new Error("the endpoint never sleeps")) },
    traces: { note: (entry) => void traces.push(entry), ofRequest: () => Promise.resolve(traces) },
    async onResponse(response) {
      await options.onResponse?.(response);
      arrived.push(response);
    },
  });
  onTestFinished(() => endpoint.close());
  return {
    endpoint,
    certificate,
    host,
    arrived,
    traces,
    url: (requestId, { style = "v4", issuedAt = Date.now() } = {}) =>
      createResponseUrls({ secret, style }).urlFor({
        stackId: `arn:${partition}:cloudformation:${region}:123456789012:stack/shop/51af3dc0` as StackId,
        logicalId: "Table" as LogicalId,
        requestId: requestId as RequestId,
        region,
        partition,
        issuedAt,
      }),
  };
}
