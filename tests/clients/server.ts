/** `custard serve` as users start it, for tests with AWS's own clients. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A server in a folder of its own. */
export interface Server {
  readonly url: string;
  /** Where the clients are run, too. */
  readonly folder: string;
  /** What a client needs to find it, and nothing of the user's own settings. */
  readonly environment: Readonly<Record<string, string>>;
  /** What it has told on stderr: a line of JSON for each request. */
  log(): string;
  close(): Promise<void>;
}

/** What a program said. */
export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const custard = fileURLToPath(new URL("../../packages/custard/bin/custard.js", import.meta.url));

export async function startServer(options: readonly string[] = []): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), "custard-clients-"));
  const child = spawn(process.execPath, [custard, "serve", "--port", "0", "--json", ...options], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const ready = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  const [first] = ready as [unknown];
  if (!Buffer.isBuffer(first)) throw new Error(`The server ended: ${log}`);
  const { url } = JSON.parse(first.toString()) as { readonly url: string };
  return {
    url,
    folder,
    log: () => log,
    environment: {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      AWS_DEFAULT_REGION: "us-east-1",
      AWS_REGION: "us-east-1",
      AWS_ENDPOINT_URL: url,
      AWS_EC2_METADATA_DISABLED: "true",
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
    },
    async close() {
      child.kill("SIGTERM");
      await once(child, "exit");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Runs a program to its end. */
export async function run(
  command: readonly [program: string, ...rest: string[]],
  { folder, environment }: Pick<Server, "folder" | "environment">,
): Promise<Run> {
  const [program, ...rest] = command;
  const child = spawn(program, rest, { cwd: folder, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

/** A stack with a function and a custom resource, whose one parameter says what the resource answers. */
export const template = `
Parameters:
  Word: { Type: String, Default: one }
  Fail: { Type: String, Default: "" }
Resources:
  Role:
    Type: AWS::IAM::Role
    Properties: { AssumeRolePolicyDocument: { Version: "2012-10-17", Statement: [] } }
  Function:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: nodejs20.x
      Handler: index.handler
      Role: !GetAtt Role.Arn
      Code:
        ZipFile: |
          const response = require("cfn-response");
          exports.handler = (event, context) => {
            if (!event.ResourceProperties) return context.done(null, { echo: event });
            console.log("word", event.ResourceProperties.Word);
            const failed = event.ResourceProperties.Fail === event.RequestType;
            response.send(event, context, failed ? "FAILED" : "SUCCESS", { Word: event.ResourceProperties.Word }, "mine");
          };
  Mine:
    Type: Custom::Mine
    Properties: { ServiceToken: !GetAtt Function.Arn, Word: !Ref Word, Fail: !Ref Fail }
Outputs:
  Word: { Value: !GetAtt Mine.Word, Export: { Name: !Sub "\${AWS::StackName}-word" } }
  Function: { Value: !Ref Function }
`;
