import { CliFault } from "./fault.ts";

/** `KEY=VALUE` texts as a map; a value may hold further `=`. Throws `CliFault` on a text without `=` or a key given twice. */
export function parseKeyValues(option: string, texts: readonly string[]): Readonly<Record<string, string>> {
  const values = new Map<string, string>();
  for (const text of texts) {
    const { key, value } = split(option, text);
    if (values.has(key)) throw new CliFault(`${option} gives ${key} twice`);
    values.set(key, value);
  }
  return Object.fromEntries(values);
}

function split(option: string, text: string): { key: string; value: string } {
  const at = text.indexOf("=");
  if (at < 1) {
    throw new CliFault(`${option} takes KEY=VALUE, but got "${text}"`, {
      advice: `Write ${option} Name=value Other=value; the template comes before it.`,
    });
  }
  return { key: text.slice(0, at), value: text.slice(at + 1) };
}
