import { access, constants, readFile, stat } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { type Config, ConfigError, emptyConfig, parseConfig } from "../services/config.ts";
import { CliFault } from "./fault.ts";

/** The names that a configuration may have. */
const names = [
  "custard.config.json",
  "custard.config.yaml",
  "custard.config.yml",
  "custard.config.mjs",
] as const;

/** Where a configuration is looked for. */
export interface ConfigSearch {
  readonly cwd: string;
  /** Absolute. */
  readonly templatePath: string;
}

/**
 * The configuration beside a template, or else in the working directory; an empty one when there is none. Throws
 * `CliFault` when it is wrong, can't be read, or there are two in one folder.
 */
export async function readConfig({ cwd, templatePath }: ConfigSearch): Promise<Config> {
  const folders = [...new Set([dirname(templatePath), cwd])];
  for (const folder of folders) {
    const [file, other] = await configsIn(folder);
    if (other !== undefined && file !== undefined)
      throw new CliFault(`There are two configurations: ${relative(cwd, file)} and ${relative(cwd, other)}`, {
        advice: "Keep one of them.",
      });
    if (file !== undefined) return await parseFile(file, cwd);
  }
  return emptyConfig;
}

async function configsIn(folder: string): Promise<readonly string[]> {
  const found = await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      const isFile = await stat(file).then(
        (stats) => stats.isFile(),
        () => false,
      );
      return isFile ? [file] : [];
    }),
  );
  return found.flat();
}

async function parseFile(file: string, cwd: string): Promise<Config> {
  const shown = relative(cwd, file) || file;
  const value = await load(file).catch((cause: unknown) => {
    throw new CliFault(`${shown} can't be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  });
  try {
    return await withPython(parseConfig(value, dirname(file)), shown);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CliFault(`${shown} is wrong:\n${error.message}`, {
      cause: error,
      advice: "docs/config.md describes what it can say.",
    });
  }
}

/** A name on the PATH as the path that it stands for. */
async function withPython(config: Config, shown: string): Promise<Config> {
  const { python } = config;
  if (python === undefined) return config;
  const folders = isAbsolute(python) ? [""] : (process.env["PATH"] ?? "").split(delimiter);
  for (const folder of folders) {
    const path = join(folder, python);
    const isExecutable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return { ...config, python: path };
  }
  throw new CliFault(`${shown} names the interpreter ${python}, and there is none`);
}

async function load(file: string): Promise<unknown> {
  if (file.endsWith(".mjs")) {
    const module: unknown = await import(pathToFileURL(file).href);
    return typeof module === "object" && module !== null && "default" in module ? module.default : undefined;
  }
  const text = await readFile(file, "utf8");
  if (file.endsWith(".json")) return JSON.parse(text) as unknown;
  const { parse } = await import("yaml");
  return parse(text, { maxAliasCount: 100 }) as unknown;
}
