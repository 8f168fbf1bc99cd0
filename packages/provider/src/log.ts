import type { LogFields, LogLevel, LogLine, Write } from "./write-log.ts";

/** Where log lines go. The logger of Powertools fits, and so does `console`. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/**
 * One JSON line per event on stdout. The level comes from `CUSTARD_LOG_LEVEL`, else from Lambda's
 * `AWS_LAMBDA_LOG_LEVEL`, else it is `info`.
 */
export function jsonLogger(
  level = process.env["CUSTARD_LOG_LEVEL"] ?? process.env["AWS_LAMBDA_LOG_LEVEL"] ?? "info",
  print: (line: string) => void = (line) => void process.stdout.write(line),
): Logger {
  const least = levels.findIndex((name) => name === level.toLowerCase());
  return loggerTo((line) => {
    if (levels.indexOf(line.level) >= least) print(`${JSON.stringify(line)}\n`);
  });
}

/** A logger from one function. */
export function loggerTo(write: Write): Logger {
  const at =
    (level: LogLevel) =>
    (msg: string, fields?: LogFields): void =>
      write({ ...fields, level, msg });
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** The other way round. */
export function writeTo(logger: Logger): Write {
  return ({ level, msg, ...fields }: LogLine) => logger[level](msg, fields);
}
