import type { StackId } from "../../engine/ids.ts";
import type { StackEvent } from "../../engine/views.ts";
import { type Call, type Command, sharedOptions } from "../command.ts";
import { CliFault, type ExitCode } from "../fault.ts";
import { follow, type Operation } from "../follow.ts";
import type { OperationKind } from "../message.ts";
import { reportFor, type Session, withSession } from "../session.ts";
import { existingState } from "../state-directory.ts";

export const resume: Command = {
  name: "resume",
  summary: "go on with operations that were interrupted",
  details:
    "Goes on with every create, update and delete that was under way when Custard was left or killed; what a running " +
    "custard serve is at work on is only shown. " +
    "Pending requests keep their id, their response URL and their deadline.",
  arguments: [],
  options: [
    {
      flags: "--no-fail-fast",
      description: "wait for ServiceTimeout even when a provider has certainly ended without an answer",
    },
    sharedOptions.state,
    sharedOptions.json,
  ],
  examples: ["custard resume", "custard resume --state my-app/.custard"],
  run: runResume,
};

async function runResume(call: Call): Promise<ExitCode> {
  const options = { stateDirectory: existingState(call), failFast: call.flag("failFast") };
  return withSession(call, options, async (opened) => {
    const { server } = opened.local;
    if (server !== undefined && !options.failFast)
      throw new CliFault(`The server that works here, process ${server.pid}, goes on by itself`, {
        advice: "Without --no-fail-fast, resume shows how it goes.",
      });
    const stackIds = await opened.local.engine.resume();
    if (stackIds.length === 0) {
      if (!call.json) call.io.stdout.write("There is nothing to resume: no operation is under way.\n");
      return 0;
    }
    const endings = await Promise.all(stackIds.map(async (stackId) => goOn(call, opened, stackId)));
    return worst(endings);
  });
}

async function goOn(call: Call, opened: Omit<Session, "report">, stackId: StackId): Promise<ExitCode> {
  const stack = await opened.local.engine.stack(stackId);
  const report = reportFor(call, [...stack.resources, { logicalId: stack.stackName, type: "" }]);
  const operation = underWay(stackId, await opened.local.engine.events(stackId));
  report({
    kind: "start",
    operation: operation.kind,
    stackName: stack.stackName,
    region: stack.region,
    resumed: true,
  });
  return follow({ ...opened, report }, operation);
}

const beginnings: Readonly<Record<string, OperationKind>> = {
  CREATE_IN_PROGRESS: "create",
  UPDATE_IN_PROGRESS: "update",
  DELETE_IN_PROGRESS: "delete",
};

/** The operation that a stack's events end in: it began with the stack's last `…_IN_PROGRESS` of a call. */
function underWay(stackId: StackId, events: readonly StackEvent[]): Operation {
  const start = events.findLast(
    (event) => event.physicalId === stackId && beginnings[event.status] !== undefined,
  );
  if (start === undefined) throw new Error(`The events of ${stackId} show no operation`);
  const kind = beginnings[start.status] ?? "create";
  return { kind, stackId, stackName: start.stackName, after: start.sequence - 1, startedAt: start.at };
}

function worst(endings: readonly ExitCode[]): ExitCode {
  if (endings.includes(130)) return 130;
  return endings.every((ending) => ending === 0) ? 0 : 1;
}
