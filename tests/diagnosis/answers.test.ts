import { expect, test } from "vitest";
import { provoke, type Wrong } from "./support.ts";

// Functions that answer, but in a way that CloudFormation or S3 doesn't take.

interface Case extends Wrong {
  readonly name: string;
  readonly advice: string | RegExp;
  /** What the log says of the attempt. */
  readonly put: string | RegExp;
}

const dropped = "the query of the ResponseURL was dropped: send to the whole URL as it came";
const changed = "the ResponseURL was changed: send to it exactly as it came";

test.each<Case>([
  {
    name: "to a URL without its query",
    code: "async function create(event) {\n  const { origin, pathname } = new URL(event.ResponseURL);\n  await put(origin + pathname, JSON.stringify(answerTo(event)));\n}",
    advice: `Function maker tried to answer, but S3 refused it (403 AccessDenied): ${dropped}.`,
    put: `put PUT: 403 AccessDenied, ${dropped}`,
  },
  {
    name: "to a URL with another path",
    code: "async function create(event) {\n  await put(event.ResponseURL.replace('stack/test', 'stack/other'), JSON.stringify(answerTo(event)));\n}",
    advice: `Function maker tried to answer, but S3 refused it (403 SignatureDoesNotMatch): ${changed}.`,
    put: `put PUT: 403 SignatureDoesNotMatch, ${changed}`,
  },
  {
    name: "to a URL of another bucket",
    code: "async function create(event) {\n  await put(event.ResponseURL.replace('response-useast1', 'response-euwest1'), JSON.stringify(answerTo(event)));\n}",
    advice: `Function maker tried to answer, but S3 refused it (403 SignatureDoesNotMatch): ${changed}.`,
    put: `put PUT: 403 SignatureDoesNotMatch, ${changed}`,
  },
  {
    name: "by POST",
    code: "async function create(event) {\n  const body = JSON.stringify(answerTo(event));\n  await fetch(event.ResponseURL, { method: 'POST', body });\n}",
    advice:
      "Function maker tried to answer, but S3 refused it (405 MethodNotAllowed): the response must be sent by PUT, not by POST.",
    put: "put POST: 405 MethodNotAllowed, the response must be sent by PUT, not by POST",
  },
  {
    name: "in chunks",
    code: "async function create(event) {\n  await put(event.ResponseURL, JSON.stringify(answerTo(event)), { 'transfer-encoding': 'chunked' });\n}",
    advice:
      "Function maker tried to answer, but S3 refused it (501 NotImplemented): S3 takes no chunked body: send a content-length.",
    put: "put PUT: 501 NotImplemented, S3 takes no chunked body: send a content-length",
  },
  {
    name: "with a content-type, to a URL of the older style",
    local: { responseUrlStyle: "v2" },
    code: "async function create(event) {\n  const body = JSON.stringify(answerTo(event));\n  await fetch(event.ResponseURL, { method: 'PUT', body, headers: { 'content-type': 'application/json' } });\n}",
    advice:
      "Function maker tried to answer, but S3 refused it (403 SignatureDoesNotMatch): the URL is signed for an empty content-type, but application/json was sent: send an empty one.",
    put: "put PUT: 403 SignatureDoesNotMatch, the URL is signed for an empty content-type, but application/json was sent: send an empty one",
  },
  {
    name: "for another request",
    code: "async function create(event) {\n  await put(event.ResponseURL, JSON.stringify({ ...answerTo(event), RequestId: 'mine' }));\n}",
    advice:
      "Function maker answered, but CloudFormation passed over it: the response's RequestId is not the request's: copy RequestId, StackId and LogicalResourceId from the event.",
    put: /^put PUT of \d+ bytes: 200, ignored: the response's RequestId is not the request's: copy RequestId, StackId and LogicalResourceId from the event$/m,
  },
  {
    name: "without the stack's id",
    code: "async function create(event) {\n  const { StackId, ...rest } = answerTo(event);\n  await put(event.ResponseURL, JSON.stringify(rest));\n}",
    advice:
      "Function maker answered, but CloudFormation passed over it: the response has no StackId: copy RequestId, StackId and LogicalResourceId from the event.",
    put: /^put PUT of \d+ bytes: 200, ignored: the response has no StackId: copy /,
  },
  {
    name: "with too much",
    code: "async function create(event) {\n  const body = JSON.stringify({ ...answerTo(event), Data: { Text: 'x'.repeat(5000) } });\n  await put(event.ResponseURL, body);\n}",
    advice:
      /^Function maker answered with 5\d\d\d bytes, but CloudFormation reads at most 4096: put less into Data or Reason\.$/,
    put: /^put PUT of 5\d\d\d bytes: 200, more than the 4096 bytes that CloudFormation reads$/m,
  },
  {
    name: "with something else than JSON",
    code: "async function create(event) {\n  await put(event.ResponseURL, 'done');\n}",
    advice:
      "Function maker sent a body of 4 bytes that is no response (it is not valid JSON: it can't be parsed): send a JSON object with Status, PhysicalResourceId, StackId, RequestId and LogicalResourceId.",
    put: "put PUT of 4 bytes: 200, it is not valid JSON: it can't be parsed",
  },
  {
    name: "with nothing",
    code: "async function create(event) {\n  await put(event.ResponseURL, '');\n}",
    advice:
      "Function maker sent a body of 0 bytes that is no response (it is not valid JSON: it is empty): send a JSON object with Status, PhysicalResourceId, StackId, RequestId and LogicalResourceId.",
    put: "put PUT of 0 bytes: 200, it is not valid JSON: it is empty",
  },
  {
    name: "with a content-length that counts characters",
    code: "async function create(event) {\n  const body = JSON.stringify({ ...answerTo(event), Data: { Colour: 'grün und weiß' } });\n  await put(event.ResponseURL, body, { 'content-length': body.length });\n}",
    advice:
      "Function maker gave a content-length that is 2 bytes short, so that S3 cut its answer off: count the bytes of the body (Buffer.byteLength(body), len(body.encode())), not its characters.",
    put: /^put PUT of \d+ bytes: 200, content-length is 2 bytes short and the rest was cut off$/m,
  },
  {
    name: "with a content-length that counts characters, in Python",
    runtime: "python3.12",
    code: "import json\ndef create(event, context):\n    body = json.dumps({**answer_to(event), 'Reason': 'grün'}, ensure_ascii=False)\n    put(event['ResponseURL'], body.encode(), {'content-length': str(len(body))})",
    advice:
      "Function maker gave a content-length that is 1 byte short, so that S3 cut its answer off: count the bytes of the body (Buffer.byteLength(body), len(body.encode())), not its characters.",
    put: /^put PUT of \d+ bytes: 200, content-length is 1 byte short and the rest was cut off$/m,
  },
  {
    name: "without a physical id",
    code: "async function create(event) {\n  await put(event.ResponseURL, JSON.stringify({ ...answerTo(event), PhysicalResourceId: undefined }));\n}",
    advice:
      "Every response of function maker, FAILED ones too, needs a PhysicalResourceId of 1 to 1024 bytes.",
    put: /^put PUT of \d+ bytes: 200, Invalid PhysicalResourceId$/m,
  },
  {
    name: "FAILED",
    code: "async function create(event) {\n  await put(event.ResponseURL, JSON.stringify({ ...answerTo(event), Status: 'FAILED', Reason: 'no room' }));\n}",
    advice: "Function maker answered FAILED itself: look for the cause in its message and log lines.",
    put: /^put PUT of \d+ bytes: 200$/m,
  },
  {
    name: "after the deadline",
    // Its Delete waits for the same instance, so that the late answer is seen.
    code: "async function create(event) {\n  await new Promise((done) => setTimeout(done, 3500));\n  await answer(event);\n}",
    settings: { Timeout: 30, ReservedConcurrentExecutions: 1 },
    properties: { ServiceTimeout: "3" },
    advice:
      /^Function maker answered \d+\.\d s after its ServiceTimeout had passed: raise ServiceTimeout \(at most 3600 s\), or answer sooner\.$/,
    put: /^put PUT of \d+ bytes: 200, ignored: the request was answered before, or its time is over$/m,
  },
  {
    name: "not before the deadline",
    code: "async function create(event) {\n  await new Promise((done) => setTimeout(done, 20000));\n}",
    settings: { Timeout: 30 },
    properties: { ServiceTimeout: "1" },
    advice:
      "Function maker was still at work when its ServiceTimeout passed: raise ServiceTimeout (at most 3600 s), or answer sooner.",
    put: /^put PUT of \d+ bytes: 200$/m,
  },
  {
    name: "never, as its own Timeout stops it, with the deadline before the last attempt",
    code: "async function create() {\n  for (;;);\n}",
    settings: { Timeout: 1 },
    retries: 2,
    properties: { ServiceTimeout: "2" },
    advice:
      "Function maker was stopped by its Timeout of 1 s before it answered, and its ServiceTimeout passed before the last of Lambda's attempts: raise Timeout (at most 900 s), or find what it waits for.",
    put: /^put PUT of \d+ bytes: 200$/m,
  },
  {
    name: "never, as it throws, with the deadline before the last attempt",
    code: "async function create() {\n  throw new RangeError('too far');\n}",
    retries: 2,
    properties: { ServiceTimeout: "2" },
    advice:
      "Function maker failed before it answered, and its ServiceTimeout passed before the last of Lambda's attempts: RangeError: too far. Catch errors in the handler and answer FAILED with the reason.",
    put: /^put PUT of \d+ bytes: 200$/m,
  },
])("$name", async ({ advice, put, ...wrong }) => {
  const told = await provoke(wrong);
  expect(told.advice).toMatch(advice);
  expect(told.report.filter((line) => line.includes(told.advice))).toHaveLength(1);
  expect(told.logs.filter((line) => line.startsWith("put ")).join("\n")).toMatch(put);
});

test("a function that doesn't exist", async () => {
  const ServiceToken = "arn:aws:lambda:us-east-1:123456789012:function:nobody";
  const told = await provoke({ code: "", properties: { ServiceToken } });
  expect(told.report[1]).toMatch(/^Function not found: .*:function:nobody/);
  expect(told.advice).toBe(
    "ServiceToken names a function that does not exist: compare it with the functions of your stacks.",
  );
});

test("a function of another region", async () => {
  const ServiceToken = "arn:aws:lambda:eu-west-1:123456789012:function:maker";
  const told = await provoke({ code: "", properties: { ServiceToken } });
  expect(told.report[1]).toMatch(
    /^Functions from 'eu-west-1' are not reachable in this region \('us-east-1'\)/,
  );
  expect(told.advice).toBe("ServiceToken must name a function in the stack's own region.");
});
