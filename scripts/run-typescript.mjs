// Runs a TypeScript file of this repository. Usage: node scripts/run-typescript.mjs FILE [ARGUMENTS...]
import { pathToFileURL } from "node:url";
import { bundle } from "./bundle.mjs";

const [, , file] = process.argv;
if (file === undefined) throw new Error("Usage: node scripts/run-typescript.mjs FILE [ARGUMENTS...]");
const path = await bundle(file);
process.argv.splice(1, 2, path);
await import(pathToFileURL(path).href);
