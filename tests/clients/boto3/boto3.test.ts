import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { present } from "../../support/present.ts";
import { run, type Server, startServer, template } from "../server.ts";

/** Debian's Python, for which `python3-boto3` is, and the user's own, which may have a newer one. */
const pythons = present(
  "boto3",
  ["/usr/bin/python3", "python3"],
  "-c",
  "import boto3; print(boto3.__version__)",
);
const script = fileURLToPath(new URL("client.py", import.meta.url));
const services = fileURLToPath(new URL("services.py", import.meta.url));

describe.skipIf(pythons.length === 0).each(pythons)("boto3 of %s", (python) => {
  let server: Server;

  beforeAll(async () => {
    server = await startServer(["--hold", "all"]);
    await writeFile(join(server.folder, "template.yaml"), template);
  });

  afterAll(async () => {
    await server.close();
  });

  test("its waiters, paginators and error classes work", async () => {
    const { code, stdout, stderr } = await run([python, script, server.url, "template.yaml"], server);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      status: "CREATE_COMPLETE",
      tags: [{ Key: "né", Value: 'a&b<">' }],
      outputs: ["Function", "Word"],
      again: "Stack [boto] already exists",
      unchanged: "No updates are to be performed.",
      newestFirst: "UPDATE_COMPLETE",
      unique: true,
      word: "x\r\n",
      failed: true,
      noChangeSet: 404,
      elsewhere: [0, 0],
      account: "999999999999",
      object: true,
      keys: ["a/b c.yaml", "new"],
      noKey: "NoSuchKey",
      answer: { echo: { x: 1 } },
      gone: { Type: "Sender", Code: "ValidationError", Message: "Stack with id boto does not exist" },
    });
  }, 120_000);

  test("the smaller services answer it", async () => {
    const { code, stdout, stderr } = await run([python, services, server.url], server);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      role: { Version: "2012-10-17", Statement: [] },
      noRole: "The role with name nope cannot be found.",
      opened: "secret",
      noKey: "NotFoundException",
      repositories: ["mine"],
      messages: [["hello", "1"]],
      tags: { a: "b" },
      noQueue: "AWS.SimpleQueueService.NonExistentQueue",
    });
  }, 60_000);
});
