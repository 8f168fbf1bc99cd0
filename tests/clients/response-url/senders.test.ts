import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { redirectEnvironment } from "../../../packages/custard/src/response/redirect.ts";
import type { SignatureStyle } from "../../../packages/custard/src/response/sign.ts";
import { openResponseWorld } from "../../support/response-world.ts";
import type { ResponseWorld } from "../../support/response-world.ts";

/**
 * The client matrix: unmodified senders in real child processes, and what AWS answers them. With a SigV2 URL every
 * sender that gives a content type gets 403, as on AWS; with SigV4 all are taken.
 */
const nodeSenders = [
  { sender: "https with host name, port 443 and path", v2: "200" },
  { sender: "https with host name and path", v2: "200" },
  { sender: "https with a URL", v2: "200" },
  { sender: "https with a list of authorities", v2: "200" },
  { sender: "a socket with TLS on top", v2: "200" },
  { sender: "cfn-response", v2: "200" },
  { sender: "fetch", v2: "403" },
  { sender: "undici", v2: "200" },
  { sender: "axios", v2: "403" },
  { sender: "got", v2: "200" },
  { sender: "node-fetch", v2: "403" },
] as const;

const pythonSenders = [
  { sender: "urllib3_pool", needs: "urllib3", v2: "200" },
  { sender: "requests_data", needs: "requests", v2: "200" },
  { sender: "requests_json", needs: "requests", v2: "403" },
  { sender: "http_client", needs: "http.client", v2: "200" },
  { sender: "urllib_request", needs: "urllib.request", v2: "200" },
  { sender: "asyncio_stream", needs: "asyncio", v2: "200" },
] as const;

const body = JSON.stringify({ Status: "SUCCESS", PhysicalResourceId: "grün" });
const run = promisify(execFile);

describe.each<SignatureStyle>(["v4", "v2"])("a URL signed in style %s", (style) => {
  describe("Node", () => {
    test.each(nodeSenders)("$sender", async ({ sender, v2 }) => {
      const world = await openResponseWorld();
      const status = await send(world, { style, runtime: "node", program: process.execPath, sender });
      expect(status).toBe(style === "v4" ? "200" : v2);
      expect(world.arrived).toHaveLength(status === "200" ? 1 : 0);
    });
  });

  describe.each(pythonPrograms())("%s", (program) => {
    test.for(pythonSenders)("$sender", async ({ sender, needs, v2 }, context) => {
      if (!hasModule(program, needs)) context.skip(`${program} has no ${needs}`);
      const world = await openResponseWorld();
      const status = await send(world, { style, runtime: "python", program, sender });
      expect(status).toBe(style === "v4" ? "200" : v2);
      expect(bodiesOf(world)).toEqual(status === "200" ? [JSON.parse(body)] : []);
    });
  });
});

test("a sender of HTTP/2 fails while connecting, as with S3", async () => {
  const world = await openResponseWorld();
  const given = { style: "v4", runtime: "node", program: process.execPath, sender: "http2" } as const;
  expect(await send(world, given)).toMatch(/^ERR_/u);
});

test.each([
  ["us-west-2", "aws"],
  ["eu-central-1", "aws"],
  ["cn-north-1", "aws-cn"],
  ["us-gov-west-1", "aws-us-gov"],
  ["eusc-de-east-1", "aws-eusc"],
])("the host of %s is redirected and vouched for", async (region, partition) => {
  const world = await openResponseWorld({ region, partition });
  const given = { style: "v4", runtime: "node", program: process.execPath, sender: "fetch" } as const;
  expect(await send(world, given)).toBe("200");
});

async function send(
  world: ResponseWorld,
  given: { style: SignatureStyle; runtime: "node" | "python"; program: string; sender: string },
): Promise<string> {
  const script = given.runtime === "node" ? "node-senders.mjs" : "python_senders.py";
  const { caFile, bundleFile } = world.certificate;
  const redirect = { port: world.endpoint.port, caFile, bundleFile, runtime: given.runtime };
  const { stdout } = await run(given.program, [join(import.meta.dirname, script), given.sender], {
    env: {
      PATH: process.env["PATH"],
      RESPONSE_URL: world.url("c0ffee", { style: given.style }),
      RESPONSE_BODY: body,
      ...redirectEnvironment(redirect),
    },
  });
  return /^(?:Status code: )?(\d{3}|ERR_\w+)$/mu.exec(stdout)?.[1] ?? stdout;
}

function bodiesOf(world: ResponseWorld): unknown[] {
  return world.arrived.map(({ body: bytes }) => JSON.parse(Buffer.from(bytes).toString()) as unknown);
}

/** The interpreters to try: the one on the path, without its launcher, and the system's. */
function pythonPrograms(): string[] {
  const found = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], {
    encoding: "utf8",
  }).trim();
  return [...new Set([found, "/usr/bin/python3"])].filter((program) => existsSync(program));
}

function hasModule(program: string, name: string): boolean {
  try {
    execFileSync(program, ["-c", `import ${name}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
