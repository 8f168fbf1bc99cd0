import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FaultyEndpoint, openFaultyEndpoint } from "./harness/endpoint.ts";
import { faultsOf, probe, probeHosts } from "./harness/probe.ts";
import { scenarios } from "./harness/scenarios.ts";

const adapter = fileURLToPath(new URL("harness/custard.mjs", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "custard-provider-"));
const child = fileURLToPath(new URL("harness/child.mjs", import.meta.url));
let endpoint: FaultyEndpoint;

beforeAll(async () => {
  endpoint = await openFaultyEndpoint(directory, probeHosts);
});

afterAll(async () => {
  await endpoint.close();
  rmSync(directory, { recursive: true });
});

test.each(scenarios)("$name", async (scenario) => {
  const observation = await probe(adapter, scenario, { endpoint, child });
  expect({ faults: faultsOf(scenario, observation), output: observation.output }).toMatchObject({
    faults: [],
  });
});
