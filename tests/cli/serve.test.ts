import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { custardEnds, type Line, readJson, root, startCustard } from "./support/custard.ts";
import { readDiary, scripted, templateOf } from "./support/scripted-provider.ts";
import { startServing } from "./support/served.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// `custard serve` as a process: where it listens, what it tells, and how it ends.

const sleeper = `
Resources:
  Role: { Type: AWS::IAM::Role, Properties: { AssumeRolePolicyDocument: { Version: "2012-10-17", Statement: [] } } }
  Sleeper:
    Type: AWS::Lambda::Function
    Properties:
      FunctionName: sleeper
      Runtime: nodejs20.x
      Handler: index.handler
      Timeout: 600
      Role: !GetAtt Role.Arn
      Code:
        ZipFile: |
          exports.handler = async ({ diary, milliseconds }) => {
            require("fs").appendFileSync(diary, process.pid + " slept slept\\n");
            await new Promise((done) => setTimeout(done, milliseconds));
            return "rested";
          };
`;

describe("where it listens", () => {
  test("health is told at once, on any free port", async () => {
    const { url } = await startServing(temporaryFolder());
    const response = await fetch(`${url}/_custard/health`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: "ok", version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  });

  test("on IPv6's loopback address", async () => {
    const { url } = await startServing(temporaryFolder(), ["--host", "::1"]);
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await fetch(`${url}/_custard/health`)).status).toBe(200);
    expect((await query(url, "ListStacks")).status).toBe(200);
  });

  test("a port that is in use is named, with the way out", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    const { stderr } = await custardEnds(1, temporaryFolder(), ["serve", "--port", String(port)]);
    expect(stderr).toBe(
      `error: Port ${port} of 127.0.0.1 is in use\nGive another with --port; 0 takes any that is free.\n`,
    );
  });

  test.each(["0.0.0.0", "::", "192.0.2.1"])(
    "%s could be reached by others: it demands signatures",
    async (host) => {
      const { stderr } = await custardEnds(2, temporaryFolder(), ["serve", "--port", "0", "--host", host]);
      expect(stderr).toContain(`At ${host} others could reach the endpoint and run code here`);
      expect(stderr).toContain("--require-signature");
    },
  );

  test("with signatures it listens to others, and answers only who can sign", async () => {
    const folder = temporaryFolder();
    const env = { CUSTARD_KEYS: "AKIAEXAMPLE:secret" };
    const { url } = await startServing(folder, ["--host", "0.0.0.0", "--require-signature"], env);
    const here = url.replace("0.0.0.0", "127.0.0.1");
    expect((await fetch(`${here}/_custard/health`)).status).toBe(200);
    expect((await query(here, "ListStacks")).status).toBe(403);
    // The command line has its own way in.
    expect((await custardEnds(0, folder, ["ssm", "put", "/a", "b"])).stdout).toContain("/a is at version 1");
  });

  test.each([
    { options: ["--ready-fd", "99"], error: "Nothing can be written to the file descriptor 99" },
    { options: ["--ready-fd", "three"], error: "--ready-fd three is no number" },
    { options: ["--node-modules", "nowhere"], error: "--node-modules nowhere is no folder" },
  ])("$options is refused before anything starts", async ({ options, error }) => {
    const folder = temporaryFolder();
    const { stderr } = await custardEnds(2, folder, ["serve", "--port", "0", ...options]);
    expect(stderr).toContain(error);
    expect(existsSync(join(folder, ".custard"))).toBe(false);
  });

  test("--ready-fd gets the address once it is open", async () => {
    const bin = join(root, "packages/custard/bin/custard.js");
    const child = spawn(process.execPath, [bin, "serve", "--port", "0", "--ready-fd", "3"], {
      cwd: temporaryFolder(),
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [line] = (await once(child.stdio[3] as Readable, "data")) as [Buffer];
    expect((await fetch(`${line.toString().trim()}/_custard/health`)).status).toBe(200);
  });
});

describe("what it tells", () => {
  test("each request is a line of JSON on stderr, without what was in it", async () => {
    const serving = await startServing(temporaryFolder());
    await query(serving.url, "DescribeStacks", { StackName: "nobody" });
    await query(serving.url, "CreateStack", { StackName: "s", TemplateBody: "top secret" });
    serving.child.kill("SIGTERM");
    const { stderr } = await serving.ended;
    const entries = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(entries).toMatchObject([
      {
        level: "info",
        message: "request",
        service: "cloudformation",
        operation: "DescribeStacks",
        account: "123456789012",
        region: "us-east-1",
        status: 400,
        code: "ValidationError",
      },
      { operation: "CreateStack", status: 400 },
    ]);
    for (const { time, took } of entries)
      expect([Date.parse(String(time)) > 0, typeof took]).toEqual([true, "number"]);
    expect(stderr).not.toContain("top secret");
  });
});

