// As in its README: a middleware.
import cloudformationResponse from "@middy/cloudformation-response";
import middy from "@middy/core";
import { behave } from "../../../tests/provider/harness/behaviours.mjs";

const behaviour = process.env.PROBE_BEHAVIOUR;
if (behaviour === "init") throw new Error("an environment variable is missing");

export const handler = middy(async (event) => {
  const { id, data } = await behave(behaviour, event);
  return { PhysicalResourceId: id, Data: data };
}).use(cloudformationResponse());
