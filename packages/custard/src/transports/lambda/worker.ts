/** One warm instance with its folders, from its start to its end. */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ResolvedFunction } from "../../services/function-record.ts";
import type { FunctionFolders } from "./code-folder.ts";
import { baseEnvironment, functionEnvironment, logStreamOf } from "./environment.ts";
import { Instance } from "./instance.ts";
import type { Leftovers } from "./leftovers.ts";
import { type Launcher, heapMegabytes } from "./launch.ts";
import { nativeConnectorsOf } from "./process-facts.ts";

/** What a worker needs of its pool. */
export interface WorkerSurroundings {
  /** Parent of all instances' folders. */
  readonly root: string;
  readonly launcher: Launcher;
  readonly leftovers: Leftovers;
  /** Told of work that must be done before the pool is closed. */
  readonly onCleanUp: (work: Promise<void>) => void;
}

/** An instance of a function; or, before `become`, a spare process of its runtime. */
export class Worker {
  readonly instance: Instance;
  readonly #root: string;
  readonly #surroundings: WorkerSurroundings;
  /** Do the preloads see what it turns to? A process that couldn't be started turned to nobody. */
  #isObserved = true;
  #logStream = "";
  #lastConnections: Promise<readonly string[]> | undefined;

  private constructor(instance: Instance, root: string, surroundings: WorkerSurroundings) {
    this.instance = instance;
    this.#root = root;
    this.#surroundings = surroundings;
    // What can't be removed now is removed at the next start.
    surroundings.onCleanUp(instance.exited.then(() => this.#cleanUp()).catch(() => undefined));
  }

  /** Starts a process that waits for its function. */
  static async spare(
    family: "node" | "python",
    surroundings: WorkerSurroundings,
    variant: readonly string[],
  ): Promise<Worker> {
    const root = await makeFolders(surroundings.root);
    const base = await surroundings.launcher.baseFor(family);
    const instance = await Instance.start({
      command: base.command,
      arguments: [...variant, base.bootstrap, "--spare"],
      directory: join(root, "tmp"),
      environment: {
        ...baseEnvironment(foldersIn(root)),
        ...base.environment,
        ...reportFile(root),
      },
      isOurs: true,
    });
    return await Worker.#registered(instance, root, surroundings);
  }

  /** Starts a process that is its function's from the first moment. */
  static async start(
    resolved: ResolvedFunction,
    folders: FunctionFolders,
    surroundings: WorkerSurroundings,
  ): Promise<Worker> {
    const root = await makeFolders(surroundings.root);
    const logStream = logStreamOf(resolved, { startedAt: Date.now(), id: root });
    const launch = await surroundings.launcher.launchOf(resolved, {
      folders: { ...foldersIn(root), ...folders },
      logStream,
    });
    const instance = await Instance.start({
      ...launch,
      environment: { ...launch.environment, ...reportFile(root) },
    });
    const worker = await Worker.#registered(instance, root, surroundings);
    worker.#logStream = logStream;
    // A sandbox leads to nobody else at all.
    worker.#isObserved = launch.isOurs || launch.sandbox !== undefined || instance.pid === undefined;
    return worker;
  }

  static async #registered(
    instance: Instance,
    root: string,
    surroundings: WorkerSurroundings,
  ): Promise<Worker> {
    const worker = new Worker(instance, root, surroundings);
    try {
      if (instance.pid !== undefined) await surroundings.leftovers.add(instance.pid);
      return worker;
    } catch (cause) {
      // What isn't remembered must not run: nobody would end it after a crash.
      await instance.destroy();
      throw cause;
    }
  }

  /** Hands a spare process its function. */
  async become(resolved: ResolvedFunction, folders: FunctionFolders): Promise<void> {
    this.#logStream = logStreamOf(resolved, { startedAt: Date.now(), id: this.#root });
    const base = await this.#surroundings.launcher.environmentOf(resolved);
    const own = { ...foldersIn(this.#root), ...folders };
    const environment = functionEnvironment(resolved, { ...base, folders: own, logStream: this.#logStream });
    this.instance.assign({
      environment: { ...environment, ...reportFile(this.#root) },
      directory: folders.code,
      heapMegabytes: heapMegabytes(resolved),
    });
  }

  /** Names the instance in logs, as on Lambda. */
  get logStream(): string {
    return this.#logStream;
  }

  /**
   * What the instance turned to besides our own endpoints: `connect HOST:PORT`, `spawn PROGRAM`; and where nobody can
   * tell: `load LIBRARY`, or a runtime that isn't ours.
   */
  async connections(): Promise<readonly string[]> {
    const unseen = this.#isObserved ? [] : ["a runtime of its own"];
    return [...unseen, ...(await (this.#lastConnections ?? this.#readConnections()))];
  }

  async #readConnections(): Promise<readonly string[]> {
    const { pid } = this.instance;
    const loaded = pid === undefined ? [] : nativeConnectorsOf(pid).map((library) => `load ${library}`);
    const text = await readFile(reportFile(this.#root).CUSTARD_REDIRECT_REPORT, "utf8").catch(() => "");
    return [...new Set(text.split("\n").filter((line) => line !== "")), ...loaded];
  }

  async #cleanUp(): Promise<void> {
    this.#lastConnections = this.#readConnections();
    await this.#lastConnections;
    const { pid } = this.instance;
    if (pid !== undefined) await this.#surroundings.leftovers.remove(pid);
    await rm(this.#root, { recursive: true, force: true });
  }
}

/** The preloads append a line for each: a file survives whatever becomes of the process. */
function reportFile(root: string): { readonly CUSTARD_REDIRECT_REPORT: string } {
  return { CUSTARD_REDIRECT_REPORT: join(root, "connections") };
}

function foldersIn(root: string): { readonly home: string; readonly temporary: string } {
  return { home: join(root, "home"), temporary: join(root, "tmp") };
}

async function makeFolders(parent: string): Promise<string> {
  const root = join(parent, randomUUID());
  await mkdir(join(root, "tmp"), { recursive: true, mode: 0o700 });
  await mkdir(join(root, "home"), { mode: 0o700 });
  return root;
}
