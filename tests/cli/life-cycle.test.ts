import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  bin,
  courseOf,
  custardEnds,
  deploy,
  endsWith,
  readJson,
  startCustard,
  storyOf,
  type Line,
} from "./support/custard.ts";
import { readDiary, requestsIn, scripted, templateOf } from "./support/scripted-provider.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// Whole lives of stacks, with the real command line and real processes.

const thing = templateOf(
  { Thing: scripted({}, { Color: "red", Count: 3, Flag: true, Nested: { List: [1, false] } }) },
  { Id: { Ref: "Thing" } },
);

test("events of a create, in this order and wording", async () => {
  const { events } = await deploy(temporaryFolder({ "template.yaml": thing }), 0);
  expect(storyOf(events, "Thing")).toEqual([
    "CREATE_IN_PROGRESS",
    "CREATE_IN_PROGRESS Resource creation Initiated",
    "CREATE_COMPLETE",
  ]);
  expect(events.filter((event) => event.logicalId === "Thing").map((event) => event.physicalId)).toEqual([
    "",
    "id-of-Thing",
    "id-of-Thing",
  ]);
  expect(storyOf(events, "test")).toEqual(["CREATE_IN_PROGRESS User Initiated", "CREATE_COMPLETE"]);
  expect(courseOf(events).at(-1)).toBe("test CREATE_COMPLETE");
});

test("every scalar reaches the provider as a string", async () => {
  const folder = temporaryFolder({ "template.yaml": thing });
  await deploy(folder, 0);
  expect((await requestsIn(folder))[0]?.ResourceProperties).toMatchObject({
    Color: "red",
    Count: "3",
    Flag: "true",
    Nested: { List: ["1", "false"] },
  });
});

test("an update goes through clean-up, even when there is none to do", async () => {
  const folder = temporaryFolder({ "template.yaml": thing });
  await deploy(folder, 0);
  writeFileSync(join(folder, "template.yaml"), thing.replace('"red"', '"blue"'));
  const { events } = await deploy(folder, 0);
  expect(storyOf(events, "test")).toEqual([
    "UPDATE_IN_PROGRESS User Initiated",
    "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
    "UPDATE_COMPLETE",
  ]);
  expect(storyOf(events, "Thing")).toEqual(["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"]);
});

test("a sibling that is at work when another fails is cancelled, and deleted all the same", async () => {
  const diary = join(temporaryFolder(), "diary");
  const template = templateOf({
    Slow: scripted({ OnCreate: { delay: 30_000, diary } }),
    // Fails when the slow one is surely at work: it depends on nothing but takes its own moment.
    Bad: scripted({ OnCreate: { delay: 1500, answer: { Status: "FAILED", Reason: "no" } } }),
  });
  const { events, result } = await deploy(temporaryFolder({ "template.yaml": template }), 1);
  expect(storyOf(events, "Slow").slice(0, 2)).toEqual([
    "CREATE_IN_PROGRESS",
    "CREATE_FAILED Resource creation cancelled",
  ]);
  expect(storyOf(events, "test")[1]).toMatch(
    /^ROLLBACK_IN_PROGRESS The following resource\(s\) failed to create: \[(Slow, Bad|Bad, Slow)\]\. Rollback requested by user\.$/,
  );
  expect(result?.status).toBe("ROLLBACK_COMPLETE");
});

test("--no-rollback leaves what was done", async () => {
  const template = templateOf({
    Good: scripted({}),
    Bad: { ...scripted({ OnCreate: { answer: { Status: "FAILED", Reason: "no" } } }), DependsOn: "Good" },
  });
  const folder = temporaryFolder({ "template.yaml": template });
  const { result } = await deploy(folder, 1, "--no-rollback");
  expect(result?.status).toBe("CREATE_FAILED");
  expect((await requestsIn(folder)).map((request) => request.RequestType)).toEqual(["Create", "Create"]);
  await custardEnds(0, folder, ["delete", "test"]);
});

