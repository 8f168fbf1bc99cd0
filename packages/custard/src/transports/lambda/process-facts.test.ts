import { expect, test } from "vitest";
import {
  isRunning,
  memoryMegabytes,
  nativeConnectorsOf,
  peakMemoryMegabytes,
  startTimeOf,
} from "./process-facts.ts";

/** No process has it: the kernel's largest pid is 2^22. */
const nobody = 4_194_305;

test("a process is known by its start time and memory", () => {
  expect(startTimeOf(process.pid)).toMatch(/^\d+$/);
  expect(isRunning(process.pid)).toBe(true);
  expect(memoryMegabytes(process.pid)).toBeGreaterThan(1);
  expect(peakMemoryMegabytes(process.pid)).toBeGreaterThan(1);
});

test("of no process nothing is known", () => {
  expect(startTimeOf(nobody)).toBeUndefined();
  expect(isRunning(nobody)).toBe(false);
  expect(memoryMegabytes(nobody)).toBeUndefined();
  expect(nativeConnectorsOf(nobody)).toEqual([]);
});

test("addons of Node.js are seen", async () => {
  expect(nativeConnectorsOf(process.pid)).toEqual([]);
  await import("libsql");
  expect(nativeConnectorsOf(process.pid)).toContainEqual(expect.stringMatching(/\.node$/));
});
