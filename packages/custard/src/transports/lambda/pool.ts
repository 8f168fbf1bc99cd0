/**
 * All instances of all functions on this machine.
 *
 * Owns who is kept warm, the spare processes and how many start at once. What an invocation means is the invoker's.
 */
import { mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { formatFunctionArn } from "../../services/function-arn.ts";
import type { ResolvedFunction } from "../../services/function-record.ts";
import { type RuntimeFamily, type Runtime, runtimes } from "../../services/function-settings.ts";
import { CodeFolders, type CodeSource } from "./code-folder.ts";
import { versionOfDirectory } from "./directory-version.ts";
import { FunctionWorkers, type Job, type JobResult } from "./function-workers.ts";
import { isRunning } from "./process-facts.ts";
import { endLeftoversIn, type Leftovers } from "./leftovers.ts";
import { type LaunchOptions, Launcher, familyOf, fitsSpare, flagsOf } from "./launch.ts";
import { Turnstile } from "./turnstile.ts";
import { TransportError } from "./transport-error.ts";
import { openWorkDirectory } from "./work-directory.ts";
import { Worker, type WorkerSurroundings } from "./worker.ts";

/** What a pool needs. */
export interface PoolOptions extends LaunchOptions {
  /** An existing folder for code and instances; each pool makes one of its own in it. */
  readonly workDirectory: string;
  readonly cores: number;
  readonly idleMs: number;
  /** Keeps a spare process of each runtime that was used, so that the next cold start is short. */
  readonly keepSpares: boolean;
  readonly leftovers: Leftovers;
  readonly source: CodeSource;
  /** Lambda: 10 seconds. A start that takes longer is made once more, within the invocation. */
  readonly initLimitMs: number;
}

/** Most instances of one function at once, so that sleeping providers don't fill the machine's memory. */
const instanceLimit = 64;

/** After so long a start's turn is over even when the instance isn't ready. */
const startTurnMs = 500;

/** So long a look at a directory's files counts. */
const lookMs = 50;

interface Known {
  readonly revision: string;
  readonly workers: FunctionWorkers;
}

/** The pool. */
export class FunctionPool {
  readonly #options: PoolOptions;
  readonly #launcher: Launcher;
  readonly #starts: Turnstile;
  readonly #functions = new Map<string, Known>();
  readonly #retired = new Set<FunctionWorkers>();
  readonly #starting = new Set<Promise<Worker>>();
  readonly #cleanUps = new Set<Promise<void>>();
  readonly #looks = new Map<string, Promise<string>>();
  readonly #spares = new Map<string, Promise<Worker | undefined>>();
  #home: Promise<{ root: string; code: CodeFolders; surroundings: WorkerSurroundings }> | undefined;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#launcher = new Launcher(options);
    this.#starts = new Turnstile(options.cores);
  }

  /** Runs a job on an instance of the function. */
  async run(resolved: ResolvedFunction, job: Job): Promise<JobResult> {
    const revision = await this.#revisionOf(resolved);
    if (this.#closed) throw closed();
    return await this.#workersOf(resolved, revision).run(job);
  }

  /** Starts a process of a runtime before anything is known of the function that will need it. Resolves when it is started. */
  async prewarm(runtime: Runtime): Promise<void> {
    const family = runtimes[runtime];
    if (family === "custom") return;
    const flags = flagsOf(runtime);
    this.#makeSpare(family, flags);
    await this.#spares.get(spareKey(family, flags));
  }

  /** Ends every process and removes the pool's folder. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#starting);
    const workers = [...this.#functions.values()].map((known) => known.workers);
    await Promise.all([...workers, ...this.#retired].map((each) => each.close()));
    const spares = await Promise.all(this.#spares.values());
    for (const spare of spares) await spare?.instance.destroy();
    await Promise.all(this.#cleanUps);
    process.off("exit", this.#options.leftovers.endAll);
    const home = await this.#home?.catch(() => undefined);
    if (home !== undefined) await rm(home.root, { recursive: true, force: true });
  }

  /** A directory that is used in place may change at any time (hot reload). */
  async #revisionOf({ code, revision }: ResolvedFunction): Promise<string> {
    if (code.kind !== "directory") return revision;
    const looking = this.#looks.get(code.path) ?? versionOfDirectory(code.path);
    if (!this.#looks.has(code.path)) {
      this.#looks.set(code.path, looking);
      // A burst of events looks once.
      setTimeout(() => this.#looks.delete(code.path), lookMs).unref();
    }
    return `${revision} ${await looking}`;
  }

  #workersOf(resolved: ResolvedFunction, revision: string): FunctionWorkers {
    const { reference, version, settings } = resolved;
    const key = formatFunctionArn({ ...reference, qualifier: version });
    const known = this.#functions.get(key);
    if (known?.revision === revision) return known.workers;
    if (known !== undefined) this.#retire(known.workers);
    const { cores, idleMs, initLimitMs } = this.#options;
    const start = () => this.#startInTurn(resolved);
    const limit = Math.min(instanceLimit, settings.reservedConcurrency ?? instanceLimit);
    const timeoutMs = settings.timeoutSeconds * 1000;
    const workers = new FunctionWorkers({ cores, idleMs, limit, start, initLimitMs, timeoutMs });
    this.#functions.set(key, { revision, workers });
    return workers;
  }

  #retire(workers: FunctionWorkers): void {
    for (const earlier of this.#retired) if (earlier.empty) this.#retired.delete(earlier);
    this.#retired.add(workers);
    workers.retire();
  }

  /** So many start at once as there are processors; a slow one doesn't hold up others for long. */
  async #startInTurn(resolved: ResolvedFunction): Promise<Worker> {
    const starting = new Promise<Worker>((resolve, reject) => {
      const start = async () => {
        if (this.#closed) throw closed();
        const worker = await this.#start(resolved);
        resolve(worker);
        await worker.instance.started(startTurnMs);
      };
      this.#starts.pass(start).catch(reject);
    });
    this.#starting.add(starting);
    return await starting.finally(() => this.#starting.delete(starting));
  }

  async #start(resolved: ResolvedFunction): Promise<Worker> {
    const { code, surroundings } = await this.#prepared();
    const folders = await code.foldersFor(resolved);
    const spare = await this.#takeSpare(resolved);
    if (spare === undefined) return await Worker.start(resolved, folders, surroundings);
    await spare.become(resolved, folders);
    return spare;
  }

  async #takeSpare(resolved: ResolvedFunction): Promise<Worker | undefined> {
    const family = familyOf(resolved);
    if (family === "custom" || !fitsSpare(resolved)) return undefined;
    const flags = flagsOf(resolved.settings.runtime);
    const key = spareKey(family, flags);
    const spare = await this.#spares.get(key);
    this.#spares.delete(key);
    // Not at once: the start that is under way needs the processor more.
    if (this.#options.keepSpares) setTimeout(() => this.#makeSpare(family, flags), 500).unref();
    return spare?.instance.alive === true ? spare : undefined;
  }

  #makeSpare(family: "node" | "python", flags: readonly string[]): void {
    const key = spareKey(family, flags);
    // What runs in a sandbox starts there.
    if (this.#closed || this.#options.sandbox !== undefined || this.#spares.has(key)) return;
    const spare = this.#prepared().then(({ surroundings }) => Worker.spare(family, surroundings, flags));
    // A missing interpreter is told when a function needs it.
    this.#spares.set(
      key,
      spare.catch(() => undefined),
    );
  }

  async #prepared(): Promise<{ root: string; code: CodeFolders; surroundings: WorkerSurroundings }> {
    this.#home ??= this.#makeHome();
    return await this.#home;
  }

  async #makeHome(): Promise<{ root: string; code: CodeFolders; surroundings: WorkerSurroundings }> {
    const { workDirectory, leftovers, source } = this.#options;
    await openWorkDirectory(workDirectory);
    // Whoever is told to end at once leaves nothing behind that runs, or stands still.
    process.once("exit", leftovers.endAll);
    void removeAbandoned(workDirectory);
    const root = await realpath(await mkdtemp(join(workDirectory, `functions-${process.pid}-`)));
    await leftovers.openFolder(root);
    const onCleanUp = (work: Promise<void>) => {
      this.#cleanUps.add(work);
      void work.then(() => this.#cleanUps.delete(work));
    };
    const surroundings = { root: join(root, "instances"), launcher: this.#launcher, leftovers, onCleanUp };
    return { root, code: new CodeFolders(join(root, "code"), source), surroundings };
  }
}

/** Folders of engines that were killed, and what still runs from them: named by a process that is no more. */
async function removeAbandoned(workDirectory: string): Promise<void> {
  for (const name of await readdir(workDirectory).catch(() => [])) {
    const pid = /^functions-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) {
      await endLeftoversIn(join(workDirectory, name));
      await rm(join(workDirectory, name), { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

function closed(): TransportError {
  return new TransportError("Closed", "Functions are no longer run.");
}

function spareKey(family: RuntimeFamily, flags: readonly string[]): string {
  return [family, ...flags].join(" ");
}
