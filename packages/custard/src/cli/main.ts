import { CommanderError } from "commander";
import type { ExitCode } from "./fault.ts";
import type { Io } from "./io.ts";
import { isCommand, loadCommands } from "./commands.ts";
import type { Doors } from "./opened.ts";
import { makeProgram } from "./program.ts";

/** Runs one call of the command line and gives the exit code. Throws only on bugs. */
export async function main(argv: readonly string[], io: Io, doors: Doors = lazyDoors): Promise<ExitCode> {
  // Help on what isn't a command is a call of it, which is refused with what may have been meant.
  if (argv[0] === "help" && argv[1] !== undefined && !isCommand(argv[1]))
    return await main(argv.slice(1), io, doors);
  let code: ExitCode = 0;
  const name = argv.find((argument) => !argument.startsWith("-"));
  const commands = await loadCommands(name);
  const program = makeProgram(commands, { io, ...doors }, (result) => {
    code = result;
  });
  try {
    await program.parseAsync(argv.length === 0 ? ["--help"] : argv, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { refusalOf, showRefusal } = await import("./refusal.ts");
    const refused = refusalOf(error, name);
    if (refused === undefined) throw error;
    showRefusal(refused.refusal, { io, json: argv.includes("--json") });
    return refused.exitCode;
  }
}

// The engine and all that belongs to it is loaded only when a command opens a state directory.
const lazyDoors: Doors = {
  async open(...options) {
    const { openOrJoin } = await import("../join.ts");
    return openOrJoin(...options);
  },
  async read(...options) {
    const { openReader } = await import("../reader.ts");
    return openReader(...options);
  },
  async services(...options) {
    const { openOrJoinServices } = await import("../join.ts");
    return openOrJoinServices(...options);
  },
};
