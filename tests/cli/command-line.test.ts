import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { main } from "../../packages/custard/src/cli/main.ts";
import { recordingIo, type RecordingIo } from "./support/recording-io.ts";
import {
  requestId,
  resourceView,
  type ScriptedLocal,
  scriptedLocal,
  stackId,
} from "./support/scripted-local.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// What the command line itself decides, with a scripted engine behind it; real stacks are in the other files here.

const template = `Parameters:
  Size:
    Type: String
    Default: big
Resources:
  Thing:
    Type: Custom::Thing
    Properties:
      ServiceToken: arn:aws:lambda:us-east-1:123456789012:function:thing
`;

interface Run {
  readonly io: RecordingIo;
  readonly code: Promise<number>;
}

function start(local: ScriptedLocal, argv: readonly string[], columns?: number): Run {
  const folder = temporaryFolder({ "template.yaml": template });
  mkdirSync(join(folder, ".custard"));
  const io = recordingIo(folder, columns);
  return { io, code: main(argv, io, local.doors) };
}

/** Waits until the engine was asked for something. */
async function asked(local: ScriptedLocal, call: RegExp): Promise<void> {
  await expect.poll(() => local.calls.find((made) => call.test(made))).toBeDefined();
}

const deployShop = ["deploy", "template.yaml", "--stack-name", "shop"];

