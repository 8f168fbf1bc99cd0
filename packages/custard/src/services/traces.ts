/**
 * What was observed between requests and responses, kept for diagnosis and for `custard logs`.
 * Invariant T1: noting never fails and never waits; an observation is worth less than the thing observed.
 */
import type { RequestId, StackId } from "../engine/ids.ts";
import type { TraceEntry, Traces } from "../engine/ports.ts";

/** Characters of a text that are kept: a log line of Lambda's has at most 256 KB, an advice a few hundred. */
export const longestText = 16 * 1024;
/** Milliseconds that observations wait for company before they are stored. */
const patience = 200;
/** So many waiting observations are stored at once. */
const crowd = 500;

/** Of so many requests it is remembered which function had them. */
const rememberedRequests = 1000;

/** Where observations are stored. All answers are in the order in which things were noted. */
export interface TraceStore {
  add(entries: readonly TraceEntry[]): void;
  ofRequest(requestId: RequestId): readonly TraceEntry[];
  /** The newest `limit` of a stack. */
  ofStack(stackId: StackId, limit: number): readonly TraceEntry[];
  /** The newest `limit` of a function. */
  ofFunction(functionName: string, limit: number): readonly TraceEntry[];
  close(): void;
}

/** Traces with the questions that the command line asks. */
export interface TraceLog extends Traces {
  ofStack(stackId: StackId, limit: number): Promise<readonly TraceEntry[]>;
  ofFunction(functionName: string, limit: number): Promise<readonly TraceEntry[]>;
  /** Calls back for each observation from now on, as it is noted. Returns a function that ends this. */
  watch(onEntry: (entry: TraceEntry) => void): () => void;
  /** Stores what is waiting. Nothing may be noted afterwards. */
  close(): Promise<void>;
}

/** Traces over a store: notes are gathered and stored in batches; questions see them at once. */
export class BufferedTraces implements TraceLog {
  readonly #store: TraceStore;
  readonly #watchers = new Set<(entry: TraceEntry) => void>();
  readonly #functions = new Map<RequestId, string>();
  #waiting: TraceEntry[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(store: TraceStore) {
    this.#store = store;
  }

  note(entry: TraceEntry): void {
    const bounded = { ...entry, ...this.#functionOf(entry), text: bound(entry.text) };
    this.#waiting.push(bounded);
    for (const watcher of this.#watchers) watcher(bounded);
    if (this.#waiting.length >= crowd) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), patience).unref();
  }

  async ofRequest(requestId: RequestId): Promise<readonly TraceEntry[]> {
    this.#flush();
    return this.#store.ofRequest(requestId);
  }

  async ofStack(stackId: StackId, limit: number): Promise<readonly TraceEntry[]> {
    this.#flush();
    return this.#store.ofStack(stackId, limit);
  }

  async ofFunction(functionName: string, limit: number): Promise<readonly TraceEntry[]> {
    this.#flush();
    return this.#store.ofFunction(functionName, limit);
  }

  watch(onEntry: (entry: TraceEntry) => void): () => void {
    this.#watchers.add(onEntry);
    return () => this.#watchers.delete(onEntry);
  }

  async close(): Promise<void> {
    this.#flush();
    this.#store.close();
  }

  /** The response endpoint doesn't know whose answers it sees; what was noted before of the request tells. */
  #functionOf({ requestId, functionName }: TraceEntry): Pick<TraceEntry, "functionName"> {
    if (functionName === undefined) {
      const known = this.#functions.get(requestId);
      return known === undefined ? {} : { functionName: known };
    }
    this.#functions.set(requestId, functionName);
    const [oldest] = this.#functions.size > rememberedRequests ? this.#functions.keys() : [];
    if (oldest !== undefined) this.#functions.delete(oldest);
    return { functionName };
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const entries = this.#waiting;
    this.#waiting = [];
    if (entries.length === 0) return;
    try {
      this.#store.add(entries);
    } catch {
      // T1: a full disk must not stop a deployment for the sake of its log.
    }
  }
}

/** Observations that last as long as their process. */
export class MemoryTraceStore implements TraceStore {
  readonly #entries: TraceEntry[] = [];

  add(entries: readonly TraceEntry[]): void {
    this.#entries.push(...entries);
  }

  ofRequest(requestId: RequestId): readonly TraceEntry[] {
    return this.#entries.filter((entry) => entry.requestId === requestId);
  }

  ofStack(stackId: StackId, limit: number): readonly TraceEntry[] {
    return newest(
      this.#entries.filter((entry) => entry.stackId === stackId),
      limit,
    );
  }

  ofFunction(functionName: string, limit: number): readonly TraceEntry[] {
    return newest(
      this.#entries.filter((entry) => entry.functionName === functionName),
      limit,
    );
  }

  close(): void {}
}

function newest(entries: readonly TraceEntry[], limit: number): readonly TraceEntry[] {
  return limit > 0 ? entries.slice(-limit) : [];
}

function bound(text: string): string {
  if (text.length <= longestText) return text;
  return `${text.slice(0, longestText)}… (${text.length - longestText} more characters)`;
}
