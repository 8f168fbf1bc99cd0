import { type Call, type Command, sharedOptions } from "../command.ts";
import type { ExitCode } from "../fault.ts";
import { isSimulated } from "../is-simulated.ts";
import { eventJson } from "../json-report.ts";
import { readStack, writeJson } from "../read-stacks.ts";
import { reportFor } from "../session.ts";

export const events: Command = {
  name: "events",
  summary: "show a stack's events",
  details:
    "Shows everything that happened to a stack, oldest first. As JSON, events carry the resolved properties and the id of the request to the provider.",
  arguments: [
    {
      name: "STACK",
      description: "name or id of the stack; not needed when there is only one",
      required: false,
    },
  ],
  options: [sharedOptions.state, sharedOptions.region, sharedOptions.account, sharedOptions.json],
  examples: ["custard events shop", "custard events shop --json"],
  run: runEvents,
};

async function runEvents(call: Call): Promise<ExitCode> {
  const { types, history } = await readStack(call, async (view, local) => ({
    types: local.types,
    history: await local.engine.events(view.stackId),
  }));
  if (call.json) {
    writeJson(call, history.map(eventJson));
    return 0;
  }
  const report = reportFor(
    call,
    history.map((event) => ({ logicalId: event.logicalId, type: event.resourceType })),
  );
  for (const event of history) report({ kind: "event", event, simulated: isSimulated(event, types) });
  return 0;
}
