/** Runs tsdown in the current package without its own command, which warns of Node.js 20 at every start. */
import { build } from "tsdown";

await build({ logLevel: "error" });
