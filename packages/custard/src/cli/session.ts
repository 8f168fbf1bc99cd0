import type { Call } from "./command.ts";
import type { EventLayout } from "./event-line.ts";
import type { Io } from "./io.ts";
import { jsonReport } from "./json-report.ts";
import type { Report } from "./message.ts";
import type { LocalOptions } from "../local.ts";
import type { Opened } from "./opened.ts";
import { printable } from "./printable.ts";
import { stateHint } from "./state-directory.ts";
import { textReport } from "./text-report.ts";

/** An open state directory, and whom to tell what happens there. */
export interface Session {
  readonly io: Io;
  readonly local: Opened;
  readonly report: Report;
  /** What to type after a command's name to reach this directory again: empty, or ` --state DIR`. */
  readonly stateHint: string;
}

/** Opens a state directory for the time of `use`. */
export async function withSession<T>(
  call: Call,
  options: LocalOptions,
  use: (session: Omit<Session, "report">) => Promise<T>,
): Promise<T> {
  const local = await call.open({ ...options, trouble: tellTrouble(call.io) });
  try {
    return await use({ io: call.io, local, stateHint: stateHint(call.io.cwd, options.stateDirectory) });
  } finally {
    await local.close();
  }
}

/** Trouble outside is tried again by the engine for as long as it lasts; the same trouble is told once. */
function tellTrouble(io: Io): (error: unknown) => void {
  const told = new Set<string>();
  return (error) => {
    const text = printable(error instanceof Error ? error.message : String(error));
    if (told.has(text)) return;
    told.add(text);
    io.stderr.write(`Trouble, which will be tried again: ${text}\n`);
  };
}

/** How a call wants to be told: JSON lines, or text laid out for these names. */
export function reportFor(
  call: Call,
  names: readonly { readonly logicalId: string; readonly type: string }[],
): Report {
  return call.json ? jsonReport(call.io.stdout) : textReport(call.io, widthsFor(names));
}

const widest = 40;

function widthsFor(
  names: readonly { readonly logicalId: string; readonly type: string }[],
): Pick<EventLayout, "idWidth" | "typeWidth"> {
  const width = (texts: readonly string[]): number =>
    Math.min(widest, Math.max(0, ...texts.map((text) => text.length)));
  return {
    idWidth: width(names.map((name) => name.logicalId)),
    typeWidth: width(["AWS::CloudFormation::Stack", ...names.map((name) => name.type)]),
  };
}
