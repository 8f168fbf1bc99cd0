import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { describe, expect, test } from "vitest";

const sources = fileURLToPath(new URL("../../packages/provider/src/", import.meta.url));
const require = createRequire(import.meta.url);

/** An entry with all that it needs, minified, as a bundler makes it. */
async function minified(entry: string, format: "esm" | "cjs"): Promise<string> {
  const bundle = await rolldown({ input: `${sources}${entry}.ts`, platform: "node" });
  const { output } = await bundle.generate({ format, minify: true, codeSplitting: false });
  await bundle.close();
  expect(output).toHaveLength(1);
  return output[0].code;
}

describe("size", () => {
  test.each(["esm", "cjs"] as const)("the core has at most 8 KB minified (%s)", async (format) => {
    expect(Buffer.byteLength(await minified("core", format))).toBeLessThanOrEqual(8192);
  });

  test("everything has at most 28 KB minified", async () => {
    expect(Buffer.byteLength(await minified("main", "esm"))).toBeLessThanOrEqual(28_672);
  });
});

test("there is nothing to install with it", () => {
  const { dependencies } = require("../../packages/provider/package.json") as { dependencies?: object };
  expect(dependencies).toBeUndefined();
});

test("loading it doesn't load node:https", () => {
  const script =
    'import("@custard/provider").then(() => console.log(process.moduleLoadList.includes("NativeModule https")))';
  const { stdout } = spawnSync(process.execPath, ["-e", script], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
  });
  expect(String(stdout).trim()).toBe("false");
});
