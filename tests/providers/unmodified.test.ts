import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../cli/support/temporary-folder.ts";
import { cdkLibrary } from "./aws-cdk-lib.ts";
import { deploy, custard, liveThrough, templateFor } from "./support.ts";
import { hasPythonPackage } from "../support/present.ts";

// Providers as they run on AWS, unmodified, through a stack's life: create, update in place, delete.

/** A folder with a function's code. */
function codeFolder(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const sources = resolve(import.meta.dirname, "../../packages/custard/src");
const packages = resolve(import.meta.dirname, "../../node_modules");

test("the entry point of CDK's single-function handlers", async ({ skip }) => {
  const library = await cdkLibrary();
  if (library === undefined) return skip("aws-cdk-lib can't be had from the registry");
  // As CDK lays them out: its entry point runs the handler beside it.
  const code = codeFolder({
    "index.js": `exports.handler = async (event) => {
      if (event.RequestType === "Delete" && event.PhysicalResourceId !== "thing") throw new Error("not mine");
      return { PhysicalResourceId: "thing", Data: { Size: "size " + event.ResourceProperties.Size } };
    };`,
  });
  cpSync(
    join(library, "custom-resource-handlers/dist/core/nodejs-entrypoint-handler/index.js"),
    join(code, "__entrypoint__.js"),
  );
  const provider = { Code: code, Handler: "__entrypoint__.handler", Runtime: "nodejs22.x" };
  const life = await liveThrough(temporaryFolder(), (Size) => templateFor(provider, { Size }));
  expect(life).toEqual({
    created: { Id: "thing", Size: "size 1" },
    updated: { Id: "thing", Size: "size 2" },
  });
});

test("what CDK's single-function handler throws is the reason", async ({ skip }) => {
  const library = await cdkLibrary();
  if (library === undefined) return skip("aws-cdk-lib can't be had from the registry");
  const code = codeFolder({ "index.js": "exports.handler = async () => { throw new Error('no room'); };" });
  cpSync(
    join(library, "custom-resource-handlers/dist/core/nodejs-entrypoint-handler/index.js"),
    join(code, "__entrypoint__.js"),
  );
  const folder = temporaryFolder();
  const template = templateFor({ Code: code, Handler: "__entrypoint__.handler" }, {});
  writeFileSync(join(folder, "template.json"), JSON.stringify(template));
  const told = await custard(folder, ["deploy", "template.json", "--stack-name", "test"], { code: 1 });
  expect(told).toContain("Message returned: Error: no room");
  // The Delete that follows is for the marker of a failed Create, and passes.
  expect(told).toContain("ROLLBACK_COMPLETE");
});

test("CDK's provider framework, which calls the user's functions by AWS's API and waits for them", async ({
  skip,
}) => {
  const library = await cdkLibrary();
  if (!existsSync(join(sources, "api/services/lambda.ts"))) return skip("the endpoint doesn't serve Lambda");
  if (library === undefined) return skip("aws-cdk-lib can't be had from the registry");
  const framework = join(library, "custom-resources/lib/provider-framework/runtime");
  const template = (Size: string): object => {
    const { Resources, Outputs }: { Resources?: object; Outputs?: object } = templateFor(
      {
        Code: framework,
        Handler: "framework.onEvent",
        Environment: { Variables: { USER_ON_EVENT_FUNCTION_ARN: { "Fn::GetAtt": ["OnEvent", "Arn"] } } },
      },
      { Size },
    );
    const onEvent = {
      Type: "AWS::Lambda::Function",
      Properties: {
        Runtime: "nodejs22.x",
        Handler: "index.handler",
        Role: "arn:aws:iam::123456789012:role/none",
        Code: {
          ZipFile:
            'exports.handler = async (event) => ({ PhysicalResourceId: "thing", Data: { Size: "size " + event.ResourceProperties.Size } });',
        },
      },
    };
    return { Resources: { ...Resources, OnEvent: onEvent }, Outputs };
  };
  const local = { endpoint: { port: 0, version: "test" } };
  const life = await liveThrough(temporaryFolder(), template, local);
  expect(life).toEqual({
    created: { Id: "thing", Size: "size 1" },
    updated: { Id: "thing", Size: "size 2" },
  });
});

test("cfn-response from npm", async () => {
  const code = codeFolder({
    "index.js": `const response = require("cfn-response");
      exports.handler = (event, context) =>
        response.send(event, context, response.SUCCESS, { Size: "size " + event.ResourceProperties.Size }, "thing");`,
  });
  cpSync(join(packages, "cfn-response"), join(code, "node_modules/cfn-response"), { recursive: true });
  const life = await liveThrough(temporaryFolder(), (Size) => templateFor({ Code: code }, { Size }));
  expect(life).toEqual({
    created: { Id: "thing", Size: "size 1" },
    updated: { Id: "thing", Size: "size 2" },
  });
});

const send: Readonly<Record<string, string>> = {
  requests: "import requests\ndef send(url, body):\n    requests.put(url, data=body).raise_for_status()",
  urllib3:
    "import urllib3\nhttp = urllib3.PoolManager()\ndef send(url, body):\n    assert http.request('PUT', url, headers={'content-type': ''}, body=body).status == 200",
  "http.client":
    "from http.client import HTTPSConnection\nfrom urllib.parse import urlsplit\ndef send(url, body):\n    parts = urlsplit(url)\n    connection = HTTPSConnection(parts.hostname)\n    connection.request('PUT', f'{parts.path}?{parts.query}', body)\n    assert connection.getresponse().status == 200",
  "urllib.request":
    "from urllib.request import Request, urlopen\ndef send(url, body):\n    urlopen(Request(url, data=body, method='PUT', headers={'content-type': ''})).close()",
};

for (const [sender, source] of Object.entries(send)) {
  test.skipIf(!hasPythonPackage(sender))(`a sender on ${sender}`, async () => {
    const ZipFile = `import json
${source}
def handler(event, context):
    ids = {name: event[name] for name in ("RequestId", "StackId", "LogicalResourceId")}
    answer = {"Status": "SUCCESS", "PhysicalResourceId": "grün", **ids}
    answer["Data"] = {"Size": "size " + event["ResourceProperties"]["Size"]}
    send(event["ResponseURL"], json.dumps(answer, ensure_ascii=False).encode())
`;
    const provider = { Code: { ZipFile }, Runtime: "python3.12" };
    const life = await liveThrough(temporaryFolder(), (Size) => templateFor(provider, { Size }));
    expect(life).toEqual({
      created: { Id: "grün", Size: "size 1" },
      updated: { Id: "grün", Size: "size 2" },
    });
  });
}

test.skipIf(!hasPythonPackage("crhelper", { isOfDebian: false }))("crhelper", async () => {
  const ZipFile = `from crhelper import CfnResource
helper = CfnResource()
@helper.create
@helper.update
def make(event, context):
    helper.Data["Size"] = "size " + event["ResourceProperties"]["Size"]
    return "thing"
@helper.delete
def remove(event, context):
    pass
def handler(event, context):
    helper(event, context)
`;
  const provider = { Code: { ZipFile }, Runtime: "python3.12" };
  const outputs = await deploy(temporaryFolder(), templateFor(provider, { Size: "1" }));
  expect(outputs).toEqual({ Id: "thing", Size: "size 1" });
});
