import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { endsWith, startCustard } from "../cli/support/custard.ts";
import { temporaryFolder } from "../cli/support/temporary-folder.ts";
import { custard, templateFor } from "./support.ts";

const code = `
const response = require("cfn-response");
exports.handler = async (event, context) => {
  console.log("at the start");
  await new Promise((done) => setTimeout(done, 1500));
  console.log("at the end");
  await response.send(event, context, "SUCCESS", { Size: "1" }, "thing");
};`;

interface Entry {
  readonly kind: string;
  readonly text: string;
  readonly requestId: string;
}

/** Deploys, and follows what a name stands for from the moment at which the function is at work. */
async function follow(nameOf: (entry: Entry) => string): Promise<readonly Entry[]> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "template.json"), JSON.stringify(templateFor({ Code: { ZipFile: code } }, {})));
  // Another process, as with a person who looks on.
  const deployed = startCustard(folder, ["deploy", "template.json", "--stack-name", "test"]).ended;
  const read = async (): Promise<readonly Entry[]> => {
    const text = await custard(folder, ["logs", "test", "--json"]).catch(() => "[]");
    return JSON.parse(text);
  };
  const atWork = async () => (await read()).find(({ text }) => text.includes("at the start"));
  await expect.poll(atWork, { interval: 100 }).toBeDefined();
  const entry = await atWork();
  if (entry === undefined) throw new Error("The log has lost a line");
  const followed = await custard(folder, ["logs", nameOf(entry), "--follow", "--json"]);
  await endsWith(0, deployed);
  return followed
    .trim()
    .split("\n")
    .map((line): Entry => JSON.parse(line));
}

test.each<{ whose: string; nameOf: (entry: Entry) => string }>([
  { whose: "a function", nameOf: () => "provider" },
  { whose: "a function by its logical id", nameOf: () => "Provider" },
  { whose: "a custom resource by its logical id", nameOf: () => "Thing" },
  { whose: "a stack", nameOf: () => "test" },
  { whose: "a request", nameOf: ({ requestId }) => requestId },
])("the log of $whose is shown as it grows, each entry once", async ({ nameOf }) => {
  const entries = await follow(nameOf);
  const count = (part: string) => entries.filter(({ text }) => text.includes(part)).length;
  expect([count("at the start"), count("at the end"), count("PUT of ")]).toEqual([1, 1, 1]);
  expect(new Set(entries.map(({ requestId }) => requestId)).size).toBe(1);
});