test("a simulated instance that is to send signals never does, and the author is told so at once", async () => {
  const template = {
    Resources: {
      Host: {
        Type: "AWS::EC2::Instance",
        CreationPolicy: { ResourceSignal: { Timeout: "PT2S" } },
        Properties: { ImageId: "ami-1" },
      },
    },
  };
  const folder = temporaryFolder({ "template.yaml": JSON.stringify(template) });
  const argv = ["deploy", "template.yaml", "--stack-name", "test"];
  const { stdout, stderr } = await custardEnds(1, folder, argv);
  expect(stderr).toContain(
    "Host is simulated: nothing here sends the signals that its CreationPolicy waits for.",
  );
  expect(stdout).toContain("ROLLBACK_COMPLETE");
});

test("a simulated type is marked, and outputs know it", async () => {
  const template = templateOf(
    { Cluster: { Type: "AWS::ECS::Cluster", Properties: {} } },
    { Cluster: { Ref: "Cluster" } },
  );
  const folder = temporaryFolder({ "template.yaml": template });
  const ended = await custardEnds(0, folder, ["deploy", "template.yaml", "--stack-name", "test"]);
  const linesAbout = (text: string) => text.split("\n").filter((line) => / Cluster +AWS/.test(line));
  // From the first line on, and also when it is no more.
  expect(linesAbout(ended.stdout)).toHaveLength(3);
  for (const line of linesAbout(ended.stdout)) expect(line).toContain("(simulated)");
  expect(ended.stdout).toContain("Simulated, nothing real stands behind it: Cluster (AWS::ECS::Cluster)");
  const [{ stackId = "" } = {}] = await readJson<readonly Line[]>(folder, "list");
  const deleted = await custardEnds(0, folder, ["delete", "test"]);
  const { stdout: history } = await custardEnds(0, folder, ["events", stackId]);
  expect(linesAbout(deleted.stdout)).toHaveLength(2);
  for (const line of [...linesAbout(deleted.stdout), ...linesAbout(history)])
    expect(line).toContain("(simulated)");
});

