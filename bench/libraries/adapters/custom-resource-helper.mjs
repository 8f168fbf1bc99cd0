// As in its README: everything within the factory.
import { createRequire } from "node:module";
import { behave } from "../../../tests/provider/harness/behaviours.mjs";
const { customResourceHelper } = createRequire(import.meta.url)("custom-resource-helper");
const behaviour = process.env.PROBE_BEHAVIOUR;

export const handler = customResourceHelper(() => {
  if (behaviour === "init") throw new Error("an environment variable is missing");
  const run = async (event) => {
    const { id, data } = await behave(behaviour, event);
    return { physicalResourceId: id, responseData: data };
  };
  return { onCreate: run, onUpdate: run, onDelete: run };
});
