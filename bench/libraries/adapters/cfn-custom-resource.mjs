// As in its README: awaited, errors caught by hand.
import { createRequire } from "node:module";
import { behave } from "../../../tests/provider/harness/behaviours.mjs";
const { sendFailure, sendSuccess } = createRequire(import.meta.url)("cfn-custom-resource");

const behaviour = process.env.PROBE_BEHAVIOUR;
if (behaviour === "init") throw new Error("an environment variable is missing");

export const handler = async (event) => {
  let outcome;
  try {
    outcome = await behave(behaviour, event);
  } catch (error) {
    return sendFailure(error.message, event);
  }
  return sendSuccess(outcome.id, outcome.data, event);
};
