import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { unzipSync } from "fflate";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../../tests/support/state-directory.ts";
import { codeFromSource } from "./function-source.ts";

async function filesOf(path: string, handler: string): Promise<Readonly<Record<string, string>>> {
  const code = await codeFromSource(path, handler);
  if (code.kind !== "zip") throw new Error(`It is ${code.kind}.`);
  return Object.fromEntries(
    Object.entries(unzipSync(code.bytes)).map(([name, bytes]) => [name, Buffer.from(bytes).toString()]),
  );
}

function project(files: Readonly<Record<string, string>>): string {
  const directory = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
}

/** As if the user had installed it. */
function withEsbuild(directory: string): string {
  mkdirSync(join(directory, "node_modules"), { recursive: true });
  const installed = dirname(createRequire(import.meta.url).resolve("esbuild/package.json"));
  symlinkSync(installed, join(directory, "node_modules/esbuild"));
  return directory;
}

test("a file is taken as the module that the handler names", async () => {
  const directory = project({ "importer.py": "def handler(event, context): pass" });
  expect(await filesOf(join(directory, "importer.py"), "src/app.handler")).toEqual({
    "src/app.py": "def handler(event, context): pass",
  });
});

test("JavaScript without esbuild is taken as it is", async () => {
  const directory = project({ "fn.mjs": "export const handler = 1" });
  expect(await filesOf(join(directory, "fn.mjs"), "index.handler")).toEqual({
    "index.mjs": "export const handler = 1",
  });
});

test("TypeScript is bundled with what it imports, but for the AWS SDK", async () => {
  const directory = withEsbuild(
    project({
      "fn.ts":
        'import { S3Client } from "@aws-sdk/client-s3"; import { size } from "./size"; export const handler = (n: number) => [size + n, S3Client];',
      "size.ts": "export const size: number = 4711;",
    }),
  );
  const files = await filesOf(join(directory, "fn.ts"), "index.handler");
  expect(Object.keys(files)).toEqual(["index.js"]);
  expect(files["index.js"]).toContain("4711");
  expect(files["index.js"]).toContain('require("@aws-sdk/client-s3")');
});

test("a folder is used in place", async () => {
  const directory = temporaryDirectory();
  expect(await codeFromSource(directory, "index.handler")).toEqual({ kind: "directory", path: directory });
});

test("what can't be code fails by name", async () => {
  const directory = project({ "fn.ts": "export const handler = 1", "bad/fn.ts": "this is no code" });
  await expect(codeFromSource(join(directory, "none.ts"), "index.handler")).rejects.toThrow(
    `There is no file or folder ${join(directory, "none.ts")}, which custard.config names.`,
  );
  await expect(codeFromSource(join(directory, "fn.ts"), "index.handler")).rejects.toThrow(
    "fn.ts is TypeScript, which needs esbuild in your project: npm install --save-dev esbuild",
  );
  withEsbuild(directory);
  await expect(codeFromSource(join(directory, "bad/fn.ts"), "index.handler")).rejects.toThrow(
    /fn\.ts can't be bundled: /,
  );
});
