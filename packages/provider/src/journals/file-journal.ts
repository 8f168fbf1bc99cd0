import { createHash } from "node:crypto";
import { mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Journal } from "../journal.ts";
import type { Json } from "../protocol/json.ts";

interface Entry {
  readonly value: Json;
  readonly expiresAt: number;
}

/**
 * Remembers in a directory, one file per key (mode 0600): for providers that run as a server on one machine. Several
 * processes may share it. What has expired is removed when it is next asked for.
 */
export function fileJournal(directory: string, now: () => number = Date.now): Journal {
  const fileOf = (key: string) => join(directory, `${createHash("sha256").update(key).digest("hex")}.json`);
  const read = async (file: string): Promise<Entry | undefined> => {
    const entry = parseEntry(await readFile(file, "utf8").catch(() => ""));
    return entry !== undefined && entry.expiresAt > now() ? entry : undefined;
  };
  const put = async (key: string, value: Json, expiresAt: number) => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const draft = `${fileOf(key)}.${process.pid}.${Math.random().toString(36).slice(2)}`;
    await writeFile(draft, JSON.stringify({ value, expiresAt }), { mode: 0o600 });
    await rename(draft, fileOf(key));
  };
  return {
    get: async (key) => (await read(fileOf(key)))?.value,
    put,
    async putIfAbsent(key, value, expiresAt) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      // Who makes the lock decides; a lock is held for moments, so one that stays is left from a crash.
      const lock = await open(`${fileOf(key)}.lock`, "wx", 0o600).catch(() => undefined);
      if (lock === undefined) return false;
      try {
        if ((await read(fileOf(key))) !== undefined) return false;
        await put(key, value, expiresAt);
        return true;
      } finally {
        await lock.close();
        await rm(`${fileOf(key)}.lock`, { force: true });
      }
    },
    delete: (key) => rm(fileOf(key), { force: true }),
  };
}

function parseEntry(text: string): Entry | undefined {
  try {
    return JSON.parse(text) as Entry;
  } catch {
    return undefined;
  }
}
