// As in its README: awaited, errors caught by hand.
import { createRequire } from "node:module";
import { behave } from "../../../tests/provider/harness/behaviours.mjs";
const { FAILED, send, SUCCESS } = createRequire(import.meta.url)("cfn-response-async");

const behaviour = process.env.PROBE_BEHAVIOUR;
if (behaviour === "init") throw new Error("an environment variable is missing");

export const handler = async (event, context) => {
  try {
    const { id, data } = await behave(behaviour, event);
    return await send(event, context, SUCCESS, data, id);
  } catch (error) {
    return send(event, context, FAILED, { Error: error.message });
  }
};
