// As in its README: an instance for each request.
import { createRequire } from "node:module";
import { behave } from "../../../tests/provider/harness/behaviours.mjs";
const { CustomResource } = createRequire(import.meta.url)("aws-cloudformation-custom-resource");

const behaviour = process.env.PROBE_BEHAVIOUR;
if (behaviour === "init") throw new Error("an environment variable is missing");

export const handler = async (event, context) => {
  const run = async (resource) => {
    const { id, data, noEcho } = await behave(behaviour, event);
    if (id !== undefined) resource.setPhysicalResourceId(id);
    if (noEcho) resource.setNoEcho?.(true);
    for (const [name, value] of Object.entries(data)) resource.addResponseValue(name, value);
  };
  return new CustomResource(event, context, run, run, run).done();
};
