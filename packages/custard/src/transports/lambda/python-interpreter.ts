/**
 * Finds the Python interpreter behind `python3`. Version managers put a script there that looks for the interpreter
 * at each start, which costs 100 ms: it is asked once, and its answer kept for as long as nothing changed that it
 * looks at.
 */
import { execFile } from "node:child_process";
import { access, constants, lstat, open, readFile, rename, stat, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import type { Json } from "@custard/provider/protocol";
import { TransportError } from "./transport-error.ts";
import { openWorkDirectory } from "./work-directory.ts";

/** Where to look. */
export interface PythonSearch {
  /** Where the answer is kept, for all state directories. */
  readonly workDirectory: string;
  /** The user's own environment: PATH, and what version managers read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
}

/** Absolute path of the interpreter. Throws `TransportError` (NoInterpreter). */
export async function findPython(search: PythonSearch): Promise<string> {
  const command = await findOnPath("python3", search.environment["PATH"] ?? "");
  if (command === undefined) {
    throw new TransportError(
      "NoInterpreter",
      "Python functions need python3, and there is none on the PATH.",
    );
  }
  if (!(await isScript(command))) return command;
  const circumstances = await circumstancesOf(command, search);
  await openWorkDirectory(search.workDirectory);
  const file = join(search.workDirectory, "python-interpreter.json");
  const known = answerOf(await readOwn(file), circumstances);
  if (known !== undefined && (await isExecutable(known))) return known;
  const interpreter = await askScript(command, search);
  await writeWhole(file, JSON.stringify({ circumstances, interpreter }));
  return interpreter;
}

async function askScript(command: string, search: PythonSearch): Promise<string> {
  try {
    // The version manager is the user's, and so is its environment: no function's code runs here.
    const asked = await promisify(execFile)(
      command,
      ["-I", "-S", "-c", "import sys; print(sys.executable)"],
      {
        cwd: search.directory,
        env: { ...search.environment },
        timeout: 10_000,
      },
    );
    return asked.stdout.trim();
  } catch (cause) {
    throw new TransportError(
      "NoInterpreter",
      `Python functions need python3, and ${command} doesn't start one.`,
      { cause },
    );
  }
}

/** Everything that decides which interpreter the script of a version manager picks. */
async function circumstancesOf(command: string, search: PythonSearch): Promise<Json> {
  const { environment, directory } = search;
  const names = ["PYENV_VERSION", "PYENV_ROOT", "ASDF_PYTHON_VERSION", "MISE_PYTHON_VERSION", "HOME"];
  const files = [command, join(dirname(dirname(command)), "version"), ...versionFilesAbove(directory)];
  const times = await Promise.all(
    files.map(async (file) => [file, (await stat(file).catch(() => undefined))?.mtimeMs ?? null]),
  );
  // Folders without such files of their own share an answer.
  const found = times.filter(([, time]) => time !== null);
  return { command, variables: names.map((name) => environment[name] ?? null), found };
}

function versionFilesAbove(directory: string): readonly string[] {
  const own = [".python-version", ".tool-versions", "mise.toml", ".mise.toml"].map((name) =>
    join(directory, name),
  );
  const parent = dirname(directory);
  return parent === directory ? own : [...own, ...versionFilesAbove(parent)];
}

function answerOf(stored: unknown, circumstances: Json): string | undefined {
  if (typeof stored !== "object" || stored === null) return undefined;
  if (!("circumstances" in stored) || !isDeepStrictEqual(stored.circumstances, circumstances))
    return undefined;
  return "interpreter" in stored && typeof stored.interpreter === "string" ? stored.interpreter : undefined;
}

/** What the user's own file says; a missing or damaged one says nothing. */
async function readOwn(file: string): Promise<unknown> {
  try {
    const { uid } = await lstat(file);
    if (process.getuid !== undefined && uid !== process.getuid()) return undefined;
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}

async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}

async function findOnPath(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    const candidate = join(folder, name);
    if (folder !== "" && (await isExecutable(candidate))) return candidate;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  return await access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function isScript(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.toString("latin1") === "#!";
  } finally {
    await handle.close();
  }
}
