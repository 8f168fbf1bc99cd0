import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { onTestFinished, vi } from "vitest";

export const root = resolve(import.meta.dirname, "../../..");
/** The program as it is built. */
export const bin = join(root, "packages/custard/bin/custard.js");

// Each of these tests starts several processes, on machines that may be busy with others.
vi.setConfig({ testTimeout: 90_000 });

/** How a call of the command line ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The lines of stdout as JSON. */
  readonly lines: readonly Line[];
}

/** One JSON line, or one event of a JSON document: only what tests ask for. */
export interface Line {
  readonly kind?: string;
  readonly logicalId?: string;
  readonly physicalId?: string;
  readonly resourceType?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly requestId?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly code?: string;
  readonly message?: string;
  readonly advice?: string;
  readonly logs?: readonly string[];
  readonly stackId?: string;
  readonly changed?: boolean;
  readonly diagnostics?: readonly {
    readonly position?: { readonly line: number; readonly column: number };
  }[];
}

/** The command line as users have it: the built program in a process of its own. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  output(): string;
}

/** Starts `custard` in a folder. It is killed when the test ends before it. */
export function startCustard(folder: string, argv: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  if (!existsSync(bin)) throw new Error("These tests run the built command line: npm run build");
  const child = spawn(process.execPath, [bin, ...argv], {
    cwd: folder,
    env: { ...process.env, FORCE_COLOR: "", ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = new Promise<Ended>((done, failed) => {
    child.on("error", failed);
    child.on("close", (code) =>
      done({
        code,
        stdout,
        stderr,
        get lines() {
          return stdout
            .trim()
            .split("\n")
            .filter((line) => line.startsWith("{"))
            .map((line): Line => JSON.parse(line));
        },
      }),
    );
  });
  return { child, ended, output: () => stdout + stderr };
}

/** Runs `custard` in a folder to its end. */
export async function custard(folder: string, ...argv: readonly string[]): Promise<Ended> {
  return startCustard(folder, argv).ended;
}

/** Runs `custard` and expects this exit code; shows all that it wrote when it is another. */
export async function custardEnds(code: number, folder: string, argv: readonly string[]): Promise<Ended> {
  return endsWith(code, custard(folder, ...argv));
}

/** Expects this exit code of a call; shows all that it wrote when it is another. */
export async function endsWith(code: number, call: Promise<Ended>): Promise<Ended> {
  const ended = await call;
  if (ended.code !== code)
    throw new Error(`ended with ${ended.code}, not with ${code}\n${ended.stdout}\n${ended.stderr}`);
  return ended;
}

/** Deploys a template with `--json`. */
export async function deploy(folder: string, code: number, ...options: readonly string[]): Promise<Deployed> {
  const ended = await custardEnds(code, folder, [
    "deploy",
    "template.yaml",
    "--stack-name",
    "test",
    "--json",
    ...options,
  ]);
  const events = ended.lines.filter((line) => line.kind === "event");
  const result = ended.lines.findLast((line) => line.kind === "result");
  return { ...ended, lines: ended.lines, events, result, outputs: result?.outputs ?? {} };
}

export interface Deployed extends Ended {
  readonly events: readonly Line[];
  readonly result: Line | undefined;
  readonly outputs: Readonly<Record<string, string>>;
}

/** Events of one resource or of the stack as `STATUS reason`. */
export function storyOf(events: readonly Line[], logicalId: string): readonly string[] {
  return events
    .filter((event) => event.logicalId === logicalId)
    .map((event) => [event.status, event.reason].filter(Boolean).join(" "));
}

/** All events as `LogicalId STATUS`. */
export function courseOf(events: readonly Line[]): readonly string[] {
  return events.map((event) => `${event.logicalId} ${event.status}`);
}

/** What an earlier call left to be read as JSON. */
export async function readJson<T>(folder: string, ...argv: readonly string[]): Promise<T> {
  const ended = await custardEnds(0, folder, [...argv, "--json"]);
  return JSON.parse(ended.stdout);
}
