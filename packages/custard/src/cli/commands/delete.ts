import { chooseStack, wantedBy } from "../choose-stack.ts";
import { type Call, type Command, sharedOptions } from "../command.ts";
import type { ExitCode } from "../fault.ts";
import { follow } from "../follow.ts";
import { mindingOthers } from "../others.ts";
import { placeOf } from "../place.ts";
import { reportFor, withSession } from "../session.ts";
import { existingState } from "../state-directory.ts";

export const deleteCommand: Command = {
  name: "delete",
  summary: "delete a stack and its resources",
  details:
    "Asks every provider of the stack to delete its resource, in reverse order, and shows the events. " +
    "Ctrl-C leaves the deletion as it is for custard resume.",
  arguments: [{ name: "STACK", description: "name or id of the stack", required: true }],
  options: [
    {
      flags: "--retain <logical-id...>",
      description: "keep these resources; only for a stack in DELETE_FAILED",
    },
    {
      flags: "--no-fail-fast",
      description: "wait for ServiceTimeout even when a provider has certainly ended without an answer",
    },
    sharedOptions.state,
    sharedOptions.region,
    sharedOptions.account,
    sharedOptions.json,
  ],
  examples: ["custard delete shop", "custard delete shop --retain Database"],
  run: runDelete,
};

async function runDelete(call: Call): Promise<ExitCode> {
  const place = placeOf(call);
  const options = { stateDirectory: existingState(call), ...place, failFast: call.flag("failFast") };
  return withSession(call, options, async (opened) => {
    const { engine } = opened.local;
    const { stackId, stackName, region } = await chooseStack(engine, wantedBy(call));
    const stack = await engine.stack(stackId);
    const session = {
      ...opened,
      report: reportFor(call, [...stack.resources, { logicalId: stackName, type: "" }]),
    };
    return mindingOthers(session, stackName, async () => {
      const startedAt = Date.now();
      const after = (await engine.events(stackId)).at(-1)?.sequence ?? 0;
      await engine.deleteStack({ stack: stackId, retain: call.texts("retain") });
      session.report({ kind: "start", operation: "delete", stackName, region, resumed: false });
      return follow(session, { kind: "delete", stackId, stackName, after, startedAt });
    });
  });
}
