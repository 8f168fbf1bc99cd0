import { expect, onTestFinished, test } from "vitest";
import type { StackId } from "../../packages/custard/src/engine/ids.ts";
import type { Change, Journal, StoredCommand } from "../../packages/custard/src/engine/ports.ts";

/** How the suite gets a journal: a fresh one for each test. */
export interface JournalUnderTest {
  readonly journal: Journal;
  /** Ends the journal and opens what it left, for journals that outlive their process. */
  readonly reopen?: () => Promise<Journal>;
  readonly end: () => Promise<void>;
}

const one = "arn:aws:cloudformation:us-east-1:123456789012:stack/one/1" as StackId;
const two = "arn:aws:cloudformation:us-east-1:123456789012:stack/two/2" as StackId;
const three = "arn:aws:cloudformation:us-east-1:123456789012:stack/three/3" as StackId;

function change(stackId: StackId, expectedVersion: number, more: Partial<Change> = {}): Change {
  return {
    stackId,
    expectedVersion,
    records: [],
    commands: [],
    withdraw: [],
    claims: [],
    summary: summaryOf(stackId),
    ...more,
  };
}

function summaryOf(stackId: StackId, status = "CREATE_IN_PROGRESS") {
  const stackName = stackId.split("/")[1] ?? "";
  return { stackId, stackName, account: "123456789012", region: "us-east-1", status, createdAt: 5 };
}

function command(key: string, dueAt: number): StoredCommand {
  return { key, dueAt, body: { kind: "wake", key } };
}

