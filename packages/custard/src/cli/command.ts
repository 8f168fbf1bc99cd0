import type { ExitCode } from "./fault.ts";
import type { Io } from "./io.ts";
import type { JoinedServices } from "../join.ts";
import type { LocalOptions } from "../local.ts";
import type { Doors, Opened } from "./opened.ts";

/** A positional argument of a command. */
export interface ArgumentSpec {
  /** As shown in help, in capitals. */
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  /** Takes all that is left of the line; the last one only. */
  readonly repeated?: boolean;
}

/** An option of a command. */
export interface OptionSpec {
  /** In commander's form: `--state <dir>`, `--parameters <key=value...>`, `--no-rollback`. */
  readonly flags: string;
  readonly description: string;
}

/** A command as data: parser, help and reference page are made from it. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** A few sentences for the help page. */
  readonly details: string;
  readonly arguments: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  readonly examples: readonly string[];
  run(call: Call): Promise<ExitCode>;
}

/** One call of a command: what was given, and the world around it. Asking for an undeclared option is a bug. */
export interface Call extends Pick<Doors, "read"> {
  /** Opens a state directory, or joins the server that works there. */
  open(options: LocalOptions): Promise<Opened>;
  /** Opens the services of a state directory, or those of the server that works there. */
  services(stateDirectory: string): Promise<JoinedServices>;
  readonly io: Io;
  readonly json: boolean;
  argument(name: string): string | undefined;
  /** All values of an argument that is repeated. */
  argumentsOf(name: string): readonly string[];
  /** The value of `--an-option <value>`, asked for as `anOption`. */
  text(option: string): string | undefined;
  texts(option: string): readonly string[];
  /** `--flag` was given; for `--no-flag`, asked for as `flag`: it was not. */
  flag(option: string): boolean;
  /** Of a command that has both `--flag` and `--no-flag`: which of them was given, if any. */
  toggle(option: string): boolean | undefined;
}

/** Options that commands share. */
export const sharedOptions = {
  state: {
    flags: "--state <dir>",
    description: "where stacks are kept (default: the .custard folder here or above)",
  },
  region: { flags: "--region <region>", description: "region of the stack" },
  account: { flags: "--account <id>", description: "account of the stack, 12 digits" },
  json: { flags: "--json", description: "machine-readable output" },
} as const satisfies Record<string, OptionSpec>;
