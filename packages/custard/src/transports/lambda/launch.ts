/** How the process of a function is started: command, flags and environment by runtime. */
import { access, constants } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { ResolvedFunction } from "../../services/function-record.ts";
import { type RuntimeFamily, isRuntime, runtimes } from "../../services/function-settings.ts";
import { runtimeAsset } from "./code-folder.ts";
import {
  type EnvironmentParts,
  type InstanceFolders,
  functionEnvironment,
  localPath,
} from "./environment.ts";
import type { Launch } from "./instance.ts";
import { inSandbox, insidePath, sandboxFolders, type SandboxOptions } from "./sandbox.ts";

/** What the launcher needs of its surroundings. */
export interface LaunchOptions {
  /** Variables that redirect and certificates need, and whatever else all functions of a family get. */
  readonly environment: (family: RuntimeFamily) => Readonly<Record<string, string>>;
  /** The Node.js executable. */
  readonly node: string;
  /** The Python interpreter; rejects with a text for people when there is none. */
  readonly python: () => Promise<string>;
  /** Folders like `…/node_modules` where packages are looked for last. */
  readonly nodeModules: readonly string[];
  /** Runs functions in sandboxes. */
  readonly sandbox?: SandboxOptions;
}

/** What is common to the processes of a family. */
export interface FamilyBase {
  readonly command: string;
  readonly bootstrap: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Builds launches. */
export class Launcher {
  readonly #options: LaunchOptions;

  constructor(options: LaunchOptions) {
    this.#options = options;
  }

  async baseFor(family: "node" | "python"): Promise<FamilyBase> {
    const command = family === "node" ? this.#options.node : await this.#options.python();
    return { command, bootstrap: bootstraps[family], environment: this.#baseEnvironment(family, command) };
  }

  /** What `functionEnvironment` needs, but for the instance's own. */
  async environmentOf(resolved: ResolvedFunction): Promise<Pick<EnvironmentParts, "base" | "nodeModules">> {
    const family = familyOf(resolved);
    const base =
      family === "custom" ? this.#baseEnvironment(family, "") : (await this.baseFor(family)).environment;
    return { base, nodeModules: this.#options.nodeModules };
  }

  async launchOf(
    resolved: ResolvedFunction,
    own: { folders: InstanceFolders; logStream: string },
  ): Promise<Launch> {
    const { sandbox } = this.#options;
    const folders = sandbox === undefined ? own.folders : sandboxFolders;
    const parts = await this.environmentOf(resolved);
    const environment = functionEnvironment(resolved, { ...parts, logStream: own.logStream, folders });
    const program = await this.#programOf(resolved, own.folders);
    const launch = { ...program, environment, directory: own.folders.code };
    const wrapping = familyOf(resolved) === "custom" ? launch : wrapped(launch, folders);
    return sandbox === undefined ? wrapping : await this.#sandboxed(resolved, wrapping, own.folders);
  }

  async #programOf(
    resolved: ResolvedFunction,
    folders: InstanceFolders,
  ): Promise<Pick<Launch, "command" | "arguments" | "isOurs">> {
    const family = familyOf(resolved);
    if (family === "custom") return { command: await customBootstrap(folders), arguments: [], isOurs: false };
    const { command, bootstrap } = await this.baseFor(family);
    const flags = [...flagsOf(resolved.settings.runtime), ...heapFlags(resolved, family)];
    return { command, arguments: [...flags, bootstrap], isOurs: true };
  }

  async #sandboxed(resolved: ResolvedFunction, launch: Launch, folders: InstanceFolders): Promise<Launch> {
    const { sandbox, node, nodeModules, python } = this.#options;
    if (sandbox === undefined) return launch;
    const family = familyOf(resolved);
    const inside = (path: string) => insidePath(path, folders);
    const run = await inSandbox(sandbox, {
      command: inside(launch.command),
      arguments: launch.arguments.map(inside),
      family,
      region: resolved.reference.region,
      folders,
      node,
      shown: [...nodeModules, ...(family === "python" ? [await python()] : [])],
    });
    return { ...launch, ...run };
  }

