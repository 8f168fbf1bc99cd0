/** `npm run crash-test -- [--kills N]`: kills engine processes at N random moments; prints what was lost. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { crashRun } from "../tests/crash/crash-run.ts";
import { bundle } from "./bundle.mjs";

const { values } = parseArgs({ options: { kills: { type: "string", default: "100" } } });
const program = await bundle("tests/crash/engine-process.ts");
let kills = 0;
for (let life = 1; kills < Number(values.kills); life += 1) {
  const directory = mkdtempSync(join(tmpdir(), "custard-crash-"));
  try {
    const result = await crashRun({ directory, program, killsPerStep: 5 });
    kills += result.kills;
    console.log(`life ${life}: killed ${result.kills} times, ${result.deliveries} deliveries, nothing lost`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
console.log(`${kills} kills, every law held`);
