import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../cli/support/temporary-folder.ts";
import { hasPythonPackage } from "../support/present.ts";
import { emptyConfig } from "../../packages/custard/src/services/config.ts";
import { custard, deploy, templateFor } from "./support.ts";

// Functions never reach AWS itself: with an endpoint its calls are answered here, without one they are refused.

/** Tells what became of an act as the attribute Size. */
const node = (act: string) => `
const response = require("cfn-response");
exports.handler = async (event, context) => {
  let told = "deleted";
  try {
    if (event.RequestType !== "Delete") told = await (${act})();
  } catch (error) {
    told = error.name + ": " + error.message;
  }
  await response.send(event, context, "SUCCESS", { Size: told });
};`;

const python = (act: string) => `
import cfnresponse
def handler(event, context):
    told = "deleted"
    try:
        if event["RequestType"] != "Delete":
            told = act()
    except Exception as error:
        told = type(error).__name__ + ": " + str(error)
    cfnresponse.send(event, context, "SUCCESS", {"Size": told})
def act():
${act.replaceAll(/^/gm, "    ")}
`;

const identity = `async () => {
  const { STSClient, GetCallerIdentityCommand } = require("@aws-sdk/client-sts");
  return (await new STSClient({}).send(new GetCallerIdentityCommand({}))).Account;
}`;
const ask = 'import boto3\nreturn boto3.client("sts").get_caller_identity()["Account"]';
/** As an SDK does that doesn't know AWS_ENDPOINT_URL. */
const askOldWay = `import os\nos.environ.pop("AWS_ENDPOINT_URL", None)\n${ask}`;
const refused =
  /Functions don't reach AWS from here, and nothing on this machine stands for \S+: run custard serve/;

interface Case {
  readonly name: string;
  readonly code: string;
  readonly runtime: string;
  readonly interpreter?: string;
  readonly without: RegExp;
  readonly with?: RegExp;
}

const debianPython = "/usr/bin/python3";

const cases: readonly Case[] = [
  {
    name: "SDK for JavaScript",
    runtime: "nodejs22.x",
    code: node(identity),
    without: refused,
    with: /^123456789012$/,
  },
  { name: "boto3", runtime: "python3.12", code: python(ask), without: refused, with: /^123456789012$/ },
  {
    name: "boto3 of before AWS_ENDPOINT_URL",
    runtime: "python3.12",
    interpreter: debianPython,
    code: python(askOldWay),
    without: refused,
    with: /^123456789012$/,
  },
  {
    name: "plain HTTP",
    runtime: "nodejs22.x",
    code: node(
      'async () => await new Promise((_, no) => require("http").get("http://s3.amazonaws.com/", no).on("error", no))',
    ),
    without: /^Error: Functions don't reach AWS from here: s3\.amazonaws\.com:80$/,
  },
  {
    name: "plain HTTP in Python",
    runtime: "python3.12",
    code: python('from urllib.request import urlopen\nurlopen("http://s3.amazonaws.com/")'),
    without: /Functions don't reach AWS from here: s3\.amazonaws\.com:80/,
  },
  {
    name: "a machine's own credentials",
    runtime: "nodejs22.x",
    code: node(
      'async () => await new Promise((_, no) => require("http").get("http://169.254.169.254/latest/", no).on("error", no))',
    ),
    without: /^Error: Functions don't reach AWS from here: 169\.254\.169\.254:80$/,
  },
];

const isReady = ({ code, interpreter }: Case) =>
  !code.includes("boto3") ||
  hasPythonPackage("boto3", interpreter === undefined ? {} : { python: interpreter });

async function told(one: Case, served: boolean): Promise<string> {
  const folder = temporaryFolder();
  const { code, runtime, interpreter } = one;
  const local = {
    ...(served ? { endpoint: { port: 0, version: "test" } } : {}),
    ...(interpreter === undefined ? {} : { config: { ...emptyConfig, python: interpreter } }),
  };
  const outputs = await deploy(folder, templateFor({ Runtime: runtime, Code: { ZipFile: code } }, {}), local);
  await custard(folder, ["delete", "test"], { local });
  return outputs["Size"] ?? "";
}

for (const one of cases) {
  test.skipIf(!isReady(one))(`${one.name}, without an endpoint`, async () => {
    expect(await told(one, false)).toMatch(one.without);
  });
}

for (const one of cases.filter((each) => each.with !== undefined)) {
  test.skipIf(!isReady(one))(`${one.name}, with an endpoint`, async () => {
    expect(await told(one, true)).toMatch(one.with ?? /^$/);
  });
}

test("a function finds AWS's SDK in the project, and no other package of it", async () => {
  const code = node(`async () => {
    const found = (name) => { try { require.resolve(name); return true; } catch { return false; } };
    return ["@aws-sdk/client-sts", "@smithy/types", "express"].map(found).join();
  }`);
  const one = { name: "", code, runtime: "nodejs22.x", without: /^/ };
  expect(await told(one, false)).toBe("true,true,false");
});

test("a function has no home, no credentials and no settings of the user's", async () => {
  const names = ["HOME", "AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_EC2_METADATA_DISABLED"];
  const code = node(`async () => ${JSON.stringify(names)}.map((name) => process.env[name]).join()`);
  const [home = "", key, ...others] = (
    await told({ name: "", code, runtime: "nodejs22.x", without: /^/ }, false)
  ).split(",");
  expect(home).toContain("custard-");
  expect(home).not.toBe(process.env["HOME"]);
  expect(existsSync(join(home, ".aws"))).toBe(false);
  expect(key).toMatch(/^ASIA/);
  expect(others).toEqual(["", "/dev/null", "true"]);
});
