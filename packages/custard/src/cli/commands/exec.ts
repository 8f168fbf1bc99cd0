import { spawn } from "node:child_process";
import { constants } from "node:os";
import { type Call, type Command } from "../command.ts";
import { CliFault, type ExitCode } from "../fault.ts";
import { futureState } from "../state-directory.ts";

export const exec: Command = {
  name: "exec",
  summary: "run a provider of your own",
  details:
    "Runs a program, e.g. a server that an SNS topic's requests go to, so that what it sends to a response URL reaches " +
    "the stacks of a state directory, whichever custard deploy is at work there, now or later. Certificates of SNS are " +
    "found as well. This works for programs in Node.js and Python, and for what they start in turn; nothing else that they connect to changes. " +
    "Ends when the program ends, and as it does.",
  arguments: [
    {
      name: "COMMAND",
      description: "the program and its arguments, after --",
      required: true,
      repeated: true,
    },
  ],
  options: [
    {
      flags: "--state <dir>",
      description: "whose stacks it answers (default: the .custard folder here or above)",
    },
  ],
  examples: [
    "custard exec -- node provider.js",
    "custard exec --state my-app/.custard -- python3 provider.py",
  ],
  run: runExec,
};

async function runExec(call: Call): Promise<ExitCode> {
  const { providerEnvironment } = await import("../../response/provider-environment.ts");
  const environment = await providerEnvironment(futureState(call), process.env);
  return await runProgram(call, environment);
}

function runProgram(call: Call, environment: NodeJS.ProcessEnv): Promise<ExitCode> {
  const [program = "", ...rest] = call.argumentsOf("COMMAND");
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, { cwd: call.io.cwd, env: environment, stdio: "inherit" });
    // A terminal sends Ctrl-C to the program as well: then its own end is waited for. Other signals are passed on.
    const unlisten = call.io.onInterrupt((signal) => void (signal !== "SIGINT" && child.kill(signal)));
    child.once("error", (cause: NodeJS.ErrnoException) => {
      unlisten();
      reject(notStarted(program, cause));
    });
    child.once("close", (code, signal) => {
      unlisten();
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

function notStarted(program: string, cause: NodeJS.ErrnoException): CliFault {
  const message =
    cause.code === "ENOENT"
      ? `There is no program ${program}`
      : `${program} can't be started: ${cause.message}`;
  return new CliFault(message, {
    advice: "Give the program after --, e.g. custard exec -- node provider.js.",
    cause,
  });
}
