/** Code of functions from the user's source files, as `custard.config` names them. */
import { stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, extname } from "node:path";
import { pathToFileURL } from "node:url";
import { zipSync } from "fflate";
import type { CodeInput } from "../services/function-record.ts";
import { readRegular } from "../services/read-regular.ts";
import { ResourceFailure } from "./failure.ts";

/** The part of esbuild that is used, where the user has it. */
interface Esbuild {
  build(options: Readonly<Record<string, unknown>>): Promise<{
    readonly outputFiles?: readonly { readonly contents: Uint8Array }[];
  }>;
}

const typescript = /\.[cm]?tsx?$/;
const javascript = /\.[cm]?jsx?$/;

/**
 * The code in a source file, under the name that `handler` asks for: TypeScript, and JavaScript where esbuild is at
 * hand, bundled with what it imports; other files as they are. A folder is used in place.
 */
export async function codeFromSource(path: string, handler: string): Promise<CodeInput> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined)
    throw new ResourceFailure(`There is no file or folder ${path}, which custard.config names.`);
  if (found.isDirectory()) return { kind: "directory", path };
  const esbuild = typescript.test(path) || javascript.test(path) ? await findEsbuild(path) : undefined;
  if (esbuild !== undefined) return zipOf(`${moduleOf(handler)}.js`, await bundle(esbuild, path));
  if (typescript.test(path)) {
    throw new ResourceFailure(
      `${basename(path)} is TypeScript, which needs esbuild in your project: npm install --save-dev esbuild`,
    );
  }
  return zipOf(`${moduleOf(handler)}${extname(path)}`, await readRegular(path));
}

async function findEsbuild(path: string): Promise<Esbuild | undefined> {
  let file: string;
  try {
    file = createRequire(path).resolve("esbuild");
  } catch {
    // Not in the user's project: TypeScript can't do without, JavaScript can.
    return undefined;
  }
  // The border to the user's own package: esbuild's documented form of its module.
  const module = (await import(pathToFileURL(file).href)) as { readonly default: Esbuild };
  return module.default;
}

async function bundle(esbuild: Esbuild, path: string): Promise<Uint8Array> {
  const built = await esbuild
    .build({
      entryPoints: [path],
      bundle: true,
      write: false,
      platform: "node",
      target: "node20",
      format: "cjs",
      // Lambda's runtime has them; here they come from the user's project.
      external: ["@aws-sdk/*", "@smithy/*"],
      logLevel: "silent",
    })
    .catch((cause: unknown) => {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new ResourceFailure(`${path} can't be bundled: ${message}`, { cause });
    });
  const [output] = built.outputFiles ?? [];
  if (output === undefined) throw new ResourceFailure(`${path} can't be bundled: esbuild gave nothing.`);
  return output.contents;
}

/** `src/app` of `src/app.handler`. */
function moduleOf(handler: string): string {
  const name = handler.replace(/\.[^./]*$/, "");
  return name === "" ? "index" : name;
}

function zipOf(name: string, bytes: Uint8Array): CodeInput {
  return { kind: "zip", bytes: zipSync({ [name]: bytes }) };
}
