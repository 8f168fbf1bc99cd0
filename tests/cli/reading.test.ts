import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { custard, custardEnds, readJson, startCustard, type Line } from "./support/custard.ts";
import { readDiary, scripted, templateOf } from "./support/scripted-provider.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// Looking at stacks disturbs nobody: not the process that works on them, and not an operation that rests.

test("a stack is looked at while another process creates it, and after that was killed", async () => {
  const folder = temporaryFolder();
  const diary = join(folder, "diary");
  const slow = scripted({ OnCreate: { delay: 60_000, delayOnce: true, diary } });
  const template = temporaryFolder({ "template.yaml": templateOf({ Slow: slow }) });
  const running = startCustard(folder, [
    "deploy",
    join(template, "template.yaml"),
    "--stack-name",
    "test",
    "--state",
    join(folder, ".custard"),
  ]);
  await expect.poll(() => readDiary(diary)).toHaveLength(1);

  const list = await readJson<readonly { stackName: string; status: string }[]>(folder, "list");
  expect(list).toMatchObject([{ stackName: "test", status: "CREATE_IN_PROGRESS" }]);
  expect((await readJson<readonly Line[]>(folder, "events", "test")).at(-1)).toMatchObject({
    logicalId: "Slow",
    status: "CREATE_IN_PROGRESS",
  });
  expect((await custard(folder, "logs", "test")).stdout).toContain("Create of Slow");
  const following = startCustard(folder, ["logs", "test", "--follow"]);

  running.child.kill("SIGKILL");
  await running.ended;
  // Whoever follows is told the end by the death of who worked.
  expect((await following.ended).code).toBe(0);
  await custardEnds(0, folder, ["describe", "test"]);
  expect(readDiary(diary), "looking asks no provider").toHaveLength(1);
  await custardEnds(0, folder, ["resume"]);
  expect(readDiary(diary)).toHaveLength(2);
});

test("a folder where nothing was deployed has no stacks", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, ".custard"));
  expect(await readJson(folder, "list")).toEqual([]);
});
