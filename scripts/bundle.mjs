// Bundles a TypeScript file of this repository, so that Node can run it: everything of ours in, packages out.
import { mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "vite";

// Every script of ours is run from the root.
const root = process.cwd();

/** Returns the bundle's path. Its folder is removed when this process ends. */
export async function bundle(file) {
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
  return join(outDir, "main.mjs");
}
