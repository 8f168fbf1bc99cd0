/** The test that docs/provider/guide.md shows. */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { simulate } from "custard/testing";
import { Kafka, topicOf } from "./kafka.ts";

const Topic = topicOf(new Kafka());

test("the test in the guide passes", async () => {
  const sim = simulate(Topic, { properties: { Name: "a", Partitions: 3, ApiKey: "s3cr3t" } });
  await sim.create();
  expect(sim.attributes.Arn).toMatch(/^arn:/);
  await sim.update({ Name: "b" });
  expect(sim.replaced).toBe(true);
  sim.failNext("create", new Error("quota"));
  await sim.updateAndRollback({ Name: "c" });
  expect(sim.orphans).toEqual([]);
  await sim.delete(); // chaos lives a whole life of its own, from the create on
  await sim.chaos({ seed: 7 }); // deliveries twice, 500s, resets, kills
  expect(sim.logs).not.toContain("s3cr3t");
});

test("it is what the guide shows", async () => {
  const read = async (path: string) => await readFile(new URL(path, import.meta.url), "utf8");
  const [, rest = ""] = (await read("guide.test.ts")).split('passes", async () => {\n', 2);
  const [body = ""] = rest.split("\n});\n", 1);
  expect(body).toContain("sim.chaos");
  expect(await read("../../docs/provider/guide.md")).toContain(
    `\n\n${body.replaceAll(/^ {2}/gm, "")}\n\`\`\`\n`,
  );
});
