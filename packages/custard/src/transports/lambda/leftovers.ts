/** Remembers the processes of functions, so that the next start can end those of an engine that was killed. */
import { isDeepStrictEqual } from "node:util";
import type { Documents } from "../../engine/ports.ts";
import { startTimeOf } from "./process-facts.ts";

const prefix = "lambda-process/";

/** Pid and start time of each process, kept from its start to its end. */
export class Leftovers {
  readonly #documents: Documents;
  readonly #pids = new Set<number>();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Ends them all at once, where there is no time to close: when this process exits. */
  readonly endAll = (): void => {
    for (const pid of this.#pids) killGroup(pid);
  };

  async add(pid: number): Promise<void> {
    this.#pids.add(pid);
    const startTime = startTimeOf(pid);
    if (startTime !== undefined) await this.#documents.put(`${prefix}${pid}`, { startTime });
  }

  async remove(pid: number): Promise<void> {
    this.#pids.delete(pid);
    await this.#documents.delete(`${prefix}${pid}`);
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
    const pid = Number(key.slice(prefix.length));
    if (isDeepStrictEqual(value, { startTime: startTimeOf(pid) }) && killGroup(pid)) ended += 1;
    await documents.delete(key);
  }
  return ended;
}

function killGroup(pid: number): boolean {
  try {
    process.kill(-pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}
