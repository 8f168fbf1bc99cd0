/** Tells whether the files of a directory have changed, so that a function's code is read again. */
import { createHash } from "node:crypto";
import { type Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Not looked into: large, and changed by package managers, not by hand. */
const skipped = new Set(["node_modules", ".git", "__pycache__", ".venv", "venv", ".custard", "cdk.out"]);
const mostFiles = 5000;

/** Differs when a file was added, removed or written. Counts the first 5,000 files, and no packages' files. */
export async function versionOfDirectory(path: string): Promise<string> {
  const files: string[] = [];
  await collect(path, files);
  const hash = createHash("sha256");
  for (const file of files.toSorted()) {
    const found = await stat(file).catch(() => undefined);
    if (found !== undefined) hash.update(`${file}\0${found.mtimeMs}\0${found.size}\n`);
  }
  return hash.digest("hex");
}

async function collect(folder: string, files: string[]): Promise<void> {
  const entries: Dirent[] = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (files.length >= mostFiles) return;
    if (entry.isFile()) files.push(join(folder, entry.name));
    else if (entry.isDirectory() && !skipped.has(entry.name)) await collect(join(folder, entry.name), files);
  }
}
