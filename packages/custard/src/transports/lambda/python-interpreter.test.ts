import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../../../tests/support/state-directory.ts";
import { findPython } from "./python-interpreter.ts";

/** A version manager's script: counts its runs, and answers with the path in `chosen`. */
function shim(root: string): string {
  const bin = join(root, "shims");
  mkdirSync(bin);
  const text = `#!/bin/sh\necho run >> ${root}/runs\ncat ${root}/chosen\n`;
  writeFileSync(join(bin, "python3"), text, { mode: 0o755 });
  return bin;
}

function choose(root: string, name: string): string {
  const path = join(root, name);
  writeFileSync(path, "", { mode: 0o755 });
  writeFileSync(join(root, "chosen"), `${path}\n`);
  return path;
}

function runsOf(root: string): number {
  return readFileSync(join(root, "runs"), "utf8").split("run").length - 1;
}

test("an interpreter on the PATH is taken as it is, also a link, as in a virtual environment", async () => {
  const root = temporaryDirectory();
  symlinkSync("/bin/ls", join(root, "python3"));
  const search = {
    workDirectory: join(root, "work"),
    directory: root,
    environment: { PATH: `/nowhere::${root}` },
  };
  expect(await findPython(search)).toBe(join(root, "python3"));
});

test("a version manager's script is asked once, and again when what it looks at changes", async () => {
  const root = temporaryDirectory();
  const environment = { PATH: shim(root) + ":/usr/bin:/bin" };
  const first = choose(root, "first");
  const search = { workDirectory: join(root, "work"), directory: root, environment };
  expect(await findPython(search)).toBe(first);
  expect(await findPython(search)).toBe(first);
  expect(runsOf(root)).toBe(1);
  const second = choose(root, "second");
  writeFileSync(join(root, ".python-version"), "second");
  expect(await findPython(search)).toBe(second);
  expect(await findPython({ ...search, environment: { ...environment, PYENV_VERSION: "3" } })).toBe(second);
  expect(runsOf(root)).toBe(3);
});

test("an answer serves all folders that say nothing of versions", async () => {
  const root = temporaryDirectory();
  const environment = { PATH: shim(root) + ":/usr/bin:/bin" };
  const first = choose(root, "first");
  const search = { workDirectory: join(root, "work"), environment };
  mkdirSync(join(root, "two", "deeper"), { recursive: true });
  mkdirSync(join(root, "one"));
  expect(await findPython({ ...search, directory: join(root, "one") })).toBe(first);
  expect(await findPython({ ...search, directory: join(root, "two", "deeper") })).toBe(first);
  expect(runsOf(root)).toBe(1);
});

test("a kept answer that is gone is asked for again", async () => {
  const root = temporaryDirectory();
  const search = {
    workDirectory: join(root, "work"),
    directory: root,
    environment: { PATH: shim(root) + ":/usr/bin:/bin" },
  };
  chmodSync(choose(root, "first"), 0o644);
  await findPython(search);
  await findPython(search);
  expect(runsOf(root)).toBe(2);
});

test("no python3, one that fails, and a folder that others can write to are told by name", async () => {
  const root = temporaryDirectory();
  const search = { workDirectory: join(root, "work"), directory: root, environment: { PATH: root } };
  await expect(findPython(search)).rejects.toThrow(
    "Python functions need python3, and there is none on the PATH.",
  );
  writeFileSync(join(root, "python3"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  await expect(findPython(search)).rejects.toMatchObject({
    code: "NoInterpreter",
    message: expect.stringContaining("doesn't start one"),
  });
  chmodSync(search.workDirectory, 0o777);
  await expect(findPython(search)).rejects.toMatchObject({ code: "UnsafeDirectory" });
  symlinkSync(join(root, "nowhere/at/all"), join(root, "link"));
  await expect(findPython({ ...search, workDirectory: join(root, "link") })).rejects.toMatchObject({
    code: "UnsafeDirectory",
    message: expect.stringContaining("Remove what stands there, or set TMPDIR to another folder."),
  });
});