describe("places", () => {
  test("a stack in cn-north-1 has that partition's ARNs and host names", async () => {
    const template = templateOf(
      { Thing: scripted({}) },
      {
        Where: { "Fn::Sub": "${AWS::Partition} ${AWS::Region} ${AWS::URLSuffix}" },
        Token: { "Fn::GetAtt": ["Provider", "Arn"] },
      },
    );
    const folder = temporaryFolder({ "template.yaml": template });
    const { outputs, result } = await deploy(
      folder,
      0,
      "--region",
      "cn-north-1",
      "--account",
      "210987654321",
    );
    expect(outputs["Where"]).toBe("aws-cn cn-north-1 amazonaws.com.cn");
    expect(outputs["Token"]).toMatch(/^arn:aws-cn:lambda:cn-north-1:210987654321:function:test-Provider-/);
    expect(result?.stackId).toMatch(/^arn:aws-cn:cloudformation:cn-north-1:210987654321:stack\/test\//);
    const seen = await requestsIn(folder);
    expect(seen[0]?.StackId).toBe(result?.stackId);
    await custardEnds(0, folder, ["delete", "test"]);
  });

  test.each([
    { name: "a function of another region", token: "arn:aws:lambda:eu-west-1:123456789012:function:thing" },
    { name: "a topic of another region", token: "arn:aws:sns:eu-west-1:123456789012:topic" },
    {
      name: "a function that does not exist",
      token: "arn:aws:lambda:us-east-1:123456789012:function:nothing",
    },
    { name: "no ARN", token: "thing" },
  ])("$name fails the resource at once", async ({ token }) => {
    const template = JSON.stringify({
      Resources: { Thing: { Type: "Custom::Thing", Properties: { ServiceToken: token } } },
    });
    const { events } = await deploy(temporaryFolder({ "template.yaml": template }), 1);
    expect(storyOf(events, "Thing").find((step) => step.startsWith("CREATE_FAILED"))).toMatch(
      /^CREATE_FAILED .+/,
    );
  });
});

describe("interruption", () => {
  test("kill -9 during a create: resume asks again with the same RequestId, and nothing is lost", async () => {
    const folder = temporaryFolder();
    const diary = join(folder, "diary");
    const template = templateOf(
      {
        First: scripted({}),
        Slow: { ...scripted({ OnCreate: { delay: 60_000, delayOnce: true, diary } }), DependsOn: "First" },
        Last: { ...scripted({}), DependsOn: "Slow" },
      },
      { Id: { Ref: "Last" } },
    );
    writeFileSync(join(folder, "template.yaml"), template);
    const running = startCustard(folder, ["deploy", "template.yaml", "--stack-name", "test"]);
    await expect.poll(() => readDiary(diary), { timeout: 15_000 }).toHaveLength(1);
    running.child.kill("SIGKILL");
    await running.ended;

    const resumed = await custardEnds(0, folder, ["resume", "--json"]);
    expect(resumed.lines.at(-1)).toMatchObject({
      kind: "result",
      status: "CREATE_COMPLETE",
      outputs: { Id: "id-of-Last" },
    });
    const entries = readDiary(diary);
    expect(entries).toHaveLength(2);
    expect(entries[1]?.requestId).toBe(entries[0]?.requestId);
    expect(isAlive(entries[0]?.pid ?? 0)).toBe(false);
    const events = await readJson<readonly Line[]>(folder, "events", "test");
    expect(courseOf(events).filter((step) => step.endsWith("COMPLETE"))).toEqual([
      "Provider CREATE_COMPLETE",
      "First CREATE_COMPLETE",
      "Slow CREATE_COMPLETE",
      "Last CREATE_COMPLETE",
      "test CREATE_COMPLETE",
    ]);
    const idle = await custardEnds(0, folder, ["resume"]);
    expect(idle.stdout).toContain("nothing to resume");
  });

  test("another stack's command says that one was left in the middle, and is again", async () => {
    const folder = temporaryFolder();
    const diary = join(folder, "diary");
    const slow = templateOf({ Slow: scripted({ OnCreate: { delay: 60_000, diary } }) });
    writeFileSync(join(folder, "slow.yaml"), slow);
    writeFileSync(join(folder, "quick.yaml"), thing);
    const running = startCustard(folder, ["deploy", "slow.yaml"]);
    await expect.poll(() => readDiary(diary), { timeout: 15_000 }).toHaveLength(1);
    running.child.kill("SIGKILL");
    await running.ended;
    const { stderr } = await custardEnds(0, folder, ["deploy", "quick.yaml"]);
    expect(stderr).toBe(
      "slow was left in the middle, and goes on while this runs.\nslow is still in the middle. Go on with it: custard resume\n",
    );
  });

  test("Ctrl-C during a create deletes what there is: exit code 130", async () => {
    const folder = temporaryFolder();
    const diary = join(folder, "diary");
    writeFileSync(
      join(folder, "template.yaml"),
      templateOf({ Slow: scripted({ OnCreate: { delay: 60_000, diary } }) }),
    );
    const running = startCustard(folder, ["deploy", "template.yaml", "--stack-name", "test"]);
    await expect.poll(() => readDiary(diary), { timeout: 15_000 }).toHaveLength(1);
    running.child.kill("SIGINT");
    const ended = await endsWith(130, running.ended);
    expect(ended.stdout).toContain("test DELETE_COMPLETE");
    expect(await readJson(folder, "list")).toEqual([]);
  });

  test("Ctrl-C during an update cancels it: exit code 130", async () => {
    const folder = temporaryFolder({ "template.yaml": templateOf({ Slow: scripted({}, { Color: "red" }) }) });
    await deploy(folder, 0);
    const diary = join(folder, "diary");
    // The rollback's Update carries the old properties, and with them no script.
    writeFileSync(
      join(folder, "template.yaml"),
      templateOf({ Slow: scripted({ OnUpdate: { delay: 60_000, diary } }, { Color: "blue" }) }),
    );
    const running = startCustard(folder, ["deploy", "template.yaml", "--stack-name", "test"]);
    await expect.poll(() => readDiary(diary), { timeout: 15_000 }).toHaveLength(1);
    running.child.kill("SIGINT");
    const ended = await endsWith(130, running.ended);
    expect(ended.stdout).toContain("Stack update cancelled");
    expect(ended.stdout).toContain("test UPDATE_ROLLBACK_COMPLETE");
  });

  test("a second Ctrl-C leaves the operation, and resume goes on with it", async () => {
    const folder = temporaryFolder();
    const diary = join(folder, "diary");
    writeFileSync(
      join(folder, "template.yaml"),
      templateOf({ Slow: scripted({ OnDelete: { delay: 60_000, delayOnce: true, diary } }) }),
    );
    await deploy(folder, 0);
    const running = startCustard(folder, ["delete", "test"]);
    await expect.poll(() => readDiary(diary), { timeout: 15_000 }).toHaveLength(1);
    running.child.kill("SIGINT");
    const ended = await endsWith(130, running.ended);
    expect(ended.stderr).toContain("custard resume");
    const resumed = await custardEnds(0, folder, ["resume"]);
    expect(resumed.stdout).toContain("test DELETE_COMPLETE");
  });
});

describe("the process", () => {
  test("a directory is used by one process at a time", async () => {
    const folder = temporaryFolder();
    const diary = join(folder, "diary");
    writeFileSync(
      join(folder, "template.yaml"),
      templateOf({ Slow: scripted({ OnCreate: { delay: 60_000, diary } }) }),
    );
    const running = startCustard(folder, ["deploy", "template.yaml", "--stack-name", "test"]);
    await expect.poll(() => readDiary(diary), { timeout: 15_000 }).toHaveLength(1);
    const other = await custardEnds(1, folder, ["delete", "test"]);
    expect(other.stderr).toContain(`is in use by process ${running.child.pid}`);
    running.child.kill("SIGTERM");
    expect((await running.ended).code).toBe(130);
  });

  test("a reader that goes away does not stop a deployment", async () => {
    const folder = temporaryFolder({ "template.yaml": thing });
    const running = startCustard(folder, ["deploy", "template.yaml", "--stack-name", "test"]);
    running.child.stdout?.destroy();
    expect((await running.ended).code).toBe(0);
    expect(await readJson(folder, "outputs")).toEqual({ Id: "id-of-Thing" });
  });

  test("output that can't be written is told, and the exit code says so", async () => {
    const full = openSync("/dev/full", "w");
    onTestFinished(() => closeSync(full));
    const ended = spawnSync(process.execPath, [bin, "--help"], {
      stdio: ["ignore", full, "pipe"],
      encoding: "utf8",
    });
    expect(ended).toMatchObject({
      status: 1,
      stderr: "error: The output can't be written: ENOSPC: no space left on device, write\n",
    });
  });

  test("no colors without a terminal, with FORCE_COLOR colors, not against NO_COLOR", async () => {
    const folder = temporaryFolder({ "template.yaml": thing });
    await deploy(folder, 0);
    for (const ci of ["", "1"]) {
      const plain = await startCustard(folder, ["describe"], { CI: ci }).ended;
      expect(plain.stdout).not.toContain("\u001b");
    }
    const forced = await startCustard(folder, ["describe"], { FORCE_COLOR: "1" }).ended;
    expect(forced.stdout).toContain("\u001b");
    const refused = await startCustard(folder, ["describe"], { FORCE_COLOR: "1", NO_COLOR: "1" }).ended;
    expect(refused.stdout).not.toContain("\u001b");
  });
});

/** Is it a process that still runs? One that has ended and that nobody has waited for counts as ended. */
function isAlive(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && !/\) [ZX] /.test(readFileSync(stat, "utf8"));
}
