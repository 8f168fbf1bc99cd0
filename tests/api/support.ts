/** The endpoint over a real engine in a folder of its own, for tests that speak to it over HTTP. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStackEventsCommand,
  DescribeStacksCommand,
  UpdateStackCommand,
} from "@aws-sdk/client-cloudformation";
import { type Local, type LocalOptions, openLocal } from "../../packages/custard/src/local.ts";
import type { ServeOptions } from "../../packages/custard/src/serve-endpoint.ts";

/** An endpoint that is open. */
export interface TestEndpoint {
  readonly url: string;
  readonly local: Local;
  /** A call of the query protocol, signed for a region and with a key, though not rightly. */
  query(parameters: Readonly<Record<string, string>>, how?: CallOptions): Promise<Answer>;
  /** Any call. */
  send(path: string, init?: RequestInit & CallOptions): Promise<Answer>;
  /** Throws when there was trouble that no caller was told. */
  close(): Promise<void>;
}

/** For whom and what a call is signed. */
export interface CallOptions {
  readonly service?: string;
  readonly region?: string;
  readonly accessKeyId?: string;
  readonly userAgent?: string;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export async function openTestEndpoint(
  serve: Partial<ServeOptions> = {},
  options: Partial<LocalOptions> = {},
): Promise<TestEndpoint> {
  const stateDirectory = await mkdtemp(join(tmpdir(), "custard-api-"));
  const troubles: unknown[] = [];
  const local = await openLocal({
    stateDirectory,
    trouble: (error) => troubles.push(error),
    endpoint: { port: 0, version: "0.0.0", ...serve },
    ...options,
  });
  const url = local.endpoint?.url ?? "";
  const send = async (path: string, init: RequestInit & CallOptions = {}): Promise<Answer> => {
    const { service, region, accessKeyId, userAgent, ...rest } = init;
    const headers = new Headers(rest.headers);
    if (service !== undefined) headers.set("authorization", authorization({ service, region, accessKeyId }));
    if (userAgent !== undefined) headers.set("user-agent", userAgent);
    const response = await fetch(`${url}${path}`, { ...rest, headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return {
    url,
    local,
    send,
    query: async (parameters, how = {}) =>
      send("/", {
        method: "POST",
        service: "cloudformation",
        ...how,
        body: new URLSearchParams({ Version: "2010-05-15", ...parameters }),
      }),
    async close() {
      await local.close();
      await rm(stateDirectory, { recursive: true, force: true });
      if (troubles.length > 0) throw new AggregateError(troubles, "There was trouble.");
    },
  };
}

function authorization({
  service,
  region = "us-east-1",
  accessKeyId = "AKIAIOSFODNN7EXAMPLE",
}: {
  readonly service: string;
  readonly region?: string | undefined;
  readonly accessKeyId?: string | undefined;
}): string {
  const scope = `${accessKeyId}/20261201/${region}/${service}/aws4_request`;
  return `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`;
}

/** What AWS's own clients need to find an endpoint. */
export function settingsOf({ url }: Pick<TestEndpoint, "url">) {
  const credentials = { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "a secret" };
  return { region: "us-east-1", endpoint: url, credentials };
}

/** Creates or updates a stack to its end; gives the reasons of its events. */
export async function deploy(
  { url }: Pick<TestEndpoint, "url">,
  StackName: string,
  TemplateBody: string,
): Promise<{ readonly status: string; readonly reasons: readonly string[] }> {
  const client = new CloudFormationClient(settingsOf({ url }));
  const wanted = { StackName, TemplateBody, Capabilities: ["CAPABILITY_NAMED_IAM" as const] };
  const exists = await client.send(new DescribeStacksCommand({ StackName })).then(
    () => true,
    () => false,
  );
  await client.send(exists ? new UpdateStackCommand(wanted) : new CreateStackCommand(wanted));
  const statusNow = async () =>
    (await client.send(new DescribeStacksCommand({ StackName }))).Stacks?.[0]?.StackStatus ?? "";
  while ((await statusNow()).endsWith("_IN_PROGRESS")) await setTimeout(10);
  const { StackEvents = [] } = await client.send(new DescribeStackEventsCommand({ StackName }));
  const status = await statusNow();
  client.destroy();
  return { status, reasons: StackEvents.map(({ ResourceStatusReason = "" }) => ResourceStatusReason) };
}
