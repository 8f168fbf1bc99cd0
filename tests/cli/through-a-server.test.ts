import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  courseOf,
  custardEnds,
  deploy,
  endsWith,
  type Line,
  readJson,
  startCustard,
} from "./support/custard.ts";
import { readDiary, scripted, templateOf } from "./support/scripted-provider.ts";
import { addressIn, startServing } from "./support/served.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// While `custard serve` works on a state directory the command line works through it, as if it had an engine of its own.

const thing = templateOf({ Thing: scripted({}, { Color: "red" }) }, { Id: { Ref: "Thing" } });
const failing = templateOf({
  Thing: scripted({ OnCreate: { answer: { Status: "FAILED", Reason: "no more things" } } }),
});
const silent = templateOf({ Thing: scripted({ OnCreate: { silent: true } }) });

describe("the same as with an engine of its own", () => {
  test("a stack's life: the same events, results and exit codes", async () => {
    const alone = temporaryFolder({ "template.yaml": thing });
    const served = temporaryFolder({ "template.yaml": thing });
    await startServing(served);
    const lives = [];
    for (const folder of [alone, served]) {
      const created = await deploy(folder, 0);
      const again = await deploy(folder, 0);
      writeFileSync(join(folder, "template.yaml"), thing.replace('"red"', '"blue"'));
      const updated = await deploy(folder, 0);
      const deleted = await custardEnds(0, folder, ["delete", "test", "--json"]);
      lives.push([created, again, updated, deleted].map(toldBy));
    }
    expect(lives[1]).toEqual(lives[0]);
  });

  test("texts for people, too", async () => {
    const folder = temporaryFolder({ "template.yaml": thing });
    await startServing(folder);
    const { stdout } = await custardEnds(0, folder, ["deploy", "template.yaml", "--stack-name", "test"]);
    expect(stdout).toMatch(/^Runs Provider \(nodejs20\.x\) as you, from template\.yaml:\d+ \(inline\)\n/);
    expect(stdout).toContain("✓ test CREATE_COMPLETE after");
    expect(stdout).toContain("Id  id-of-Thing");
  });

  test("a failed deployment is explained, by the provider's own log lines", async () => {
    const folder = temporaryFolder({ "template.yaml": failing });
    await startServing(folder);
    const { lines } = await deploy(folder, 1);
    const failure = lines.find((line) => line.kind === "failure");
    expect(failure?.reason).toContain("no more things");
    expect(failure?.advice).toContain("answered FAILED itself");
  });

  test("a silent provider fails at once, though the server itself is as patient as AWS", async () => {
    const folder = temporaryFolder({ "template.yaml": silent });
    await startServing(folder);
    const { lines } = await deploy(folder, 1);
    expect(lines.find((line) => line.kind === "failure")?.logicalId).toBe("Thing");
  });

  test("what is refused ends with 2 and the same words", async () => {
    const folder = temporaryFolder({ "template.yaml": thing });
    await startServing(folder);
    const { stderr } = await custardEnds(2, folder, ["delete", "nobody"]);
    expect(stderr).toContain("Stack with id nobody does not exist");
    await deploy(folder, 0);
    const retained = await custardEnds(2, folder, ["delete", "test", "--retain", "Thing", "--json"]);
    expect(retained.lines[0]).toMatchObject({ kind: "error" });
    expect(retained.lines[0]?.message).toContain("DELETE_FAILED");
  });

  test("parameters and secrets", async () => {
    const folder = temporaryFolder();
    await startServing(folder);
    await custardEnds(0, folder, ["ssm", "put", "/app/size", "small"]);
    expect((await custardEnds(0, folder, ["ssm", "get", "/app/size"])).stdout).toBe("small\n");
    expect((await custardEnds(0, folder, ["ssm", "list", "/app"])).stdout).toContain("/app/size");
    await custardEnds(0, folder, ["ssm", "delete", "/app/size"]);
    expect((await custardEnds(2, folder, ["ssm", "get", "/app/size"])).stderr).toContain(
      "There is no parameter /app/size",
    );
    const made = await custardEnds(0, folder, ["secrets", "put", "app/key", "s3cret"]);
    expect(made.stdout).toContain("arn:aws:secretsmanager:us-east-1:123456789012:secret:app/key-");
    await custardEnds(0, folder, ["secrets", "put", "app/key", "other"]);
    expect(await readJson<readonly object[]>(folder, "secrets", "list")).toMatchObject([
      { name: "app/key", versions: 2 },
    ]);
    await custardEnds(0, folder, ["secrets", "delete", "app/key"]);
    const refused = await custardEnds(2, folder, ["ssm", "put", "bad name", "x"]);
    expect(refused.stderr).toMatch(/^error: Parameter name/);
  });

  test("one request without a stack, to a module of the caller's", async () => {
    const folder = temporaryFolder();
    await startServing(folder);
    mkdirSync(join(folder, "below"));
    writeFileSync(join(folder, "below/provider.cjs"), answering("Name"));
    const options = ["--module", "provider.cjs", "create", "--properties", "Name=World", "--json"];
    const { stdout } = await custardEnds(0, join(folder, "below"), ["invoke", ...options]);
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: "answered",
      response: { physicalId: "mine", data: { Name: "World" } },
    });
  });
});

