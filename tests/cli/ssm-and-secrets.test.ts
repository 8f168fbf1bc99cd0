import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { main } from "../../packages/custard/src/cli/main.ts";
import { temporaryDirectory } from "../support/state-directory.ts";
import { recordingIo } from "./support/recording-io.ts";

// The stores that dynamic references and functions read, filled from the command line.

function commandLine() {
  const directory = temporaryDirectory();
  return {
    directory,
    custard: async (...argv: readonly string[]) => {
      const io = recordingIo(directory);
      const code = await main(argv, io);
      return { code, ...io.written };
    },
  };
}

test("a parameter that was put is got, listed and deleted", async () => {
  const { custard } = commandLine();
  expect(await custard("ssm", "put", "/app/size", "small")).toMatchObject({
    code: 0,
    stdout: "/app/size is at version 1.\n",
  });
  expect((await custard("ssm", "put", "/app/size", "large")).stdout).toBe("/app/size is at version 2.\n");
  expect((await custard("ssm", "get", "/app/size")).stdout).toBe("large\n");
  expect((await custard("ssm", "get", "/app/size:1")).stdout).toBe("small\n");
  await custard("ssm", "put", "/other", "x");
  const listed = await custard("ssm", "list", "/app", "--json");
  expect(JSON.parse(listed.stdout)).toEqual([
    expect.objectContaining({ name: "/app/size", type: "String", version: 2, value: "large" }),
  ]);
  expect((await custard("ssm", "delete", "/app/size")).code).toBe(0);
  const removed = await custard("ssm", "delete", "/other", "--json");
  expect(JSON.parse(removed.stdout)).toEqual({ name: "/other", deleted: true });
  const gone = await custard("ssm", "get", "/app/size");
  expect(gone).toMatchObject({ code: 2, stderr: expect.stringContaining("There is no parameter /app/size") });
});

test("each region and account has its own parameters", async () => {
  const { custard } = commandLine();
  await custard("ssm", "put", "a", "1", "--region", "eu-west-1");
  expect((await custard("ssm", "get", "a")).code).toBe(2);
  expect((await custard("ssm", "get", "a", "--region", "eu-west-1")).stdout).toBe("1\n");
});

test("secure values come from a file and are shown only when asked for", async () => {
  const { custard, directory } = commandLine();
  writeFileSync(join(directory, "password.txt"), "s3cret\n");
  await custard("ssm", "put", "pass", "--type", "SecureString", "--file", "password.txt");
  expect((await custard("ssm", "get", "pass")).stdout).toBe("*****\n");
  expect((await custard("ssm", "list")).stdout).not.toContain("s3cret");
  expect((await custard("ssm", "get", "pass", "--decrypt")).stdout).toBe("s3cret\n");
  await custard("ssm", "put", "pass", "other");
  expect((await custard("ssm", "get", "pass")).stdout).toBe("*****\n");
});

test("secrets are put, listed without what they hold, and deleted", async () => {
  const { custard } = commandLine();
  await custard("secrets", "put", "app/db", '{"password":"s3cret"}');
  await custard("secrets", "put", "app/db", '{"password":"s4cret"}');
  const listed = await custard("secrets", "list", "--json");
  expect(JSON.parse(listed.stdout)).toEqual([expect.objectContaining({ name: "app/db", versions: 2 })]);
  expect(listed.stdout).not.toContain('cret"');
  const removed = await custard("secrets", "delete", "app/db", "--json");
  expect(JSON.parse(removed.stdout)).toEqual({ name: "app/db", deleted: true });
  expect((await custard("secrets", "list")).stdout).toBe("There are no secrets here.\n");
  expect(await custard("secrets", "delete", "app/db")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Secrets Manager can't find the specified secret."),
  });
});

test.each([
  { argv: ["ssm", "put", "a"], says: "put takes one value" },
  { argv: ["ssm", "put", "a", "1", "--file", "x"], says: "put takes one value" },
  { argv: ["ssm", "put", "a", "--file", "none.txt"], says: "none.txt can't be read" },
  { argv: ["ssm", "get"], says: "get needs NAME" },
  { argv: ["ssm", "set", "a", "1"], says: '"set" is no action' },
  { argv: ["ssm", "put", "a/b", "1"], says: "Parameter name must be a fully qualified name." },
  { argv: ["ssm", "put", "a", "1", "--type", "Number"], says: "Member must satisfy enum value set" },
  { argv: ["ssm", "put", "a", "1", "--region", "mars"], says: '"mars" is no region' },
  { argv: ["secrets", "put", "a b", "1"], says: "Invalid name." },
])("$argv is refused: $says", async ({ argv, says }) => {
  expect(await commandLine().custard(...argv)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(says),
  });
});

test("what is no text is refused, not stored as something else", async () => {
  const { custard, directory } = commandLine();
  writeFileSync(join(directory, "key.bin"), Buffer.from([0xff, 0xfe, 0x00, 0x80]));
  expect(await custard("ssm", "put", "key", "--file", "key.bin")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("key.bin is no text: it is not UTF-8"),
  });
});
