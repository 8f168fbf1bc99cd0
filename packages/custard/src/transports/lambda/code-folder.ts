/** Puts code and layers where a process can run them. Each is unpacked once, by its hash. */
import { createHash } from "node:crypto";
import { cp, lstat, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { extractArchive } from "../../services/code-archive.ts";
import type { ResolvedFunction, StoredCode } from "../../services/function-record.ts";
import { TransportError } from "./transport-error.ts";

/** Where the bytes come from. */
export interface CodeSource {
  readonly code: (code: StoredCode) => Promise<Uint8Array>;
  readonly layers: (resolved: ResolvedFunction) => Promise<readonly StoredCode[]>;
  /** Folders like `…/node_modules` where Node functions find packages last. */
  readonly nodeModules: readonly string[];
}

/** The folders of one function. */
export interface FunctionFolders {
  /** Its code; a directory of the user's is used in place. */
  readonly code: string;
  /** Its layers laid over each other, as `/opt` on Lambda; absent without layers. */
  readonly layers?: string;
}

/** Unpacked code and layers under one root. */
export class CodeFolders {
  readonly #root: string;
  readonly #source: CodeSource;
  readonly #made = new Map<string, Promise<string>>();

  /** `root` is made when it is needed. */
  constructor(root: string, source: CodeSource) {
    this.#root = root;
    this.#source = source;
  }

  async foldersFor(resolved: ResolvedFunction): Promise<FunctionFolders> {
    const { code, settings, reference } = resolved;
    if (code.kind === "directory" && !(await exists(code.path))) {
      throw new TransportError(
        "NoCode",
        `The code of function ${reference.name} is gone: there is no directory ${code.path}.`,
      );
    }
    const layers = settings.layers.length === 0 ? undefined : await this.#layersOf(resolved);
    const folder = code.kind === "directory" ? code.path : await this.#codeOf(resolved, layers);
    return layers === undefined ? { code: folder } : { code: folder, layers };
  }

  async #codeOf(resolved: ResolvedFunction, layers: string | undefined): Promise<string> {
    const { code, settings } = resolved;
    const family = settings.runtime.startsWith("python") ? "python" : "node";
    const name = nameOf(["code", code.kind, code.sha256, family, layers ?? ""]);
    const made = await this.#make(name, async (folder) => {
      const task = join(folder, "task");
      await mkdir(task);
      const bytes = await this.#source.code(code);
      if (code.kind === "zip") await extractArchive(bytes, task);
      else await writeInline(bytes, task, family);
      if (settings.runtime.startsWith("nodejs"))
        await this.#linkModules(join(folder, "node_modules"), layers);
    });
    return join(made, "task");
  }

  async #layersOf(resolved: ResolvedFunction): Promise<string> {
    return await this.#make(nameOf(["layers", ...resolved.settings.layers]), async (folder) => {
      for (const layer of await this.#source.layers(resolved)) await this.#overlay(layer, folder);
    });
  }

  /** A later layer's files replace those of an earlier one. */
  async #overlay(layer: StoredCode, folder: string): Promise<void> {
    const options = { recursive: true, force: true, verbatimSymlinks: true };
    if (layer.kind === "directory") return await cp(layer.path, folder, options);
    const unpacked = await mkdtemp(join(this.#root, "layer-"));
    try {
      await extractArchive(await this.#source.code(layer), unpacked);
      await cp(unpacked, folder, options);
    } finally {
      await rm(unpacked, { recursive: true, force: true });
    }
  }

  /**
   * ESM looks for packages in the folders above only, where NODE_PATH doesn't count; on Lambda it finds those of
   * layers all the same. So a folder above the code leads to them.
   */
  async #linkModules(target: string, layers: string | undefined): Promise<void> {
    const own = layers === undefined ? [] : [join(layers, "nodejs", "node_modules")];
    const sources: string[] = [];
    for (const source of [...own, ...this.#source.nodeModules])
      if (await exists(source)) sources.push(source);
    const [only, ...others] = sources;
    if (only === undefined) return;
    if (others.length === 0) return await symlink(only, target);
    await mkdir(target);
    for (const source of sources) await linkPackages(source, target);
  }

  async #make(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
    const known = this.#made.get(name);
    if (known !== undefined) return await known;
    const making = this.#makeFolder(join(this.#root, name), fill);
    this.#made.set(name, making);
    making.catch(() => this.#made.delete(name));
    return await making;
  }

  async #makeFolder(target: string, fill: (folder: string) => Promise<void>): Promise<string> {
    await mkdir(this.#root, { recursive: true });
    const folder = await mkdtemp(join(this.#root, "unpacking-"));
    try {
      await fill(folder);
      // Whole or not at all: what was cut short must not be taken for the function.
      await rename(folder, target);
    } catch (cause) {
      await rm(folder, { recursive: true, force: true });
      throw cause;
    }
    return target;
  }
}

/** One link a package, the first source that has it; scopes are folders of packages. */
async function linkPackages(source: string, target: string): Promise<void> {
  for (const name of await readdir(source)) {
    const [from, to] = [join(source, name), join(target, name)];
    if (name.startsWith("@")) {
      await mkdir(to, { recursive: true });
      await linkPackages(from, to);
    } else if (!(await exists(to))) {
      await symlink(from, to);
    }
  }
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

function nameOf(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 40);
}

/** AWS puts its response module beside inline code that names it in exactly this way (fact 1.5). */
const responseModules = {
  node: {
    code: "index.js",
    named: /require\(\s*(['"`])cfn-response\1\s*\)|from\s+(['"])cfn-response\2/,
    asset: "node/cfn-response.cjs",
    file: "cfn-response.js",
  },
  python: {
    code: "index.py",
    named: /^\s*(?:import\s+(?:\w+\s*,\s*)*cfnresponse|from\s+cfnresponse\s+import)\b/m,
    asset: "python/cfnresponse.py",
    file: "cfnresponse.py",
  },
} as const;

async function writeInline(
  bytes: Uint8Array,
  folder: string,
  family: keyof typeof responseModules,
): Promise<void> {
  const { code, named, asset, file } = responseModules[family];
  await writeFile(join(folder, code), bytes);
  if (named.test(Buffer.from(bytes).toString("utf8"))) await cp(runtimeAsset(asset), join(folder, file));
}

/** A file that is shipped as it is. */
export function runtimeAsset(name: string): string {
  return fileURLToPath(new URL(`../../../runtimes/${name}`, import.meta.url));
}
