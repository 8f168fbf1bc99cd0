import type { ResourceView, StackView } from "../../engine/views.ts";
import { type Call, type Command, sharedOptions } from "../command.ts";
import type { ExitCode } from "../fault.ts";
import { type Colors, colorsOf } from "../io.ts";
import { printable } from "../printable.ts";
import { readStack, writeJson } from "../read-stacks.ts";
import { formatStatus } from "../status.ts";
import { formatTable } from "../table.ts";
import { formatOutputs } from "../text-report.ts";

export const describe: Command = {
  name: "describe",
  summary: "show a stack and its resources",
  details: "Shows a stack's status, parameters, resources and outputs. Secret values show as *****.",
  arguments: [
    {
      name: "STACK",
      description: "name or id of the stack; not needed when there is only one",
      required: false,
    },
  ],
  options: [sharedOptions.state, sharedOptions.region, sharedOptions.account, sharedOptions.json],
  examples: ["custard describe shop", "custard describe shop --json"],
  run: runDescribe,
};

async function runDescribe(call: Call): Promise<ExitCode> {
  const stack = await readStack(call, async (view) => view);
  if (call.json) writeJson(call, stackJson(stack));
  else call.io.stdout.write(`${formatStack(stack, colorsOf(call.io.stdout))}\n`);
  return 0;
}

function stackJson(stack: StackView): object {
  return {
    ...stack,
    createdAt: iso(stack.createdAt),
    ...(stack.updatedAt === undefined ? {} : { updatedAt: iso(stack.updatedAt) }),
    ...(stack.deletedAt === undefined ? {} : { deletedAt: iso(stack.deletedAt) }),
    resources: stack.resources.map((resource) => ({ ...resource, changedAt: iso(resource.changedAt) })),
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function formatStack(stack: StackView, colors: Colors): string {
  const facts = [
    ["Id", stack.stackId],
    ["Region", stack.region],
    ["Created", iso(stack.createdAt)],
    ...(stack.updatedAt === undefined ? [] : [["Updated", iso(stack.updatedAt)]]),
    ...(stack.reason === undefined ? [] : [["Reason", printable(stack.reason)]]),
    ...(stack.description === undefined ? [] : [["Description", printable(stack.description)]]),
    ...Object.entries(stack.tags).map(([key, value]) => ["Tag", printable(`${key}=${value}`)]),
  ];
  return [
    `${colors.bold(stack.stackName)}  ${formatStatus(stack.status, colors)}`,
    ...formatTable(facts).map((line) => `  ${line}`),
    ...section(
      colors.bold("Parameters"),
      stack.parameters.map((parameter) => [parameter.name, printable(parameter.value)]),
    ),
    ...section(colors.bold("Resources"), stack.resources.map(resourceRow)),
    ...formatOutputs(stack, colors),
  ].join("\n");
}

function section(title: string, rows: readonly (readonly string[])[]): readonly string[] {
  return rows.length === 0 ? [] : ["", title, ...formatTable(rows).map((line) => `  ${line}`)];
}

function resourceRow(resource: ResourceView): readonly string[] {
  const { logicalId, status, simulated, type } = resource;
  return [
    logicalId,
    status,
    simulated ? `${type} (simulated)` : type,
    printable(resource.physicalId ?? ""),
    printable(resource.reason ?? ""),
  ];
}
