import type { StackId } from "../../engine/ids.ts";
import type { TraceEntry } from "../../engine/ports.ts";
import { type Call, type Command, sharedOptions } from "../command.ts";
import { formatTime } from "../event-line.ts";
import { CliFault, type ExitCode } from "../fault.ts";
import { type Colors, colorsOf } from "../io.ts";
import { findLogged, type Logged } from "../logged.ts";
import type { Opened } from "../opened.ts";
import { placeOf } from "../place.ts";
import { printableLines } from "../printable.ts";
import { readStacks, writeJson } from "../read-stacks.ts";

export const logs: Command = {
  name: "logs",
  summary: "show what providers wrote and did",
  details:
    "Shows what happened between requests and responses: deliveries, the functions' log lines, their answers. " +
    "Of one function (its name, or its logical id), of all of a stack's, or of one request.",
  arguments: [{ name: "WHOSE", description: "function, stack or request id", required: true }],
  options: [
    {
      flags: "--follow",
      description: "go on with operations under way, and show more as it comes until they end",
    },
    { flags: "--limit <count>", description: "the newest so many entries (default: 1000)" },
    sharedOptions.state,
    sharedOptions.region,
    sharedOptions.account,
    sharedOptions.json,
  ],
  examples: [
    "custard logs shop",
    "custard logs MakeGreeting --follow",
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

async function read(local: Opened, whose: Logged, limit: number): Promise<readonly TraceEntry[]> {
  switch (whose.kind) {
    case "request":
      return (await local.traces.ofRequest(whose.requestId)).slice(-limit);
    case "stack":
      return local.traces.ofStack(whose.stackId, limit);
    case "function":
      return local.traces.ofFunction(whose.functionName, limit);
  }
}

function isAbout(entry: TraceEntry, whose: Logged): boolean {
  switch (whose.kind) {
    case "request":
      return entry.requestId === whose.requestId;
    case "stack":
      return entry.stackId === whose.stackId;
    case "function":
      return entry.functionName === whose.functionName;
  }
}

async function followLogs(
  call: Call,
  local: Opened,
  wanted: { readonly whose: Logged; readonly limit: number },
): Promise<ExitCode> {
  const { io } = call;
  const left = new AbortController();
  const leave = (): void => left.abort();
  const unlisten = io.onInterrupt(leave);
  io.stdout.closed.addEventListener("abort", leave);
  // Reading comes first: what is noted in the meantime is in it, as both happen in this process.
  writeEntries(call, await read(local, wanted.whose, wanted.limit));
  const unwatch = local.traces.watch((entry) => {
    if (isAbout(entry, wanted.whose)) writeEntries(call, [entry]);
  });
  try {
    await operationsEnd(local, left.signal);
  } finally {
    unwatch();
    unlisten();
  }
  return left.signal.aborted && !io.stdout.closed.aborted ? 130 : 0;
}

/** Waits until no stack has an operation under way, or for the signal. */
async function operationsEnd(local: Opened, signal: AbortSignal): Promise<void> {
  const stackIds = await local.engine.resume();
  const left = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  await Promise.race([left, Promise.all(stackIds.map(async (stackId) => settle(local, stackId, signal)))]);
}

async function settle(local: Opened, stackId: StackId, signal: AbortSignal): Promise<void> {
  try {
    const events = local.engine
      .watch(stackId, { after: Number.MAX_SAFE_INTEGER, signal })
      [Symbol.asyncIterator]();
    while ((await events.next()).done !== true);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
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
