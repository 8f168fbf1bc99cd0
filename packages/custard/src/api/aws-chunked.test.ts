import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeChunks } from "./aws-chunked.ts";

async function decode(parts: readonly string[]): Promise<{ text: string; trailers: Record<string, string> }> {
  const trailers: Record<string, string> = {};
  const chunks: Uint8Array[] = [];
  for await (const chunk of decodeChunks(sourceOf(parts), trailers)) chunks.push(chunk);
  return { text: Buffer.concat(chunks).toString("latin1"), trailers };
}

async function* sourceOf(parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part, "latin1");
}

test("chunks are joined, signatures dropped, and headers after them kept", async () => {
  const body = "5;chunk-signature=abc\r\nhello\r\n1\r\n!\r\n0\r\nx-amz-checksum-crc32:AAAA\r\n\r\n";
  expect(await decode([body])).toEqual({ text: "hello!", trailers: { "x-amz-checksum-crc32": "AAAA" } });
});

test("it doesn't matter where the network cuts a body", async () => {
  const content = fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.array(content), fc.array(fc.nat(400)), async (contents, cuts) => {
      const body = `${contents.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join("")}0\r\n\r\n`;
      const places = [0, ...cuts.filter((cut) => cut < body.length), body.length].toSorted((a, b) => a - b);
      const parts = places.slice(1).map((place, index) => body.slice(places[index], place));
      expect((await decode(parts)).text).toBe(contents.join(""));
    }),
  );
});

test.each([
  { name: "a size that is none", body: "zz\r\nhello\r\n" },
  { name: "an end before the last chunk", body: "5\r\nhel" },
  { name: "a chunk that is longer than it says", body: "2\r\nhello\r\n0\r\n\r\n" },
  { name: "a line without end", body: "a".repeat(10_000) },
])("$name is refused", async ({ body }) => {
  await expect(decode([body])).rejects.toMatchObject({ code: "IncompleteBody" });
});