describe("deploy", () => {
  test("creates a stack, shows its events and outputs", async () => {
    const local = scriptedLocal();
    const { io, code } = start(local, [...deployShop, "--parameters", "A=1", "B=x=y"]);
    await asked(local, /createStack shop \{"A":"1","B":"x=y"\}/);
    local.emit("Thing", "CREATE_IN_PROGRESS");
    local.emit("Thing", "CREATE_COMPLETE");
    local.settle("CREATE_COMPLETE");
    expect(await code).toBe(0);
    expect(io.written.stdout).toMatch(
      /Creating shop in us-east-1\n.*CREATE_IN_PROGRESS +shop .*User Initiated\n.*CREATE_IN_PROGRESS +Thing/s,
    );
    expect(io.written.stdout).toMatch(/✓ shop CREATE_COMPLETE after .* s\n\nOutputs\n {2}Color {2}red\n$/);
    expect(local.calls.at(-1)).toBe("close");
  });

  test("updates a stack that exists, and shows only what is new", async () => {
    const local = scriptedLocal();
    local.settle("CREATE_COMPLETE");
    const { io, code } = start(local, deployShop);
    await asked(local, /updateStack/);
    local.settle("UPDATE_COMPLETE");
    expect(await code).toBe(0);
    expect(io.written.stdout).not.toContain("CREATE_COMPLETE");
  });

  test("keeps parameters that are not given", async () => {
    const kept = { name: "Size", value: "small" };
    const local = scriptedLocal({ view: { parameters: [kept, { name: "Gone", value: "1" }] } });
    local.settle("CREATE_COMPLETE");
    const { code } = start(local, deployShop);
    await asked(local, /updateStack shop \{\} keeping Size$/);
    local.settle("UPDATE_COMPLETE");
    expect(await code).toBe(0);
  });

  test("says that nothing is to be updated", async () => {
    const local = scriptedLocal({ status: "CREATE_COMPLETE", view: { templateBody: template } });
    const { io, code } = start(local, deployShop);
    expect(await code).toBe(0);
    expect(io.written.stdout).toContain("nothing is to be updated");
  });

  test("explains a failure with the provider's own last log lines and advice", async () => {
    const local = scriptedLocal();
    const { io, code } = start(local, deployShop);
    await asked(local, /createStack/);
    const note = (kind: "log" | "advice", text: string): void =>
      local.traces.note({ at: 0, requestId, stackId, kind, text });
    note("log", "START RequestId: 1 Version: $LATEST\n");
    for (let line = 1; line <= 12; line += 1) note("log", `line ${line}\n`);
    note("log", "one\rtwo \u001b[31mred\n");
    note("advice", "Answer before you return.");
    local.emit("Sibling", "CREATE_FAILED", { reason: "Resource creation cancelled" });
    local.emit("Thing", "CREATE_FAILED", { reason: "It broke", requestId });
    local.emit("shop", "ROLLBACK_IN_PROGRESS");
    local.settle("ROLLBACK_COMPLETE");
    expect(await code).toBe(1);
    const told = io.written.stdout.slice(io.written.stdout.indexOf("✗"));
    expect(told).toContain(
      "✗ Thing (Custom::Thing) CREATE_FAILED\n  It broke\n  Its provider's last log lines:\n    | line 5\n",
    );
    expect(told).toContain("    | one\n    | two \\u001b[31mred\n  What to do: Answer before you return.\n");
    expect(told).not.toMatch(/Sibling|START|line 4\n/);
    expect(told).toContain("custard delete shop, then deploy again");
  });

  test("blames the stack itself when no resource failed", async () => {
    const local = scriptedLocal();
    const { io, code } = start(local, deployShop);
    await asked(local, /createStack/);
    local.emit("shop", "ROLLBACK_IN_PROGRESS", {
      reason: "CustomResource attribute error: Vendor response doesn't contain A attribute",
    });
    local.settle("ROLLBACK_COMPLETE");
    expect(await code).toBe(1);
    expect(io.written.stdout).toContain("Fn::GetAtt asks for an attribute");
  });

  test("marks simulated resources", async () => {
    const resources = [resourceView("Table", "AWS::DynamoDB::Table", true)];
    const local = scriptedLocal({ view: { resources } });
    const { io, code } = start(local, deployShop);
    await asked(local, /createStack/);
    local.emit("Table", "CREATE_COMPLETE", { resourceType: "AWS::DynamoDB::Table" });
    local.settle("CREATE_COMPLETE");
    expect(await code).toBe(0);
    expect(io.written.stdout).toMatch(/Table .*AWS::DynamoDB::Table +\(simulated\)\n/);
    expect(io.written.stdout).toContain(
      "Simulated, nothing real stands behind it: Table (AWS::DynamoDB::Table)",
    );
  });

  test("writes JSON lines", async () => {
    const local = scriptedLocal();
    const { io, code } = start(local, [...deployShop, "--json"]);
    await asked(local, /createStack/);
    local.settle("CREATE_COMPLETE");
    expect(await code).toBe(0);
    const lines = io.written.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.kind)).toEqual(["start", "event", "event", "result"]);
    expect(lines.at(-1)).toMatchObject({
      stackId,
      status: "CREATE_COMPLETE",
      changed: true,
      outputs: { Color: "red" },
    });
  });

  test("keeps to a narrow terminal", async () => {
    const local = scriptedLocal();
    const { io, code } = start(local, deployShop, 50);
    await asked(local, /createStack/);
    local.emit("Thing", "CREATE_FAILED", {
      reason: "a reason that is too long to stand on one line beside the rest of it",
    });
    local.settle("ROLLBACK_COMPLETE");
    await code;
    const lines = io.written.stdout.split("\n");
    const at = lines.findIndex((line) => line.includes("CREATE_FAILED"));
    expect(lines[at]).not.toContain("Custom::Thing");
    expect(lines.slice(at, at + 3).every((line) => line.length <= 50)).toBe(true);
    expect(lines[at + 1]).toMatch(/^ {10}a reason/);
  });
});

