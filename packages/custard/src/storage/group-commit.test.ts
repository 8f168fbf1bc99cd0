import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../../../tests/support/state-directory.ts";
import { Database } from "./database.ts";
import { GroupCommit } from "./group-commit.ts";
import { StorageError } from "./storage-error.ts";

function start() {
  const database = new Database(join(temporaryDirectory(), "test.db"), {
    durability: "full",
    migrations: ["CREATE TABLE numbers (number INTEGER PRIMARY KEY)"],
  });
  onTestFinished(() => database.close());
  const statements: string[] = [];
  const execute = database.execute.bind(database);
  database.execute = (sql) => {
    statements.push(sql);
    execute(sql);
  };
  const writes = new GroupCommit(database);
  const insert = (number: number) => () => database.run("INSERT INTO numbers VALUES (?)", number);
  const numbers = () =>
    database.all("SELECT number FROM numbers ORDER BY number").map((row) => row["number"]);
  return {
    database,
    writes,
    insert,
    numbers,
    commits: () => statements.filter((sql) => sql === "COMMIT").length,
  };
}

test("writes of one turn share one commit, those of the next have their own", async () => {
  const { writes, insert, numbers, commits } = start();
  await Promise.all([1, 2, 3].map((number) => writes.write(insert(number))));
  expect(commits()).toBe(1);
  await writes.write(insert(4));
  expect(commits()).toBe(2);
  expect(numbers()).toEqual([1, 2, 3, 4]);
});

test("a write that fails leaves nothing behind and the others stand", async () => {
  const { writes, insert, numbers } = start();
  const twice = () => {
    insert(8)();
    insert(1)();
  };
  const outcomes = await Promise.allSettled([
    writes.write(insert(1)),
    writes.write(twice),
    writes.write(insert(2)),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(numbers()).toEqual([1, 2]);
});

test("what is done after a write sees it committed, in order", async () => {
  const { database, writes, insert } = start();
  const seen: string[] = [];
  const note = (name: string) => () => void seen.push(`${name} ${database.inTransaction}`);
  await Promise.all([writes.write(insert(1), note("a")), writes.write(insert(2), note("b"))]);
  expect(seen).toEqual(["a false", "b false"]);
});

test("a write without hurry goes with the next one, before it", async () => {
  const { writes, insert, numbers, commits } = start();
  writes.writeLater(insert(1));
  expect(numbers()).toEqual([]);
  await expect(writes.write(insert(1))).rejects.toMatchObject({ code: "Unavailable" });
  expect(numbers()).toEqual([1]);
  expect(commits()).toBe(1);
});

test("when the commit fails, every write of the group is refused and nothing is kept", async () => {
  const { database, writes, insert, numbers } = start();
  database.execute("CREATE TABLE parents (id INTEGER PRIMARY KEY)");
  database.execute("CREATE TABLE children (parent REFERENCES parents DEFERRABLE INITIALLY DEFERRED)");
  database.execute("PRAGMA foreign_keys = ON");
  const orphan = () => database.run("INSERT INTO children VALUES (?)", 1);
  const outcomes = await Promise.allSettled([writes.write(insert(1)), writes.write(orphan)]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(numbers()).toEqual([]);
  await writes.write(insert(2));
  expect(numbers()).toEqual([2]);
});

test("what arrives while the disk is busy makes one transaction, and is durable after it", async () => {
  const { database, writes, insert, commits } = start();
  const sync = database.sync.bind(database);
  let finish: () => void = () => {};
  const calm = new Promise<void>((resolve) => (finish = resolve));
  let syncs = 0;
  database.sync = async () => {
    syncs += 1;
    if (syncs === 1) await calm;
    await sync();
  };
  const order: number[] = [];
  const write = (number: number) => writes.write(insert(number)).then(() => order.push(number));
  const first = write(1);
  await expect.poll(() => syncs).toBe(1);
  const others = [write(2), write(3)];
  await new Promise((resolve) => setImmediate(resolve));
  expect([commits(), order]).toEqual([1, []]);
  finish();
  await Promise.all([first, ...others]);
  expect([commits(), syncs, order]).toEqual([2, 2, [1, 2, 3]]);
});

test("after a flush that failed, all that waits and all that comes is refused", async () => {
  const { database, writes, insert } = start();
  database.sync = async () => {
    throw new StorageError("Unavailable", "the disk is gone");
  };
  const refused = { code: "Unavailable", message: "the disk is gone" };
  await expect(writes.write(insert(1))).rejects.toMatchObject(refused);
  await expect(writes.write(insert(2))).rejects.toMatchObject(refused);
  expect(() => writes.writeLater(insert(3))).toThrow("the disk is gone");
});

test("closing makes durable what is being flushed, and what waits", async () => {
  const { database, writes, insert, numbers } = start();
  database.sync = () => new Promise(() => {});
  const first = writes.write(insert(1));
  await new Promise((resolve) => setImmediate(resolve));
  const second = writes.write(insert(2));
  writes.close();
  await Promise.all([first, second]);
  expect(numbers()).toEqual([1, 2]);
  await expect(writes.write(insert(3))).rejects.toMatchObject({ code: "Unavailable" });
});
