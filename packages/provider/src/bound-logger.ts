import { type Logger, loggerTo } from "./log.ts";
import type { LogFields, LogLine, Write } from "./write-log.ts";

/** What must not be seen. */
export interface Hidden {
  /** Members that are hidden whatever they hold. */
  readonly names: readonly string[];
  /** Takes known secrets out of texts. */
  scrub(text: string): string;
}

/** A logger that adds `fields` to every line and takes out of it what must not be seen. */
export function boundLogger(write: Write, fields: LogFields, hidden: Hidden): Logger {
  return loggerTo((line) => {
    const merged: LogLine = JSON.parse(toJson({ ...fields, ...line }), (key, value: unknown) => {
      if (hidden.names.includes(key)) return "«redacted»";
      if (typeof value !== "string" && typeof value !== "number") return value;
      const text = hidden.scrub(String(value));
      return text === String(value) ? value : text;
    });
    write(merged);
  });
}

/** JSON of anything: errors keep name, message, stack and cause; cycles and BigInts don't throw. */
function toJson(value: unknown): string {
  const above: unknown[] = [];
  return JSON.stringify(value, function (this: unknown, _key, member: unknown) {
    if (typeof member === "bigint") return String(member);
    if (typeof member !== "object" || member === null) return member;
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(member)) return "[circular]";
    above.push(member);
    if (!(member instanceof Error)) return member;
    const { name, message, stack, cause } = member;
    const plain = { name, message, stack, cause };
    above.push(plain);
    return plain;
  });
}
