import { setTimeout as sleep } from "node:timers/promises";
import type { TraceEntry } from "../../engine/ports.ts";
import { type Call, type Command, sharedOptions } from "../command.ts";
import { formatTime } from "../event-line.ts";
import { CliFault, type ExitCode } from "../fault.ts";
import { type Colors, colorsOf } from "../io.ts";
import { findLogged, type Logged, requestsFor } from "../logged.ts";
import type { Reader } from "../../reader.ts";
import { placeOf } from "../place.ts";
import { printableLines } from "../printable.ts";
import { readStacks, writeJson } from "../read-stacks.ts";

export const logs: Command = {
  name: "logs",
  summary: "show what providers wrote and did",
  details:
    "Shows what happened between requests and responses: deliveries, the functions' log lines, their answers. " +
    "Of one function (its name, or its logical id), of all of a stack's, of one custom resource (its logical id, as events " +
    "name it), or of one request.",
  arguments: [
    { name: "WHOSE", description: "function, stack, custom resource or request id", required: true },
  ],
  options: [
    {
      flags: "--follow",
      description: "show more as it comes, until no operation is under way",
    },
    { flags: "--limit <count>", description: "the newest so many entries (default: 1000)" },
    sharedOptions.state,
    sharedOptions.region,
    sharedOptions.account,
    sharedOptions.json,
  ],
  examples: [
    "custard logs shop",
    "custard logs GreetFunction --follow",
    "custard logs Greeting",
    "custard logs 1b4e28ba-2fa1-41d2-883f-0016d3cca427",
  ],
  run: runLogs,
};

async function runLogs(call: Call): Promise<ExitCode> {
  const limit = limitOf(call);
  return readStacks(call, async (local) => {
    const whose = await findLogged(local, call.argument("WHOSE") ?? "", placeOf(call));
    if (call.flag("follow")) return followLogs(call, local, { whose, limit });
    const entries = await read(local, whose, limit);
    if (call.json) writeJson(call, entries.map(entryJson));
    else if (entries.length === 0) call.io.stderr.write("Nothing was logged.\n");
    else writeEntries(call, entries);
    return 0;
  });
}

function limitOf(call: Call): number {
  const given = call.text("limit") ?? "1000";
  if (!/^[1-9]\d{0,6}$/.test(given))
    throw new CliFault(`--limit takes a whole number from 1 on, but got "${given}"`);
  return Number(given);
}

async function read(local: Reader, whose: Logged, limit: number): Promise<readonly TraceEntry[]> {
  switch (whose.kind) {
    case "request":
      return (await local.traces.ofRequest(whose.requestId)).slice(-limit);
    case "stack":
      return local.traces.ofStack(whose.stackId, limit);
    case "function":
      return local.traces.ofFunction(whose.functionName, limit);
    case "resource": {
      // Anew each time: the next request may have come.
      const requests = await requestsFor(local, whose.stackId, whose.logicalId);
      const entries = await local.traces.ofStack(whose.stackId, everything);
      return entries.filter((entry) => requests.has(entry.requestId)).slice(-limit);
    }
  }
}

/** Milliseconds between two looks for what is new. */
const pace = 200;
/** So many looks after the end of all operations: what was noted last is stored a moment after it. */
const lastLooks = 2;

/** Writes what is noted until no operation is in progress any more, or nobody works on it. */
async function followLogs(
  call: Call,
  local: Reader,
  wanted: { readonly whose: Logged; readonly limit: number },
): Promise<ExitCode> {
  const { io } = call;
  const left = new AbortController();
  const leave = (): void => left.abort();
  const unlisten = io.onInterrupt(leave);
  io.stdout.closed.addEventListener("abort", leave);
  let seen = (await read(local, wanted.whose, everything)).length - wanted.limit;
  try {
    for (let quiet = 0; ;) {
      const inUse = local.inUse();
      const goesOn = inUse && (await local.engine.resume()).length > 0;
      quiet = goesOn ? 0 : quiet + 1;
      const entries = await read(local, wanted.whose, everything);
      writeEntries(call, entries.slice(Math.max(0, seen)));
      seen = entries.length;
      if (!inUse || quiet > lastLooks || left.signal.aborted) break;
      await wait(pace, left.signal);
    }
  } finally {
    unlisten();
  }
  return left.signal.aborted && !io.stdout.closed.aborted ? 130 : 0;
}

const everything = Number.MAX_SAFE_INTEGER;

async function wait(delay: number, signal: AbortSignal): Promise<void> {
  await sleep(delay, undefined, { signal }).catch(() => undefined);
}

function writeEntries(call: Call, entries: readonly TraceEntry[]): void {
  const colors = colorsOf(call.io.stdout);
  for (const entry of entries) {
    call.io.stdout.write(`${call.json ? JSON.stringify(entryJson(entry)) : formatEntry(entry, colors)}\n`);
  }
}

function entryJson(entry: TraceEntry): object {
  return { ...entry, at: new Date(entry.at).toISOString() };
}

const kindWidth = "delivered".length;

function formatEntry(entry: TraceEntry, colors: Colors): string {
  const head = `${colors.dim(formatTime(entry.at))}  ${colors.dim(entry.requestId.slice(0, 8))}  ${entry.kind.padEnd(kindWidth)}  `;
  return printableLines(entry.text)
    .map((line) => `${head}${line}`)
    .join("\n");
}
