import type { StackView } from "../engine/views.ts";
import { formatDiagnostic } from "../template/excerpt.ts";
import { type EventLayout, formatEvent } from "./event-line.ts";
import { type Failure, nameOf } from "./failure.ts";
import { type Colors, colorsOf, type Io } from "./io.ts";
import type { Message, Report } from "./message.ts";
import { printable, printableLines } from "./printable.ts";
import { formatStatus, isSuccess } from "./status.ts";
import { formatTable } from "./table.ts";

const asides: ReadonlySet<Message["kind"]> = new Set(["note", "warning", "detached"]);

/** Shows messages to people: progress and results on stdout, remarks on stderr. */
export function textReport(io: Io, widths: Pick<EventLayout, "idWidth" | "typeWidth">): Report {
  const colors = colorsOf(io.stdout);
  return (message) => {
    const output = asides.has(message.kind) ? io.stderr : io.stdout;
    output.write(`${formatMessage(message, { colors, columns: io.stdout.columns, ...widths })}\n`);
  };
}

function formatMessage(message: Message, layout: EventLayout): string {
  const { colors } = layout;
  switch (message.kind) {
    case "note":
      return printable(message.text);
    case "function":
      return formatFunction(message);
    case "warning":
      return printableLines(formatDiagnostic(message.diagnostic, message.body, message.file)).join("\n");
    case "start":
      return formatStart(message, colors);
    case "event":
      return formatEvent(message.event, message.simulated, layout);
    case "failure":
      return formatFailure(message.failure, colors);
    case "unchanged":
      return [
        `${colors.bold(message.stack.stackName)} is up to date: nothing is to be updated.`,
        ...formatOutputs(message.stack, colors),
      ].join("\n");
    case "detached":
      return formatDetached(message);
    case "result":
      return formatResult(message, colors);
  }
}

const acts = { create: "creating", update: "updating", delete: "deleting" } as const;

function formatStart(start: Extract<Message, { kind: "start" }>, colors: Colors): string {
  const act = `${acts[start.operation]} ${colors.bold(start.stackName)} in ${start.region}`;
  return start.resumed ? `Going on ${act}` : `${act.slice(0, 1).toUpperCase()}${act.slice(1)}`;
}

function formatFunction({ source, sandbox }: Extract<Message, { kind: "function" }>): string {
  const { runtime, declared } = source;
  const runsOn = declared === undefined ? runtime : `${runtime} in place of ${declared}`;
  const how = sandbox ? "in a sandbox" : "as you";
  return `Runs ${source.logicalId} (${runsOn}) ${how}, from ${printable(source.from)}`;
}

function formatDetached({ stackName, command, server }: Extract<Message, { kind: "detached" }>): string {
  return server === undefined
    ? `Left ${stackName} as it is, in the middle. Go on with it: ${command}`
    : `Left ${stackName}: it goes on in custard serve (process ${server}). Watch it: ${command}`;
}

function formatFailure(failure: Failure, colors: Colors): string {
  const logs = failure.logs.map((line) => `    ${colors.dim("|")} ${line}`);
  return [
    "",
    `${colors.red("✗")} ${colors.bold(nameOf(failure))} (${printable(failure.resourceType)}) ${formatStatus(failure.status, colors)}`,
    ...printableLines(failure.reason).map((line) => `  ${line}`),
    ...(logs.length === 0 ? [] : [`  Its provider's last log lines:`, ...logs]),
    // A provider that stayed silent has no reason but the advice itself.
    ...(failure.advice === failure.reason
      ? []
      : [`  ${colors.bold("What to do:")} ${printable(failure.advice)}`]),
  ].join("\n");
}

function formatResult(result: Extract<Message, { kind: "result" }>, colors: Colors): string {
  const { stack } = result;
  const mark = isSuccess(stack.status) ? colors.green("✓") : colors.red("✗");
  return [
    "",
    `${mark} ${colors.bold(stack.stackName)} ${formatStatus(stack.status, colors)} after ${formatDuration(result.took)}`,
    ...formatSimulated(stack),
    ...(hasOutputs(stack.status) ? formatOutputs(stack, colors) : []),
    ...(result.advice === undefined ? [] : [result.advice]),
    ...(result.notes.length === 0
      ? []
      : ["", ...result.notes.map((note) => `${colors.bold("Note:")} ${printable(note)}`)]),
  ].join("\n");
}

function hasOutputs(status: string): boolean {
  return isSuccess(status) && status !== "DELETE_COMPLETE";
}

function formatSimulated(stack: StackView): readonly string[] {
  const simulated = stack.resources
    .filter((resource) => resource.simulated)
    .map((resource) => `${resource.logicalId} (${resource.type})`);
  return simulated.length === 0
    ? []
    : [`Simulated, nothing real stands behind it: ${printable(simulated.join(", "))}`];
}

/** A stack's outputs under a heading; nothing when there are none. */
export function formatOutputs(stack: StackView, colors: Colors): readonly string[] {
  if (stack.outputs.length === 0) return [];
  const rows = stack.outputs.map((output) => [`  ${output.name}`, printable(output.value)]);
  return ["", colors.bold("Outputs"), ...formatTable(rows)];
}

function formatDuration(milliseconds: number): string {
  return milliseconds < 60_000
    ? `${(milliseconds / 1000).toFixed(1)} s`
    : `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1000)} s`;
}
