import { expect, test } from "vitest";
import { temporaryFolder } from "../cli/support/temporary-folder.ts";
import { custard, deploy, templateFor } from "./support.ts";

const code = `
const response = require("cfn-response");
exports.handler = async (event, context) => {
  console.log("for " + event.LogicalResourceId);
  await response.send(event, context, "SUCCESS", { Size: "1" }, "thing");
};`;

/** Two resources of one provider. */
function template(): object {
  const { Resources, ...rest } = templateFor({ Code: { ZipFile: code } }, {}) as {
    Resources: Record<string, { Type: string; Properties: object }>;
  };
  return { ...rest, Resources: { ...Resources, Other: Resources["Thing"] } };
}

test("the log of a custom resource is that of its requests, also after its stack is gone", async () => {
  const folder = temporaryFolder();
  await deploy(folder, template());
  const thing = await custard(folder, ["logs", "Thing"]);
  expect(thing).toContain("for Thing");
  expect(thing).not.toContain("for Other");
  await custard(folder, ["delete", "test"]);
  const gone = await custard(folder, ["logs", "Other"]);
  expect(gone.match(/for Other/g)).toHaveLength(2);
  expect(gone).not.toContain("for Thing");
});
