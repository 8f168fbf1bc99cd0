import { Command as Parser } from "commander";
import type { ArgumentSpec, Call, Command } from "./command.ts";
import type { ExitCode } from "./fault.ts";
import type { Io } from "./io.ts";
import type { Doors } from "./opened.ts";
import { version } from "./version.ts";

/** The world around a call. */
export interface Surroundings extends Doors {
  readonly io: Io;
}

/** Makes a parser of commands. Parsing runs the command and hands its exit code to `done`; it throws `CommanderError`. */
export function makeProgram(
  commands: readonly Command[],
  around: Surroundings,
  done: (code: ExitCode) => void,
): Parser {
  const { stdout } = around.io;
  const program = new Parser("custard")
    .description("Runs CloudFormation stacks with custom resources on this machine, as AWS does.")
    .version(version(), "--version", "show the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help on a command")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      // Faults are shown by `main`, which knows how they are wanted.
      writeErr: () => {},
      getOutHelpWidth: () => stdout.columns ?? 100,
      getOutHasColors: () => stdout.colors,
    })
    .addHelpText("after", "\nStart with: custard deploy template.yaml\n");
  for (const command of commands) addCommand(program, command, { around, done });
  return program;
}

function addCommand(
  program: Parser,
  command: Command,
  end: { readonly around: Surroundings; readonly done: (code: ExitCode) => void },
): void {
  const parser = program.command(command.name).summary(command.summary).description(command.details);
  for (const argument of command.arguments) parser.argument(argumentFlags(argument), argument.description);
  for (const option of command.options) parser.option(option.flags, option.description);
  parser.addHelpText(
    "after",
    [
      "",
      command.examples.length > 1 ? "Examples:" : "Example:",
      ...command.examples.map((line) => `  ${line}`),
      "",
    ].join("\n"),
  );
  parser.action(async () => end.done(await command.run(makeCall(command, parser, end.around))));
}

/** An argument in commander's form. */
function argumentFlags(argument: ArgumentSpec): string {
  const name = argument.repeated === true ? `${argument.name}...` : argument.name;
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** The name by which commander knows an option: `stackName` for `--stack-name <name>`, `rollback` for `--no-rollback`. */
function optionName(flags: string): string {
  const name = /--(?:no-)?([a-z-]+)/.exec(flags)?.[1] ?? "";
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function makeCall(command: Command, parser: Parser, around: Surroundings): Call {
  const given: Readonly<Record<string, unknown>> = parser.opts();
  const declared = new Set(command.options.map((option) => optionName(option.flags)));
  const value = (option: string): unknown => {
    if (!declared.has(option)) throw new Error(`${command.name} declares no option ${option}`);
    return given[option];
  };
  const texts = (option: string): readonly string[] => {
    const found = value(option);
    return Array.isArray(found) ? found.filter((item) => typeof item === "string") : [];
  };
  const text = (option: string): string | undefined => {
    const found = value(option);
    return typeof found === "string" ? found : undefined;
  };
  const argumentsOf = (name: string): readonly string[] => {
    const index = command.arguments.findIndex((candidate) => candidate.name === name);
    if (index === -1) throw new Error(`${command.name} declares no argument ${name}`);
    return parser.args.slice(index);
  };
  const caller = { command: `custard ${command.name}`, version: version() };
  return {
    io: around.io,
    read: around.read,
    open: async (options) => around.open(options, caller),
    services: async (stateDirectory) => around.services(stateDirectory, caller),
    json: given["json"] === true,
    argument: (name) => argumentsOf(name)[0],
    argumentsOf,
    text,
    texts,
    flag: (option) => value(option) === true,
    toggle(option) {
      const found = value(option);
      return typeof found === "boolean" ? found : undefined;
    },
  };
}
