/**
 * Appends per second of the SQLite journal, against a bare loop of write and fsync on the same disk in the same run.
 * `node scripts/run-typescript.mjs bench/journal.ts`
 */
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StackId } from "../packages/custard/src/engine/ids.ts";
import type { Change, Journal } from "../packages/custard/src/engine/ports.ts";
import { openSqliteStorage } from "../packages/custard/src/storage/open-sqlite.ts";

/** About what one step of a stack writes: three records and a command. */
const record = {
  kind: "resource-status",
  logicalId: "Thing",
  status: "CREATE_COMPLETE",
  properties: { text: "x".repeat(300) },
};
const seconds = 2;
const versions = new Map<string, number>();

const directory = mkdtempSync(join(tmpdir(), "custard-bench-"));
try {
  await run();
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function run(): Promise<void> {
  const bare = await rate(async () => bareLoop());
  print("write 4 KB + fsync, bare", bare, bare);
  const fresh = performance.now();
  const storage = openSqliteStorage(join(directory, "state"));
  const opening = performance.now() - fresh;
  print("append, one stack", await rate(() => appendTo(storage.journal, ["alone"])), bare);
  for (const stacks of [4, 16, 64]) {
    const names = Array.from({ length: stacks }, (_, index) => `of-${stacks}-${index}`);
    print(`append, ${stacks} stacks at once`, await rate(() => appendTo(storage.journal, names)), bare);
  }
  await storage.close();
  const again = performance.now();
  await openSqliteStorage(join(directory, "state")).close();
  console.log(
    `open a new directory ${opening.toFixed(1)} ms, open and close a used one ${(performance.now() - again).toFixed(1)} ms`,
  );
}

function bareLoop(): number {
  const file = openSync(join(directory, "bare"), "a");
  const page = Buffer.alloc(4096, 1);
  for (let count = 0; count < 100; count += 1) {
    writeSync(file, page);
    fsyncSync(file);
  }
  closeSync(file);
  return 100;
}

/** Fifty rounds in which every stack appends once. */
async function appendTo(journal: Journal, names: readonly string[]): Promise<number> {
  for (let round = 0; round < 50; round += 1) {
    await Promise.all(names.map((name) => journal.append(nextChange(name))));
  }
  return 50 * names.length;
}

function nextChange(name: string): Change {
  const stackId = `arn:aws:cloudformation:us-east-1:123456789012:stack/${name}/1` as StackId;
  const expectedVersion = versions.get(name) ?? 0;
  versions.set(name, expectedVersion + 3);
  return {
    stackId,
    expectedVersion,
    records: [record, record, record],
    commands: [{ key: `command-${expectedVersion}`, dueAt: 0, body: record }],
    withdraw: [`command-${expectedVersion - 3}`],
    claims: [],
    summary: {
      stackId,
      stackName: name,
      account: "123456789012",
      region: "us-east-1",
      status: "CREATE_COMPLETE",
      createdAt: 0,
    },
  };
}

/** Operations per second, over about two seconds. */
async function rate(batch: () => Promise<number>): Promise<number> {
  const start = performance.now();
  let count = 0;
  while (performance.now() - start < seconds * 1000) count += await batch();
  return (count * 1000) / (performance.now() - start);
}

function print(name: string, perSecond: number, bare: number): void {
  console.log(
    `${name.padEnd(28)} ${Math.round(perSecond).toLocaleString("en").padStart(8)}/s  ${(perSecond / bare).toFixed(2)} × bare`,
  );
}
