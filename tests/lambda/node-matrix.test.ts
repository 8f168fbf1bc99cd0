/** The behaviour matrix of Node.js functions: each row was recorded on Lambda's own runtime client. Real processes. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { zipSync } from "fflate";
import { type Row, runRow } from "./matrix.ts";
import { type TestLambda, openLambda } from "./support.ts";

let lambda: TestLambda;
beforeAll(async () => {
  lambda = await openLambda();
});
afterAll(async () => await lambda.close());

const neverSettled =
  "The Lambda runtime client detected an unexpected Node.js exit code. This is most commonly caused by a Promise that was never settled.";

function zip(files: Record<string, string>): { kind: "zip"; bytes: Uint8Array } {
  const entries = Object.entries(files).map(([name, text]) => [name, Buffer.from(text)] as const);
  return { kind: "zip", bytes: zipSync(Object.fromEntries(entries)) };
}

const handlers: readonly Row[] = [
  {
    title: "an async handler's value",
    code: "exports.handler = async (event) => ({ got: event.turn >= 0 })",
    first: { result: { got: true } },
  },
  {
    title: "an async handler without a value",
    code: "exports.handler = async () => {}",
    first: { result: null },
  },
  {
    title: "an async handler that throws",
    code: "exports.handler = async () => { throw new TypeError('no') }",
    first: { errorType: "TypeError", errorMessage: "no" },
  },
  {
    title: "an async handler that throws a string",
    code: "exports.handler = async () => { throw 'plain' }",
    first: { errorType: "string", errorMessage: "plain" },
  },
  {
    title: "an error of an own class",
    code: "class Own extends Error { constructor() { super('mine'); this.name = 'Own' } }\nexports.handler = async () => { throw new Own() }",
    first: { errorType: "Own", errorMessage: "mine" },
  },
  {
    title: "a handler that throws at once",
    code: "exports.handler = () => { throw new RangeError('sync') }",
    first: { errorType: "RangeError", errorMessage: "sync" },
  },
  {
    title: "callback with a value",
    code: "exports.handler = (event, context, callback) => callback(null, 7)",
    first: { result: 7 },
  },
  {
    title: "callback with an error",
    code: "exports.handler = (event, context, callback) => callback(new Error('called'))",
    first: { errorType: "Error", errorMessage: "called" },
  },
  {
    title: "callback with a string as error",
    code: "exports.handler = (event, context, callback) => callback('text')",
    first: { errorType: "string", errorMessage: "text" },
  },
  {
    title: "callback waits for an empty loop",
    code: "let fired = 0; exports.handler = (event, context, callback) => { const answer = {}; setTimeout(() => { answer.fired = ++fired > 0 }, 100); callback(null, answer) }",
    first: { result: { fired: true } },
  },
  {
    title: "callback doesn't wait when told so",
    code: "exports.handler = (event, context, callback) => { context.callbackWaitsForEmptyEventLoop = false; setTimeout(() => {}, 60000); callback(null, 'soon') }",
    first: { result: "soon" },
  },
  {
    title: "the first callback counts",
    code: "exports.handler = (event, context, callback) => { callback(null, 1); callback(null, 2); callback(new Error('3')) }",
    first: { result: 1 },
  },
  {
    title: "context.done with a value",
    code: "exports.handler = (event, context) => { setTimeout(() => {}, 60000); context.done(null, 'done') }",
    first: { result: "done" },
  },
  {
    title: "context.done with an error",
    code: "exports.handler = (event, context) => context.done(new Error('undone'))",
    first: { errorType: "Error", errorMessage: "undone" },
  },
  {
    title: "context.succeed",
    code: "exports.handler = (event, context) => { setTimeout(() => {}, 60000); context.succeed('yes') }",
    first: { result: "yes" },
  },
  {
    title: "context.fail",
    code: "exports.handler = (event, context) => context.fail(new Error('no'))",
    first: { errorType: "Error", errorMessage: "no" },
  },
  {
    title: "context.fail without an error",
    code: "exports.handler = (event, context) => context.fail()",
    first: { errorType: "string", errorMessage: "handled" },
  },
  {
    title: "an async handler that calls context.done",
    code: "exports.handler = async (event, context) => { context.done(); return 'late' }",
    first: { result: null },
  },
  {
    title: "an async handler that leaves timers behind",
    code: "exports.handler = async () => { setTimeout(() => {}, 60000) }",
    first: { result: null },
  },
  {
    title: "a value that is returned without a promise",
    code: "exports.handler = () => 'lost'",
    first: { result: null },
  },
  {
    title: "a promise of a plain function",
    code: "exports.handler = () => new Promise((resolve) => setTimeout(resolve, 20, 'kept'))",
    first: { result: "kept" },
  },
  {
    title: "an async handler that never settles",
    code: "exports.handler = async () => { await new Promise(() => {}) }",
    first: { errorType: "Runtime.NodeJsExit", errorMessage: neverSettled },
  },
  {
    title: "a promise of a plain function that never settles",
    code: "exports.handler = () => new Promise(() => {})",
    first: { result: null },
  },
  {
    title: "a callback that never comes",
    code: "exports.handler = (event, context, callback) => {}",
    first: { result: null },
  },
  {
    title: "a circular result",
    code: "exports.handler = async () => { const ring = {}; ring.ring = ring; return ring }",
    first: { errorType: "Error", errorMessage: "Unable to stringify response body" },
  },
  {
    title: "a result that JSON has no word for",
    code: "exports.handler = async () => () => {}",
    first: { result: null },
  },
  {
    title: "non-ASCII results",
    code: "exports.handler = async () => 'grüße 🍮'",
    first: { result: "grüße 🍮" },
  },
  {
    title: "state that stays with the instance",
    code: "let turns = 0; exports.handler = async () => ++turns",
    first: { result: 1 },
    second: { result: 2 },
  },
  {
    title: "a nested handler name",
    code: "exports.api = { create: async () => 'nested' }",
    settings: { handler: "index.api.create" },
    first: { result: "nested" },
  },
  {
    title: "an ESM file with top-level await",
    code: zip({
      "index.mjs": "const value = await Promise.resolve(5); export const handler = async () => value",
    }),
    first: { result: 5 },
  },
  {
    title: "ESM by package.json",
    code: zip({
      "package.json": '{"type":"module"}',
      "lib/main.js": "export async function handler() { return import.meta.url.endsWith('lib/main.js') }",
    }),
    settings: { handler: "lib/main.handler" },
    first: { result: true },
  },
  {
    title: "a .cjs file",
    code: zip({ "index.cjs": "exports.handler = async () => 'cjs'" }),
    first: { result: "cjs" },
  },
  {
    title: "a module of the function's own",
    code: zip({
      "index.js": "const own = require('own'); exports.handler = async () => own",
      "node_modules/own/index.js": "module.exports = 'own'",
    }),
    first: { result: "own" },
  },
];

test.each(handlers)("Node: $title", async (row) => {
  const seen = await runRow(lambda, row);
  expect(seen.outcomes).toEqual([row.first, row.second ?? row.first]);
  expect(seen.instances).toBe(1);
});

const endings: readonly Row[] = [
  {
    title: "a loop that never ends",
    code: "exports.handler = () => { for (;;); }",
    settings: { timeoutSeconds: 1 },
    first: {
      errorType: "Sandbox.Timedout",
      errorMessage: "RequestId: ID Error: Task timed out after 1.00 seconds",
    },
  },
  {
    title: "a sleep beyond the timeout",
    code: "exports.handler = () => new Promise((resolve) => setTimeout(resolve, 60000))",
    settings: { timeoutSeconds: 1 },
    first: {
      errorType: "Sandbox.Timedout",
      errorMessage: "RequestId: ID Error: Task timed out after 1.00 seconds",
    },
  },
  {
    title: "process.exit(0)",
    code: "exports.handler = () => process.exit(0)",
    first: {
      errorType: "Runtime.ExitError",
      errorMessage: "RequestId: ID Error: Runtime exited without providing a reason",
    },
  },
  {
    title: "process.exit(1)",
    code: "exports.handler = () => process.exit(1)",
    first: {
      errorType: "Runtime.ExitError",
      errorMessage: "RequestId: ID Error: Runtime exited with error: exit status 1",
    },
  },
  {
    title: "a process that kills itself",
    code: "exports.handler = () => process.kill(process.pid, 'SIGKILL')",
    first: {
      errorType: "Runtime.ExitError",
      errorMessage: "RequestId: ID Error: Runtime exited with error: signal: killed",
    },
  },
  {
    title: "an unhandled rejection",
    code: "exports.handler = (event, context, callback) => { Promise.reject(new Error('adrift')) }",
    first: { errorType: "Runtime.UnhandledPromiseRejection", errorMessage: "Error: adrift" },
  },
  {
    title: "an exception in a timer",
    code: "exports.handler = (event, context, callback) => { setTimeout(() => { throw new Error('later') }) }",
    first: { errorType: "Error", errorMessage: "later" },
  },
];

test.each(endings)("Node: $title ends the instance; the next event gets a new one", async (row) => {
  const seen = await runRow(lambda, row);
  expect(seen.outcomes).toEqual([row.first, row.first]);
  expect(seen.instances).toBe(2);
});

const inits: readonly (Omit<Row, "first"> & { errorType: string; errorMessage: string | RegExp })[] = [
  {
    title: "a syntax error",
    code: "exports.handler = async (",
    errorType: "Runtime.UserCodeSyntaxError",
    errorMessage: /^SyntaxError: /,
  },
  {
    title: "a missing module",
    code: "require('nowhere')",
    errorType: "Runtime.ImportModuleError",
    errorMessage: /^Error: Cannot find module 'nowhere'\nRequire stack:/,
  },
  {
    title: "a file that isn't there",
    code: zip({ "other.js": "" }),
    errorType: "Runtime.ImportModuleError",
    errorMessage: /^Error: Cannot find module 'index'/,
  },
  {
    title: "an error while loading",
    code: "throw new TypeError('at init')",
    errorType: "TypeError",
    errorMessage: "at init",
  },
  {
    title: "no such export",
    code: "exports.other = 1",
    errorType: "Runtime.HandlerNotFound",
    errorMessage: "index.handler is undefined or not exported",
  },
  {
    title: "an export that is no function",
    code: "exports.handler = 1",
    errorType: "Runtime.HandlerNotFound",
    errorMessage: "index.handler is not a function",
  },
  {
    title: "a handler without a dot",
    code: zip({ "index.js": "" }),
    settings: { handler: "index" },
    errorType: "Runtime.MalformedHandlerName",
    errorMessage: "Bad handler",
  },
  {
    title: "an exit while loading",
    code: "process.exit(3)",
    errorType: "Runtime.ExitError",
    errorMessage: "RequestId: ID Error: Runtime exited with error: exit status 3",
  },
  {
    title: "a missing package of an ESM file",
    code: zip({ "index.mjs": "import 'nowhere'" }),
    errorType: "Error",
    errorMessage: /^Cannot find package 'nowhere' imported from /,
  },
];

test.each(inits)("Node: $title is an init error", async (row) => {
  const seen = await runRow(lambda, row);
  for (const outcome of seen.outcomes) {
    expect(outcome["errorType"]).toBe(row.errorType);
    expect(outcome["errorMessage"]).toMatch(row.errorMessage);
  }
  expect(seen.instances).toBe(2);
  expect(seen.logs[0]?.some((line) => line.startsWith("START"))).toBe(false);
});

const newest: readonly Row[] = [
  {
    title: "an async handler",
    code: "exports.handler = async (event, context) => Object.keys(context).filter((key) => /done|succeed|fail|callback/.test(key))",
    first: { result: [] },
  },
  {
    title: "a value that is returned without a promise",
    code: "exports.handler = () => 'kept'",
    first: { result: "kept" },
  },
  {
    title: "a promise that never settles",
    code: "exports.handler = () => new Promise(() => {})",
    first: { errorType: "Runtime.NodeJsExit", errorMessage: neverSettled },
  },
];

test.each(newest)("nodejs24.x: $title", async (row) => {
  const seen = await runRow(lambda, { ...row, settings: { runtime: "nodejs24.x" } });
  expect(seen.outcomes).toEqual([row.first, row.first]);
});

test("nodejs24.x refuses handlers with a callback", async () => {
  const seen = await runRow(lambda, {
    title: "callback",
    code: "exports.handler = (event, context, callback) => callback(null, 1)",
    settings: { runtime: "nodejs24.x" },
  });
  expect(seen.outcomes[0]).toEqual({
    errorType: "Runtime.CallbackHandlerDeprecated",
    errorMessage: expect.stringContaining("removed support for callback-based function handlers"),
  });
});

test("console writes time, request id and level, one line a call", async () => {
  await lambda.create(
    "logs",
    "console.log('at init'); exports.handler = async () => { console.log('two\\nlines', { a: 1 }); console.error('bad'); console.warn('hm'); console.debug('d'); process.stdout.write('raw\\nrest') }",
  );
  const { log, requestId } = await lambda.run("logs");
  const shown = log.map((line) =>
    line.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z/, "TIME").replaceAll(requestId, "ID"),
  );
  expect(shown).toEqual([
    "INIT_START Runtime Version: nodejs22.x",
    "TIME\tundefined\tINFO\tat init",
    "START RequestId: ID Version: $LATEST",
    "TIME\tID\tINFO\ttwo\rlines { a: 1 }",
    "TIME\tID\tERROR\tbad",
    "TIME\tID\tWARN\thm",
    "TIME\tID\tDEBUG\td",
    "raw",
    "rest",
    "END RequestId: ID",
    expect.stringMatching(
      /^REPORT RequestId: ID\tDuration: [\d.]+ ms\tBilled Duration: \d+ ms\tMemory Size: 128 MB\tMax Memory Used: \d+ MB\tInit Duration: [\d.]+ ms$/,
    ),
  ]);
});

test("an error is logged as Lambda logs it", async () => {
  await lambda.create(
    "error-log",
    "exports.handler = async () => { throw Object.assign(new Error('why'), { code: 'E1' }) }",
  );
  const { log } = await lambda.run("error-log");
  expect(log.find((line) => line.includes("Invoke Error"))).toMatch(
    /\tERROR\tInvoke Error \t\{"errorType":"Error","errorMessage":"why","code":"E1","stack":\["Error: why",/,
  );
});

test("the JSON log format", async () => {
  await lambda.create(
    "json-log",
    "exports.handler = async () => { console.log('text'); console.debug('hidden'); console.warn({ a: 1 }) }",
    { logging: { format: "JSON" } },
  );
  const { log, requestId } = await lambda.run("json-log");
  const lines = log
    .filter((line) => line.startsWith('{"timestamp"'))
    .map((line): unknown => JSON.parse(line));
  expect(lines).toEqual([
    { timestamp: expect.any(String), level: "INFO", requestId, message: "text" },
    { timestamp: expect.any(String), level: "WARN", requestId, message: { a: 1 } },
  ]);
});

test("the context says what Lambda's says", async () => {
  const arn = await lambda.create(
    "context",
    "exports.handler = async (event, context) => ({ ...context, left: context.getRemainingTimeInMillis() })",
  );
  const { payload, requestId } = await lambda.run("context");
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual({
    callbackWaitsForEmptyEventLoop: true,
    functionVersion: "$LATEST",
    functionName: "context",
    memoryLimitInMB: "128",
    logGroupName: "/aws/lambda/context",
    logStreamName: expect.stringMatching(/^\d{4}\/\d\d\/\d\d\/\[\$LATEST\][0-9a-f]{32}$/),
    invokedFunctionArn: arn,
    awsRequestId: requestId,
    left: expect.toSatisfy((left: number) => left > 0 && left <= 5000),
  });
});

test("nothing of the user's environment reaches a function, and no credentials that are some", async () => {
  process.env["CUSTARD_TEST_SECRET"] = "planted";
  await lambda.create("environment", "exports.handler = async () => process.env", {
    environment: { OWN: "1", TZ: "Europe/Berlin" },
  });
  const { payload } = await lambda.run("environment");
  delete process.env["CUSTARD_TEST_SECRET"];
  const environment: Record<string, string> = JSON.parse(Buffer.from(payload).toString());
  expect(Object.values(environment)).not.toContain("planted");
  expect(environment).toMatchObject({
    OWN: "1",
    TZ: "Europe/Berlin",
    AWS_REGION: "us-east-1",
    AWS_EXECUTION_ENV: "AWS_Lambda_nodejs22.x",
    AWS_LAMBDA_FUNCTION_NAME: "environment",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    _HANDLER: "index.handler",
  });
  expect(environment["HOME"]).not.toBe(process.env["HOME"]);
});
