// As in its README: awaited, errors caught by hand.
import { createRequire } from "node:module";
import { behave } from "../../../tests/provider/harness/behaviours.mjs";
const response = createRequire(import.meta.url)("cfn-response-promise");

const behaviour = process.env.PROBE_BEHAVIOUR;
if (behaviour === "init") throw new Error("an environment variable is missing");

export const handler = async (event, context) => {
  try {
    const { id, data, noEcho } = await behave(behaviour, event);
    return await response.send(event, context, response.SUCCESS, data, id, noEcho);
  } catch (error) {
    return response.send(event, context, response.FAILED, { Error: error.message });
  }
};
