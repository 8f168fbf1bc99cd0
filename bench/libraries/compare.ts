// Runs the scenarios of tests/provider/harness against other libraries, and writes docs/provider/comparison.md.
// Usage: npm install --prefix bench/libraries --ignore-scripts && node scripts/run-typescript.mjs bench/libraries/compare.ts
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openFaultyEndpoint } from "../../tests/provider/harness/endpoint.ts";
import { faultsOf, probe, probeHosts } from "../../tests/provider/harness/probe.ts";
import { scenarios } from "../../tests/provider/harness/scenarios.ts";

const harness = resolve("tests/provider/harness");
const child = join(harness, "child.mjs");
const adapters = resolve("bench/libraries/adapters");
const libraries = [
  { name: "@custard/provider", adapter: join(harness, "custard.mjs") },
  { name: "cfn-response 1.0.1", adapter: join(adapters, "cfn-response.mjs") },
  { name: "cfn-response-promise 1.1.0", adapter: join(adapters, "cfn-response-promise.mjs") },
  { name: "cfn-response-async 1.0.0", adapter: join(adapters, "cfn-response-async.mjs") },
  { name: "cfn-custom-resource 5.0.16", adapter: join(adapters, "cfn-custom-resource.mjs") },
  { name: "safe-cfn-custom-resource 1.0.3", adapter: join(adapters, "safe-cfn-custom-resource.mjs") },
  {
    name: "aws-cloudformation-custom-resource 5.1.0",
    adapter: join(adapters, "aws-cloudformation-custom-resource.mjs"),
  },
  { name: "custom-resource-helper 1.0.15", adapter: join(adapters, "custom-resource-helper.mjs") },
  { name: "@middy/cloudformation-response 7.9.2", adapter: join(adapters, "middy.mjs") },
  { name: "CDK core entry point 2.276.0", adapter: join(adapters, "cdk-core.mjs") },
];

const directory = mkdtempSync(join(tmpdir(), "custard-compare-"));
const endpoint = await openFaultyEndpoint(directory, probeHosts);
const rows: { readonly scenario: string; readonly cells: string[] }[] = [];
try {
  for (const scenario of scenarios) {
    const cells: string[] = [];
    for (const { adapter } of libraries) {
      const faults = faultsOf(scenario, await probe(adapter, scenario, { endpoint, child }));
      cells.push(faults.length === 0 ? "✔" : [...new Set(faults)].slice(0, 2).join(", "));
    }
    rows.push({ scenario: scenario.name, cells });
    console.log(`${scenario.name}: ${cells.filter((cell) => cell === "✔").length} of ${libraries.length}`);
  }
} finally {
  await endpoint.close();
  rmSync(directory, { recursive: true });
}

const letters = libraries.map((_library, index) => String.fromCharCode(65 + index));
const totals = libraries.map((_library, index) => rows.filter(({ cells }) => cells[index] === "✔").length);
const page = `# Comparison

What libraries for custom resources do when something goes wrong. Each cell is one invocation in a process of its own,
against a real TLS endpoint that misbehaves as the row says; ✔ means that exactly one right answer arrived (or, where
none can arrive, that the invocation failed so that it is tried again), else what was wrong. The libraries are used as
their documentation says. Node ${process.versions.node}; written by \`bench/libraries/compare.ts\`, not by hand.

${libraries.map(({ name }, index) => `- **${letters[index]}** ${name}: ${totals[index]} of ${rows.length}`).join("\n")}

| scenario | ${letters.join(" | ")} |
|---|${letters.map(() => "---").join("|")}|
${rows.map(({ scenario, cells }) => `| ${scenario} | ${cells.join(" | ")} |`).join("\n")}
`;
writeFileSync("docs/provider/comparison.md", page);
console.log(`@custard/provider: ${totals[0]} of ${rows.length}; best other: ${Math.max(...totals.slice(1))}`);
