import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

// What was recorded of CloudFormation's responses, life cycles and events has numbers; tests name those that they hold.
const first = 32;
const last = 102;
const root = resolve(import.meta.dirname, "..");

/** The numbers after "fact" and "facts": `fact 50`, `facts 32, 50 and 57`, `facts 64 to 66`. */
function factsIn(text: string): readonly number[] {
  return [...text.matchAll(/\bfacts? ((?:\d+[a-z]?(?:, | and | to )?)+)/giu)].flatMap(([, list = ""]) => {
    const ranges = [...list.matchAll(/(\d+)[a-z]? to (\d+)/gu)].flatMap(([, from, to]) =>
      between(Number(from), Number(to)),
    );
    return [...ranges, ...[...list.matchAll(/\d+/gu)].map(([number]) => Number(number))];
  });
}

function between(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

test("each fact on responses, life cycles and stack events is named by a test", () => {
  const files = ["packages/custard/src", "packages/provider/src", "tests"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"))
      .map((file) => join(root, folder, file)),
  );
  const named = new Set(files.flatMap((file) => factsIn(readFileSync(file, "utf8"))));
  expect(between(first, last).filter((fact) => !named.has(fact))).toEqual([]);
});
