/** Files of the package aws-cdk-lib as published: 38 MB packed, so that it is no dependency but fetched once. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const version = "2.276.0";
const wanted = [
  "package/custom-resource-handlers/dist/core",
  "package/custom-resources/lib/provider-framework/runtime",
];
const run = promisify(execFile);

/** The folder of the package; undefined when the registry can't be reached. */
export async function cdkLibrary(): Promise<string | undefined> {
  const cache = resolve(import.meta.dirname, "../../node_modules/.cache/custard-tests");
  const folder = join(cache, `aws-cdk-lib-${version}`);
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true });
    const draft = await mkdtemp(join(cache, "fetching-"));
    try {
      await run("npm", ["pack", `aws-cdk-lib@${version}`, "--silent"], { cwd: draft, timeout: 60_000 });
      await run("tar", ["xzf", `aws-cdk-lib-${version}.tgz`, ...wanted], { cwd: draft });
      await rename(join(draft, "package"), folder);
    } catch {
      return undefined;
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }
  return folder;
}
