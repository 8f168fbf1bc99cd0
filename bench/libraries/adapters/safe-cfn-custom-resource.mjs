// As in its README: everything within the factory.
import { createRequire } from "node:module";
import { behave } from "../../../tests/provider/harness/behaviours.mjs";
const safe = createRequire(import.meta.url)("safe-cfn-custom-resource");
const behaviour = process.env.PROBE_BEHAVIOUR;

export const handler = safe(() => {
  if (behaviour === "init") throw new Error("an environment variable is missing");
  const run = (event) => behave(behaviour, event);
  return { create: run, update: run, delete: run };
});
