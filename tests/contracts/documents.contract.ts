import { expect, onTestFinished, test } from "vitest";
import type { Documents } from "../../packages/custard/src/engine/ports.ts";

/** How the suite gets documents: fresh ones for each test. */
export interface DocumentsUnderTest {
  readonly documents: Documents;
  readonly end: () => Promise<void>;
}

/** What every implementation of documents does. */
export function documentsContract(open: () => Promise<DocumentsUnderTest>): void {
  async function start(): Promise<Documents> {
    const { documents, end } = await open();
    onTestFinished(end);
    return documents;
  }

  test("what was put can be got, replaced and deleted", async () => {
    const documents = await start();
    expect(await documents.get("a")).toBeUndefined();
    await documents.put("a", { list: [1, null, "é😀"], flag: false });
    expect(await documents.get("a")).toEqual({ list: [1, null, "é😀"], flag: false });
    await documents.put("a", null);
    expect(await documents.get("a")).toBeNull();
    await documents.delete("a");
    await documents.delete("never there");
    expect(await documents.get("a")).toBeUndefined();
  });

  test("a list holds what starts with the prefix, ordered by key", async () => {
    const documents = await start();
    const keys = [
      "function/b",
      "function/a",
      "function/",
      "functions",
      "function",
      "topic/a",
      "function/😀",
      "function/\uffee",
      "function/B",
    ];
    await Promise.all(keys.map((key) => documents.put(key, key)));
    const inside = keys.filter((key) => key.startsWith("function/"));
    const listed = await documents.list("function/");
    expect(listed.map(({ key }) => key)).toEqual(inside.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(listed.every(({ key, value }) => key === value)).toBe(true);
    expect(await documents.list("")).toHaveLength(keys.length);
    expect(await documents.list("nothing")).toEqual([]);
  });

  test.each(["", "'%_*", "a\0b", "\ud800x", 'line\nbreak \\ "quoted"', "__proto__"])(
    "keys may be strange: %j",
    async (key) => {
      const documents = await start();
      await documents.put(key, key);
      await documents.put(`${key}\0`, "other");
      expect(await documents.get(key)).toBe(key);
      expect((await documents.list(key)).map((entry) => entry.key)).toEqual([key, `${key}\0`]);
      await documents.putBlob(key, Uint8Array.of(1));
      expect(await documents.getBlob(key)).toEqual(Uint8Array.of(1));
    },
  );

  test("blobs are kept byte by byte, apart from values", async () => {
    const documents = await start();
    const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => index % 256);
    await documents.putBlob("a", bytes);
    await documents.putBlob("empty", new Uint8Array());
    expect(Buffer.from(bytes).equals((await documents.getBlob("a")) ?? new Uint8Array())).toBe(true);
    expect(await documents.getBlob("empty")).toEqual(new Uint8Array());
    expect(await documents.get("a")).toBeUndefined();
    expect(await documents.list("")).toEqual([]);
    await documents.putBlob("a", Uint8Array.of(0, 255));
    expect(await documents.getBlob("a")).toEqual(Uint8Array.of(0, 255));
    await documents.deleteBlob("a");
    expect(await documents.getBlob("a")).toBeUndefined();
  });

  test("what was given or got can be changed without changing what is kept", async () => {
    const documents = await start();
    const value = { list: [1] };
    const bytes = Uint8Array.of(1);
    const writes = [documents.put("a", value), documents.putBlob("a", bytes)];
    value.list.push(2);
    bytes[0] = 2;
    await Promise.all(writes);
    (await documents.getBlob("a"))?.fill(3);
    expect(await documents.get("a")).toEqual({ list: [1] });
    expect(await documents.getBlob("a")).toEqual(Uint8Array.of(1));
  });
}
