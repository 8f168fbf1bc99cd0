import type { JsonObject } from "./protocol/json.ts";

/** Takes secrets out of texts: each becomes `«redacted:<length>»`. */
export type Scrub = (text: string) => string;

/** Shorter values would blank out half of every text. */
const shortestSecret = 3;

/** A scrubber for the strings in these values, at any depth, as they are and as they look in JSON and in URLs. */
export function scrubber(secrets: readonly unknown[]): Scrub {
  const known = new Map<string, number>();
  for (const secret of secrets.flatMap(stringsIn)) {
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), urlForm(secret)]) {
      known.set(form, secret.length);
    }
  }
  const longestFirst = [...known].toSorted(([a], [b]) => b.length - a.length);
  return (text) =>
    longestFirst.reduce((rest, [secret, length]) => rest.replaceAll(secret, `«redacted:${length}»`), text);
}

/** The values of the named members. */
export function pick(values: JsonObject, names: readonly string[]): unknown[] {
  return names.filter((name) => Object.hasOwn(values, name)).map((name) => values[name]);
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return value.length < shortestSecret ? [] : [value];
  if (typeof value === "number") return stringsIn(String(value));
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function urlForm(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, "?"));
}
