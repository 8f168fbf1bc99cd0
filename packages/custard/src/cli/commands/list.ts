import type { StackSummary } from "../../engine/ports.ts";
import { type Call, type Command, sharedOptions } from "../command.ts";
import type { ExitCode } from "../fault.ts";
import { readStacks, writeJson } from "../read-stacks.ts";
import { formatTable } from "../table.ts";

export const list: Command = {
  name: "list",
  summary: "list the stacks",
  details: "Lists the stacks of a state directory, oldest first.",
  arguments: [],
  options: [{ flags: "--all", description: "deleted stacks too" }, sharedOptions.state, sharedOptions.json],
  examples: ["custard list", "custard list --all --json"],
  run: runList,
};

async function runList(call: Call): Promise<ExitCode> {
  const all = await readStacks(call, async (local) => local.engine.stacks());
  const stacks = all
    .filter((stack) => call.flag("all") || stack.status !== "DELETE_COMPLETE")
    .toSorted((a, b) => a.createdAt - b.createdAt);
  if (call.json) writeJson(call, stacks.map(stackJson));
  else call.io.stdout.write(`${formatStacks(stacks)}\n`);
  return 0;
}

function stackJson(stack: StackSummary): object {
  const { createdAt, deletedAt, ...rest } = stack;
  return {
    ...rest,
    createdAt: new Date(createdAt).toISOString(),
    ...(deletedAt === undefined ? {} : { deletedAt: new Date(deletedAt).toISOString() }),
  };
}

function formatStacks(stacks: readonly StackSummary[]): string {
  if (stacks.length === 0) return "There are no stacks here.";
  const rows = stacks.map((stack) => [
    stack.stackName,
    stack.status,
    stack.region,
    new Date(stack.createdAt).toISOString(),
  ]);
  return formatTable([["STACK", "STATUS", "REGION", "CREATED"], ...rows]).join("\n");
}
