/** Pages of lists, and the tokens by which callers get the next one. */
import { ApiError } from "./api-error.ts";

/** One page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** There when there are more. */
  readonly next?: string;
}

/** What is wanted of a list. */
export interface PageQuery<Item> {
  /** The text that tells an item from all others; it must not change between pages. */
  readonly keyOf: (item: Item) => string;
  readonly size: number;
  readonly token: string | undefined;
  /** The code of the refusal of a token that isn't ours. */
  readonly code?: string;
}

/**
 * The items after the one that the token names. Items that come in front of it meanwhile change nothing; when the
 * named one has gone, the token is refused, as one of nobody's is.
 */
export function pageOf<Item>(items: readonly Item[], query: PageQuery<Item>): Page<Item> {
  const { keyOf, size, token, code = "ValidationError" } = query;
  const start = token === undefined ? 0 : items.findIndex((item) => encode(keyOf(item)) === token) + 1;
  if (token !== undefined && start === 0) throw new ApiError(code, "The specified NextToken is invalid.");
  const found = items.slice(start, start + size);
  const last = found.at(-1);
  return last === undefined || start + size >= items.length
    ? { items: found }
    : { items: found, next: encode(keyOf(last)) };
}

function encode(key: string): string {
  return Buffer.from(key).toString("base64url");
}
