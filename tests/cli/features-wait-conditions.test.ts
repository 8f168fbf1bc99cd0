import { describe, expect, test } from "vitest";
import { custardEnds, deploy, storyOf } from "./support/custard.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// Wait conditions: a function signals the handle's URL, as scripts on instances do.

const senders = {
  "nodejs20.x": `
const https = require("https");
function put(url, body) {
  const { hostname, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "", "content-length": Buffer.byteLength(body) };
    const sent = https.request({ hostname, path: pathname + search, method: "PUT", headers }, (answer) => {
      console.log("status " + answer.statusCode);
      answer.resume().on("end", resolve);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
exports.handler = async (event) => {
  if (event.RequestType === "Create")
    for (const signal of event.ResourceProperties.Signals)
      await put(event.ResourceProperties.Handle, JSON.stringify(signal));
  const { RequestId, StackId, LogicalResourceId } = event;
  const answer = { Status: "SUCCESS", PhysicalResourceId: "sender", RequestId, StackId, LogicalResourceId };
  await put(event.ResponseURL, JSON.stringify(answer));
};
`,
  "python3.11": `
import json
import urllib.request

def put(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": ""}, method="PUT")
    print("status", urllib.request.urlopen(request).status)

def handler(event, context):
    if event["RequestType"] == "Create":
        for signal in event["ResourceProperties"]["Signals"]:
            put(event["ResourceProperties"]["Handle"], signal)
    answer = {key: event[key] for key in ("RequestId", "StackId", "LogicalResourceId")}
    put(event["ResponseURL"], {"Status": "SUCCESS", "PhysicalResourceId": "sender", **answer})
`,
};

interface Signal {
  readonly Status: string;
  readonly UniqueId: string;
  readonly Reason?: string;
  readonly Data?: string;
}

function template(options: {
  readonly signals: readonly Signal[];
  readonly runtime?: keyof typeof senders;
  readonly timeout?: number;
}): string {
  const { signals, runtime = "nodejs20.x", timeout = 30 } = options;
  return JSON.stringify({
    Resources: {
      Handle: { Type: "AWS::CloudFormation::WaitConditionHandle" },
      Provider: {
        Type: "AWS::Lambda::Function",
        Properties: {
          Runtime: runtime,
          Handler: "index.handler",
          Role: "arn:aws:iam::123456789012:role/test",
          Timeout: 30,
          Code: { ZipFile: senders[runtime] },
        },
      },
      Sender: {
        Type: "Custom::Sender",
        Properties: {
          ServiceToken: { "Fn::GetAtt": ["Provider", "Arn"] },
          Handle: { Ref: "Handle" },
          Signals: signals,
        },
      },
      Ready: {
        Type: "AWS::CloudFormation::WaitCondition",
        DependsOn: "Sender",
        Properties: { Handle: { Ref: "Handle" }, Timeout: timeout, Count: 2 },
      },
    },
    Outputs: { Data: { Value: { "Fn::GetAtt": ["Ready", "Data"] } } },
  });
}

const success = (UniqueId: string, Data: string): Signal => ({
  Status: "SUCCESS",
  Reason: "done",
  UniqueId,
  Data,
});

describe("a wait condition", () => {
  test.each(["nodejs20.x", "python3.11"] as const)(
    "ends when enough signals have come from %s, and gives their data",
    async (runtime) => {
      const signals = [success("a", "one"), success("a", "one again"), success("b", "two")];
      const folder = temporaryFolder({ "template.yaml": template({ signals, runtime }) });
      const { outputs } = await deploy(folder, 0);
      expect(JSON.parse(outputs["Data"] ?? "")).toEqual({ a: "one", b: "two" });
      const { lines } = await custardEnds(0, folder, ["delete", "test", "--json"]);
      expect(lines.at(-1)).toMatchObject({ kind: "result", status: "DELETE_COMPLETE" });
    },
  );

  test("fails when too few signals come in time", async () => {
    const signals = [success("a", "one")];
    const folder = temporaryFolder({ "template.yaml": template({ signals, timeout: 1 }) });
    const { events } = await deploy(folder, 1);
    expect(storyOf(events, "Ready")).toContain(
      "CREATE_FAILED WaitCondition timed out. Received 1 conditions when expecting 2",
    );
  });

  test("fails when a signal says so, with its reason", async () => {
    const signals = [success("a", "one"), { Status: "FAILURE", UniqueId: "b", Reason: "no disk" }];
    const folder = temporaryFolder({ "template.yaml": template({ signals }) });
    const { events } = await deploy(folder, 1);
    expect(storyOf(events, "Ready")).toContain(
      "CREATE_FAILED WaitCondition received failed message: 'no disk' for uniqueId: b",
    );
  });
});
