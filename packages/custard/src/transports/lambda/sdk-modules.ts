/**
 * What Lambda's Node.js runtimes have besides Node.js: the packages of AWS's SDK, version 3. Here they come from the
 * user's project; other packages of the project aren't found, as on Lambda.
 */
import { createHash } from "node:crypto";
import { lstat, mkdir, mkdtemp, realpath, rename, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openWorkDirectory } from "./work-directory.ts";

/** Scopes of the SDK's packages. */
const scopes = ["@aws-sdk", "@smithy"];

/** Where functions find AWS's SDK: folders `node_modules`, by way of the projects that these folders belong to. */
export async function sdkModules(
  folders: readonly string[],
  { workDirectory, sandbox }: { readonly workDirectory: string; readonly sandbox: boolean },
): Promise<readonly string[]> {
  const found = await projectModules(folders);
  // A sandbox shows folders, not where links in them lead.
  if (sandbox) return found.slice(0, 1);
  const linked = await linkSdk(found, workDirectory);
  return linked === undefined ? [] : [linked];
}

/** All folders `node_modules` that Node.js would look into from these folders, the nearest first. */
async function projectModules(folders: readonly string[]): Promise<readonly string[]> {
  const candidates = folders.flatMap(parentsOf).map((folder) => join(folder, "node_modules"));
  const found: string[] = [];
  for (const candidate of new Set(candidates))
    if (await exists(join(candidate, "@aws-sdk"))) found.push(candidate);
  return found;
}

/** A folder with nothing but the SDK of the first project that has it; undefined when none has. */
async function linkSdk(modules: readonly string[], workDirectory: string): Promise<string | undefined> {
  const targets: (readonly [scope: string, target: string])[] = [];
  for (const scope of scopes) {
    for (const folder of modules) {
      const target = await realpath(join(folder, scope)).catch(() => undefined);
      if (target === undefined) continue;
      targets.push([scope, target]);
      break;
    }
  }
  if (targets.length === 0) return undefined;
  await openWorkDirectory(workDirectory);
  const name = createHash("sha256").update(JSON.stringify(targets)).digest("hex").slice(0, 40);
  const folder = join(workDirectory, `sdk-${name}`, "node_modules");
  if (!(await exists(folder))) await makeLinks(targets, { workDirectory, folder });
  return folder;
}

/** Whole or not at all: several engines may do this at once. */
async function makeLinks(
  targets: readonly (readonly [scope: string, target: string])[],
  { workDirectory, folder }: { readonly workDirectory: string; readonly folder: string },
): Promise<void> {
  const draft = await mkdtemp(join(workDirectory, "linking-"));
  await mkdir(join(draft, "node_modules"));
  for (const [scope, target] of targets) await symlink(target, join(draft, "node_modules", scope));
  await rename(draft, dirname(folder)).catch(async () => await rm(draft, { recursive: true, force: true }));
}

function parentsOf(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...parentsOf(parent)];
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}
