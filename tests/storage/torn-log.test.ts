/**
 * A power cut may leave any beginning of SQLite's write-ahead log, with anything behind it. What was appended before
 * that point is there again, whole; nothing of what came after is.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { StackId } from "../../packages/custard/src/engine/ids.ts";
import type { Change, Journal } from "../../packages/custard/src/engine/ports.ts";
import { MemoryJournal } from "../../packages/custard/src/storage/memory-journal.ts";
import { openSqliteStorage } from "../../packages/custard/src/storage/open-sqlite.ts";
import { temporaryDirectory } from "../support/state-directory.ts";

const stackIds = ["one", "two", "three"].map(
  (name) => `arn:aws:cloudformation:us-east-1:1:stack/${name}/1` as StackId,
);
const claimNames = ["a", "b", "c"];
const logHeader = 32;
const frame = 24 + 4096;

/** A dozen appends that touch everything: records small and large, commands, claims, snapshots. */
function makeChanges(): readonly Change[] {
  const versions = new Map<StackId, number>();
  return Array.from({ length: 12 }, (_, index) => {
    const stackId = stackIds[index % 3] ?? ("" as StackId);
    const expectedVersion = versions.get(stackId) ?? 0;
    versions.set(stackId, expectedVersion + 2);
    return {
      stackId,
      expectedVersion,
      records: [{ index }, { text: "x".repeat(index === 5 ? 20_000 : 10) }],
      commands: [{ key: `command-${index}`, dueAt: index, body: { index } }],
      withdraw: index < 3 ? [] : [`command-${index - 3}`],
      claims: [{ name: claimNames[index % 3] ?? "", action: index % 6 < 3 ? "take" : "release" }],
      summary: {
        stackId,
        stackName: "s",
        account: "1",
        region: "r",
        status: `STATUS_${index}`,
        createdAt: index,
      },
      ...(index % 4 === 0 ? { snapshot: { upTo: expectedVersion + 2 } } : {}),
    };
  });
}

async function stateOf(journal: Journal) {
  return {
    stacks: await Promise.all(stackIds.map((stackId) => journal.load(stackId))),
    claims: await Promise.all(claimNames.map((name) => journal.holder(name))),
    summaries: await journal.summaries(),
    commands: await journal.claimDue(1000, 100, 1),
  };
}

/** Writes the changes and gives the files as a crash would leave them, with the log's length after each append. */
async function writeLog(changes: readonly Change[]) {
  const directory = temporaryDirectory();
  const storage = openSqliteStorage(directory);
  const log = join(directory, "custard.db-wal");
  const lengths: number[] = [];
  for (const change of changes) {
    await storage.journal.append(change);
    lengths.push(statSync(log).size);
  }
  const crashed = join(directory, "crashed");
  mkdirSync(crashed);
  // By another process: closing a file that SQLite has open ends this process's locks on it.
  execFileSync("cp", [join(directory, "custard.db"), log, crashed]);
  await storage.close();
  return {
    database: join(crashed, "custard.db"),
    log: readFileSync(join(crashed, "custard.db-wal")),
    lengths,
  };
}

async function expectedStates(changes: readonly Change[]): Promise<readonly unknown[]> {
  const states: unknown[] = [];
  for (let count = 0; count <= changes.length; count += 1) {
    const journal = new MemoryJournal();
    for (const change of changes.slice(0, count)) await journal.append(change);
    const state = await stateOf(journal);
    // Whoever finds a command in a file can't know whether it was performed before the crash.
    states.push({ ...state, commands: state.commands.map((command) => ({ ...command, repeated: true })) });
  }
  return states;
}

async function prepare() {
  const changes = makeChanges();
  const { database, log, lengths } = await writeLog(changes);
  const states = await expectedStates(changes);
  const root = temporaryDirectory();
  let opened = 0;
  return {
    log,
    expected: (cut: number) => states[lengths.filter((length) => length <= cut).length],
    /** The state that is found behind a crash which left the log up to `cut`, and then `tail`. */
    openCut: async (cut: number, tail: Uint8Array) => {
      const directory = join(root, String(opened++));
      mkdirSync(directory);
      copyFileSync(database, join(directory, "custard.db"));
      writeFileSync(join(directory, "custard.db-wal"), Buffer.concat([log.subarray(0, cut), tail]));
      const storage = openSqliteStorage(directory);
      const state = await stateOf(storage.journal);
      await storage.close();
      return state;
    },
  };
}

test("cut at the edges of every frame, the log opens to the last complete append", async () => {
  const { log, expected, openCut } = await prepare();
  const edges = [0, 1, logHeader - 1, logHeader];
  for (let at = logHeader + frame; at <= log.length; at += frame) edges.push(at - 1, at);
  for (const cut of edges.filter((at) => at <= log.length)) {
    expect({ cut, state: await openCut(cut, new Uint8Array()) }).toEqual({ cut, state: expected(cut) });
  }
});

test("cut anywhere, with anything behind the cut, the log opens to the last complete append", async () => {
  const { log, expected, openCut } = await prepare();
  const tail = fc.oneof(
    fc.constant(new Uint8Array()),
    fc.constant(new Uint8Array(3 * frame)),
    fc.uint8Array({ minLength: 1, maxLength: 2 * frame, size: "max" }),
  );
  const run = fc.asyncProperty(fc.nat({ max: log.length - 1 }), tail, async (cut, bytes) => {
    // The first byte behind the cut must differ, or the cut would be a little later.
    const behind = bytes.map((byte, index) => (index === 0 && byte === log[cut] ? byte ^ 255 : byte));
    expect(await openCut(cut, behind)).toEqual(expected(cut));
  });
  await expect(fc.assert(run, { numRuns: 100 })).resolves.toBeUndefined();
});
