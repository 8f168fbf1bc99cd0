import type { StackEvent } from "../engine/views.ts";
import type { Colors } from "./io.ts";
import { printable } from "./printable.ts";
import { formatStatus } from "./status.ts";
import { wrap } from "./wrap.ts";

/** How events are laid out. */
export interface EventLayout {
  readonly colors: Colors;
  /** Undefined: no terminal, lines are as long as they are. */
  readonly columns: number | undefined;
  readonly idWidth: number;
  readonly typeWidth: number;
}

const statusWidth = "CREATE_IN_PROGRESS".length;
const indent = " ".repeat("00:00:00  ".length);

/** A terminal narrower than this gets no column of types. */
const narrow = 100;

/** One event: time, status, logical id, type, reason. What doesn't fit the terminal goes below, indented. */
export function formatEvent(event: StackEvent, simulated: boolean, layout: EventLayout): string {
  const { colors, columns } = layout;
  const cells = [
    { text: formatTime(event.at), paint: colors.dim },
    {
      text: event.status.padEnd(statusWidth),
      paint: (text: string) => formatStatus(text.trimEnd(), colors, text.length),
    },
    { text: printable(event.logicalId).padEnd(layout.idWidth), paint: colors.bold },
    ...(columns !== undefined && columns < narrow
      ? []
      : [{ text: printable(event.resourceType).padEnd(layout.typeWidth), paint: plain }]),
    ...(simulated ? [{ text: "(simulated)", paint: colors.magenta }] : []),
  ];
  const line = cells.map((cell) => cell.paint(cell.text)).join("  ");
  const length = cells.reduce((sum, cell) => sum + cell.text.length + 2, 0);
  return withReason({ line, length, reason: printable(event.reason ?? ""), columns });
}

/** Local time of day. */
export function formatTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

function withReason(parts: {
  line: string;
  length: number;
  reason: string;
  columns: number | undefined;
}): string {
  const { line, length, reason, columns } = parts;
  if (reason === "") return line.trimEnd();
  if (columns === undefined || length + reason.length <= columns) return `${line}  ${reason}`;
  const below = wrap(reason, Math.max(20, columns - indent.length));
  return [line.trimEnd(), ...below.map((text) => `${indent}${text}`)].join("\n");
}

function plain(text: string): string {
  return text;
}
