import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import type { ArrivedPut, FaultyEndpoint } from "./endpoint.ts";
import type { Expected, Scenario } from "./scenarios.ts";

/** Hosts of the response URLs that the scenarios use. */
export const probeHosts = [
  "cloudformation-custom-resource-response-useast1.s3.amazonaws.com",
  "cloudformation-custom-resource-response-usgovwest1.s3.us-gov-west-1.amazonaws.com",
];
const signature = "X-Amz-Signature=0123456789abcdef-signature";

/** What a library did in a scenario. */
export interface Observation {
  readonly puts: readonly ArrivedPut[];
  readonly output: string;
  /** `killed`: at the time limit. */
  readonly end: "returned" | "failed" | "died" | "killed";
}

/** Invokes a library's adapter in a process of its own, as Lambda does; `child` is the path of child.mjs. */
export async function probe(
  adapter: string,
  scenario: Scenario,
  { endpoint, child }: { readonly endpoint: FaultyEndpoint; readonly child: string },
): Promise<Observation> {
  endpoint.inject(scenario.faults ?? [], scenario.repeat);
  const { behaviour, limit = 10_000, node24 = false } = scenario;
  const probed = { adapter: pathToFileURL(adapter).href, event: eventOf(scenario), behaviour, limit, node24 };
  const { PATH = "" } = process.env;
  const running = spawn(process.execPath, [child], {
    env: { PATH, ...endpoint.environment, PROBE: JSON.stringify(probed), AWS_REGION: "us-east-1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [running.stdout, running.stderr])
    stream.on("data", (chunk: Buffer) => void (output += String(chunk)));
  // The time to start the process isn't the function's.
  let isKilled = false;
  const kill = setTimeout(() => (isKilled = running.kill("SIGKILL")), limit + 1500);
  await new Promise((resolve) => running.once("close", resolve));
  clearTimeout(kill);
  const said = /\[probe\] (returned|failed)/u.exec(output)?.[1] as "returned" | "failed" | undefined;
  return { puts: [...endpoint.puts], output, end: isKilled ? "killed" : (said ?? "died") };
}

/** What is wrong with what a library did; empty when nothing is. */
export function faultsOf(scenario: Scenario, observation: Observation): readonly string[] {
  const { puts, output, end } = observation;
  const faults = puts.flatMap((put) => faultsOfPut(put, scenario));
  const taken = puts.filter((put) => put.taken);
  if (scenario.behaviour === "secret") faults.push(...leaksIn(output));
  if (new Set(puts.map(({ body }) => body.toString())).size > 1) faults.push("different answers were sent");
  const { expected } = scenario;
  if (expected === undefined) {
    if (end !== "failed") faults.push(`the answer was lost and the invocation ${end}`);
    return faults;
  }
  if (taken.length !== 1) faults.push(`${taken.length} answers were taken`);
  return [...faults, ...taken.flatMap((put) => mismatches(put, expected))];
}

/** Counted in the scenario about them only, so that a library that logs its event isn't wrong everywhere. */
function leaksIn(output: string): string[] {
  const secrets = {
    "0123456789abcdef-signature": "the signature is in the log",
    "s3cr3t-property": "a secret property is in the log",
    "s3cr3t-data": "a secret attribute is in the log",
  };
  return Object.entries(secrets).flatMap(([secret, leak]) => (output.includes(secret) ? [leak] : []));
}

function faultsOfPut({ body, contentLength, contentType, url }: ArrivedPut, scenario: Scenario): string[] {
  const faults: string[] = [];
  if (body.length > 4096) faults.push(`${body.length} bytes`);
  if (Number(contentLength) !== body.length) faults.push("a wrong Content-Length");
  if (contentType !== undefined && contentType !== "") faults.push(`Content-Type ${contentType}`);
  if (!responseUrl(scenario).endsWith(url)) faults.push("another URL");
  const answer = parse(body);
  if (answer === undefined) return [...faults, "no valid JSON"];
  for (const [name, value] of Object.entries(identity(scenario)))
    if (answer[name] !== value) faults.push(`another ${name}`);
  const { PhysicalResourceId: id } = answer;
  if (typeof id !== "string" || id === "") faults.push("no PhysicalResourceId");
  return faults;
}

function mismatches({ body }: ArrivedPut, expected: Expected): string[] {
  const { Status, PhysicalResourceId: id, Reason = "", Data = {} } = parse(body) ?? {};
  const isId = typeof expected.id === "string" ? expected.id === id : (expected.id?.test(String(id)) ?? true);
  const checks = [
    [Status === expected.status, `${String(Status)} instead of ${expected.status}`],
    [isId, `the id ${String(id)}`],
    [expected.reason?.test(String(Reason)) ?? true, "a reason that says nothing"],
    [!expected.data || JSON.stringify(Data) === JSON.stringify(expected.data), "other data"],
  ] as const;
  return checks.filter(([isRight]) => !isRight).map(([, fault]) => fault);
}

function parse(body: Buffer): Record<string, unknown> | undefined {
  try {
    return JSON.parse(body.toString("utf8")) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function identity({ partition = "aws" }: Scenario): Record<string, string> {
  const region = partition === "aws" ? "us-east-1" : "us-gov-west-1";
  return {
    StackId: `arn:${partition}:cloudformation:${region}:123456789012:stack/demo/8a21d249-4329-4871-acc6-7be709c6ea7f`,
    RequestId: "5e1b0b5e-0000-4000-8000-000000000001",
    LogicalResourceId: "Thing",
  };
}

function responseUrl(scenario: Scenario): string {
  const { StackId = "", RequestId, LogicalResourceId } = identity(scenario);
  const key = `${StackId.replaceAll(":", "%3A")}%7C${LogicalResourceId}%7C${RequestId}`;
  const [first, second] = probeHosts;
  return `https://${scenario.partition === "aws-us-gov" ? second : first}/${key}?X-Amz-Date=20261201T000000Z&${signature}%2B%3D`;
}

function eventOf(scenario: Scenario): unknown {
  const { request = "Create", envelope, partition = "aws" } = scenario;
  const region = partition === "aws" ? "us-east-1" : "us-gov-west-1";
  const ServiceToken = `arn:${partition}:lambda:${region}:123456789012:function:provider`;
  const properties = { ServiceToken, Size: "3", ApiKey: "s3cr3t-property" };
  const event = {
    RequestType: request,
    ServiceToken,
    ResponseURL: responseUrl(scenario),
    ...identity(scenario),
    ...(request !== "Create" && { PhysicalResourceId: "thing-1" }),
    ResourceType: "Custom::Probe",
    ResourceProperties: properties,
    ...(request === "Update" && { OldResourceProperties: { ...properties, Size: "2" } }),
  };
  if (envelope === undefined) return event;
  return {
    Records: [{ EventSource: "aws:sns", Sns: { Type: "Notification", Message: JSON.stringify(event) } }],
  };
}
