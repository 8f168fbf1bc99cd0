/** Deploys a provider that does something wrong, and reads what the user is told about it. */
import { expect, onTestFinished, vi } from "vitest";
import { main } from "../../packages/custard/src/cli/main.ts";
import type { Doors } from "../../packages/custard/src/cli/opened.ts";
import { type LocalOptions, openLocal } from "../../packages/custard/src/local.ts";
import { openReader, openServicesOf } from "../../packages/custard/src/reader.ts";
import { recordingIo } from "../cli/support/recording-io.ts";
import { temporaryFolder } from "../cli/support/temporary-folder.ts";

// Each case starts several processes, on machines that may be busy with others.
vi.setConfig({ testTimeout: 90_000 });

/** A provider and the resource that it is to make. */
export interface Wrong {
  /** In JavaScript: defines `create(event, context)`; `answer`, `put` and `answerTo` are there. Python: all of it. */
  readonly code: string;
  readonly runtime?: string;
  /** Further properties of the function. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Further properties of the resource. */
  readonly properties?: Readonly<Record<string, unknown>>;
  /** Further attempts after a failed one. Default 0. */
  readonly retries?: number;
  readonly local?: Partial<LocalOptions>;
  /** Options of `custard deploy`. */
  readonly options?: readonly string[];
}

/** What the user is told. */
export interface Told {
  /** The lines of the failure report about the resource. */
  readonly report: readonly string[];
  /** The sentence that says what happened and what to do. */
  readonly advice: string;
  /** What `custard logs` shows of the stack, without times. */
  readonly logs: readonly string[];
}

/** Deploys it, and expects it to fail. */
export async function provoke(wrong: Wrong): Promise<Told> {
  const folder = temporaryFolder({ "template.json": JSON.stringify(templateOf(wrong)) });
  const doors: Doors = {
    open: async (options) => openLocal({ ...options, ...wrong.local }),
    read: async (options) => openReader(options),
    services: async (stateDirectory) => openServicesOf(stateDirectory),
  };
  const deployment = recordingIo(folder);
  // Whatever becomes of the test, no function stays behind.
  onTestFinished(() => deployment.interrupt());
  const argv = ["deploy", "template.json", "--stack-name", "test", ...(wrong.options ?? [])];
  const code = await main(argv, deployment, doors);
  const { stdout, stderr } = deployment.written;
  if (code !== 1) throw new Error(`It ended with ${code}\n${stdout}\n${stderr}`);
  const logs = recordingIo(folder);
  expect(await main(["logs", "test"], logs, doors)).toBe(0);
  return { ...readReport(deployment.written.stdout), logs: readLogs(logs.written.stdout) };
}

function readReport(text: string): Pick<Told, "report" | "advice"> {
  const [, from = ""] = text.split("\n✗ Thing ", 2);
  const [block = ""] = from.split("\n\n", 1);
  const report = block
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/^ {2}/, ""));
  // A silent provider's reason says it all.
  const told = report.find((line) => line.startsWith("What to do: ")) ?? report[1] ?? "";
  return { report, advice: told.replace(/^What to do: /, "") };
}

function readLogs(text: string): readonly string[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/^\S+ {2}[0-9a-f]{8} {2}/, "").replace(/^(\w+) +/, "$1 "));
}

function templateOf({ code, runtime = "nodejs22.x", settings, properties, retries = 0 }: Wrong): object {
  const isPython = runtime.startsWith("python");
  return {
    Resources: {
      Provider: {
        Type: "AWS::Lambda::Function",
        Properties: {
          FunctionName: "maker",
          Runtime: runtime,
          Handler: "index.handler",
          Role: "arn:aws:iam::123456789012:role/none",
          Code: { ZipFile: isPython ? `${code}\n${python}` : `${code}\n${javascript}` },
          ...settings,
        },
      },
      Retries: {
        Type: "AWS::Lambda::EventInvokeConfig",
        Properties: {
          FunctionName: { Ref: "Provider" },
          Qualifier: "$LATEST",
          MaximumRetryAttempts: retries,
        },
      },
      Thing: {
        Type: "Custom::Thing",
        DependsOn: "Retries",
        Properties: { ServiceToken: { "Fn::GetAtt": ["Provider", "Arn"] }, ...properties },
      },
    },
  };
}

/** Below the provider's own code, so that its lines count from 1. Deletes are answered well, so that tests are quick. */
const javascript = `
exports.handler = async (event, context) =>
  event.RequestType === "Delete" ? await answer(event) : await create(event, context);

function answerTo(event) {
  const { RequestId, StackId, LogicalResourceId } = event;
  return { Status: "SUCCESS", PhysicalResourceId: "thing", RequestId, StackId, LogicalResourceId };
}

async function answer(event) {
  return await put(event.ResponseURL, JSON.stringify(answerTo(event)));
}

function put(url, body, headers = { "content-type": "", "content-length": Buffer.byteLength(body) }) {
  return new Promise((resolve, reject) => {
    const request = require("https").request(url, { method: "PUT", headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    });
    request.on("error", reject);
    request.end(body);
  });
}
`;

const python = `
def answer_to(event):
    ids = {name: event[name] for name in ("RequestId", "StackId", "LogicalResourceId")}
    return {"Status": "SUCCESS", "PhysicalResourceId": "thing", **ids}


def put(url, body, headers):
    from http.client import HTTPSConnection
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    connection = HTTPSConnection(parts.hostname)
    connection.request("PUT", parts.path + "?" + parts.query, body=body, headers=headers)
    return connection.getresponse().status


def handler(event, context):
    import json

    if event["RequestType"] == "Delete":
        return put(event["ResponseURL"], json.dumps(answer_to(event)), {"content-type": ""})
    return create(event, context)
`;
