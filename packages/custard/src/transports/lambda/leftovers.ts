/**
 * Remembers the processes of functions, so that those of an engine that was killed are ended: by the next start in its
 * state directory, or, when that is never used again, by whoever removes the engine's working folder.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Documents } from "../../engine/ports.ts";
import { startTimeOf } from "./process-facts.ts";

const prefix = "lambda-process/";

/** Pid and start time of each process, kept from its start to its end. */
export class Leftovers {
  readonly #documents: Documents;
  readonly #pids = new Set<number>();
  #folder: string | undefined;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Ends them all at once, where there is no time to close: when this process exits. */
  readonly endAll = (): void => {
    for (const pid of this.#pids) killGroup(pid);
  };

  /** Remembers them in a working folder as well. */
  async openFolder(root: string): Promise<void> {
    this.#folder = processesIn(root);
    await mkdir(this.#folder, { mode: 0o700 });
  }

  async add(pid: number): Promise<void> {
    this.#pids.add(pid);
    const startTime = startTimeOf(pid);
    if (startTime === undefined) return;
    await this.#documents.put(`${prefix}${pid}`, { startTime });
    if (this.#folder !== undefined) await writeFile(join(this.#folder, String(pid)), startTime);
  }

  async remove(pid: number): Promise<void> {
    this.#pids.delete(pid);
    await this.#documents.delete(`${prefix}${pid}`);
    if (this.#folder !== undefined) await rm(join(this.#folder, String(pid)), { force: true });
  }
}

/**
 * Ends what a killed engine left running, also frozen processes. To be called before anything is delivered again.
 * A pid that meanwhile belongs to another process is left alone: its start time differs.
 */
export async function endLeftovers(documents: Documents): Promise<number> {
  const left = await documents.list(prefix);
  let ended = 0;
  for (const { key, value } of left) {
    const known =
      typeof value === "object" && value !== null && "startTime" in value ? value["startTime"] : undefined;
    if (endProcess(Number(key.slice(prefix.length)), known)) ended += 1;
    await documents.delete(key);
  }
  return ended;
}

/** Ends what a killed engine left running from its working folder. */
export async function endLeftoversIn(root: string): Promise<void> {
  const folder = processesIn(root);
  for (const name of await readdir(folder).catch(() => [])) {
    const startTime = await readFile(join(folder, name), "utf8").catch(() => undefined);
    endProcess(Number(name), startTime);
  }
}

function processesIn(root: string): string {
  return join(root, "processes");
}

function endProcess(pid: number, startTime: unknown): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 1 || startTime === undefined || startTime !== startTimeOf(pid))
    return false;
  return killGroup(pid);
}

function killGroup(pid: number): boolean {
  try {
    process.kill(-pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}
