import type { ArgumentSpec, Command, OptionSpec } from "./command.ts";

/** The reference page of the command line, in Markdown, made of the commands' data. */
export function formatReference(commands: readonly Command[]): string {
  return `${[head, ...commands.map(formatCommand)].join("\n")}`;
}

const head = `# The command line

This page is made from the commands themselves: \`npm run docs\` writes it, a test keeps it true.

\`custard COMMAND --help\` says the same. \`--json\` writes one JSON document; commands that show something as it happens
(\`deploy\`, \`delete\`, \`resume\`, \`logs --follow\`) write JSON lines, each with a \`kind\`. What ends a command early is
\`{"kind":"error", …}\`.

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | the stack operation failed, or there was trouble outside (a full disk, a state directory in use) |
| 2 | the template or the call is wrong; nothing was started |
| 130 | interrupted |

Colors are shown on terminals only; \`NO_COLOR=1\` turns them off, \`FORCE_COLOR=1\` on.
`;

function formatCommand(command: Command): string {
  const usage = ["custard", command.name, ...command.arguments.map(argumentUsage), "[options]"].join(" ");
  return [
    `## custard ${command.name}`,
    "",
    `${command.summary.slice(0, 1).toUpperCase()}${command.summary.slice(1)}.`,
    "",
    "```",
    usage,
    "```",
    "",
    command.details,
    "",
    ...rows(
      "argument",
      command.arguments.map((argument) => [argument.name, argument.description]),
    ),
    ...rows(
      "option",
      command.options.map((option: OptionSpec) => [option.flags, option.description]),
    ),
    command.examples.length > 1 ? "Examples:" : "Example:",
    "",
    "```",
    ...command.examples,
    "```",
    "",
  ].join("\n");
}

function argumentUsage(argument: ArgumentSpec): string {
  const name = argument.repeated === true ? `${argument.name}...` : argument.name;
  return argument.required ? name : `[${name}]`;
}

function rows(title: string, entries: readonly (readonly string[])[]): readonly string[] {
  if (entries.length === 0) return [];
  const cells = entries.map(([name, description]) => `| \`${name}\` | ${description} |`);
  return [`| ${title} | |`, "| --- | --- |", ...cells, ""];
}