describe("what belongs to the call", () => {
  test("paths and the configuration start where the template is, not where the server is", async () => {
    const folder = temporaryFolder();
    await startServing(folder);
    const project = temporaryFolder({
      "custard.config.json": JSON.stringify({ parameters: { "/word": "configured" } }),
      "template.yaml": `
Resources:
  Role: { Type: AWS::IAM::Role, Properties: { AssumeRolePolicyDocument: { Version: "2012-10-17", Statement: [] } } }
  Function:
    Type: AWS::Lambda::Function
    Properties: { Runtime: nodejs20.x, Handler: index.handler, Role: !GetAtt Role.Arn, Code: ./code }
  Mine:
    Type: Custom::Mine
    Properties: { ServiceToken: !GetAtt Function.Arn, Word: "{{resolve:ssm:/word}}" }
Outputs:
  Word: { Value: !GetAtt Mine.Word }
`,
    });
    mkdirSync(join(project, "code"));
    writeFileSync(join(project, "code/index.js"), answering("Word"));
    const state = join(folder, ".custard");
    const { outputs } = await deploy(project, 0, "--state", state);
    expect(outputs).toEqual({ Word: "configured" });
  });

  test("its region and account, not the server's", async () => {
    const folder = temporaryFolder({ "template.yaml": thing });
    await startServing(folder, ["--region", "eu-west-1", "--account", "210987654321"]);
    const { result } = await deploy(folder, 0);
    expect(result?.stackId).toContain(":us-east-1:123456789012:");
    const { result: other } = await deploy(folder, 0, "--stack-name", "other", "--region", "cn-north-1");
    expect(other?.stackId).toMatch(/^arn:aws-cn:cloudformation:cn-north-1:/);
  });

  test("--strict is heeded, what the server can't do for one call is refused with what to do", async () => {
    const simulated = JSON.stringify({
      Resources: { Table: { Type: "AWS::DynamoDB::Table", Properties: {} } },
    });
    const folder = temporaryFolder({ "template.yaml": simulated });
    const { pid } = await startServing(folder);
    const strict = await custardEnds(2, folder, ["deploy", "template.yaml", "--strict"]);
    expect(strict.stderr).toContain("--strict refuses");
    const said = async (...options: string[]) =>
      (await custardEnds(2, folder, ["deploy", "template.yaml", ...options])).stderr;
    expect(await said("--sandbox")).toContain(
      `process ${pid}, runs functions as you: end it, and start it with`,
    );
    expect(await said("--response-url-style", "v2")).toContain("makes response URLs of style v4");
    expect(await said("--subscriber-hosts", "far.example")).toContain("sends no messages to far.example");
    const resumed = await custardEnds(2, folder, ["resume", "--no-fail-fast"]);
    expect(resumed.stderr).toContain("goes on by itself");
  });

  test("--strict and fail-fast hold for nested stacks, and only for the operation that was begun with them", async () => {
    const nested = (file: string) =>
      JSON.stringify({
        Resources: { Child: { Type: "AWS::CloudFormation::Stack", Properties: { TemplateURL: file } } },
      });
    const folder = temporaryFolder({
      "template.yaml": nested("cluster.yaml"),
      "quiet.yaml": nested("silent.yaml"),
      "silent.yaml": silent,
      "cluster.yaml": JSON.stringify({ Resources: { Cluster: { Type: "AWS::ECS::Cluster" } } }),
    });
    await startServing(folder);
    const strict = await deploy(folder, 1, "--strict");
    expect(JSON.stringify(strict.lines)).toContain(
      "AWS::ECS::Cluster are only simulated, and --strict refuses",
    );
    await custardEnds(0, folder, ["delete", "test"]);
    await deploy(folder, 0);
    const quiet = await custardEnds(1, folder, ["deploy", "quiet.yaml"]);
    expect(quiet.stdout).toContain("quiet ROLLBACK_");
  });

  test("Ctrl-C ends the watching; the operation goes on in the server, and can be watched again", async () => {
    const folder = temporaryFolder();
    const diary = join(folder, "diary");
    writeFileSync(
      join(folder, "template.yaml"),
      templateOf({ Slow: scripted({ OnCreate: { delay: 3000, diary } }) }),
    );
    const { pid } = await startServing(folder);
    const running = startCustard(folder, ["deploy", "template.yaml", "--stack-name", "test"]);
    await expect.poll(() => readDiary(diary)).toHaveLength(1);
    running.child.kill("SIGINT");
    const { stderr } = await endsWith(130, running.ended);
    expect(stderr).toContain(`Left test: it goes on in custard serve (process ${pid}).`);
    expect(stderr).toContain("custard resume");
    const { stdout } = await custardEnds(0, folder, ["resume"]);
    expect(stdout).toContain("test CREATE_COMPLETE");
    expect(readDiary(diary)).toHaveLength(1);
  });
});

