// The SDK, as its documentation says.
import { defineResource, lambdaHandler } from "@custard/provider";
import { behave } from "./behaviours.mjs";

const behaviour = process.env.PROBE_BEHAVIOUR;
if (behaviour === "init") {
  // Loading the resource fails: it is loaded lazily, so that even this is answered.
}

const run = async (type, { id, properties, ctx }) => {
  const { data, id: made } = await behave(behaviour, {
    RequestType: type,
    PhysicalResourceId: id,
    ...properties,
  });
  ctx.log.info("done", { data });
  return { id: made, data };
};

const resource = () => {
  if (behaviour === "init") throw new Error("an environment variable is missing");
  return defineResource({
    type: "Custom::Probe",
    sensitive: ["ApiKey", "Password"],
    async create(call) {
      const { id, data } = await run("Create", call);
      return id === undefined ? { attributes: data } : { id, attributes: data };
    },
    async update(call) {
      return (await run("Update", call)).data;
    },
    async delete({ id, properties, ctx }) {
      await run("Delete", { id, properties: properties.raw ?? properties.value, ctx });
    },
  });
};

export const handler = lambdaHandler({ load: async () => resource() });