/** What every journal does. */
export function journalContract(open: () => Promise<JournalUnderTest>): void {
  async function start(): Promise<Journal> {
    const { journal, end } = await open();
    onTestFinished(end);
    return journal;
  }

  test("a stack that was never written has version 0", async () => {
    const journal = await start();
    expect(await journal.load(one)).toEqual({ version: 0, records: [] });
    expect(await journal.records(one, 0, 10)).toEqual([]);
    expect(await journal.summaries()).toEqual([]);
    expect(await journal.nextDue()).toBeUndefined();
    expect(await journal.claimDue(1e15, 10, 1000)).toEqual([]);
  });

  test("records are kept in order, each stack by itself", async () => {
    const journal = await start();
    await journal.append(change(one, 0, { records: [{ n: 1 }, { n: 2 }] }));
    await journal.append(change(two, 0, { records: ["other"] }));
    await journal.append(change(one, 2, { records: [{ n: 3 }] }));
    expect(await journal.load(one)).toEqual({ version: 3, records: [{ n: 1 }, { n: 2 }, { n: 3 }] });
    expect(await journal.load(two)).toEqual({ version: 1, records: ["other"] });
  });

  test("records can be read page by page", async () => {
    const journal = await start();
    await journal.append(change(one, 0, { records: [1, 2, 3, 4, 5], snapshot: { sum: 15 } }));
    expect(await journal.records(one, 0, 2)).toEqual([1, 2]);
    expect(await journal.records(one, 2, 2)).toEqual([3, 4]);
    expect(await journal.records(one, 4, 2)).toEqual([5]);
    expect(await journal.records(one, 5, 2)).toEqual([]);
    expect(await journal.records(one, 0, 0)).toEqual([]);
  });

  test("a load starts from the newest snapshot", async () => {
    const journal = await start();
    await journal.append(change(one, 0, { records: [1, 2], snapshot: { sum: 3 } }));
    expect(await journal.load(one)).toEqual({
      version: 2,
      snapshot: { version: 2, state: { sum: 3 } },
      records: [],
    });
    await journal.append(change(one, 2, { records: [3] }));
    expect(await journal.load(one)).toEqual({
      version: 3,
      snapshot: { version: 2, state: { sum: 3 } },
      records: [3],
    });
    await journal.append(change(one, 3, { records: [4], snapshot: { sum: 10 } }));
    expect(await journal.load(one)).toEqual({
      version: 4,
      snapshot: { version: 4, state: { sum: 10 } },
      records: [],
    });
  });

  test("an append at another version is refused and leaves nothing behind", async () => {
    const journal = await start();
    await journal.append(change(one, 0, { records: ["first"] }));
    for (const expected of [0, 2]) {
      const late = change(one, expected, {
        records: ["late"],
        commands: [command("late", 1)],
        claims: [{ name: "late", action: "take" }],
        snapshot: "late",
        summary: summaryOf(one, "LATE"),
      });
      await expect(journal.append(late)).rejects.toMatchObject({
        name: "StorageError",
        code: "VersionConflict",
      });
    }
    expect(await journal.load(one)).toEqual({ version: 1, records: ["first"] });
    expect(await journal.nextDue()).toBeUndefined();
    expect(await journal.holder("late")).toBeUndefined();
    expect(await journal.summaries()).toEqual([summaryOf(one)]);
  });

  test("a claim belongs to one stack until that stack releases it", async () => {
    const journal = await start();
    const take = [{ name: "name/one", action: "take" }] as const;
    const release = [{ name: "name/one", action: "release" }] as const;
    await journal.append(change(one, 0, { records: [1], claims: take }));
    expect(await journal.holder("name/one")).toBe(one);
    await expect(journal.append(change(two, 0, { records: [1], claims: take }))).rejects.toMatchObject({
      code: "ClaimTaken",
      claim: "name/one",
    });
    await journal.append(change(one, 1, { claims: take }));
    await journal.append(change(two, 0, { records: [1], claims: release }));
    expect(await journal.holder("name/one")).toBe(one);
    await journal.append(change(one, 1, { claims: release }));
    expect(await journal.holder("name/one")).toBeUndefined();
    await journal.append(change(two, 1, { claims: take }));
    expect(await journal.holder("name/one")).toBe(two);
  });

  test("an append whose claim is taken leaves nothing behind", async () => {
    const journal = await start();
    await journal.append(change(one, 0, { claims: [{ name: "b", action: "take" }] }));
    const refused = change(two, 0, {
      records: [1],
      commands: [command("x", 1)],
      claims: [
        { name: "a", action: "take" },
        { name: "b", action: "take" },
      ],
    });
    await expect(journal.append(refused)).rejects.toMatchObject({ code: "ClaimTaken", claim: "b" });
    expect(await journal.holder("a")).toBeUndefined();
    expect(await journal.load(two)).toEqual({ version: 0, records: [] });
    expect(await journal.summaries()).toHaveLength(1);
    expect(await journal.nextDue()).toBeUndefined();
  });

  test("a claim can be released and taken in one append", async () => {
    const journal = await start();
    const claims = [
      { name: "a", action: "take" },
      { name: "a", action: "release" },
      { name: "a", action: "take" },
    ] as const;
    await journal.append(change(one, 0, { claims }));
    expect(await journal.holder("a")).toBe(one);
  });

  test("due commands are handed out oldest first, up to the limit", async () => {
    const journal = await start();
    await journal.append(change(one, 0, { commands: [command("c", 30), command("a", 10)] }));
    await journal.append(change(two, 0, { commands: [command("b", 20), command("d", 40)] }));
    expect(await journal.nextDue()).toBe(10);
    expect(await journal.claimDue(9, 10, 100)).toEqual([]);
    expect(await journal.claimDue(30, 2, 100)).toEqual([
      { ...command("a", 10), stackId: one },
      { ...command("b", 20), stackId: two },
    ]);
    expect(await journal.nextDue()).toBe(30);
    expect(await journal.claimDue(30, 2, 100)).toEqual([{ ...command("c", 30), stackId: one }]);
    expect(await journal.nextDue()).toBe(40);
  });

  test("a leased command is not handed out again before its lease ends", async () => {
    const journal = await start();
    await journal.append(change(one, 0, { commands: [command("a", 10)] }));
    expect(await journal.claimDue(10, 10, 100)).toHaveLength(1);
    expect(await journal.claimDue(109, 10, 100)).toEqual([]);
    expect(await journal.nextDue()).toBe(110);
    expect(await journal.claimDue(110, 10, 100)).toHaveLength(1);
  });

  test("a command that is handed out again says so", async () => {
    const journal = await start();
    await journal.append(change(one, 0, { commands: [command("a", 10)] }));
    expect(await journal.claimDue(10, 10, 100)).toEqual([{ ...command("a", 10), stackId: one }]);
    expect(await journal.claimDue(110, 10, 100)).toEqual([
      { ...command("a", 10), stackId: one, repeated: true },
    ]);
    await journal.append(change(one, 0, { commands: [command("a", 120)] }));
    expect(await journal.claimDue(120, 10, 100)).toEqual([{ ...command("a", 120), stackId: one }]);
  });

  test("a confirmed command is forgotten", async () => {
    const journal = await start();
    await journal.append(change(one, 0, { commands: [command("a", 10), command("b", 11)] }));
    await journal.claimDue(10, 10, 100);
    await journal.confirm(one, "a");
    await journal.confirm(one, "unknown");
    await journal.confirm(two, "b");
    expect(await journal.nextDue()).toBe(11);
    expect(await journal.claimDue(1000, 10, 100)).toEqual([{ ...command("b", 11), stackId: one }]);
  });

  test("commands can be withdrawn, claimed or not", async () => {
    const journal = await start();
    await journal.append(
      change(one, 0, { commands: [command("a", 10), command("b", 20), command("c", 30)] }),
    );
    await journal.append(change(two, 0, { commands: [command("b", 25)] }));
    await journal.claimDue(10, 1, 100);
    await journal.append(change(one, 0, { withdraw: ["a", "b", "unknown"] }));
    expect((await journal.claimDue(1000, 10, 100)).map(({ key, stackId }) => [stackId, key])).toEqual([
      [two, "b"],
      [one, "c"],
    ]);
  });

  test("a refused append withdraws nothing", async () => {
    const journal = await start();
    await journal.append(change(one, 0, { records: [1], commands: [command("a", 10)] }));
    await expect(journal.append(change(one, 0, { withdraw: ["a"] }))).rejects.toMatchObject({
      code: "VersionConflict",
    });
    expect(await journal.nextDue()).toBe(10);
  });

  test("a command under a key in use replaces the one before, and its lease", async () => {
    const journal = await start();
    await journal.append(change(one, 0, { commands: [command("a", 10)] }));
    await journal.claimDue(10, 10, 100_000);
    await journal.append(change(one, 0, { commands: [{ key: "a", dueAt: 50, body: "new" }] }));
    expect(await journal.nextDue()).toBe(50);
    await journal.append(
      change(one, 0, { withdraw: ["a"], commands: [{ key: "a", dueAt: 60, body: "newer" }] }),
    );
    expect(await journal.claimDue(60, 10, 100)).toEqual([
      { key: "a", dueAt: 60, body: "newer", stackId: one },
    ]);
  });

  test("many commands come out in the order in which they are due", async () => {
    const journal = await start();
    const dueTimes = Array.from({ length: 300 }, (_, index) => (index * 7919) % 1009);
    await journal.append(
      change(one, 0, { commands: dueTimes.map((due, index) => command(`c${index}`, due)) }),
    );
    await journal.append(
      change(one, 0, { withdraw: dueTimes.filter((_, i) => i % 3 === 0).map((_, i) => `c${i * 3}`) }),
    );
    const expected = dueTimes.filter((_, index) => index % 3 !== 0).toSorted((a, b) => a - b);
    const seen: number[] = [];
    for (;;) {
      const claimed = await journal.claimDue(2000, 7, 1_000_000);
      if (claimed.length === 0) break;
      seen.push(...claimed.map(({ dueAt }) => dueAt));
    }
    expect(seen).toEqual(expected);
  });

  test("appends of many stacks at once succeed or fail each by itself", async () => {
    const journal = await start();
    await journal.append(change(one, 0, { records: ["before"] }));
    const outcomes = await Promise.allSettled([
      journal.append(change(one, 1, { records: ["a"], claims: [{ name: "shared", action: "take" }] })),
      journal.append(change(one, 1, { records: ["too late"] })),
      journal.append(change(two, 0, { records: ["b"], claims: [{ name: "shared", action: "take" }] })),
      journal.append(change(one, 2, { records: ["c"] })),
      journal.append(change(three, 0, { records: ["d"] })),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    expect(await journal.load(one)).toEqual({ version: 3, records: ["before", "a", "c"] });
    expect(await journal.load(two)).toEqual({ version: 0, records: [] });
    expect(await journal.load(three)).toEqual({ version: 1, records: ["d"] });
  });

  test("of a hundred writers that race for one version, one wins", async () => {
    const journal = await start();
    const races = Array.from({ length: 100 }, (_, index) =>
      journal.append(change(one, 0, { records: [index] })),
    );
    const outcomes = await Promise.allSettled(races);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect((await journal.load(one)).version).toBe(1);
  });

  test("the summary is the newest one, in the order in which stacks came", async () => {
    const journal = await start();
    await journal.append(change(two, 0));
    await journal.append(change(one, 0));
    await journal.append(change(two, 0, { summary: { ...summaryOf(two, "DELETE_COMPLETE"), deletedAt: 9 } }));
    expect(await journal.summaries()).toEqual([
      { ...summaryOf(two, "DELETE_COMPLETE"), deletedAt: 9 },
      summaryOf(one),
    ]);
  });

  test("what was given or got can be changed without changing what is kept", async () => {
    const journal = await start();
    const record = { list: [1] };
    const body = { list: [1] };
    await journal.append(change(one, 0, { records: [record], commands: [{ key: "a", dueAt: 1, body }] }));
    record.list.push(2);
    body.list.push(2);
    expect((await journal.load(one)).records).toEqual([{ list: [1] }]);
    expect((await journal.claimDue(1, 1, 1))[0]?.body).toEqual({ list: [1] });
  });

  test("records of megabytes are kept whole", async () => {
    const journal = await start();
    const big = {
      text: 'é😀\\"\n'.repeat(500_000),
      list: Array.from({ length: 10_000 }, (_, index) => index),
    };
    await journal.append(change(one, 0, { records: [big, "small"], snapshot: big }));
    expect(await journal.records(one, 0, 2)).toEqual([big, "small"]);
    expect((await journal.load(one)).snapshot?.state).toEqual(big);
  });

  test.each([
    ["empty", ""],
    ["quotes and semicolons", `'; DROP TABLE stacks; -- "x"`],
    ["NUL", "a\0b"],
    ["half a surrogate pair", "\ud800x"],
    ["beyond the basic plane", "😀/é"],
    ["a prototype's member", "__proto__"],
    ["line breaks and backslashes", "a\nb\r\\n\\u0000"],
    ["very long", "k".repeat(5000)],
  ])("names may be strange: %s", async (_, name) => {
    const journal = await start();
    const stackId = name as StackId;
    const record = JSON.parse(`{"__proto__": 1, "k": ${JSON.stringify(name)}}`);
    const summary = { ...summaryOf(one), stackId, stackName: name };
    await journal.append(
      change(stackId, 0, {
        records: [record],
        commands: [command(name, 1)],
        claims: [{ name, action: "take" }],
        summary,
      }),
    );
    await journal.append(change(`${name}\0` as StackId, 0, { records: ["other"] }));
    expect(JSON.stringify(await journal.load(stackId))).toBe(
      JSON.stringify({ version: 1, records: [record] }),
    );
    expect(await journal.holder(name)).toBe(stackId);
    expect(await journal.claimDue(1, 9, 1)).toEqual([{ ...command(name, 1), stackId }]);
    await journal.confirm(stackId, name);
    expect(await journal.nextDue()).toBeUndefined();
    expect((await journal.summaries())[0]?.stackName).toBe(name);
  });
}

/** What journals do that outlive their process. */
export function durableJournalContract(open: () => Promise<Required<JournalUnderTest>>): void {
  test("all is there again when the journal is opened again", async () => {
    const { journal, reopen, end } = await open();
    onTestFinished(end);
    const claims = [{ name: "name/one", action: "take" }] as const;
    await journal.append(
      change(one, 0, {
        records: [1, 2],
        snapshot: "state",
        commands: [command("a", 10), command("b", 20)],
        claims,
      }),
    );
    await journal.append(
      change(one, 2, { records: [3], withdraw: ["b"], summary: summaryOf(one, "CREATE_COMPLETE") }),
    );
    const again = await reopen();
    expect(await again.load(one)).toEqual({
      version: 3,
      snapshot: { version: 2, state: "state" },
      records: [3],
    });
    expect(await again.records(one, 0, 9)).toEqual([1, 2, 3]);
    expect(await again.holder("name/one")).toBe(one);
    expect(await again.summaries()).toEqual([summaryOf(one, "CREATE_COMPLETE")]);
    expect(await again.claimDue(100, 9, 1)).toEqual([{ ...command("a", 10), stackId: one, repeated: true }]);
    await again.append(change(one, 3, { records: [4] }));
    expect((await again.load(one)).version).toBe(4);
  });

  test("leases end with the process that had them", async () => {
    const { journal, reopen, end } = await open();
    onTestFinished(end);
    await journal.append(change(one, 0, { commands: [command("a", 10)] }));
    await journal.claimDue(10, 10, 1_000_000);
    const again = await reopen();
    expect(await again.nextDue()).toBe(10);
    expect(await again.claimDue(10, 10, 1_000_000)).toHaveLength(1);
  });

  test("a confirmed command is not there again", async () => {
    const { journal, reopen, end } = await open();
    onTestFinished(end);
    await journal.append(change(one, 0, { commands: [command("a", 10)] }));
    await journal.confirm(one, "a");
    const again = await reopen();
    expect(await again.nextDue()).toBeUndefined();
  });
}