describe("how it ends", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s: requests under way are answered, functions end, nothing new is accepted",
    async (signal) => {
      const { folder, serving, diary } = await sleepers();
      const invoked = invoke(serving.url, { diary, milliseconds: 1500 });
      await expect.poll(() => readDiary(diary)).toHaveLength(1);
      serving.child.kill(signal);
      await expect.poll(async () => isServed(serving.url)).toBe(false);
      const answer = await invoked;
      expect(await answer.text()).toBe('"rested"');
      expect(answer.headers.get("connection")).toBe("close");
      expect((await serving.ended).code).toBe(0);
      expect(readDiary(diary).map(({ pid }) => isAlive(pid))).toEqual([false]);
      expect(existsSync(join(folder, ".custard/custard.pid"))).toBe(false);
    },
  );

  test("what takes too long isn't waited for", async () => {
    const { serving, diary } = await sleepers();
    const invoked = invoke(serving.url, { diary, milliseconds: 300_000 }).then(
      () => "answered",
      () => "cut off",
    );
    await expect.poll(() => readDiary(diary)).toHaveLength(1);
    serving.child.kill("SIGTERM");
    expect((await serving.ended).code).toBe(0);
    expect(await invoked).toBe("cut off");
    expect(readDiary(diary).map(({ pid }) => isAlive(pid))).toEqual([false]);
  });

  test("a second signal ends it at once, and its functions with it", async () => {
    const { serving, diary } = await sleepers();
    invoke(serving.url, { diary, milliseconds: 300_000 }).catch(() => undefined);
    await expect.poll(() => readDiary(diary)).toHaveLength(1);
    // Another one that has run, and stands still.
    await invoke(serving.url, { diary, milliseconds: 0 });
    serving.child.kill("SIGINT");
    await expect.poll(async () => isServed(serving.url)).toBe(false);
    serving.child.kill("SIGINT");
    expect((await serving.ended).code).toBe(130);
    await expect.poll(() => readDiary(diary).map(({ pid }) => isAlive(pid))).toEqual([false, false]);
  });

  test("a client that waits for a stack is answered as the stack stands", async () => {
    const folder = temporaryFolder();
    const diary = join(folder, "diary");
    const body = templateOf({ Slow: scripted({ OnCreate: { delay: 60_000, diary } }) });
    const serving = await startServing(folder, ["--hold", "all"]);
    await query(serving.url, "CreateStack", { StackName: "slow", TemplateBody: body });
    await expect.poll(() => readDiary(diary)).toHaveLength(1);
    const waiting = query(serving.url, "DescribeStacks", { StackName: "slow" });
    // What is asked after it has been answered, so it has come in.
    await expect.poll(async () => isServed(serving.url)).toBe(true);
    serving.child.kill("SIGTERM");
    expect((await serving.ended).code).toBe(0);
    expect(await (await waiting).text()).toContain("<StackStatus>CREATE_IN_PROGRESS</StackStatus>");
  });

  test("an operation under way rests, and the next server goes on with the same request", async () => {
    const folder = temporaryFolder();
    const diary = join(folder, "diary");
    const slow = scripted({ OnCreate: { delay: 60_000, delayOnce: true, diary } });
    const first = await startServing(folder);
    await query(first.url, "CreateStack", { StackName: "slow", TemplateBody: templateOf({ Slow: slow }) });
    await expect.poll(() => readDiary(diary)).toHaveLength(1);
    first.child.kill("SIGTERM");
    expect((await first.ended).code).toBe(0);
    expect((await readJson<readonly Line[]>(folder, "list"))[0]?.status).toBe("CREATE_IN_PROGRESS");
    await startServing(folder);
    const statusOf = async () => (await readJson<readonly Line[]>(folder, "list"))[0]?.status;
    await expect.poll(statusOf, { timeout: 20_000 }).toBe("CREATE_COMPLETE");
    expect(new Set(readDiary(diary).map(({ requestId }) => requestId)).size).toBe(1);
  });

  test("while it is starting a signal ends it, too", async () => {
    const folder = temporaryFolder();
    const running = startCustard(folder, ["serve", "--port", "0"]);
    await expect.poll(() => existsSync(join(folder, ".custard/custard.pid")), { interval: 5 }).toBe(true);
    running.child.kill("SIGTERM");
    expect([0, 1]).toContain((await running.ended).code);
  });
});

/** A server with a function that sleeps as long as it is told. */
async function sleepers() {
  const folder = temporaryFolder({ "template.yaml": sleeper });
  const serving = await startServing(folder);
  await custardEnds(0, folder, ["deploy", "template.yaml"]);
  return { folder, serving, diary: join(folder, "diary") };
}

async function invoke(url: string, event: object): Promise<Response> {
  return await fetch(`${url}/2015-03-31/functions/sleeper/invocations`, {
    method: "POST",
    body: JSON.stringify(event),
  });
}

async function query(
  url: string,
  action: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const body = new URLSearchParams({ Action: action, Version: "2010-05-15", ...parameters });
  return await fetch(url, { method: "POST", body });
}

async function isServed(url: string): Promise<boolean> {
  return await fetch(`${url}/_custard/health`, { headers: { connection: "close" } }).then(
    () => true,
    () => false,
  );
}

/** Is it a process that still runs? One that has ended and that nobody has waited for counts as ended. */
function isAlive(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && !/\) [ZX] /.test(readFileSync(stat, "utf8"));
}
