import type { Json } from "@custard/provider/protocol";
import type { ApiError } from "./api-error.ts";
import type { Input } from "./input.ts";
import type { WireObject, WireRequest } from "./wire.ts";

/** Whose things a call is about: the region that it was signed for, and the account that its access key stands for. */
export interface Scope {
  readonly partition: string;
  readonly account: string;
  readonly region: string;
}

/** One call of an operation. */
export interface ApiCall {
  readonly input: Input;
  readonly scope: Scope;
  readonly requestId: string;
  readonly request: WireRequest;
  /** The body of an operation that takes it as a stream; empty otherwise. */
  readonly body: AsyncIterable<Uint8Array>;
  /** What came after a body in chunks, by lower-case name, once that was read. */
  readonly trailers: Readonly<Record<string, string>>;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  readonly accessKeyId?: string;
  /** A record in the form of the operation's output, as far as that has a place for it. */
  fit(record: Json): WireObject;
}

/** Performs an operation. Throws `ApiError`, or what its service's `explain` makes one of. */
export type Handler<World> = (call: ApiCall, world: World) => Promise<WireObject>;

/** A service of the endpoint: which operation is done by whom, as data. */
export interface Service<World> {
  /** As in the scope of signatures; the name of its model too. */
  readonly name: string;
  readonly operations: Readonly<Record<string, Handler<World>>>;
  /** Operations whose request's body is read as a stream. */
  readonly streamed?: ReadonlySet<string>;
  /** The AWS form of what handlers throw; undefined for what is no refusal of this service. */
  explain(error: unknown): ApiError | undefined;
}

/** A service with its world. */
export interface BoundService {
  readonly name: string;
  readonly streamed: ReadonlySet<string>;
  /** The handler of an operation; undefined when the service has none. */
  handler(operation: string): ((call: ApiCall) => Promise<WireObject>) | undefined;
  explain(error: unknown): ApiError | undefined;
}

/** Gives a service what it works on. */
export function bind<World>(service: Service<World>, world: World): BoundService {
  const { name, operations, streamed = new Set() } = service;
  return {
    name,
    streamed,
    handler(operation) {
      const handler = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
      return handler === undefined ? undefined : (call) => handler(call, world);
    },
    explain: (error) => service.explain(error),
  };
}
