import type { Driver, Rest } from "../driver.ts";
import type { Json } from "../protocol/json.ts";
import { formatRequest, parseRequest } from "../protocol/request.ts";
import type { RestStore } from "./rest-store.ts";

/** What a driver has the provider invoked with. It never holds the response URL in clear. */
export interface Continuation {
  readonly custard: "continue";
  readonly reference: string;
}

/** How one kind of driver differs from another. */
export interface DriverParts {
  readonly store: RestStore;
  readonly shortestWait: number;
  readonly schedule: (event: Continuation, delay: number) => Promise<void>;
}

/** Response URLs live for two hours. */
const lifetime = 7_200_000;

/** A driver from its parts. */
export function makeDriver({ store, shortestWait, schedule }: DriverParts): Driver {
  return {
    shortestWait,
    async handOver(rest, delay) {
      const reference = await store.save(toJson(rest), rest.startedAt + lifetime);
      await schedule({ custard: "continue", reference }, delay);
    },
    async resume(event) {
      return isContinuation(event) ? fromJson(await store.load(event.reference)) : undefined;
    },
  };
}

function toJson({ request, startedAt, continued: { id, state } }: Rest): Json {
  return { request: formatRequest(request), startedAt, id, state };
}

function fromJson(stored: Json): Rest {
  const { request, startedAt, id, state } = Object(stored) as Record<string, Json>;
  const parsed = parseRequest(request);
  if (!parsed.ok) throw new Error(`The continuation is damaged: ${parsed.complaint}`);
  return {
    request: parsed.request,
    startedAt: Number(startedAt),
    continued: { id: String(id as string), state: state ?? null },
  };
}

function isContinuation(event: unknown): event is Continuation {
  const { custard, reference } = Object(event) as Partial<Continuation>;
  return custard === "continue" && typeof reference === "string";
}
