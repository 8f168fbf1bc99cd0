import { fstatSync, statSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import type { LocalOptions } from "../../local.ts";
import type { ServeOptions } from "../../serve-endpoint.ts";
import { emptyConfig } from "../../services/config.ts";
import { type Call, type Command, sharedOptions } from "../command.ts";
import { CliFault, type ExitCode } from "../fault.ts";
import type { Opened } from "../opened.ts";
import { placeOf } from "../place.ts";
import { providerOptions, providerSettings } from "../provider-options.ts";
import { printable } from "../printable.ts";
import { readConfig } from "../read-config.ts";
import { futureState } from "../state-directory.ts";
import { version } from "../version.ts";

/** Which calls of clients that wait for a stack are answered only when it has settled. */
const holds = ["waiters", "all", "none"] as const;
const defaultPort = "4566";
const minute = 60_000;

export const serve: Command = {
  name: "serve",
  summary: "let the aws CLI, the SDKs and the CDK work with the stacks here",
  details:
    "Serves AWS's own clients on one local port until Ctrl-C: point them to it with AWS_ENDPOINT_URL or --endpoint-url. " +
    "The region is the one that a request is signed for; the account is --account, or the access key when that is an account's number. " +
    "Nobody is asked for valid credentials, so that only this machine can reach the port. Requests are logged on stderr, as JSON. " +
    "A custard.config here counts as for custard deploy (docs/config.md). " +
    "While it runs, custard deploy, delete and the other commands work through it: the state directory stays in one hand.",
  arguments: [],
  options: [
    {
      flags: "--port <port>",
      description: `port to listen on (default: ${defaultPort}; 0: any that is free)`,
    },
    { flags: "--host <address>", description: "address to listen on (default: 127.0.0.1)" },
    {
      flags: "--state <dir>",
      description: "where stacks are kept (default: the .custard folder here or above, or a new one here)",
    },
    { flags: "--region <region>", description: "region of requests that name none (default: us-east-1)" },
    { flags: "--account <id>", description: "account of requests that name none, 12 digits" },
    {
      flags: "--hold <which>",
      description:
        "answer calls that wait for a stack when it has settled, or after 20 s: waiters (default), all, none",
    },
    {
      flags: "--require-signature",
      description: "answer only requests signed by a key of CUSTARD_KEYS (KEYID:SECRET,…)",
    },
    {
      flags: "--node-modules <dir>",
      description: "where Node.js functions find packages (default: the AWS SDK of the project here)",
    },
    providerOptions.sandbox,
    providerOptions.noSandbox,
    providerOptions.responseUrlStyle,
    providerOptions.subscriberHosts,
    { flags: "--ready-fd <number>", description: "file descriptor to write the address to once it is open" },
    sharedOptions.json,
  ],
  examples: ["custard serve", "custard serve --port 0 --state my-app/.custard --hold all"],
  run: runServe,
};

async function runServe(call: Call): Promise<ExitCode> {
  const modules = nodeModulesOf(call);
  const readyFd = readyFdOf(call);
  // A directory keeps what a deployment was configured with, so that no file changes nothing.
  const config = await readConfig({ cwd: call.io.cwd, templatePath: resolve(call.io.cwd, "template") });
  const local = await openAt(call, {
    ...(config === emptyConfig ? {} : { config }),
    stateDirectory: futureState(call),
    ...placeOf(call),
    ...providerSettings(call),
    failFast: false,
    retryDelays: [minute, 2 * minute],
    snsRetryScale: 1,
    trouble: (error) => log(call, { level: "error", message: textOf(error) }),
    endpoint: serveOptionsOf(call),
    ...(modules === undefined ? {} : { nodeModules: [modules] }),
  });
  try {
    await untilInterrupted(call, () => announce(call, local, readyFd));
    return 0;
  } finally {
    await local.close();
  }
}

async function openAt(call: Call, options: LocalOptions): Promise<Opened> {
  try {
    return await call.open(options);
  } catch (error) {
    const code = error instanceof Error ? Reflect.get(error, "code") : undefined;
    const { host = "127.0.0.1", port } = options.endpoint ?? {};
    if (code === "EADDRINUSE")
      throw new CliFault(`Port ${port} of ${host} is in use`, {
        exitCode: 1,
        advice: "Give another with --port; 0 takes any that is free.",
        cause: error,
      });
    if (code === "EADDRNOTAVAIL" || code === "EACCES")
      throw new CliFault(`Nothing can listen on ${host}, port ${port}`, { exitCode: 1, cause: error });
    throw error;
  }
}

function serveOptionsOf(call: Call): ServeOptions {
  const host = call.text("host");
  const hold = call.text("hold") ?? "waiters";
  const keys = keysOf(call);
  if (!isHold(hold))
    throw new CliFault(`--hold ${hold} is none of ${holds.join(", ")}`, {
      advice:
        "waiters holds the calls of clients that wait, all every DescribeStacks of one stack, none nothing.",
    });
  if (host !== undefined && !/^(?:127\.[\d.]+|::1|localhost)$/.test(host) && keys === undefined)
    throw new CliFault(`At ${host} others could reach the endpoint and run code here`, {
      advice: "Add --require-signature, and give keys in CUSTARD_KEYS.",
    });
  return {
    port: numberOf("--port", call.text("port") ?? defaultPort),
    version: version(),
    hold,
    note: (note) => log(call, { level: "info", message: "request", ...note }),
    ...(host === undefined ? {} : { host }),
    ...(keys === undefined ? {} : { keys }),
  };
}

function isHold(text: string): text is (typeof holds)[number] {
  return holds.some((hold) => hold === text);
}

function keysOf(call: Call): ReadonlyMap<string, string> | undefined {
  if (!call.flag("requireSignature")) return undefined;
  const pairs = (process.env["CUSTARD_KEYS"] ?? "").split(",").map((pair) => pair.trim().split(":"));
  const keys = new Map(
    pairs.flatMap(([id = "", secret = ""]) => (id && secret ? [[id, secret] as const] : [])),
  );
  if (keys.size > 0) return keys;
  throw new CliFault("--require-signature needs to know whose signatures are right", {
    advice:
      "Give access keys in the environment: CUSTARD_KEYS=AKIAEXAMPLE:secret custard serve --require-signature",
  });
}

function nodeModulesOf(call: Call): string | undefined {
  const given = call.text("nodeModules");
  if (given === undefined) return undefined;
  const folder = resolve(call.io.cwd, given);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  throw new CliFault(`--node-modules ${given} is no folder`, {
    advice: "Give the node_modules folder in which functions shall find packages.",
  });
}

/** Checked before anything starts: whoever waits at it would wait for ever. */
function readyFdOf(call: Call): number | undefined {
  const given = call.text("readyFd");
  if (given === undefined) return undefined;
  const descriptor = numberOf("--ready-fd", given);
  if (isOpen(descriptor)) return descriptor;
  throw new CliFault(`Nothing can be written to the file descriptor ${descriptor}`, {
    advice: `Open it for the command: custard serve --ready-fd ${descriptor} ${descriptor}> address`,
  });
}

/** Node.js itself has descriptors too, which are none of these. */
function isOpen(descriptor: number): boolean {
  try {
    const found = fstatSync(descriptor);
    return found.isFile() || found.isFIFO() || found.isSocket() || found.isCharacterDevice();
  } catch {
    return false;
  }
}

function announce(call: Call, { endpoint }: Opened, readyFd: number | undefined): void {
  const url = endpoint?.url ?? "";
  if (call.json) call.io.stdout.write(`${JSON.stringify({ kind: "serving", url, pid: process.pid })}\n`);
  else
    call.io.stdout.write(
      `Serving AWS's clients at ${url}\n  export AWS_ENDPOINT_URL=${url} AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_REGION=us-east-1\nCtrl-C ends it; what is under way goes on with the next custard serve.\n`,
    );
  if (readyFd !== undefined) tellReady(readyFd, url);
}

function tellReady(descriptor: number, url: string): void {
  try {
    writeSync(descriptor, `${url}\n`);
  } catch (cause) {
    throw new CliFault(`Nothing can be written to the file descriptor ${descriptor}`, { cause });
  }
}

async function untilInterrupted(call: Call, started: () => void): Promise<void> {
  await new Promise<void>((end, fail) => {
    const ignore = call.io.onInterrupt(() => {
      ignore();
      end();
    });
    try {
      started();
    } catch (error) {
      ignore();
      fail(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

function numberOf(option: string, text: string): number {
  const number = Number(text);
  if (/^\d{1,5}$/.test(text) && number <= 65_535) return number;
  throw new CliFault(`${option} ${text} is no number from 0 to 65535`);
}

function log(call: Call, entry: Readonly<Record<string, unknown>>): void {
  call.io.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`);
}

function textOf(error: unknown): string {
  return printable(error instanceof Error ? error.message : String(error));
}
