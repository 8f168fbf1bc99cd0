// As in its README: a callback handler, errors caught by hand.
import { createRequire } from "node:module";
import { behave } from "../../../tests/provider/harness/behaviours.mjs";
const response = createRequire(import.meta.url)("cfn-response");

const behaviour = process.env.PROBE_BEHAVIOUR;
if (behaviour === "init") throw new Error("an environment variable is missing");

export const handler = (event, context, _callback) => {
  behave(behaviour, event)
    .then(({ id, data }) => response.send(event, context, response.SUCCESS, data, id))
    .catch((error) => response.send(event, context, response.FAILED, { Error: error.message }));
};
