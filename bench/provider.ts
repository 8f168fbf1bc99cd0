// What it costs a function to load the SDK: import time and bundle size, beside other libraries and an empty module.
// Others need: npm install --prefix bench/libraries --ignore-scripts (left out where that was not done).
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { median } from "./measure.ts";

interface Subject {
  readonly name: string;
  readonly code: string;
}

const others = resolve("bench/libraries/node_modules");
const ours = resolve("packages/provider/dist");
const cdk = join(others, "aws-cdk-lib/custom-resource-handlers/dist/core/nodejs-entrypoint-handler/index.js");
const keep = (path: string) =>
  `import * as library from ${JSON.stringify(path)};\nglobalThis.library = library;`;
const subjects: readonly Subject[] = [
  { name: "(nothing)", code: "" },
  { name: "node:https alone", code: keep("node:https") },
  { name: "@custard/provider/core", code: keep(join(ours, "core.mjs")) },
  { name: "@custard/provider", code: keep(join(ours, "main.mjs")) },
  { name: "cfn-response", code: keep(join(others, "cfn-response/index.js")) },
  { name: "CDK core entry point", code: keep(cdk) },
  { name: "custom-resource-helper", code: keep(join(others, "custom-resource-helper/lib/index.js")) },
];

const times = 9;
const directory = mkdtempSync(resolve("node_modules/.bench-"));

/** Milliseconds that a fresh process needs for the import itself. */
function importTime(file: string): number {
  const script = `const before = performance.now(); import(${JSON.stringify(file)}).then(() => console.log(performance.now() - before));`;
  return Number(execFileSync(process.execPath, ["-e", script], { encoding: "utf8" }));
}

try {
  let base = Number.NaN;
  for (const [index, { name, code }] of subjects.entries()) {
    const needed = /from "([^"]+)"/u.exec(code)?.[1];
    if (needed?.startsWith("/") === true && !existsSync(needed)) {
      console.log(`${name.padEnd(26)} not installed`);
      continue;
    }
    const entry = join(directory, `${index}.mjs`);
    writeFileSync(entry, code);
    const outfile = join(directory, `${index}.out.mjs`);
    const { outputFiles } = await build({
      entryPoints: [entry],
      bundle: true,
      minify: true,
      platform: "node",
      target: "node20",
      format: "esm",
      write: false,
      // For those that are CommonJS.
      banner: { js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);' },
    });
    const bytes = outputFiles[0]?.contents ?? new Uint8Array();
    writeFileSync(outfile, bytes);
    const time = await median(times, () => importTime(outfile));
    if (Number.isNaN(base)) base = time;
    const sizes = `${String(bytes.length).padStart(7)} bytes, ${String(gzipSync(bytes).length).padStart(6)} gzipped`;
    console.log(
      `${name.padEnd(26)} ${sizes}, import ${time.toFixed(1)} ms (${(time / base).toFixed(1)} × nothing)`,
    );
  }
} finally {
  rmSync(directory, { recursive: true });
}
