import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/state-directory.ts";

// The examples of the SDK are used as their READMEs say, with the built command line and real processes.

const root = resolve(import.meta.dirname, "../..");
const bin = join(root, "packages/custard/bin/custard.js");
const run = promisify(execFile);

function copyOf(name: string): string {
  const folder = join(temporaryDirectory(), name);
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, "examples", name), folder, {
    recursive: true,
    filter: (path) => !/\.custard|dist/u.test(path),
  });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

const tool = (folder: string, name: string, ...argv: string[]) =>
  run(join(root, "node_modules/.bin", name), argv, { cwd: folder });

/** Deploys, and gives what was printed, whether it went well or not. */
async function deploy(folder: string, ...parameters: string[]): Promise<string> {
  const options = parameters.length > 0 ? ["--parameters", ...parameters] : [];
  const argv = [bin, "deploy", "template.yaml", ...options];
  const env = { ...process.env, FORCE_COLOR: "" };
  return run(process.execPath, argv, { cwd: folder, env }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );
}

describe("20 provider", { timeout: 120_000 }, () => {
  test("deploys, grows, refuses, replaces", async () => {
    const folder = copyOf("20-provider");
    const esbuild = ["src/handler.ts", "--bundle", "--platform=node", "--target=node20", "--format=esm"];
    await tool(folder, "esbuild", ...esbuild, "--outfile=dist/index.mjs");
    const where = `Folder=${temporaryDirectory()}`;
    const created = await deploy(folder, where);
    expect(created).toContain("CREATE_COMPLETE");
    expect(created).not.toContain("s3cr3t-key");
    const id = /Topic +(Topic-[a-z2-7]{12})/u.exec(created)?.[1] ?? "no id";
    expect(created).toContain(`${id}.kafka.example.com`);
    expect(await deploy(folder, where, "Partitions=6")).toMatch(/Partitions +6/u);
    const refused = await deploy(folder, where, "Partitions=2");
    expect(refused).toContain("partitions can only grow");
    expect(refused).toContain("UPDATE_ROLLBACK_COMPLETE");
    const replaced = await deploy(folder, where, "Name=invoices");
    expect(replaced).toContain("UPDATE_COMPLETE");
    expect(replaced).not.toContain(`${id}.kafka`);
  });

  test("is the example of the README", () => {
    const readme = readFileSync(join(root, "packages/provider/README.md"), "utf8");
    const example = readFileSync(join(root, "examples/20-provider/src/topic.ts"), "utf8");
    expect(readme).toContain(`\n\`\`\`ts\n${example}\`\`\`\n`);
  });

  test("doesn't compile when an attribute is left out", async () => {
    const folder = copyOf("20-provider");
    const config = {
      extends: join(root, "tsconfig.base.json"),
      compilerOptions: { noEmit: true },
      include: ["src"],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    await tool(folder, "tsc");
    const path = join(folder, "src/kafka.ts");
    const text = readFileSync(path, "utf8");
    const broken = text.replace("Endpoint: string; ", "").replace(/ Endpoint: `[^`]*`,/u, "");
    expect(broken).not.toContain("Endpoint");
    writeFileSync(path, broken);
    await expect(tool(folder, "tsc")).rejects.toMatchObject({
      stdout: expect.stringContaining("'Endpoint'") as string,
    });
  });
});

describe("21 inline", { timeout: 60_000 }, () => {
  test("the template holds today's core", async () => {
    const made = join(temporaryDirectory(), "template.yaml");
    await run(process.execPath, [join(root, "examples/21-inline/make-template.mjs"), made]);
    expect(readFileSync(made, "utf8")).toBe(
      readFileSync(join(root, "examples/21-inline/template.yaml"), "utf8"),
    );
  });

  test("answers, and fails with its own words", async () => {
    const folder = copyOf("21-inline");
    expect(await deploy(folder)).toMatch(/Sentence +it fits\./u);
    expect(await deploy(folder, "Words=one,two,three")).toMatch(/Sentence +one two three\./u);
    expect(await deploy(folder, "Words=")).toContain("Message returned: Words is empty");
  });
});
