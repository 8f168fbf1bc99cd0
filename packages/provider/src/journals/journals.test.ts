import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Journal, memoryJournal } from "../journal.ts";
import { type DynamoDbClient, dynamoDbJournal } from "./dynamodb-journal.ts";
import { fileJournal } from "./file-journal.ts";

/** DynamoDB as far as the journal uses it: items by `pk`, and the one condition. */
function fakeDynamoDb(): DynamoDbClient {
  type Item = Record<string, { S?: string; N?: string }>;
  type Input = { Key: Item; Item: Item; ConditionExpression?: string; ExpressionAttributeValues?: Item };
  const items = new Map<string, Item>();
  const pk = (item: Item | undefined) => item?.["pk"]?.S ?? "";
  return {
    async getItem(input) {
      const found = items.get(pk((input as Input).Key));
      return found === undefined ? {} : { Item: found };
    },
    async putItem(input) {
      const { Item, ConditionExpression, ExpressionAttributeValues } = input as Input;
      const there = items.get(pk(Item));
      const now = Number(ExpressionAttributeValues?.[":now"]?.N);
      const isAllowed = there === undefined || Number(there["expiresAt"]?.N) <= now;
      if (ConditionExpression !== undefined && !isAllowed) {
        throw Object.assign(new Error("The conditional request failed"), {
          name: "ConditionalCheckFailedException",
        });
      }
      items.set(pk(Item), Item);
    },
    async deleteItem(input) {
      items.delete(pk((input as Input).Key));
    },
  };
}

const makers: readonly { name: string; open: (now: () => number) => Journal }[] = [
  { name: "in memory", open: (now) => memoryJournal(now) },
  {
    name: "in files",
    open: (now) => {
      const directory = mkdtempSync(join(tmpdir(), "custard-journal-"));
      onTestFinished(() => rmSync(directory, { recursive: true }));
      return fileJournal(directory, now);
    },
  },
  { name: "in DynamoDB", open: (now) => dynamoDbJournal({ client: fakeDynamoDb(), tableName: "t" }, now) },
];

describe.each(makers)("a journal $name", ({ open }) => {
  test("keeps values until they expire, replaces and deletes them", async () => {
    let now = 1000;
    const journal = open(() => now);
    expect(await journal.get("a")).toBeUndefined();
    await journal.put("a", { x: [1, null, "ü"] }, 2000);
    await journal.put("a/b", 5, 2000);
    expect(await journal.get("a")).toEqual({ x: [1, null, "ü"] });
    await journal.put("a", "new", 3000);
    now = 2000;
    expect(await journal.get("a/b")).toBeUndefined();
    expect(await journal.get("a")).toBe("new");
    await journal.delete("a");
    await journal.delete("never there");
    expect(await journal.get("a")).toBeUndefined();
  });

  test("of several who put what is absent, one does", async () => {
    let now = 1000;
    const journal = open(() => now);
    const attempts = Array.from({ length: 8 }, (_value, index) => journal.putIfAbsent("k", index, 2000));
    const winners = (await Promise.all(attempts)).flatMap((won, index) => (won ? [index] : []));
    expect(winners).toHaveLength(1);
    expect(await journal.get("k")).toBe(winners[0]);
    now = 2000;
    expect(await journal.putIfAbsent("k", "next", 3000)).toBe(true);
  });
});
