import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startCustard } from "./support/custard.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// What is named as a template needn't be a regular file.

const template = "Resources:\n  Role:\n    Type: AWS::IAM::Role\n";

test("a template comes through a pipe, however slowly", async () => {
  const running = startCustard(temporaryFolder(), ["validate", "/dev/stdin"]);
  const [head, tail] = [template.slice(0, 12), template.slice(12)];
  running.child.stdin?.write(head);
  await sleep(300);
  running.child.stdin?.end(tail);
  expect(await running.ended).toMatchObject({ code: 0, stdout: "/dev/stdin is valid.\n" });
});

test("a device without an end is a template that is too large", async () => {
  const { code, stdout } = await startCustard(temporaryFolder(), ["validate", "/dev/zero"]).ended;
  expect({ code, stdout }).toMatchObject({
    code: 2,
    stdout: expect.stringContaining("Template may not exceed 1048576 bytes in size."),
  });
});

test("waiting for a pipe that nobody writes to ends with a signal", async () => {
  const folder = temporaryFolder();
  execFileSync("mkfifo", [join(folder, "pipe.yaml")]);
  const running = startCustard(folder, ["validate", "pipe.yaml"]);
  await sleep(1000);
  running.child.kill("SIGINT");
  const { code, stdout } = await running.ended;
  expect(stdout).toBe("");
  expect(code).not.toBe(0);
});
