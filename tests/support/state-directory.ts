import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A directory of its own for the running test, removed afterwards. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "custard-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
