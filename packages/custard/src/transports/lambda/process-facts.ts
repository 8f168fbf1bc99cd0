import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** The most memory that a process had at once; undefined where the machine has no /proc. */
export function peakMemoryMegabytes(pid: number): number | undefined {
  const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readProcess(pid, "status"))?.[1];
  return kilobytes === undefined ? undefined : Math.ceil(Number(kilobytes) / 1024);
}

/**
 * The memory that a process has of its own now, without what is mapped from files and could be dropped; undefined
 * where the machine has no /proc.
 */
export function memoryMegabytes(pid: number): number | undefined {
  const kilobytes = /^RssAnon:\s+(\d+) kB/m.exec(readProcess(pid, "status"))?.[1];
  return kilobytes === undefined ? undefined : Math.ceil(Number(kilobytes) / 1024);
}

/** The process that stands so many below another, by first children; undefined when there is none. */
export function descendantOf(pid: number, depth: number): number | undefined {
  if (depth === 0) return pid;
  const [child] = readProcess(pid, `task/${pid}/children`).split(" ");
  return child === undefined || child === "" ? undefined : descendantOf(Number(child), depth - 1);
}

/** Is there a process of this pid, whosever it is? */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, but another user's.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** When a process was started, in the machine's own notation: tells a process from a later one of the same pid. */
export function startTimeOf(pid: number): string | undefined {
  const stat = readProcess(pid, "stat");
  // The second field is the command in parentheses, which may contain anything; 22 is the start time.
  if (stat !== "") return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  if (process.platform === "linux") return undefined;
  try {
    const text = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: "pipe",
    }).trim();
    return text === "" ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Native libraries that open connections by themselves, where no hook sees them; Node's addons may do anything. */
const connectors =
  /\/((?:cygrpc|pycurl|_psycopg|psycopg|libpq|libcurl|librdkafka|_mysql|_zmq|libzmq|loop)[^/]*\.so[^/]*|[^/]+\.node)$/;

/** Which of them a process has loaded; none where the machine has no /proc. */
export function nativeConnectorsOf(pid: number): readonly string[] {
  const lines = readProcess(pid, "maps").split("\n");
  return [...new Set(lines.flatMap((line) => connectors.exec(line)?.[1] ?? []))];
}

function readProcess(pid: number, file: "status" | "stat" | "maps" | `task/${number}/children`): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
