import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/state-directory.ts";

// The project that `custard init` writes is used as its README says, with the built command line.

const root = resolve(import.meta.dirname, "../..");
const bin = join(root, "packages/custard/bin/custard.js");
const run = promisify(execFile);
const custard = (cwd: string, ...argv: string[]) => run(process.execPath, [bin, ...argv], { cwd });

test("the project compiles, its tests pass, and it deploys", { timeout: 120_000 }, async () => {
  const folder = temporaryDirectory();
  const { stdout } = await custard(folder, "init", "My Notes");
  expect(stdout).toContain("npm run deploy");
  const project = join(folder, "My Notes");
  const packageJson = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
    name: string;
    scripts: Record<string, string>;
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  expect(packageJson.name).toBe("my-notes");
  // Of this checkout, as they are now.
  expect(packageJson.dependencies["@custard/provider"]).toBe(`file:${join(root, "packages/provider")}`);
  expect(packageJson.devDependencies["custard"]).toBe(`file:${join(root, "packages/custard")}`);
  expect(readdirSync(project)).toContain(".gitignore");
  // What `npm install` would bring.
  symlinkSync(join(root, "node_modules"), join(project, "node_modules"));
  const npx = (command: string) => {
    const [tool = "", ...argv] = command.split(" ");
    return run(join(root, "node_modules/.bin", tool), argv, { cwd: project });
  };
  await npx(packageJson.scripts["check"] ?? "");
  await npx(packageJson.scripts["test"] ?? "");
  await npx(packageJson.scripts["build"] ?? "");
  await custard(project, "deploy", "template.yaml");
  const outputs = await custard(project, "outputs", "my-notes", "--json").catch(() =>
    custard(project, "outputs", "--json"),
  );
  expect(outputs.stdout).toContain("https://notes.example.com/Note-");
  await custard(project, "deploy", "template.yaml", "--parameters", "Title=Other");
  const { stdout: listed } = await custard(project, "list", "--json");
  expect(listed).toContain("UPDATE_COMPLETE");
});

test("a folder with something in it is left alone", async () => {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, "mine"));
  writeFileSync(join(folder, "mine", "notes.txt"), "keep");
  await expect(custard(folder, "init", "mine")).rejects.toMatchObject({ code: 2 });
  expect(readdirSync(join(folder, "mine"))).toEqual(["notes.txt"]);
});

test.each(["notes.txt", "notes.txt/below"])("where a file is, %s can't be a folder", async (name) => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, "notes.txt"), "keep");
  await expect(custard(folder, "init", name)).rejects.toMatchObject({
    code: 2,
    stderr: `error: ${name} can't be a folder: there is a file\n`,
  });
});
