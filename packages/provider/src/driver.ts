import type { Json } from "./protocol/json.ts";
import type { ProviderRequest } from "./protocol/request.ts";

/** Work that isn't done yet, on its way to another invocation. It holds the response URL. */
export interface Rest {
  readonly request: ProviderRequest;
  /** When the first delivery of the request came; milliseconds since the epoch. */
  readonly startedAt: number;
  readonly continued: Continued;
}

/** What a poll goes on with. */
export interface Continued {
  readonly id: string;
  readonly state: Json;
}

/** Continues `pending` work in another invocation. Drivers are in `@custard/provider/drivers`. */
export interface Driver {
  /** The shortest wait that it can keep, in milliseconds; shorter ones are slept in the process if there is time. */
  readonly shortestWait: number;
  /** Arranges that the provider is invoked again after about `delay` ms. */
  handOver(rest: Rest, delay: number): Promise<void>;
  /** The rest, if this event is one that `handOver` arranged. Throws when it can't be trusted or has expired. */
  resume(event: unknown): Promise<Rest | undefined>;
}
