// What the author's code does in each scenario: the same for every library.

/** Resolves with `{ id, data }`, or does what the scenario wants to see survived. */
export async function behave(name, request) {
  const isUpdateOrDelete = request.RequestType !== "Create";
  switch (name) {
    case "unicode":
      return { id: "thing-1", data: { Text: "ü 日本 🚀" } };
    case "throw":
      throw new Error("the quota is used up");
    case "throwbig":
      throw new Error(`${"ü".repeat(5000)} the end`);
    case "hang":
      return new Promise(() => setInterval(() => undefined, 1000));
    case "detached":
      setTimeout(() => {
        throw new Error("thrown in a timer");
      }, 20);
      return new Promise(() => undefined);
    case "rejection":
      setTimeout(() => void Promise.reject(new Error("rejected, and nobody listens")), 20);
      return new Promise(() => undefined);
    case "bigdata":
      return { id: "thing-1", data: { Small: "x", Large: "ü".repeat(3000) } };
    case "circular": {
      const data = { Name: "x" };
      data.self = data;
      return { id: "thing-1", data };
    }
    case "noid":
      return { data: { A: "1" } };
    case "secret":
      return { id: "thing-1", data: { Password: "s3cr3t-data" }, noEcho: true };
    default:
      return { id: isUpdateOrDelete ? request.PhysicalResourceId : "thing-1", data: { A: "1" } };
  }
}
