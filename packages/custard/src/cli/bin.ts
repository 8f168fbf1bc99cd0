import { flush, processIo } from "./io.ts";
import { main } from "./main.ts";

const io = processIo();
const code = await main(process.argv.slice(2), io);
await flush();
const lost = io.lost();
if (lost !== undefined) process.stderr.write(`error: The output can't be written: ${lost.message}\n`);
process.exit(lost !== undefined && code === 0 ? 1 : code);
