/**
 * What tests need of a machine beside npm's packages. `.ci/run` installs it, so that there it may not lack: a test that
 * is left out on a developer's machine says so, on CI it fails.
 */
import { spawnSync } from "node:child_process";

/** Those of some programs that run in this way, each once: two that say the same are the same. */
export function present(
  what: string,
  programs: readonly string[],
  ...probe: readonly string[]
): readonly string[] {
  const found = new Map<string, string>();
  for (const program of programs) {
    const { status, stdout } = spawnSync(program, probe, { encoding: "utf8" });
    if (status === 0 && !found.has(stdout)) found.set(stdout, program);
  }
  if (found.size === 0) lack(`${what}: none of ${programs.join(", ")} runs with ${probe.join(" ")}`);
  return [...found.values()];
}

/** Has a Python of this machine a package? One that Debian hasn't got may lack everywhere. */
export function hasPythonPackage(
  name: string,
  { python = "python3", isOfDebian = true }: { readonly python?: string; readonly isOfDebian?: boolean } = {},
): boolean {
  const has = spawnSync(python, ["-c", `import ${name}`], { stdio: "ignore" }).status === 0;
  if (!has) lack(`${python} has no ${name}`, isOfDebian);
  return has;
}

function lack(reason: string, isInstalledByCi = true): void {
  const { CI: ci = "" } = process.env;
  if (ci !== "" && isInstalledByCi) throw new Error(`This can't be tested, and on CI it must be: ${reason}`);
  process.stderr.write(`Left out: ${reason}\n`);
}