describe("Ctrl-C", () => {
  test("deletes what is being created", async () => {
    const local = scriptedLocal();
    const { io, code } = start(local, deployShop);
    await expect.poll(() => io.written.stdout).toContain("User Initiated");
    io.interrupt();
    await asked(local, /deleteStack arn/);
    local.settle("DELETE_COMPLETE");
    expect(await code).toBe(130);
    expect(io.written.stderr).toContain("Interrupted: deleting what was created of shop.");
  });

  test("cancels an update", async () => {
    const local = scriptedLocal();
    local.settle("CREATE_COMPLETE");
    const { io, code } = start(local, deployShop);
    await expect.poll(() => io.written.stdout).toContain("UPDATE_IN_PROGRESS");
    io.interrupt();
    await asked(local, /cancelUpdate/);
    local.settle("UPDATE_ROLLBACK_COMPLETE");
    expect(await code).toBe(130);
    expect(io.written.stdout).toContain("as it was before the update");
  });

  test("a second time leaves the operation, and says how to go on", async () => {
    const local = scriptedLocal();
    const { io, code } = start(local, deployShop);
    await expect.poll(() => io.written.stdout).toContain("User Initiated");
    io.interrupt();
    await asked(local, /deleteStack/);
    io.interrupt();
    expect(await code).toBe(130);
    expect(io.written.stderr).toContain("Go on with it: custard resume\n");
    expect(local.calls.at(-1)).toBe("close");
  });

  test("leaves a deletion", async () => {
    const local = scriptedLocal();
    local.settle("CREATE_COMPLETE");
    const { io, code } = start(local, ["delete", "shop"]);
    await expect.poll(() => io.written.stdout).toContain("DELETE_IN_PROGRESS");
    io.interrupt();
    expect(await code).toBe(130);
    expect(local.calls.filter((call) => call.startsWith("deleteStack"))).toHaveLength(1);
  });

  test.each(["SIGTERM", "SIGHUP"] as const)("%s leaves the operation at once", async (signal) => {
    const local = scriptedLocal();
    const { io, code } = start(local, deployShop);
    await expect.poll(() => io.written.stdout).toContain("User Initiated");
    io.interrupt(signal);
    expect(await code).toBe(130);
    expect(local.calls.some((call) => call.startsWith("deleteStack"))).toBe(false);
  });
});

describe("a wrong call", () => {
  test.each([
    { argv: ["deploy"], says: "missing required argument 'TEMPLATE'" },
    { argv: ["deploy", "template.yaml", "more.yaml"], says: "too many arguments" },
    { argv: ["deploy", "template.yaml", "--stack-nam", "x"], says: "(Did you mean --stack-name?)" },
    { argv: ["deplo"], says: "(Did you mean deploy?)" },
    {
      argv: ["deploy", "template.yaml", "--parameters", "A"],
      says: '--parameters takes KEY=VALUE, but got "A"',
    },
    { argv: ["deploy", "template.yaml", "--parameters", "A=1", "A=2"], says: "--parameters gives A twice" },
    { argv: ["deploy", "template.yaml", "--region", "Europe"], says: '"Europe" is no region' },
    { argv: ["deploy", "template.yaml", "--account", "12"], says: '"12" is no account' },
    {
      argv: ["deploy", "template.yaml", "--stack-name", "1st"],
      says: "Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*",
    },
    { argv: ["deploy", "nothing.yaml"], says: "There is no file nothing.yaml" },
    { argv: ["deploy", "."], says: ". is a folder, not a template" },
    { argv: ["describe", "attic"], says: "Stack with id attic does not exist" },
    { argv: ["outputs", "--state", "nowhere"], says: "There is no folder nowhere" },
    { argv: ["logs", "shop", "--limit", "0"], says: "--limit takes a whole number" },
    { argv: ["logs", "Nobody"], says: "There is no function, stack, custom resource or request Nobody" },
  ])("$argv", async ({ argv, says }) => {
    const local = scriptedLocal({ status: "CREATE_COMPLETE" });
    const { io, code } = start(local, argv);
    expect(await code).toBe(2);
    expect(io.written.stderr).toContain(says);
    expect(io.written.stdout).toBe("");
    const asJson = start(local, [...argv, "--json"]);
    expect(await asJson.code).toBe(2);
    expect(JSON.parse(asJson.io.written.stdout)).toMatchObject({ kind: "error" });
  });
});

