import { statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { Call } from "./command.ts";
import { CliFault } from "./fault.ts";

const folder = ".custard";

/** Where `deploy` keeps stacks: `--state`, or `.custard` beside the template. */
export function stateBeside(call: Call, templatePath: string): string {
  const given = givenState(call);
  return given === undefined
    ? join(folderOf(call.io.cwd, templatePath), folder)
    : resolve(call.io.cwd, given);
}

/** The folder of a template: what comes through a pipe (`/dev/stdin`, `/dev/fd/63`) is as if it lay in the working directory. */
export function folderOf(cwd: string, templatePath: string): string {
  const path = resolve(cwd, templatePath);
  return /^\/(?:dev|proc)\//.test(path) ? cwd : dirname(path);
}

/** `--state`; what an unset variable of the shell leaves is no folder. */
function givenState(call: Call): string | undefined {
  const given = call.text("state");
  if (given === "")
    throw new CliFault("--state names no folder: it is empty", {
      advice: "Name a folder, or leave --state out: stacks are then kept in .custard beside the template.",
    });
  if (given !== undefined && isFile(resolve(call.io.cwd, given)))
    throw new CliFault(`--state ${given} is a file, not a folder`, {
      advice: "--state names the folder that stacks are kept in, e.g. my-app/.custard.",
    });
  return given;
}

/** Where the other commands look for stacks: `--state`, or the nearest `.custard` here or above. Throws `CliFault`. */
export function existingState(call: Call): string {
  const given = givenState(call);
  if (given === undefined) return nearestState(call.io.cwd) ?? noState(call.io.cwd);
  const directory = resolve(call.io.cwd, given);
  if (!isFolder(directory))
    throw new CliFault(`There is no folder ${given}`, {
      advice: "--state names the folder that a deploy has made, e.g. my-app/.custard.",
    });
  return directory;
}

/** Where a program that is started before the first deploy looks: `--state`, the nearest `.custard` here or above, or one here. */
export function futureState(call: Call): string {
  return knownState(call) ?? join(call.io.cwd, folder);
}

/** `--state`, or the nearest `.custard` here or above; undefined when there is neither. */
export function knownState(call: Call): string | undefined {
  const given = givenState(call);
  return given === undefined ? nearestState(call.io.cwd) : resolve(call.io.cwd, given);
}

/** The `--state …` that a later call from this folder needs to find the same stacks; empty when it needs none. */
export function stateHint(cwd: string, directory: string): string {
  if (nearestState(cwd) === directory) return "";
  const path = relative(cwd, directory);
  return ` --state ${quoted(path.startsWith("..") ? directory : path)}`;
}

function nearestState(start: string): string | undefined {
  for (let at = start; ; at = dirname(at)) {
    if (isFolder(join(at, folder))) return join(at, folder);
    if (dirname(at) === at) return undefined;
  }
}

function noState(cwd: string): never {
  throw new CliFault(`There are no stacks here: no ${folder} folder in ${cwd} or above`, {
    advice: `Deploy a template first, or name the folder beside your template: --state my-app/${folder}.`,
  });
}

/** What can't be looked at is told by whoever opens it. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function quoted(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
