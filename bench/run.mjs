/** `node bench/run.mjs NAME`: runs bench/NAME.ts from source. */
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const name = process.argv[2] ?? "journal";
await runnerImport(fileURLToPath(new URL(`./${name}.ts`, import.meta.url)), {
  configFile: false,
  logLevel: "warn",
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
});
