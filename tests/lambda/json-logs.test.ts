/** The JSON log format: Lambda's own lines and the function's. */
import { afterEach, expect, test } from "vitest";
import type { LoggingSettings } from "../../packages/custard/src/services/function-settings.ts";
import { type TestLambda, openLambda } from "./support.ts";

let lambda: TestLambda;
afterEach(async () => await lambda.close());

async function logOf(
  code: string,
  logging: Omit<LoggingSettings, "format"> = {},
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  lambda = await openLambda();
  await lambda.create("f", code, { timeoutSeconds: 1, logging: { format: "JSON", ...logging } });
  const { log } = await lambda.run("f");
  return log.map((line): Record<string, unknown> => JSON.parse(line));
}

const typesOf = (log: readonly Readonly<Record<string, unknown>>[]) =>
  log.map(({ type, message }) => type ?? message);

test("start, report and what the function writes", async () => {
  const log = await logOf("exports.handler = async () => console.log('hello')");
  const requestId = expect.stringMatching(/^[-0-9a-f]{36}$/);
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  const number = expect.any(Number);
  expect(log).toEqual([
    {
      time,
      type: "platform.initStart",
      record: {
        initializationType: "on-demand",
        phase: "init",
        runtimeVersion: "nodejs22.x",
        functionName: "f",
        functionVersion: "$LATEST",
      },
    },
    { time, type: "platform.start", record: { requestId, version: "$LATEST" } },
    { timestamp: time, level: "INFO", requestId, message: "hello" },
    {
      time,
      type: "platform.report",
      record: {
        requestId,
        status: "success",
        metrics: {
          durationMs: number,
          billedDurationMs: number,
          memorySizeMB: 128,
          maxMemoryUsedMB: number,
          initDurationMs: number,
        },
      },
    },
  ]);
});

test("the system's level decides which of Lambda's lines are written", async () => {
  const silent = await logOf("exports.handler = async () => {}", { systemLevel: "WARN" });
  // The start is always known here.
  expect(typesOf(silent)).toEqual(["platform.start"]);
  await lambda.close();
  const loud = await logOf("exports.handler = async () => {}", { systemLevel: "DEBUG" });
  expect(typesOf(loud)).toEqual([
    "platform.initStart",
    "platform.start",
    "platform.runtimeDone",
    "platform.report",
  ]);
});

test("a timeout and an exit are told as such", async () => {
  const late = await logOf("exports.handler = () => { for (;;); }", { systemLevel: "WARN" });
  expect(typesOf(late)).toEqual(["platform.start", "platform.runtimeDone", "platform.report"]);
  expect(late.at(-1)).toMatchObject({ record: { status: "timeout" } });
  await lambda.close();
  const gone = await logOf("exports.handler = () => process.exit(2)");
  expect(gone.at(-1)).toMatchObject({ record: { status: "error", errorType: "Runtime.ExitError" } });
});

test("a function that can't be loaded", async () => {
  const log = await logOf("throw new TypeError('no')");
  expect(log.at(-1)).toMatchObject({
    type: "platform.initReport",
    record: { status: "error", errorType: "TypeError" },
  });
});
