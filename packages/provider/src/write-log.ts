/** How severe a log line is. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** What a log line may hold beside its message. */
export type LogFields = Readonly<Record<string, unknown>>;

/** One line of the log: its level, its message and whatever belongs to it. */
export type LogLine = LogFields & { readonly level: LogLevel; readonly msg: string };

/** Where log lines go. */
export type Write = (line: LogLine) => void;

/** One JSON line per event on stdout. */
export const writeLog: Write = (line) => void process.stdout.write(`${JSON.stringify(line)}\n`);
