import { setFlagsFromString } from "node:v8";
import { flush, processIo } from "./io.ts";
import { main } from "./main.ts";

// A template's AllowedPattern must not hang the process: where V8 tries too often, it goes over to its linear engine.
setFlagsFromString("--enable-experimental-regexp-engine-on-excessive-backtracks");
const io = processIo();
const code = await main(process.argv.slice(2), io);
await flush();
const lost = io.lost();
if (lost !== undefined) process.stderr.write(`error: The output can't be written: ${lost.message}\n`);
process.exit(lost !== undefined && code === 0 ? 1 : code);
