import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../../../tests/support/state-directory.ts";
import { readReport, redirectedHosts, redirectEnvironment } from "./redirect.ts";

const run = promisify(execFile);
const files = { caFile: "/state/ca.pem", bundleFile: "/state/bundle.pem" };

describe("the environment", () => {
  test("of a Node process", () => {
    expect(
      redirectEnvironment({ ...files, port: 4433, runtime: "node", hosts: ["a.test", "*.b.test"] }),
    ).toEqual({
      CUSTARD_REDIRECT: "4433 a.test *.b.test",
      CUSTARD_REDIRECT_CA: "/state/ca.pem",
      NODE_OPTIONS: expect.stringMatching(/^--require ".*\/runtimes\/node\/redirect.cjs"$/u) as string,
    });
  });

  test("of a Python process", () => {
    expect(redirectEnvironment({ ...files, port: 4433, runtime: "python", hosts: ["a.test"] })).toMatchObject(
      {
        PYTHONPATH: expect.stringMatching(/\/runtimes\/python$/u) as string,
        SSL_CERT_FILE: "/state/bundle.pem",
      },
    );
  });

  test("keeps what is there, behind ours", () => {
    const theirs = { NODE_OPTIONS: "--enable-source-maps", PYTHONPATH: "/opt/python" };
    const ours = redirectEnvironment({ ...files, port: 4433, runtime: "any" }, theirs);
    expect(ours["NODE_OPTIONS"]).toMatch(/^--require ".*" --enable-source-maps$/u);
    expect(ours["PYTHONPATH"]).toMatch(/^.*\/runtimes\/python:\/opt\/python$/u);
    expect(ours["CUSTARD_REDIRECT"]).toBe(`4433 ${redirectedHosts.join(" ")}`);
  });
});

/** A server that says hello, standing for the endpoint or for the world outside. */
async function openServer(): Promise<number> {
  const server = createServer((socket) => void socket.end("hello"));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return (server.address() as AddressInfo).port;
}

const languages = [
  {
    runtime: "node",
    program: process.execPath,
    script: (host: string, port: number) =>
      `const s = require("net").connect(${port}, "${host}"); s.on("data", (d) => console.log(String(d))); s.on("error", (e) => console.log(e.code));`,
    start: 'require("child_process").execFileSync("true"); require("child_process").spawn("true");',
    option: "-e",
  },
  {
    runtime: "python",
    program: "python3",
    script: (host: string, port: number) =>
      `import socket\ntry:\n  print(socket.create_connection(("${host}", ${port})).recv(9).decode())\nexcept OSError as e: print(type(e).__name__)`,
    start: 'import subprocess; subprocess.run(["true"])',
    option: "-c",
  },
] as const;

describe.each(languages)("the hook of $runtime", ({ runtime, program, script, start, option }) => {
  async function runScript(
    code: string,
    options: { port: number | { file: string }; hosts?: string[]; env?: Record<string, string> },
  ) {
    const reportFile = join(temporaryDirectory(), "report");
    const { port, hosts = ["a.test", "b-*.test"] } = options;
    const env = redirectEnvironment({ ...files, port, hosts, runtime, reportFile }, options.env);
    const { stdout } = await run(program, [option, code], {
      env: { PATH: process.env["PATH"], ...env, ...pick(options.env) },
    });
    return { output: stdout.trim(), report: await readReport(reportFile) };
  }

  test.each(["a.test", "A.Test", "a.test.", "b-.test", "b-1.x.test"])(
    "leads %s to the endpoint",
    async (host) => {
      const port = await openServer();
      expect(await runScript(script(host, 443), { port })).toEqual({ output: "hello", report: [] });
    },
  );

  test("asks a file for the port, each time anew", async () => {
    const folder = join(temporaryDirectory(), "50% of a folder");
    mkdirSync(folder);
    const file = join(folder, "port");
    const refused = await runScript(script("a.test", 443), { port: { file } });
    expect(refused.output).toMatch(/^(?:ECONNREFUSED|ConnectionRefusedError)$/u);
    writeFileSync(file, String(await openServer()));
    expect((await runScript(script("a.test", 443), { port: { file } })).output).toBe("hello");
  });

  test.each([
    ["xa.test", 443],
    ["b.test", 443],
    ["a.test.x", 443],
    ["a.test", 444],
  ])("leaves %s port %d alone", async (host, port) => {
    const { output, report } = await runScript(script(host, port), { port: await openServer() });
    expect(output).not.toBe("hello");
    // A name that isn't known is never connected to; Node's hook sees it before that is found out.
    expect(report).toEqual(runtime === "node" ? [`connect ${host}:${port}`] : []);
  });

  test("reports a connection to elsewhere once, and none to the Runtime API or the endpoint itself", async () => {
    const [endpoint, api, elsewhere] = [await openServer(), await openServer(), await openServer()];
    const code = [api, endpoint, elsewhere, elsewhere].map((port) =>
      script("127.0.0.1", port).replaceAll("const s", "var s"),
    );
    const env = { AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${api}` };
    const { report } = await runScript(code.join("\n"), { port: endpoint, env });
    expect(report).toEqual([`connect 127.0.0.1:${elsewhere}`]);
  });

  test("reports programs that are started", async () => {
    expect((await runScript(start, { port: 1 })).report).toEqual(["spawn true"]);
  });

  test("does nothing without its settings", async () => {
    const elsewhere = await openServer();
    const env = redirectEnvironment({ ...files, port: 1, runtime });
    const { NODE_OPTIONS, PYTHONPATH } = env;
    const { stdout } = await run(program, [option, script("127.0.0.1", elsewhere)], {
      env: {
        PATH: process.env["PATH"],
        ...(NODE_OPTIONS && { NODE_OPTIONS }),
        ...(PYTHONPATH && { PYTHONPATH }),
      },
    });
    expect(stdout.trim()).toBe("hello");
  });
});

test("a user's own sitecustomize runs as well, and our folder leaves the search path", async () => {
  const theirs = temporaryDirectory();
  mkdirSync(join(theirs, "site"));
  writeFileSync(join(theirs, "site", "sitecustomize.py"), 'import sys\nsys.custom = "theirs"\n');
  const env = redirectEnvironment(
    { ...files, port: 1, runtime: "python" },
    { PYTHONPATH: join(theirs, "site") },
  );
  const code =
    "import sys; print(sys.custom, [path for path in sys.path if path.endswith('runtimes/python')])";
  const { stdout } = await run("python3", ["-c", code], { env: { PATH: process.env["PATH"], ...env } });
  expect(stdout.trim()).toBe("theirs []");
});

test("modules are changed when they are imported, not before", async () => {
  const env = redirectEnvironment({ ...files, port: 1, runtime: "python" });
  const code = "import sys; print([name for name in ('socket', 'ssl', 'subprocess') if name in sys.modules])";
  const { stdout } = await run("python3", ["-S", "-c", `import site; site.main(); ${code}`], {
    env: { PATH: process.env["PATH"], ...env },
  });
  expect(stdout.trim()).toBe("[]");
});

test("an instance that turned to nothing has no report", async () => {
  expect(await readReport(join(temporaryDirectory(), "missing"))).toEqual([]);
});

function pick(env: Record<string, string> = {}): Record<string, string> {
  const { AWS_LAMBDA_RUNTIME_API } = env;
  return AWS_LAMBDA_RUNTIME_API === undefined ? {} : { AWS_LAMBDA_RUNTIME_API };
}
