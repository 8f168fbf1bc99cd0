// Runs a TypeScript file of this repository: bundles it beside the packages that it needs, then imports the bundle.
// Usage: node scripts/run-typescript.mjs FILE [ARGUMENTS...]
import { mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";

const [file, ...args] = process.argv.slice(2);
if (file === undefined) throw new Error("which file?");
const root = resolve(import.meta.dirname, "..");
// Inside the repository, so that the bundle finds its packages.
const outDir = mkdtempSync(join(root, "node_modules", ".run-"));
process.on("exit", () => rmSync(outDir, { recursive: true, force: true }));
await build({
  root,
  configFile: false,
  logLevel: "error",
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] }, noExternal: ["@custard/provider"] },
  build: {
    ssr: resolve(file),
    outDir,
    emptyOutDir: false,
    minify: false,
    target: "node20",
    rollupOptions: { output: { entryFileNames: "main.mjs" } },
  },
});
const bundle = join(outDir, "main.mjs");
process.argv.splice(1, 2, bundle);
void args;
await import(pathToFileURL(bundle).href);
