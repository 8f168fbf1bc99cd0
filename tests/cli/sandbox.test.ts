import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { custardEnds, deploy, endsWith, startCustard, storyOf } from "./support/custard.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// A provider that is nothing but a shell script with curl: it knows no proxy and no certificate of Custard's.
const bootstrap = `#!/bin/sh
api="http://$AWS_LAMBDA_RUNTIME_API/2018-06-01/runtime/invocation"
member() { printf '%s' "$event" | sed 's/.*"'"$1"'":"\\([^"]*\\)".*/\\1/'; }
while true; do
  event=$(curl -sS -D /tmp/headers "$api/next")
  id=$(sed -n 's/^lambda-runtime-aws-request-id: *\\([^[:space:]]*\\).*/\\1/Ip' /tmp/headers)
  printf '{"Status":"SUCCESS","PhysicalResourceId":"shell","StackId":"%s","RequestId":"%s","LogicalResourceId":"%s","Data":{"Where":"%s","Home":"%s"}}' \\
    "$(member StackId)" "$(member RequestId)" "$(member LogicalResourceId)" "$PWD" "$(ls -d /root /home 2>/dev/null)" > /tmp/body
  echo "asked to $(member RequestType)"
  curl -sS -X PUT -H 'Content-Type:' --data-binary @/tmp/body "$(member ResponseURL)"
  curl -sS -d done "$api/$id/response" > /dev/null
done
`;

const template = `Resources:
  Provider:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: provided.al2023
      Handler: bootstrap
      Timeout: 20
      Role: arn:aws:iam::123456789012:role/r
      Code: ./provider
  Thing:
    Type: Custom::Thing
    Properties:
      ServiceToken: !GetAtt Provider.Arn
      ServiceTimeout: 30
Outputs:
  Where:
    Value: !GetAtt Thing.Where
  Home:
    Value: !Sub "(\${Thing.Home})"
`;

function projectFolder(): string {
  const folder = temporaryFolder({ "template.yaml": template });
  mkdirSync(join(folder, "provider"));
  writeFileSync(join(folder, "provider/bootstrap"), bootstrap);
  chmodSync(join(folder, "provider/bootstrap"), 0o755);
  return folder;
}

test("a shell script with curl completes a stack in the sandbox, and stays in it", async () => {
  const folder = projectFolder();
  const created = await deploy(folder, 0, "--sandbox");
  expect(created.outputs).toEqual({ Where: "/var/task", Home: "()" });
  expect(storyOf(created.events, "Thing").at(-1)).toBe("CREATE_COMPLETE");
  // The directory remembers, and what is announced is what happens.
  const again = await custardEnds(0, folder, ["deploy", "template.yaml", "--stack-name", "again"]);
  expect(again.stdout).toMatch(/^Runs Provider \(provided\.al2023\) in a sandbox, from \.\/provider\n/);
  // It could not answer from outside: its system knows no such host.
  const deleted = await custardEnds(0, folder, ["delete", "test", "--json"]);
  expect(storyOf(deleted.lines, "Thing")).toEqual(["DELETE_IN_PROGRESS", "DELETE_COMPLETE"]);
});

test("--no-sandbox leads out of it again", async () => {
  const source = "exports.handler = async () => { throw new Error(process.cwd()); };";
  const folder = temporaryFolder({ "provider.js": source });
  mkdirSync(join(folder, ".custard"));
  const call = ["invoke", "--module", "provider.js", "create"];
  const where = async (...more: string[]) => (await custardEnds(1, folder, [...call, ...more])).stdout;
  expect(await where("--sandbox")).toContain("Error: /var/task");
  expect(await where()).toContain("Error: /var/task");
  expect(await where("--no-sandbox")).toContain(`Error: ${folder}`);
  expect(await where()).toContain(`Error: ${folder}`);
});

test("without bubblewrap nothing is run", async () => {
  const folder = projectFolder();
  const programs = join(folder, "programs");
  mkdirSync(programs);
  symlinkSync(process.execPath, join(programs, "node"));
  const running = startCustard(folder, ["deploy", "template.yaml", "--sandbox"], { PATH: programs });
  const ended = await endsWith(1, running.ended);
  expect(ended.stderr).toContain("Functions can't be run in a sandbox here: there is no bwrap on the PATH.");
  expect(ended.stdout).not.toContain("CREATE_IN_PROGRESS");
});

test("a single request is sandboxed as well", async () => {
  const source = `
    const https = require("node:https");
    exports.handler = async (event) => {
      const body = JSON.stringify({ Status: "SUCCESS", PhysicalResourceId: process.cwd(), StackId: event.StackId, RequestId: event.RequestId, LogicalResourceId: event.LogicalResourceId });
      const url = new URL(event.ResponseURL);
      await new Promise((done) => https.request({ hostname: url.hostname, path: url.pathname + url.search, method: "PUT", headers: { "content-length": body.length } }, done).end(body));
    };`;
  const folder = temporaryFolder({ "provider.js": source });
  const ended = await custardEnds(0, folder, [
    "invoke",
    "--module",
    "provider.js",
    "create",
    "--sandbox",
    "--json",
  ]);
  expect(JSON.parse(ended.stdout)).toMatchObject({ response: { physicalId: "/var/task" } });
});

test("version 2 URLs refuse an answer with a content-type, and say why", async () => {
  const source = `exports.handler = async (event) => {
    const body = JSON.stringify({ Status: "SUCCESS", PhysicalResourceId: "x", StackId: event.StackId, RequestId: event.RequestId, LogicalResourceId: event.LogicalResourceId });
    const headers = event.ResourceProperties.Type === undefined ? {} : { "content-type": event.ResourceProperties.Type };
    await fetch(event.ResponseURL, { method: "PUT", body: Buffer.from(body), headers });
  };`;
  const folder = temporaryFolder({ "provider.js": source });
  const call = ["invoke", "--module", "provider.js", "create", "--response-url-style", "v2", "--json"];
  await custardEnds(0, folder, call);
  const refused = await custardEnds(1, folder, [...call, "--properties", "Type=application/json"]);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    outcome: "silent",
    advice: expect.stringMatching(/403 SignatureDoesNotMatch.*content-type/),
  });
  const unknown = await custardEnds(2, folder, [...call.slice(0, -2), "v3"]);
  expect(unknown.stderr).toContain('--response-url-style takes v4 or v2, but got "v3"');
});