describe("several at once", () => {
  test("two command lines work through one server", async () => {
    const folder = temporaryFolder({ "template.yaml": thing });
    await startServing(folder);
    const [one, two] = await Promise.all(
      ["one", "two"].map(async (name) =>
        custardEnds(0, folder, ["deploy", "template.yaml", "--stack-name", name, "--json"]),
      ),
    );
    expect(courseOf(one?.lines ?? []).filter((line) => line.startsWith("two"))).toEqual([]);
    expect(two?.lines.at(-1)).toMatchObject({ kind: "result", status: "CREATE_COMPLETE" });
    const stacks = await readJson<readonly Line[]>(folder, "list");
    expect(stacks).toHaveLength(2);
  });

  test("a server that is just starting is waited for", async () => {
    const folder = temporaryFolder({ "template.yaml": thing });
    const [, { result }] = await Promise.all([startServing(folder), startedSoon(folder)]);
    expect(result?.status).toBe("CREATE_COMPLETE");
  });

  test("one that is just ending is waited for, too", async () => {
    const folder = temporaryFolder({ "template.yaml": thing });
    const serving = await startServing(folder);
    serving.child.kill("SIGTERM");
    await deploy(folder, 0);
    expect((await serving.ended).code).toBe(0);
  });

  test("who holds the directory is named, by what it does", async () => {
    const folder = temporaryFolder();
    const diary = join(folder, "diary");
    writeFileSync(
      join(folder, "template.yaml"),
      templateOf({ Slow: scripted({ OnCreate: { delay: 60_000, diary } }) }),
    );
    const running = startCustard(folder, ["deploy", "template.yaml", "--stack-name", "test"]);
    await expect.poll(() => readDiary(diary)).toHaveLength(1);
    const by = `is in use by process ${running.child.pid} (custard deploy)`;
    for (const argv of [
      ["delete", "test"],
      ["ssm", "put", "/a", "b"],
      ["serve", "--port", "0"],
    ])
      expect((await custardEnds(1, folder, argv)).stderr).toContain(by);
    running.child.kill("SIGTERM");
    await running.ended;
  });

  test("a second server is refused, the first one goes on", async () => {
    const folder = temporaryFolder({ "template.yaml": thing });
    const { pid } = await startServing(folder);
    const { stderr } = await custardEnds(1, folder, ["serve", "--port", "0"]);
    expect(stderr).toContain(`is in use by process ${pid} (custard serve)`);
    await deploy(folder, 0);
  });
});

