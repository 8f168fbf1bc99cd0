/** Milliseconds, or a number with its unit: `"15s"`, `"40m"`, `"1h"`. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h"}`;

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** A duration in milliseconds. Throws on a text of another form. */
export function toMilliseconds(duration: Duration): number {
  if (typeof duration === "number") return duration;
  const [, amount, unit] = /^([\d.]+)(ms|s|m|h)$/u.exec(duration) ?? [];
  const milliseconds = Number(amount) * units[(unit ?? "s") as keyof typeof units];
  if (!(milliseconds >= 0)) throw new TypeError(`Not a duration: '${duration}' (write "90s" or "15m")`);
  return milliseconds;
}
