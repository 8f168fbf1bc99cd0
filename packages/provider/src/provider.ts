import type { Call } from "./call.ts";
import type { CoreOptions } from "./answer.ts";
import type { Continued, Driver } from "./driver.ts";
import type { Encoded } from "./encode.ts";
import type { Journal } from "./journal.ts";
import type { Logger } from "./log.ts";
import type { OneOff } from "./one-off.ts";
import type { RequestIdentity, RequestType } from "./protocol/request.ts";

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
  /** Runs each handler of the author's: for tracing. It must return what `run` returns, or throw. */
  readonly around?: Around;
}

/** One call of a handler. */
export interface Span {
  readonly handler: "create" | "update" | "delete" | "poll" | "read";
  /** Of the physical resource; undefined on create. */
  readonly id: string | undefined;
  readonly request: RequestIdentity & { readonly requestType: RequestType; readonly resourceType: string };
}

/** Something that runs around a handler. */
export type Around = <T>(span: Span, run: () => Promise<T>) => Promise<T>;

/** What the requests of one entry point share. */
export interface Shared {
  readonly options: Options;
  /** Requests at work in this process, by resource. */
  readonly running: Map<string, Call>;
  /** The journal, once the first request needs one. */
  journal?: Journal;
}