describe("a server that ends", () => {
  test("killed: its address leads nobody astray, and an own engine goes on", async () => {
    const folder = temporaryFolder({ "template.yaml": thing });
    const serving = await startServing(folder);
    serving.child.kill("SIGKILL");
    await serving.ended;
    expect(existsSync(join(folder, ".custard/server.json"))).toBe(true);
    await deploy(folder, 0);
  });

  test("ended: its address is gone", async () => {
    const folder = temporaryFolder({ "template.yaml": thing });
    const serving = await startServing(folder);
    serving.child.kill("SIGTERM");
    expect((await serving.ended).code).toBe(0);
    expect(existsSync(join(folder, ".custard/server.json"))).toBe(false);
    await deploy(folder, 0);
  });

  test.each(["SIGTERM", "SIGKILL"] as const)(
    "by %s in the middle of an operation: the call says so, and the next server goes on",
    async (signal) => {
      const folder = temporaryFolder();
      const diary = join(folder, "diary");
      const slow = scripted({ OnCreate: { delay: 60_000, delayOnce: true, diary } });
      writeFileSync(join(folder, "template.yaml"), templateOf({ Slow: slow }));
      const serving = await startServing(folder);
      const running = startCustard(folder, ["deploy", "template.yaml", "--stack-name", "test"]);
      await expect.poll(() => readDiary(diary)).toHaveLength(1);
      serving.child.kill(signal);
      const { stderr } = await endsWith(1, running.ended);
      expect(stderr).toContain(`The server, process ${serving.pid}, has ended before it had answered.`);
      expect(stderr).toContain("custard resume, or the next custard serve, goes on with it");
      await serving.ended;
      await startServing(folder);
      const statusOf = async () => (await readJson<readonly Line[]>(folder, "list"))[0]?.status;
      await expect.poll(statusOf, { timeout: 20_000 }).toBe("CREATE_COMPLETE");
    },
  );
});

describe("nobody else", () => {
  test("only the directory's owner can read where the server is, and its secret is another in every run", async () => {
    const folder = temporaryFolder();
    const first = await startServing(folder);
    expect(statSync(join(folder, ".custard/server.json")).mode & 0o777).toBe(0o600);
    const { secret } = addressIn(folder);
    first.child.kill("SIGTERM");
    await first.ended;
    await startServing(folder);
    expect(addressIn(folder).secret).not.toBe(secret);
  });

  test("who doesn't know the secret gets nothing, in a web page or elsewhere", async () => {
    const folder = temporaryFolder();
    await startServing(folder);
    const { port, secret } = addressIn(folder);
    const body = JSON.stringify({ name: "stacks", given: [] });
    const ask = async (headers: Readonly<Record<string, string>>) =>
      (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body })).status;
    expect(await ask({})).toBe(401);
    expect(await ask({ authorization: "Bearer wrong" })).toBe(401);
    expect(await ask({ authorization: `Bearer ${secret.slice(1)}` })).toBe(401);
    expect(await ask({ authorization: `Bearer ${secret}` })).toBe(200);
  });

  test("a server of another version is not spoken to", async () => {
    const folder = temporaryFolder({ "template.yaml": thing });
    const { pid } = await startServing(folder);
    const file = join(folder, ".custard/server.json");
    const address = JSON.parse(readFileSync(file, "utf8")) as object;
    rmSync(file);
    writeFileSync(file, JSON.stringify({ ...address, version: "9.9.9" }));
    const { stderr } = await custardEnds(1, folder, ["deploy", "template.yaml"]);
    expect(stderr).toContain(`The server here, process ${pid}, is of Custard 9.9.9`);
  });
});

/** The code of a provider that gives one of its properties back. */
function answering(name: string): string {
  return `exports.handler = async ({ RequestId, StackId, LogicalResourceId, ResponseURL, ResourceProperties }) => {
    const Data = { ${name}: ResourceProperties.${name} };
    const answer = { Status: "SUCCESS", PhysicalResourceId: "mine", RequestId, StackId, LogicalResourceId, Data };
    await fetch(ResponseURL, { method: "PUT", body: JSON.stringify(answer) });
  };`;
}

/** What a call told, without what differs from run to run. */
function toldBy({ lines }: { readonly lines: readonly Line[] }): readonly unknown[] {
  return lines.map(({ kind, logicalId, resourceType, status, reason, outputs, changed }) => ({
    kind,
    logicalId,
    resourceType,
    status,
    reason,
    outputs,
    changed,
  }));
}

/** Deploys as soon as somebody holds the directory. */
async function startedSoon(folder: string): Promise<Awaited<ReturnType<typeof deploy>>> {
  await expect.poll(() => existsSync(join(folder, ".custard/custard.pid")), { interval: 5 }).toBe(true);
  return await deploy(folder, 0);
}
