import { existsSync, readFileSync } from "node:fs";
import { readJson, type Line } from "./custard.ts";

/** What the scripted provider does about one kind of request. */
export interface Script {
  /** Members that replace those of a good answer. */
  readonly answer?: Readonly<Record<string, unknown>>;
  /** Members that the answer lacks. */
  readonly omit?: readonly string[];
  /** Sent as it is in place of an answer. */
  readonly body?: string;
  /** The answer is padded to so many bytes, by an attribute. */
  readonly bytes?: number;
  /** The answer's attribute `Value` is these words together, so that the whole stands in no property. */
  readonly words?: readonly string[];
  readonly silent?: boolean;
  /** Milliseconds of work before the answer. */
  readonly delay?: number;
  /** A file to which it appends its process id and the request's id before it works. */
  readonly diary?: string;
  /** With a diary: `delay` only at the first request that stands in it. */
  readonly delayOnce?: boolean;
}

/** The scripts by request type. */
export interface Scripts {
  readonly OnCreate?: Script;
  readonly OnUpdate?: Script;
  readonly OnDelete?: Script;
}

/** A resource of the scripted provider; scripts travel as JSON texts, as all scalars become strings. */
export function scripted(
  scripts: Scripts,
  properties: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const texts = Object.entries(scripts).map(([name, script]) => [name, JSON.stringify(script)]);
  return {
    Type: "Custom::Scripted",
    Properties: {
      ServiceToken: { "Fn::GetAtt": ["Provider", "Arn"] },
      ...Object.fromEntries(texts),
      ...properties,
    },
  };
}

/** A template, in JSON, with the scripted provider and these resources and outputs. */
export function templateOf(
  resources: Readonly<Record<string, unknown>>,
  outputs: Readonly<Record<string, unknown>> = {},
  more: Readonly<Record<string, unknown>> = {},
): string {
  const outputSection = Object.fromEntries(
    Object.entries(outputs).map(([name, value]) => [name, { Value: value }]),
  );
  const template = {
    ...more,
    Resources: { Provider: provider, ...resources },
    ...(Object.keys(outputs).length === 0 ? {} : { Outputs: outputSection }),
  };
  return JSON.stringify(template, undefined, 2);
}

/** What the scripted provider was asked, oldest first, as its own log lines tell. */
export async function requestsIn(folder: string, stack = "test"): Promise<readonly SeenRequest[]> {
  const entries = await readJson<readonly Line[]>(folder, "logs", stack);
  const texts = entries.filter((entry) => entry.kind === "log").map((entry) => entry.text ?? "");
  return texts
    .flatMap((text) => /REQUEST (\{.*\})/.exec(text)?.[1] ?? [])
    .map((json): SeenRequest => JSON.parse(json));
}

export interface SeenRequest {
  readonly RequestType: string;
  readonly RequestId: string;
  readonly LogicalResourceId: string;
  readonly PhysicalResourceId?: string;
  readonly StackId: string;
  readonly ServiceToken: string;
  readonly ResourceProperties: Readonly<Record<string, unknown>>;
}

/** What stands in a diary: a line for each request. */
export function readDiary(
  file: string,
): readonly { readonly pid: number; readonly requestId: string; readonly requestType: string }[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => {
    const [pid = "", requestId = "", requestType = ""] = line.split(" ");
    return { pid: Number(pid), requestId, requestType };
  });
}

const code = `
const fs = require("fs");
const https = require("https");

exports.handler = async (event) => {
  const { ResponseURL, ...seen } = event;
  console.log("REQUEST " + JSON.stringify(seen));
  const script = JSON.parse(event.ResourceProperties["On" + event.RequestType] || "{}");
  await work(event, script);
  if (script.silent) return;
  const answer = {
    Status: "SUCCESS",
    RequestId: event.RequestId,
    StackId: event.StackId,
    LogicalResourceId: event.LogicalResourceId,
    PhysicalResourceId: event.PhysicalResourceId || "id-of-" + event.LogicalResourceId,
    ...script.answer,
  };
  if (script.words) answer.Data = { Value: script.words.join("-") };
  for (const key of script.omit || []) delete answer[key];
  if (script.bytes) answer.Data = { Padding: "x".repeat(script.bytes - JSON.stringify({ ...answer, Data: { Padding: "" } }).length) };
  await put(ResponseURL, script.body === undefined ? JSON.stringify(answer) : script.body);
};

async function work(event, script) {
  const again = script.diary && fs.existsSync(script.diary);
  if (script.diary) fs.appendFileSync(script.diary, process.pid + " " + event.RequestId + " " + event.RequestType + "\\n");
  if (script.delay && !(script.delayOnce && again)) await new Promise((resolve) => setTimeout(resolve, script.delay));
}

function put(target, body) {
  const { hostname, pathname, search } = new URL(target);
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "", "content-length": Buffer.byteLength(body) };
    const request = https.request({ hostname, port: 443, path: pathname + search, method: "PUT", headers }, (response) => {
      console.log("status " + response.statusCode);
      response.resume().on("end", resolve);
    });
    request.on("error", reject);
    request.end(body);
  });
}
`;

/** The function behind scripted resources. */
export const provider = {
  Type: "AWS::Lambda::Function",
  Properties: {
    Runtime: "nodejs20.x",
    Handler: "index.handler",
    Role: "arn:aws:iam::123456789012:role/test",
    Timeout: 60,
    Code: { ZipFile: code },
  },
};
