/**
 * `npm run simulate -- --seeds N [--from K]` lives N lives and prints those that broke a law.
 * `npm run simulate -- --seed K` tells the story of one.
 */
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { simulate } from "../tests/simulation/simulate.ts";

/** What some lives came to. */
interface Tally {
  readonly crashes: number;
  readonly requests: number;
  readonly broken: readonly string[];
}

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
  },
});

if (process.send !== undefined) process.send(await live(Number(values.from), Number(values.seeds)));
else if (values.seed === undefined) await liveMany(Number(values.from), Number(values.seeds));
else await tell(Number(values.seed));

async function tell(seed: number): Promise<void> {
  const { story, violation } = await simulate(seed);
  console.log(story.join("\n"));
  console.log(violation ?? "every law held");
  if (violation !== undefined) process.exitCode = 1;
}

async function live(from: number, count: number): Promise<Tally> {
  let crashes = 0;
  let requests = 0;
  const broken: string[] = [];
  for (let seed = from; seed < from + count; seed += 1) {
    const result = await simulate(seed);
    crashes += result.crashes;
    requests += result.requests;
    if (result.violation !== undefined) broken.push(`seed ${seed}: ${result.violation}`);
  }
  return { crashes, requests, broken };
}

/** Shares the lives among as many processes as there are processors. */
async function liveMany(from: number, count: number): Promise<void> {
  const start = performance.now();
  const share = Math.ceil(count / availableParallelism());
  const starts = Array.from({ length: Math.ceil(count / share) }, (_, index) => index * share);
  const tallies = await Promise.all(
    starts.map((offset) => liveElsewhere(from + offset, Math.min(share, count - offset))),
  );
  const seconds = (performance.now() - start) / 1000;
  const sum = (of: (tally: Tally) => number) => tallies.reduce((total, tally) => total + of(tally), 0);
  const broken = tallies.flatMap((tally) => tally.broken);
  for (const line of broken) console.log(line);
  console.log(
    `${count} runs in ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(0)} runs per second: ` +
      `${sum(({ crashes }) => crashes)} crashes, ${sum(({ requests }) => requests)} requests, ${broken.length} failing seeds`,
  );
  if (broken.length > 0) process.exitCode = 1;
}

function liveElsewhere(from: number, count: number): Promise<Tally> {
  const [, program = ""] = process.argv;
  // A life leaves little that is long-lived: room for what is young makes for fewer collections.
  const execArgv = ["--max-semi-space-size=64"];
  const child = fork(program, ["--from", String(from), "--seeds", String(count)], { execArgv });
  return new Promise((resolve, reject) => {
    child.once("message", (tally: Tally) => resolve(tally));
    child.once("exit", (code) => reject(new Error(`the process of seeds ${from} and up ended with ${code}`)));
  });
}
