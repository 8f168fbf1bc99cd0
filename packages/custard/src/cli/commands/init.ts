import { cp, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, join, resolve, sep } from "node:path";
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

/** Where this package is. */
const home = fileURLToPath(new URL("../../../", import.meta.url));

async function runInit(call: Call): Promise<ExitCode> {
  const given = call.argument("FOLDER") ?? "";
  const folder = resolve(call.io.cwd, given);
  if (given === "") throw new CliFault("FOLDER is empty", { advice: "E.g. custard init my-provider" });
  await makeFolder(folder, given);
  if ((await readdir(folder)).length > 0) {
    throw new CliFault(`${given} is not empty`, {
      advice: "Name a folder that is empty or doesn't exist yet.",
    });
  }
  await cp(join(home, "init"), folder, { recursive: true });
  // npm leaves files called .gitignore out of packages.
  await rename(join(folder, "gitignore"), join(folder, ".gitignore"));
  await writeManifest(folder);
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

async function makeFolder(folder: string, given: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((cause: unknown) => {
    const code = cause instanceof Error ? Reflect.get(cause, "code") : undefined;
    if (code !== "EEXIST" && code !== "ENOTDIR") throw cause;
    throw new CliFault(`${given} can't be a folder: there is a file`, { cause });
  });
}

/**
 * The project is called as its folder is, as far as npm allows. What a checkout writes uses the packages of the
 * checkout, which needn't have been published.
 */
async function writeManifest(folder: string): Promise<void> {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/gu, "-")
    .replaceAll(/^-+|-+$/gu, "");
  const path = join(folder, "package.json");
  let text = await readFile(path, "utf8");
  if (name !== "") text = text.replace('"my-provider"', JSON.stringify(name));
  if (!home.includes(`${sep}node_modules${sep}`)) {
    text = text.replace(/("custard": )"[^"]*"/u, `$1${fileReference(home)}`);
    text = text.replace(
      /("@custard\/provider": )"[^"]*"/u,
      `$1${fileReference(join(home, "..", "provider"))}`,
    );
  }
  await writeFile(path, text);
}

function fileReference(path: string): string {
  return JSON.stringify(`file:${resolve(path)}`);
}
