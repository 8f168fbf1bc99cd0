/** Puts a function's code where its process can run it. */
import { cp, mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { extractArchive } from "../../services/code-archive.ts";
import type { StoredCode } from "../../services/function-record.ts";

/** Folders of code by its hash, unpacked once each. */
export class CodeFolders {
  readonly #root: string;
  readonly #read: (code: StoredCode) => Promise<Uint8Array>;
  readonly #unpacked = new Map<string, Promise<string>>();

  /** `root` must exist; `read` gives the bytes of stored code. */
  constructor(root: string, read: (code: StoredCode) => Promise<Uint8Array>) {
    this.#root = root;
    this.#read = read;
  }

  /** The folder with this code; a directory of the user's is used in place. */
  async folderFor(code: StoredCode, runtime: string): Promise<string> {
    if (code.kind === "directory") return code.path;
    const python = runtime.startsWith("python");
    const name = `${Buffer.from(code.sha256, "base64").toString("hex")}-${code.kind}${python ? "-py" : ""}`;
    const known = this.#unpacked.get(name);
    if (known !== undefined) return await known;
    const unpacking = this.#unpack(code, join(this.#root, name), python);
    this.#unpacked.set(name, unpacking);
    unpacking.catch(() => this.#unpacked.delete(name));
    return await unpacking;
  }

  async #unpack(code: StoredCode, target: string, python: boolean): Promise<string> {
    if ((await stat(target).catch(() => undefined)) !== undefined) return target;
    await mkdir(this.#root, { recursive: true });
    const folder = await mkdtemp(join(this.#root, "unpacking-"));
    try {
      const bytes = await this.#read(code);
      if (code.kind === "zip") await extractArchive(bytes, folder);
      else await writeInline(bytes, folder, python);
      // Whole or not at all: another process may look at the same moment.
      await rename(folder, target);
    } catch (cause) {
      await rm(folder, { recursive: true, force: true });
      if ((await stat(target).catch(() => undefined)) === undefined) throw cause;
    }
    return target;
  }
}

/** AWS puts its response module beside inline code that names it in exactly this way (fact 1.5). */
const responseModules = {
  node: {
    named: /require\(\s*(['"`])cfn-response\1\s*\)|from\s+(['"])cfn-response\2/,
    asset: "node/cfn-response.cjs",
    file: "cfn-response.js",
  },
  python: {
    named: /^\s*(?:import\s+(?:\w+\s*,\s*)*cfnresponse|from\s+cfnresponse\s+import)\b/m,
    asset: "python/cfnresponse.py",
    file: "cfnresponse.py",
  },
} as const;

async function writeInline(bytes: Uint8Array, folder: string, python: boolean): Promise<void> {
  const { named, asset, file } = responseModules[python ? "python" : "node"];
  await writeFile(join(folder, python ? "index.py" : "index.js"), bytes);
  if (!named.test(Buffer.from(bytes).toString("utf8"))) return;
  await cp(runtimeAsset(asset), join(folder, file));
}

/** A file that is shipped as it is. */
export function runtimeAsset(name: string): string {
  return fileURLToPath(new URL(`../../../runtimes/${name}`, import.meta.url));
}
