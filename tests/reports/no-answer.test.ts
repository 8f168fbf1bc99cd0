import { expect, test } from "vitest";
import { author, showing } from "./support.ts";

// Public reports of custom resources whose answer never came. Each test has the report's small input, in our words.

/** Answers, once; `result` is the status. */
const send = (status: string) => `cfnresponse.send(event, context, "${status}", {}, "thing")`;

test("B01: an exception before the answer leaves a stack waiting for two hours", async () => {
  const { deploy, requests } = author();
  const { code, text, events } = await deploy({
    code: `import json, cfnresponse
def handler(event, context):
    ${showing.python}
    if event["RequestType"] == "Create":
        raise ValueError("no such size")
    ${send("SUCCESS")}
`,
  });
  expect(code).toBe(1);
  // The time of a few attempts instead of two hours, and the line to look at.
  expect(text).toContain(
    "failed before it answered (3 attempts): ValueError: no such size at index.py:5. Catch errors in the handler and answer FAILED with the reason.",
  );
  expect(events).toContain("Thing DELETE_COMPLETE");
  // Lambda tries an event three times; the rollback sends a Delete to the same code.
  expect((await requests()).map(({ RequestType }) => RequestType)).toEqual([
    "Create",
    "Create",
    "Create",
    "Delete",
  ]);
});

test("B02: a handler that sends an answer itself and returns one too: what it returns counts for nothing", async () => {
  const { deploy } = author();
  const { code, text } = await deploy({
    code: `import cfnresponse
def handler(event, context):
    cfnresponse.send(event, context, "SUCCESS", {"Size": "sent"}, "sent")
    return {"PhysicalResourceId": "returned", "Data": {"Size": "returned"}}
`,
    outputs: { Id: { Value: { Ref: "Thing" } }, Size: { Value: { "Fn::GetAtt": ["Thing", "Size"] } } },
  });
  expect(code).toBe(0);
  expect(text).toMatch(/Id +sent\n +Size +sent\n/);
});

test("B02: a handler for the CDK's provider framework, which returns its answer, answers nobody here", async () => {
  const { deploy } = author();
  const { text } = await deploy({
    code: "exports.handler = async () => ({ PhysicalResourceId: 'returned' });",
  });
  expect(text).toContain(
    "returned without answering: send the response to the ResponseURL and wait until it is sent before the handler returns.",
  );
});

test("B09, B08: a provider that connects to port 443 of the URL's host whatever the port reaches us", async () => {
  const { deploy } = author();
  const { code } = await deploy({
    code: `const https = require("https");
exports.handler = (event, context) => {
  const { StackId, RequestId, LogicalResourceId } = event;
  const body = JSON.stringify({ Status: "SUCCESS", PhysicalResourceId: "thing", StackId, RequestId, LogicalResourceId });
  const { hostname, pathname, search } = new URL(event.ResponseURL);
  const headers = { "content-type": "", "content-length": body.length };
  const request = https.request({ hostname, port: 443, path: pathname + search, method: "PUT", headers }, () => context.done());
  request.end(body);
};
`,
  });
  expect(code).toBe(0);
});

test("B10: the module that AWS gives to inline code needs no botocore; code that still does is told its line", async () => {
  const { deploy } = author();
  const { text } = await deploy({
    code: `import json, cfnresponse
def handler(event, context):
    if event["RequestType"] == "Create":
        from botocore.vendored import requests
        requests.put(event["ResponseURL"], data="{}")
    ${send("SUCCESS")}
`,
  });
  expect(text).toMatch(/failed before it answered \(3 attempts\): .* at index\.py:[45]\. /);
  expect(text).toContain("Catch errors in the handler and answer FAILED with the reason.");
});

test("B11: FAILED is sent, then the exception goes on: Lambda runs it again, and its second answer is passed over", async () => {
  const { deploy, logs } = author();
  // The function stays for a second, since what it makes besides takes its time to go.
  const slow = {
    Type: "Custom::Slow",
    Properties: { ServiceToken: { "Fn::GetAtt": ["Maker", "Arn"] }, Slow: "yes" },
  };
  const { events } = await deploy({
    code: `import cfnresponse, time
tries = 0
def handler(event, context):
    global tries
    if event["RequestType"] == "Delete":
        time.sleep(1 if "Slow" in event["ResourceProperties"] else 0)
        return cfnresponse.send(event, context, "SUCCESS", {}, "gone")
    if "Slow" in event["ResourceProperties"]:
        return cfnresponse.send(event, context, "SUCCESS", {}, "slow")
    tries += 1
    status = "FAILED" if tries == 1 else "SUCCESS"
    try:
        if status == "FAILED":
            raise ValueError("first")
    finally:
        cfnresponse.send(event, context, status, {}, "thing")
`,
    resources: { Slow: slow },
    attributes: { DependsOn: "Slow" },
  });
  expect(events).toContainEqual(
    expect.stringMatching(/^Thing CREATE_FAILED Received response status \[FAILED\]/),
  );
  const log = await logs();
  expect(log).toContain("Lambda invokes the function again");
  expect(log).toMatch(/PUT of \d+ bytes: 200, ignored: the request was answered before/);
});