test("help shows all commands, each command its options, and the version is the package's", async () => {
  const help = async (argv: readonly string[]): Promise<string> => {
    const { io, code } = start(scriptedLocal(), argv);
    expect(await code).toBe(0);
    return io.written.stdout;
  };
  for (const argv of [[], ["--help"], ["help"]]) {
    for (const name of ["deploy", "delete", "resume", "list", "describe", "events", "outputs", "logs"])
      expect(await help(argv)).toContain(name);
  }
  expect(await help(["help", "deploy"])).toBe(await help(["deploy", "--help"]));
  expect(await help(["deploy", "--help"])).toContain("--no-rollback");
  expect(await help(["--version"])).toMatch(/^\d+\.\d+\.\d+\n$/);
});

describe("reading commands", () => {
  test("need no name when there is only one stack", async () => {
    const { io, code } = start(scriptedLocal({ status: "CREATE_COMPLETE" }), ["outputs", "--json"]);
    expect(await code).toBe(0);
    expect(JSON.parse(io.written.stdout)).toEqual({ Color: "red" });
  });

  test("events shows them oldest first", async () => {
    const local = scriptedLocal();
    local.emit("Thing", "CREATE_COMPLETE");
    local.settle("CREATE_COMPLETE");
    const { io, code } = start(local, ["events", "shop", "--json"]);
    expect(await code).toBe(0);
    expect(JSON.parse(io.written.stdout)).toMatchObject([
      { logicalId: "Thing", at: "2026-01-01T12:00:01.000Z" },
      { logicalId: "shop" },
    ]);
  });

  test("list leaves deleted stacks out, unless all are asked for", async () => {
    const local = scriptedLocal({ status: "DELETE_COMPLETE" });
    const some = start(local, ["list", "--json"]);
    expect(await some.code).toBe(0);
    expect(JSON.parse(some.io.written.stdout)).toEqual([]);
    const all = start(local, ["list", "--all"]);
    expect(await all.code).toBe(0);
    expect(all.io.written.stdout).toMatch(
      /^STACK +STATUS +REGION +CREATED\nshop +DELETE_COMPLETE +us-east-1/,
    );
  });

  test("logs finds a request, a stack and a function by its logical id", async () => {
    const local = scriptedLocal();
    local.emit("MakeThing", "CREATE_COMPLETE", {
      resourceType: "AWS::Lambda::Function",
      physicalId: "shop-MakeThing-1",
    });
    local.settle("CREATE_COMPLETE");
    local.traces.note({
      at: 0,
      requestId,
      stackId,
      kind: "log",
      text: "hello\n",
      functionName: "shop-MakeThing-1",
    });
    for (const whose of [requestId, "shop", "MakeThing", "shop-MakeThing-1"]) {
      const { io, code } = start(local, ["logs", whose]);
      expect(await code).toBe(0);
      expect(io.written.stdout).toMatch(/1b4e28ba {2}log {8}hello\n$/);
    }
  });
});

test("resume goes on with what is under way, and has nothing to do otherwise", async () => {
  const idle = start(scriptedLocal({ status: "CREATE_COMPLETE" }), ["resume"]);
  expect(await idle.code).toBe(0);
  expect(idle.io.written.stdout).toContain("nothing to resume");

  const local = scriptedLocal();
  const left = start(local, deployShop);
  await expect.poll(() => left.io.written.stdout).toContain("User Initiated");
  left.io.interrupt("SIGTERM");
  expect(await left.code).toBe(130);
  const { io, code } = start(local, ["resume"]);
  await expect.poll(() => io.written.stdout).toContain("Going on creating shop");
  local.settle("CREATE_COMPLETE");
  expect(await code).toBe(0);
  expect(io.written.stdout).toContain("✓ shop CREATE_COMPLETE");
});
