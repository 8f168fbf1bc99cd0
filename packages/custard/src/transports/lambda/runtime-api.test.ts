import { afterEach, beforeEach, expect, test } from "vitest";
import { RuntimeApi, type RuntimeApiListener } from "./runtime-api.ts";

let api: RuntimeApi;
let heard: unknown[];
const listener: RuntimeApiListener = {
  onNext: () => void heard.push("next"),
  onResponse: (payload) => void heard.push(Buffer.from(payload).toString()),
  onError: ({ errorType, errorMessage }) => void heard.push({ errorType, errorMessage }),
  onInitError: ({ errorType, errorMessage }) => void heard.push({ init: errorType, errorMessage }),
};
beforeEach(async () => {
  heard = [];
  api = await RuntimeApi.open({ asksForToken: false });
  api.attach(listener);
});
afterEach(() => api.close());

async function call(
  method: string,
  path: string,
  more: RequestInit = {},
): Promise<{ status: number; body: string }> {
  const response = await fetch(`http://${api.address}/2018-06-01/runtime/${path}`, { method, ...more });
  return { status: response.status, body: await response.text() };
}

const event = {
  requestId: "r1",
  functionArn: "arn:f",
  deadline: 1_700_000_000_000,
  payload: Buffer.from("{}"),
};

/** Asks for an event, and hands it over. */
async function take(): Promise<Response> {
  const asked = fetch(`http://${api.address}/2018-06-01/runtime/invocation/next`);
  await expect.poll(() => heard.at(-1)).toBe("next");
  expect(api.give(event)).toBe(true);
  return await asked;
}

test("an event comes with what runtime clients need", async () => {
  const response = await take();
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "lambda-runtime-aws-request-id": "r1",
    "lambda-runtime-deadline-ms": "1700000000000",
    "lambda-runtime-invoked-function-arn": "arn:f",
    "lambda-runtime-trace-id": expect.stringMatching(
      /^Root=1-[0-9a-f]{8}-[0-9a-z]{24};Parent=[0-9a-z]{16};Sampled=0$/,
    ),
  });
  expect(await response.text()).toBe("{}");
});

test("nobody waits, nobody gets the event", () => {
  expect(api.give(event)).toBe(false);
});

test("a response is accepted once", async () => {
  await (await take()).text();
  expect(await call("POST", "invocation/r1/response", { body: "7" })).toEqual({
    status: 202,
    body: '{"status":"OK"}',
  });
  expect(await call("POST", "invocation/r1/response", { body: "8" })).toMatchObject({ status: 400 });
  expect(heard).toEqual(["next", "7"]);
});

test("another id is refused", async () => {
  await (await take()).text();
  expect(await call("POST", "invocation/r2/response", { body: "7" })).toEqual({
    status: 400,
    body: '{"errorType":"InvalidRequestID","errorMessage":"Invalid request ID"}',
  });
});

test("asking for the next event in the middle of one is refused", async () => {
  await (await take()).text();
  expect(await call("GET", "invocation/next")).toMatchObject({
    status: 403,
    body: expect.stringContaining("InvalidStateTransition"),
  });
});

test("errors are read from body or header, whatever comes", async () => {
  await (await take()).text();
  const headers = { "Lambda-Runtime-Function-Error-Type": "Runtime.Odd" };
  expect(await call("POST", "invocation/r1/error", { body: "no json", headers })).toMatchObject({
    status: 202,
  });
  const body = JSON.stringify({ errorType: "Own", errorMessage: "why" });
  expect(await call("POST", "init/error", { body })).toMatchObject({ status: 202 });
  expect(heard.slice(1)).toEqual([
    { errorType: "Runtime.Odd", errorMessage: "" },
    { init: "Own", errorMessage: "why" },
  ]);
});

test("a result of more than 6 MB is an error", async () => {
  await (await take()).text();
  const refused = await call("POST", "invocation/r1/response", { body: "x".repeat(6_291_557) });
  expect(refused).toMatchObject({
    status: 413,
    body: expect.stringContaining("Exceeded maximum allowed payload size (6291556 bytes)."),
  });
  expect(heard.at(-1)).toMatchObject({ errorType: "Function.ResponseSizeTooLarge" });
});

test("no other call is known, and no web page is served", async () => {
  expect(await call("POST", "elsewhere")).toMatchObject({ status: 404 });
  expect(await call("GET", "invocation/next", { headers: { origin: "https://example.com" } })).toMatchObject({
    status: 403,
  });
  expect(heard).toEqual([]);
});

test("who must show the token and doesn't gets nothing", async () => {
  api.close();
  api = await RuntimeApi.open({ asksForToken: true });
  api.attach(listener);
  expect(await call("POST", "init/error", { body: "{}" })).toMatchObject({ status: 403 });
  expect(
    await call("POST", "init/error", { body: "{}", headers: { "custard-token": "wrong" } }),
  ).toMatchObject({ status: 403 });
  expect(
    await call("POST", "init/error", { body: "{}", headers: { "custard-token": api.token } }),
  ).toMatchObject({ status: 202 });
});
