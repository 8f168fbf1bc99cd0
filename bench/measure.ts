import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Benches run from the repository's root, by `npm run bench`. */
const bin = resolve("packages/custard/bin/custard.js");

/** Runs a measurement some times, and gives the median. */
export async function median(times: number, measure: () => number | Promise<number>): Promise<number> {
  const found: number[] = [];
  for (let time = 0; time < times; time += 1) found.push(await measure());
  return found.toSorted((a, b) => a - b)[Math.floor(times / 2)] ?? Number.NaN;
}

/** Milliseconds from start to end of a program that does nothing. */
export function startOf(program: string, argv: readonly string[]): number {
  const before = performance.now();
  execFileSync(program, argv);
  return performance.now() - before;
}

/** The interpreter itself, not a shim that looks for it. */
export function python(): string {
  return execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
}

/** One JSON line of a deployment, with the time at which it came. */
export interface TimedLine {
  readonly after: number;
  readonly kind?: string;
  readonly logicalId?: string;
  readonly status?: string;
}

/** Deploys a template into a new state directory; gives its JSON lines. Throws when it fails. */
export async function deploy(template: string): Promise<readonly TimedLine[]> {
  const folder = mkdtempSync(join(tmpdir(), "custard-bench-"));
  writeFileSync(join(folder, "template.yaml"), template);
  const lines: TimedLine[] = [];
  const before = performance.now();
  const child = spawn(process.execPath, [bin, "deploy", "template.yaml", "--stack-name", "bench", "--json"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const after = performance.now() - before;
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) lines.push({ ...JSON.parse(part), after });
  });
  const code = await new Promise((done) => child.on("close", done));
  rmSync(folder, { recursive: true, force: true });
  if (code !== 0) throw new Error(`custard deploy ended with ${String(code)}`);
  return lines;
}

/** When an event came. */
export function timeOf(lines: readonly TimedLine[], logicalId: string, status: string): number {
  const line = lines.findLast(
    (candidate) => candidate.logicalId === logicalId && candidate.status === status,
  );
  if (line === undefined) throw new Error(`${logicalId} never was ${status}`);
  return line.after;
}
