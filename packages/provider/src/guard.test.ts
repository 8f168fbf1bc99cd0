import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { guardCrashes } from "./guard.ts";

const later = (act: () => void) => void setTimeout(act, 1);

test("a crash goes to the request in whose context it happens, and nothing is left behind", async () => {
  const before = process.listeners("uncaughtException");
  const rejections = process.listeners("unhandledRejection");
  const seen: string[] = [];
  const run = (name: string, act: () => void) =>
    guardCrashes(
      (error) => seen.push(`${name}: ${String(error)}`),
      async () => {
        later(act);
        await delay(20);
      },
    );
  await Promise.all([
    run("a", () => {
      throw new Error("thrown");
    }),
    run("b", () => void Promise.reject(new Error("rejected"))),
    run("c", () => undefined),
  ]);
  expect(seen.toSorted()).toEqual(["a: Error: thrown", "b: Error: rejected"]);
  expect(process.listeners("uncaughtException")).toEqual(before);
  expect(process.listeners("unhandledRejection")).toEqual(rejections);
  expect(process.hasUncaughtExceptionCaptureCallback()).toBe(false);
});

test("what the work throws is thrown, and the guard ends", async () => {
  const failing = guardCrashes(
    () => undefined,
    async () => {
      throw new Error("own");
    },
  );
  await expect(failing).rejects.toThrow("own");
  expect(process.hasUncaughtExceptionCaptureCallback()).toBe(false);
});
