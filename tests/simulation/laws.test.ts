import fc from "fast-check";
import { expect, test } from "vitest";
import { simulate } from "./simulate.ts";

/** A failing seed tells its story: `npm run simulate -- --seed K`. */
test("every law holds in the first lives", async () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const { violation } = await simulate(seed);
    expect({ seed, violation }).toEqual({ seed, violation: undefined });
  }
});

test("every law holds in lives of any seed", async () => {
  const holds = fc.asyncProperty(fc.nat(), async (seed) => {
    const { violation } = await simulate(seed);
    expect(violation).toBeUndefined();
  });
  await fc.assert(holds, { numRuns: 100 });
});

test("a life follows from its seed alone", async () => {
  for (const seed of [3, 14, 159]) {
    const [one, other] = [await simulate(seed), await simulate(seed)];
    expect(one.story).toEqual(other.story);
  }
});

test("lives end in every way that a stack can end", async () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 200; seed += 1) {
    const { story } = await simulate(seed);
    for (const line of story) seen.add(/ {2}stack (\S+)/.exec(line)?.[1] ?? "");
  }
  expect([...seen].filter((status) => status !== "").toSorted()).toMatchInlineSnapshot();
});
