/**
 * Log streams that were made by a call, and the events that were put into them. What functions write stands in
 * `logs.ts`.
 */
import { createHash } from "node:crypto";
import type { Json } from "@custard/provider/protocol";
import type { Documents } from "../engine/ports.ts";
import { KeyedTurns } from "./keyed-turns.ts";
import { LogError, type LogScope } from "./log-groups.ts";

/** Names one stream. */
export interface StreamName {
  readonly group: string;
  readonly stream: string;
}

/** A stream as kept. */
export interface LogStream {
  readonly name: string;
  readonly createdAt: number;
}

/** An event that was put; times in milliseconds. */
export interface PutEvent {
  readonly at: number;
  readonly message: string;
}

/** An event as kept. */
export interface KeptEvent extends PutEvent {
  /** When it was put. */
  readonly putAt: number;
  /** Sorts as the events do. */
  readonly id: string;
  readonly stream: string;
}

/** How many of the first events were too old, or of the last ones too new, to be taken. */
export interface Rejected {
  /** Index of the first event that is not too old. */
  readonly tooOldEnd?: number;
  /** Index of the first event that is too new. */
  readonly tooNewStart?: number;
}

const day = 86_400_000;
/** Bytes of a batch, counting 26 for each event. */
const batchBytes = 1_048_576;
const batchEvents = 10_000;

/** Streams in `Documents`, under `log-stream/…`, and batches of events under `log-events/…`. Throws `LogError`. */
export class LogStreams {
  readonly #documents: Documents;
  readonly #now: () => number;
  readonly #turns = new KeyedTurns();
  #count = 0;

  constructor(documents: Documents, now: () => number) {
    this.#documents = documents;
    this.#now = now;
  }

