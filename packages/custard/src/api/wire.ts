/** What passes between sockets, codecs and handlers. */
import type { Readable } from "node:stream";

/** A request, its body aside. Names of headers are in lower case. */
export interface WireRequest {
  readonly method: string;
  /** Percent-encoded, without the query. */
  readonly path: string;
  /** Decoded names and values in their order. */
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
}

/** A request with its body in memory. */
export interface BufferedRequest extends WireRequest {
  readonly body: Uint8Array;
}

/** An answer, ready to be sent. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | Readable;
}

/**
 * A value in the form of the service's API. Times are milliseconds since the epoch. What is undefined is left out;
 * only a stream may be one.
 */
export type WireValue =
  | undefined
  | string
  | number
  | boolean
  | Uint8Array
  | Readable
  | readonly WireValue[]
  | { readonly [name: string]: WireValue };

/** A structure. */
export type WireObject = Readonly<Record<string, WireValue>>;
