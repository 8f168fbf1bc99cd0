import type { Call } from "./call.ts";
import type { CoreOptions } from "./answer.ts";
import type { Continued, Driver } from "./driver.ts";
import type { Encoded } from "./encode.ts";
import type { Journal } from "./journal.ts";
import type { Logger } from "./log.ts";
import type { OneOff } from "./one-off.ts";

/** What the entry points know of a resource. `defineResource` makes one. */
export interface Worker {
  readonly type: string;
  work(call: Call, shared: Shared, continued?: Continued): Promise<Encoded | undefined>;
}

/** Resources that are loaded when the first request comes, so that an error in loading is answered, too. */
export interface LazyResources {
  /** `() => import("./topic.js")`: all resources that the module exports. */
  load(): Promise<object>;
}

/** Who answers: a resource, several by their types, a function for a one-off, or resources that are loaded lazily. */
export type Provider = Worker | readonly Worker[] | OneOff | LazyResources;

/** What all entry points take beside the provider. */
export interface Options extends Omit<CoreOptions, "write"> {
  readonly logger?: Logger;
  /** What is remembered between deliveries. Default: within the process. */
  readonly journal?: Journal;
  /** Who continues `pending` work when the process must end or the next poll is far. Default: nobody. */
  readonly driver?: Driver;
  /** Told of each step, for tracing. */
  onSpan?(span: Span): void;
}

/** One step of a request: a handler of the author's, or a poll. */
export interface Span {
  readonly name: string;
  readonly requestId: string;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly failed: boolean;
}

/** What the requests of one entry point share. */
export interface Shared {
  readonly options: Options;
  /** Requests at work in this process, by resource. */
  readonly running: Map<string, Call>;
  /** The journal, once the first request needs one. */
  journal?: Journal;
}