  async create(scope: LogScope, name: StreamName): Promise<void> {
    if (!/^[^:*]{1,512}$/.test(name.stream))
      throw new LogError(
        "InvalidParameterException",
        `1 validation error detected: Value '${name.stream}' at 'logStreamName' failed to satisfy constraint: Member must satisfy regular expression pattern: [^:*]*`,
      );
    await this.#turns.run(streamKey(scope, name), async () => {
      if ((await this.find(scope, name)) !== undefined)
        throw new LogError("ResourceAlreadyExistsException", "The specified log stream already exists");
      const made: LogStream = { name: name.stream, createdAt: this.#now() };
      await this.#documents.put(streamKey(scope, name), { ...made });
    });
  }

  async find(scope: LogScope, name: StreamName): Promise<LogStream | undefined> {
    const value = await this.#documents.get(streamKey(scope, name));
    return value === undefined ? undefined : parseStream(value);
  }

  /** The streams of a group, by name. */
  async list(scope: LogScope, group: string): Promise<readonly LogStream[]> {
    const entries = await this.#documents.list(streamPrefix(scope, group));
    return entries.map(({ value }) => parseStream(value));
  }

  /** Events come in the order of their time; those that are too old or too new are left out. */
  async put(scope: LogScope, name: StreamName, events: readonly PutEvent[]): Promise<Rejected> {
    if ((await this.find(scope, name)) === undefined) throw missingStream();
    checkBatch(events);
    const now = this.#now();
    const isTooOld = ({ at }: PutEvent) => at < now - 14 * day;
    const isTooNew = ({ at }: PutEvent) => at > now + day / 12;
    const kept = events.filter((event) => !isTooOld(event) && !isTooNew(event));
    if (kept.length > 0) {
      this.#count += 1;
      const batch = `${String(now).padStart(15, "0")}-${String(this.#count).padStart(9, "0")}`;
      const stored = { putAt: now, events: kept.map(({ at, message }) => ({ at, message })) };
      await this.#documents.put(`${eventPrefix(scope, name)}${batch}`, stored);
    }
    const tooOldEnd = events.filter(isTooOld).length;
    const tooNewStart = events.findIndex(isTooNew);
    return {
      ...(tooOldEnd === 0 ? {} : { tooOldEnd }),
      ...(tooNewStart < 0 ? {} : { tooNewStart }),
    };
  }

  /** All events of a group's streams, in the order of their time. */
  async events(scope: LogScope, group: string): Promise<readonly KeptEvent[]> {
    const all = await Promise.all(
      (await this.list(scope, group)).map(async ({ name }) => {
        const prefix = eventPrefix(scope, { group, stream: name });
        const batches = await this.#documents.list(prefix);
        return batches.flatMap(({ key, value }) => eventsOf(value, name, key.slice(prefix.length)));
      }),
    );
    return all.flat().toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** With its events. */
  async delete(scope: LogScope, name: StreamName): Promise<void> {
    if ((await this.find(scope, name)) === undefined) throw missingStream();
    for (const { key } of await this.#documents.list(eventPrefix(scope, name)))
      await this.#documents.delete(key);
    await this.#documents.delete(streamKey(scope, name));
  }

  /** Of a group that is deleted. */
  async deleteAll(scope: LogScope, group: string): Promise<void> {
    for (const { name } of await this.list(scope, group)) await this.delete(scope, { group, stream: name });
  }
}

/** Nothing of that name is there. */
export function missingStream(): LogError {
  return new LogError("ResourceNotFoundException", "The specified log stream does not exist.");
}

function checkBatch(events: readonly PutEvent[]): void {
  if (events.length === 0)
    throw new LogError(
      "InvalidParameterException",
      "1 validation error detected: Value '[]' at 'logEvents' failed to satisfy constraint: Member must have length greater than or equal to 1",
    );
  const bytes = events.reduce((sum, { message }) => sum + Buffer.byteLength(message) + 26, 0);
  if (events.length > batchEvents || bytes > batchBytes)
    throw new LogError(
      "InvalidParameterException",
      `Upload too large: ${bytes} bytes exceeds limit of ${batchBytes}`,
    );
  const times = events.map(({ at }) => at);
  if (times.some((at, index) => at < (times[index - 1] ?? at)))
    throw new LogError(
      "InvalidParameterException",
      "Log events in a single PutLogEvents request must be in chronological order.",
    );
  const [first = 0] = times;
  if ((times.at(-1) ?? 0) - first > day)
    throw new LogError(
      "InvalidParameterException",
      "The batch of log events in a single PutLogEvents request cannot span more than 24 hours.",
    );
}

function eventsOf(value: Json, stream: string, batch: string): readonly KeptEvent[] {
  const { putAt, events } = parseBatch(value);
  const mark = createHash("sha256").update(stream).digest("hex").slice(0, 12);
  return events.map(({ at, message }, index) => ({
    at,
    message,
    putAt,
    stream,
    id: `${String(at).padStart(15, "0")}-${mark}-${batch}-${String(index).padStart(6, "0")}`,
  }));
}

function streamPrefix({ partition, account, region }: LogScope, group: string): string {
  return `log-stream/${partition}/${account}/${region}/${group}//`;
}

function streamKey(scope: LogScope, { group, stream }: StreamName): string {
  return `${streamPrefix(scope, group)}${stream}`;
}

function eventPrefix({ partition, account, region }: LogScope, { group, stream }: StreamName): string {
  return `log-events/${partition}/${account}/${region}/${group}//${stream}//`;
}

/** Our own storage: only the outlines are checked. */
function parseStream(value: unknown): LogStream {
  if (!isStream(value)) throw new Error("A stored log stream is damaged.");
  return value;
}

function isStream(value: unknown): value is LogStream {
  return typeof value === "object" && value !== null && "name" in value && "createdAt" in value;
}

interface Batch {
  readonly putAt: number;
  readonly events: readonly PutEvent[];
}

function parseBatch(value: unknown): Batch {
  if (!isBatch(value)) throw new Error("Stored log events are damaged.");
  return value;
}

function isBatch(value: unknown): value is Batch {
  return typeof value === "object" && value !== null && "putAt" in value && "events" in value;
}