  #baseEnvironment(family: RuntimeFamily, command: string): Record<string, string> {
    const isPython = family === "python" && this.#options.sandbox === undefined;
    const given = { ...this.#options.environment(family), ...(isPython ? userPackages() : {}) };
    // As Lambda's PATH leads to its runtime, so does this one.
    const path = command === "" ? [] : [dirname(command)];
    return {
      ...given,
      PATH: [...path, ...(given["PATH"] ?? "").split(delimiter)]
        .filter((part) => part !== "")
        .join(delimiter),
    };
  }
}

/** `AWS_LAMBDA_EXEC_WRAPPER`: a program that is given the runtime's command, often from a layer. */
function wrapped(launch: Launch, folders: InstanceFolders): Launch {
  const wrapper = launch.environment["AWS_LAMBDA_EXEC_WRAPPER"];
  if (wrapper === undefined) return launch;
  return {
    ...launch,
    command: localPath(wrapper, folders),
    arguments: [launch.command, ...launch.arguments],
  };
}

/** The interpreter looks for the user's own packages (`pip install --user`) under HOME, which functions don't get. */
function userPackages(): Record<string, string> {
  return { PYTHONUSERBASE: process.env["PYTHONUSERBASE"] ?? join(homedir(), ".local") };
}

const bootstraps = { node: runtimeAsset("node/bootstrap.cjs"), python: runtimeAsset("python/bootstrap.py") };

/** The family that runs a function. The registry lets no other runtime in. */
export function familyOf(resolved: ResolvedFunction): RuntimeFamily {
  const { runtime } = resolved.settings;
  if (!isRuntime(runtime)) throw new Error(`The runtime ${runtime} of ${resolved.arn} doesn't run here.`);
  return runtimes[runtime];
}

/**
 * Flags of the interpreter, for Node.js those that Lambda passes by declared runtime (facts 1.4). A function's own
 * NODE_OPTIONS come after them and can undo them.
 */
export function flagsOf(runtime: string): readonly string[] {
  // What a Python function prints is a log event at once.
  if (runtime.startsWith("python")) return ["-u"];
  if (runtime === "nodejs18.x" || runtime === "nodejs20.x")
    return known(["--no-experimental-require-module"]);
  if (runtime === "nodejs22.x") {
    return known(["--no-experimental-require-module", "--no-experimental-detect-module"]);
  }
  return [];
}

/** Can a process that was started before its function was known run it? NODE_OPTIONS only count at the start. */
export function fitsSpare(resolved: ResolvedFunction): boolean {
  const { environment, layers } = resolved.settings;
  const early = [
    "NODE_OPTIONS",
    "NODE_EXTRA_CA_CERTS",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "PYTHONSTARTUP",
    "PYTHONHASHSEED",
  ];
  const wrapped = "AWS_LAMBDA_EXEC_WRAPPER" in environment;
  return (
    familyOf(resolved) !== "custom" &&
    layers.length === 0 &&
    !wrapped &&
    !early.some((name) => name in environment)
  );
}

/** What a function's heap may grow to: most of its memory, as Lambda's own runtime leaves room for the rest. */
export function heapMegabytes(resolved: ResolvedFunction): number {
  return Math.floor(resolved.settings.memoryMegabytes * 0.9);
}

function heapFlags(resolved: ResolvedFunction, family: RuntimeFamily): readonly string[] {
  return family === "node" ? [`--max-old-space-size=${heapMegabytes(resolved)}`] : [];
}

function known(flags: readonly string[]): readonly string[] {
  return flags.filter((flag) => process.allowedNodeEnvironmentFlags.has(flag));
}

/** Lambda looks for an executable `bootstrap` in the function's code, then in its layers. */
async function customBootstrap({ code, layers }: InstanceFolders): Promise<string> {
  const candidates = [code, ...(layers === undefined ? [] : [layers])].map((folder) =>
    join(folder, "bootstrap"),
  );
  for (const candidate of candidates) {
    const isExecutable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return candidate;
  }
  return join(code, "bootstrap");
}
