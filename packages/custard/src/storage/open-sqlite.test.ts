import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../../../tests/support/state-directory.ts";
import type { StackId } from "../engine/ids.ts";
import type { Change } from "../engine/ports.ts";
import { openSqliteStorage, readSqliteStorage } from "./open-sqlite.ts";

const stackId = "arn:aws:cloudformation:us-east-1:123456789012:stack/one/1" as StackId;

function change(expectedVersion: number, records: Change["records"]): Change {
  const summary = {
    stackId,
    stackName: "one",
    account: "1",
    region: "us-east-1",
    status: "CREATE_COMPLETE",
    createdAt: 1,
  };
  return { stackId, expectedVersion, records, commands: [], withdraw: [], claims: [], summary };
}

function open(directory: string) {
  const storage = openSqliteStorage(directory);
  onTestFinished(() => storage.close());
  return storage;
}

/** Another process that takes the directory's lock and holds it until it is killed. */
async function holdInAnotherProcess(directory: string) {
  const libsql = createRequire(import.meta.url).resolve("libsql");
  const script = `
    const lock = new (require(${JSON.stringify(libsql)}))("custard.lock");
    lock.exec("BEGIN EXCLUSIVE");
    require("fs").writeFileSync("custard.pid", String(process.pid));
    console.log("locked");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["-e", script], {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let trouble = "";
  child.stderr.on("data", (text) => (trouble += String(text)));
  await Promise.race([
    once(child.stdout, "data"),
    once(child, "close").then(() => Promise.reject(new Error(trouble))),
  ]);
  return child;
}

test("a second process is refused, and told who has the directory", async () => {
  const directory = temporaryDirectory();
  const child = await holdInAnotherProcess(directory);
  expect(() => openSqliteStorage(directory)).toThrowError(
    expect.objectContaining({ code: "Locked", message: `${directory} is in use by process ${child.pid}.` }),
  );
});

test("a process that was killed leaves no lock behind", async () => {
  const directory = temporaryDirectory();
  const child = await holdInAnotherProcess(directory);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await open(directory).journal.summaries()).toEqual([]);
});

test("the same process can't open a directory twice, and can open it again once it was closed", async () => {
  const directory = temporaryDirectory();
  const first = openSqliteStorage(directory);
  expect(() => openSqliteStorage(directory)).toThrowError(/is in use by this process already/);
  await first.journal.append(change(0, ["kept"]));
  await first.close();
  const second = open(directory);
  expect((await second.journal.load(stackId)).records).toEqual(["kept"]);
});

test("a second attempt of the same process doesn't give the lock away", async () => {
  const directory = temporaryDirectory();
  open(directory);
  expect(() => openSqliteStorage(directory)).toThrowError(/this process already/);
  await expect(holdInAnotherProcess(directory)).rejects.toThrowError(/database is locked/);
});

test("a lock file that is none is not taken for a held lock", () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "custard.lock"), "garbage ".repeat(1000));
  expect(() => openSqliteStorage(directory)).toThrowError(expect.objectContaining({ code: "Unavailable" }));
});

test("the directory and its files can be read by their owner only", async () => {
  const directory = join(temporaryDirectory(), "made", "deep");
  const storage = open(directory);
  await storage.journal.append(change(0, ["secret"]));
  await storage.traces.ofStack(stackId, 1);
  const modes = readdirSync(directory).map((name) => [name, statSync(join(directory, name)).mode & 0o777]);
  expect(modes.map(([name]) => name)).toEqual(
    expect.arrayContaining(["custard.db", "custard.db-wal", "traces.db"]),
  );
  expect(modes.filter(([, mode]) => mode !== 0o600)).toEqual([]);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test("a file that is no database is called damaged, and nothing stays locked", () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "custard.db"), "no database, ".repeat(1000));
  for (const _ of [1, 2]) {
    expect(() => openSqliteStorage(directory)).toThrowError(expect.objectContaining({ code: "Corrupt" }));
  }
  expect(existsSync(join(directory, "custard.pid"))).toBe(false);
});

test("a directory that can't be made is unavailable", () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "file"), "");
  mkdirSync(join(directory, "custard.lock"));
  expect(() => openSqliteStorage(join(directory, "file"))).toThrowError(
    expect.objectContaining({ code: "Unavailable" }),
  );
  expect(() => openSqliteStorage(directory)).toThrowError(expect.objectContaining({ code: "Unavailable" }));
});

test("after closing, writes are refused", async () => {
  const storage = openSqliteStorage(temporaryDirectory());
  const last = storage.journal.append(change(0, ["in time"]));
  await storage.close();
  await expect(last).resolves.toBeUndefined();
  await expect(storage.journal.append(change(1, ["late"]))).rejects.toMatchObject({ code: "Unavailable" });
  await expect(storage.documents.put("late", 1)).rejects.toMatchObject({ code: "Unavailable" });
});

test("a reader changes nothing, so that it may look at a directory that is not its own", async () => {
  const directory = temporaryDirectory();
  await openSqliteStorage(directory).close();
  const file = join(directory, "custard.db");
  chmodSync(file, 0o440);
  await readSqliteStorage(directory)?.close();
  expect(statSync(file).mode & 0o777).toBe(0o440);
});
