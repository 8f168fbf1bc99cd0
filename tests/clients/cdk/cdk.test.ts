import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { ListBucketsCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { present } from "../../support/present.ts";
import { run, type Server, startServer } from "../server.ts";

const program = fileURLToPath(new URL("node_modules/.bin/cdk", import.meta.url));
const app = fileURLToPath(new URL("app.cjs", import.meta.url));
const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const [found] = present("the CDK", [program], "--version");

/** `npm ci --prefix tests/clients/cdk` installs it. */
describe.skipIf(found === undefined)("the CDK", () => {
  let server: Server;
  let settings: {
    endpoint: string;
    region: string;
    credentials: { accessKeyId: string; secretAccessKey: string };
  };

  beforeAll(async () => {
    server = await startServer(["--node-modules", modules]);
    const credentials = { accessKeyId: "test", secretAccessKey: "test" };
    settings = { endpoint: server.url, region: "us-east-1", credentials };
    await cdk("1", "bootstrap", "aws://123456789012/us-east-1");
  }, 120_000);

  afterAll(async () => {
    await server.close();
  });

  /** Runs it on the app with that value; it must succeed. Each run has an output of its own: several go on at once. */
  async function cdk(value: string, ...rest: readonly string[]): Promise<string> {
    const environment = {
      ...server.environment,
      VALUE: value,
      CI: "true",
      CDK_DISABLE_CLI_TELEMETRY: "true",
      // The CDK's own check of templates takes ten times as long as all else, and never meets the endpoint.
      CDK_VALIDATION: "false",
    };
    const output = await mkdtemp(join(server.folder, "cdk-out-"));
    const shared = ["--app", `${process.execPath} ${app}`, "--output", output, "--no-notices", "--no-color"];
    const { code, stdout, stderr } = await run([program, ...shared, ...rest], { ...server, environment });
    if (code !== 0) throw new Error(`cdk ${rest.join(" ")} failed: ${stdout}${stderr}`);
    return stdout + stderr;
  }

  async function deploy(value: string, stack: string, ...rest: readonly string[]): Promise<string> {
    return await cdk(value, "deploy", stack, "--require-approval", "never", ...rest);
  }

  test.concurrent("a stack is deployed, found unchanged, compared, changed and destroyed", async () => {
    expect(await deploy("1", "Inline")).toContain("Inline.Doubled = 2");
    expect(await deploy("1", "Inline")).toContain("Inline (no changes)");
    expect(await cdk("2", "diff", "Inline")).toContain("[~] Custom::Mine Mine");
    expect(await deploy("2", "Inline")).toContain("Inline.Doubled = 4");
    expect(await deploy("3", "Inline", "--method=direct")).toContain("Inline.Doubled = 6");
    expect(await cdk("3", "destroy", "--force", "Inline")).toContain("Inline: destroyed");
  }, 300_000);

  test.concurrent("the provider framework works, with and without isComplete", async () => {
    expect(await deploy("1", "Provided")).toContain("Provided.Got = 1");
    expect(await deploy("1", "Waiting")).toContain("Waiting.End = done");
    await cdk("1", "destroy", "--force", "Provided", "Waiting");
  }, 300_000);

  test.concurrent("AwsCustomResource calls SSM here", async () => {
    expect(await deploy("seven", "Calling")).toContain("Calling.Version = 1");
    const client = new SSMClient(settings);
    const { Parameter } = await client.send(new GetParameterCommand({ Name: "/from/cdk" }));
    expect(Parameter?.Value).toBe("seven");
    await cdk("seven", "destroy", "--force", "Calling");
    await expect(client.send(new GetParameterCommand({ Name: "/from/cdk" }))).rejects.toMatchObject({
      name: "ParameterNotFound",
    });
  }, 300_000);

  test.concurrent("autoDeleteObjects empties its bucket", async () => {
    await deploy("1", "Emptied");
    const client = new S3Client(settings);
    await client.send(new PutObjectCommand({ Bucket: "emptied-by-the-cdk", Key: "a", Body: "b" }));
    await cdk("1", "destroy", "--force", "Emptied");
    const { Buckets = [] } = await client.send(new ListBucketsCommand({}));
    expect(Buckets.map(({ Name }) => Name)).not.toContain("emptied-by-the-cdk");
  }, 300_000);
});
