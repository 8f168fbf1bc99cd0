import { type Call, type Command, sharedOptions } from "../command.ts";
import type { ExitCode } from "../fault.ts";
import { outputsOf } from "../message.ts";
import { printable } from "../printable.ts";
import { readStack, writeJson } from "../read-stacks.ts";
import { formatTable } from "../table.ts";

export const outputs: Command = {
  name: "outputs",
  summary: "show a stack's outputs",
  details:
    "Shows the outputs of a stack; as JSON, an object of values by name. Values that a provider marked NoEcho show as *****.",
  arguments: [
    {
      name: "STACK",
      description: "name or id of the stack; not needed when there is only one",
      required: false,
    },
  ],
  options: [sharedOptions.state, sharedOptions.region, sharedOptions.account, sharedOptions.json],
  examples: ["custard outputs shop", "custard outputs shop --json"],
  run: runOutputs,
};

async function runOutputs(call: Call): Promise<ExitCode> {
  const stack = await readStack(call, async (view) => view);
  if (call.json) {
    writeJson(call, outputsOf(stack));
  } else if (stack.outputs.length === 0) {
    call.io.stderr.write(`${stack.stackName} has no outputs.\n`);
  } else {
    const rows = stack.outputs.map((output) => [
      output.name,
      printable(output.value),
      printable(output.description ?? ""),
    ]);
    call.io.stdout.write(`${formatTable(rows).join("\n")}\n`);
  }
  return 0;
}
