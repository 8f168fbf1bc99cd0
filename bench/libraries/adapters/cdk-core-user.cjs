const behaviour = process.env.PROBE_BEHAVIOUR;
if (behaviour === "init") throw new Error("an environment variable is missing");

exports.handler = async (event) => {
  const { behave } = await import("../../../tests/provider/harness/behaviours.mjs");
  const { id, data, noEcho } = await behave(behaviour, event);
  return { PhysicalResourceId: id, Data: data, NoEcho: noEcho };
};
