import { mkdir, mkdtemp, readFile, readlink, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type Zippable, strToU8, zipSync } from "fflate";
import { afterEach, beforeEach, expect, test } from "vitest";
import { extractArchive, listArchive } from "./code-archive.ts";

let parent: string;
let folder: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "custard-test-"));
  folder = join(parent, "code");
  await mkdir(folder);
});
afterEach(async () => await rm(parent, { recursive: true, force: true }));

/** A zip with Unix modes, as `zip` and CDK write them. */
function archive(files: Record<string, { text: string; mode?: number }>): Uint8Array {
  const entries = Object.entries(files).map(
    ([name, { text, mode = 0o100644 }]): [string, Zippable[string]] => [
      name,
      [strToU8(text), { os: 3, attrs: mode * 0x10000 }],
    ],
  );
  return zipSync(Object.fromEntries(entries));
}

test("files, folders, execute bits and links come out as they went in", async () => {
  const bytes = archive({
    bootstrap: { text: "#!/bin/sh", mode: 0o100755 },
    "lib/deep/index.js": { text: "1" },
    "lib/link.js": { text: "deep/index.js", mode: 0o120777 },
    "empty/": { text: "", mode: 0o040755 },
  });
  await extractArchive(bytes, folder);
  expect((await stat(join(folder, "bootstrap"))).mode & 0o111).toBe(0o111);
  expect((await stat(join(folder, "lib/deep/index.js"))).mode & 0o111).toBe(0);
  expect(await readlink(join(folder, "lib/link.js"))).toBe("deep/index.js");
  expect(await readFile(join(folder, "lib/link.js"), "utf8")).toBe("1");
});

const unsafe = [
  { title: "an entry above", files: { "../out.txt": { text: "x" } } },
  { title: "an entry above, later", files: { "a/../../out.txt": { text: "x" } } },
  { title: "an absolute entry", files: { "/tmp/custard-out.txt": { text: "x" } } },
  { title: "a backslash", files: { "..\\out.txt": { text: "x" } } },
  { title: "a link that leads out", files: { out: { text: "../..", mode: 0o120777 } } },
  { title: "an absolute link", files: { out: { text: "/etc/passwd", mode: 0o120777 } } },
];

test.each(unsafe)("$title is refused", async ({ files }) => {
  await expect(extractArchive(archive(files), folder)).rejects.toThrow(
    "The zip file has an entry that leads out of it",
  );
  expect(await readdir(parent)).toEqual(["code"]);
});

test("code of more than 250 MB is refused before it is unpacked", () => {
  const bytes = archive({ "index.js": { text: "x" } });
  // The size in the directory entry of the only file: 24 bytes into it.
  const at = Buffer.from(bytes).indexOf(Buffer.from([0x50, 0x4b, 1, 2]));
  new DataView(bytes.buffer).setUint32(at + 24, 262_144_001, true);
  expect(() => listArchive(bytes)).toThrow("Unzipped size must be smaller than 262144000 bytes");
});

test("whatever bytes come, they are unpacked inside or refused in Lambda's words", () => {
  const whole = archive({ "index.js": { text: "exports.handler = 1" }, "a/b": { text: "c" } });
  const damaged = fc
    .tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), fc.nat(whole.length))
    .map(([at, value, length]) =>
      Uint8Array.from(whole, (byte, index) => (index === at ? value : byte)).subarray(0, length),
    );
  const isSafe = (bytes: Uint8Array) => {
    try {
      return listArchive(bytes).every(({ name }) => !name.split("/").includes(".."));
    } catch (error) {
      return error instanceof Error && error.name === "FunctionError";
    }
  };
  const outcome = fc.check(fc.property(fc.oneof(damaged, fc.uint8Array()), isSafe));
  expect(outcome.counterexample).toBeNull();
});
