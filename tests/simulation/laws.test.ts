import fc from "fast-check";
import { expect, test } from "vitest";
import { stackStatuses } from "../../packages/custard/src/engine/stack-status.ts";
import { simulate } from "./simulate.ts";

/** A failing seed tells its story: `npm run simulate -- --seed K`. */
test("every law holds in the first lives, and they go through every status", async () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 120; seed += 1) {
    const { story, violation } = await simulate(seed);
    expect({ seed, violation }).toEqual({ seed, violation: undefined });
    for (const line of story) seen.add(/ {2}stack (\S+)/.exec(line)?.[1] ?? "");
  }
  const missing = Object.keys(stackStatuses).filter((status) => !seen.has(status));
  expect(missing).toEqual([]);
}, 60_000);

test("every law holds in lives of any seed", async () => {
  const holds = fc.asyncProperty(fc.nat(), async (seed) => {
    const { violation } = await simulate(seed);
    expect(violation).toBeUndefined();
  });
  await fc.assert(holds, { numRuns: 60 });
}, 60_000);

test("a life follows from its seed alone", async () => {
  for (const seed of [3, 14, 159]) {
    const [one, other] = [await simulate(seed), await simulate(seed)];
    expect(one.story).toEqual(other.story);
  }
});
