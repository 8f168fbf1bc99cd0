import { rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bundle } from "../../scripts/bundle.mjs";
import { temporaryDirectory } from "../support/state-directory.ts";
import { crashRun } from "./crash-run.ts";

// `npm run crash-test` kills a hundred times.
test("a stack's life goes on after each kill of its engine, and nothing is lost", async () => {
  const program = await bundle(resolve(import.meta.dirname, "engine-process.ts"));
  // A test's process may end without telling so.
  onTestFinished(() => rmSync(dirname(program), { recursive: true, force: true }));
  const { kills } = await crashRun({ directory: temporaryDirectory(), program, killsPerStep: 3 });
  expect(kills).toBeGreaterThan(0);
}, 120_000);
