import type { Json } from "./protocol/json.ts";

/**
 * What the SDK remembers between deliveries: requests that are running or done (so that a repeated delivery isn't
 * worked on twice), which request of a resource is the newest, and what an update replaced. Small JSON values by key.
 * One contract suite runs against every implementation.
 */
export interface Journal {
  /** Undefined when nothing is there, or when it has expired. */
  get(key: string): Promise<Json | undefined>;
  /** Keeps a value until `expiresAt` (milliseconds since the epoch). */
  put(key: string, value: Json, expiresAt: number): Promise<void>;
  /** The same, unless there is an unexpired value; false when there is. Atomic. */
  putIfAbsent(key: string, value: Json, expiresAt: number): Promise<boolean>;
  delete(key: string): Promise<void>;
}

const mostEntries = 1000;

/**
 * Remembers within the process: enough for a warm Lambda function, whose retries and roll backs mostly come back to
 * the same instance. Keeps the 1000 newest entries.
 */
export function memoryJournal(now: () => number = Date.now): Journal {
  const entries = new Map<string, { value: Json; expiresAt: number }>();
  const live = (key: string) => {
    const entry = entries.get(key);
    return entry !== undefined && entry.expiresAt > now() ? entry : undefined;
  };
  const keep = (key: string, value: Json, expiresAt: number) => {
    entries.delete(key);
    entries.set(key, { value, expiresAt });
    const [oldest] = entries.keys();
    if (entries.size > mostEntries && oldest !== undefined) entries.delete(oldest);
  };
  return {
    get: async (key) => live(key)?.value,
    put: async (key, value, expiresAt) => keep(key, value, expiresAt),
    putIfAbsent: async (key, value, expiresAt) => {
      if (live(key) !== undefined) return false;
      keep(key, value, expiresAt);
      return true;
    },
    delete: async (key) => void entries.delete(key),
  };
}
