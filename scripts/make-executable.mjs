// npm makes the files of "bin" executable when it links them; in a fresh clone they are built only afterwards.
import { chmodSync } from "node:fs";

for (const file of process.argv.slice(2)) chmodSync(file, 0o755);
