import { cp, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Call, Command } from "../command.ts";
import { CliFault, type ExitCode } from "../fault.ts";

export const init: Command = {
  name: "init",
  summary: "write a new provider: TypeScript, template, tests",
  details:
    "Writes a project for a custom resource of your own into an empty folder: a provider in TypeScript, a template that " +
    "deploys it with Custard and on AWS, tests on a simulated CloudFormation. Ends with 2 when the folder isn't empty.",
  arguments: [{ name: "FOLDER", description: "where to write it; made when missing", required: true }],
  options: [],
  examples: ["custard init my-provider"],
  run: runInit,
};

const files = fileURLToPath(new URL("../../../init/", import.meta.url));

async function runInit(call: Call): Promise<ExitCode> {
  const given = call.argument("FOLDER") ?? "";
  const folder = resolve(call.io.cwd, given);
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0) {
    throw new CliFault(`${given} is not empty`, {
      advice: "Name a folder that is empty or doesn't exist yet.",
    });
  }
  await cp(files, folder, { recursive: true });
  // npm leaves files called .gitignore out of packages.
  await rename(join(folder, "gitignore"), join(folder, ".gitignore"));
  await nameProject(folder);
  call.io.stdout.write(
    [
      `Wrote a provider to ${given}. Next:`,
      `  cd ${given}`,
      "  npm install",
      "  npm test",
      "  npm run deploy",
      "",
    ].join("\n"),
  );
  return 0;
}

/** The project is called as its folder is, as far as npm allows. */
async function nameProject(folder: string): Promise<void> {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/gu, "-")
    .replaceAll(/^-+|-+$/gu, "");
  const path = join(folder, "package.json");
  const text = await readFile(path, "utf8");
  if (name !== "") await writeFile(path, text.replace('"my-provider"', JSON.stringify(name)));
}
