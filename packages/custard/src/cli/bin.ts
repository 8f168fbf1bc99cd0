import { flush, processIo } from "./io.ts";
import { main } from "./main.ts";

const code = await main(process.argv.slice(2), processIo());
await flush();
process.exit(code);
