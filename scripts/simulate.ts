/**
 * `npm run simulate -- --seeds N [--from K]` lives N lives and prints those that broke a law.
 * `npm run simulate -- --seed K` tells the story of one.
 */
import { parseArgs } from "node:util";
import { simulate } from "../tests/simulation/simulate.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
  },
});

if (values.seed === undefined) await liveMany(Number(values.from), Number(values.seeds));
else await tell(Number(values.seed));

async function tell(seed: number): Promise<void> {
  const { story, violation } = await simulate(seed);
  console.log(story.join("\n"));
  console.log(violation ?? "every law held");
  if (violation !== undefined) process.exitCode = 1;
}

async function liveMany(from: number, count: number): Promise<void> {
  const start = performance.now();
  let crashes = 0;
  let requests = 0;
  let failed = 0;
  for (let seed = from; seed < from + count; seed += 1) {
    const result = await simulate(seed);
    crashes += result.crashes;
    requests += result.requests;
    if (result.violation === undefined) continue;
    failed += 1;
    if (failed <= 20) console.log(`seed ${seed}: ${result.violation}`);
  }
  const seconds = (performance.now() - start) / 1000;
  const rate = (count / seconds).toFixed(0);
  console.log(
    `${count} runs in ${seconds.toFixed(1)} s: ${rate} runs per second, ${crashes} crashes, ${requests} requests, ${failed} failing seeds`,
  );
  if (failed > 0) process.exitCode = 1;
}
