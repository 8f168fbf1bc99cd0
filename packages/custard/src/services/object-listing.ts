/** Pages of S3's lists: prefix, delimiter, where to go on, how many. */
import type { ObjectContent, ObjectVersion } from "./object-record.ts";

/** What is asked of a list. */
export interface ListQuery {
  readonly prefix?: string;
  readonly delimiter?: string;
  /** Keys after this one; `start-after`, `marker`, or what a continuation token holds. */
  readonly after?: string;
  /** At most 1000, the default. */
  readonly limit?: number;
}

/** An object in a list. */
export interface ListedObject {
  readonly key: string;
  readonly modifiedAt: number;
  readonly content: ObjectContent;
}

/** One page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly commonPrefixes: readonly string[];
  /** Pass it as `after` to go on; absent on the last page. */
  readonly next?: string;
}

/** A version in a list. */
export interface ListedVersion extends ObjectVersion {
  readonly key: string;
  readonly isLatest: boolean;
}

/** Where a list of versions goes on. */
export interface VersionMarker {
  readonly key: string;
  readonly versionId?: string;
}

/** S3's order of keys: by the bytes of their UTF-8 form. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** One page of things with keys, which come in S3's order. Several things may have one key; a page ends anywhere. */
export function pageOf<Item extends { readonly key: string }>(
  items: readonly Item[],
  query: ListQuery,
): Page<Item> {
  const limit = Math.min(query.limit ?? 1000, 1000);
  const found: Item[] = [];
  const prefixes: string[] = [];
  let last: string | undefined;
  for (const item of items) {
    const common = commonPrefix(item.key, query);
    if (!isWanted(item.key, common, query) || (common !== undefined && common === prefixes.at(-1))) continue;
    if (found.length + prefixes.length >= limit) return withNext(found, prefixes, last);
    if (common === undefined) found.push(item);
    else prefixes.push(common);
    last = common ?? item.key;
  }
  return { items: found, commonPrefixes: prefixes };
}

function withNext<Item>(
  items: readonly Item[],
  commonPrefixes: readonly string[],
  last?: string,
): Page<Item> {
  // A page of none says that there is more, but S3 gives no place to go on either.
  return { items, commonPrefixes, ...(last === undefined ? {} : { next: last }) };
}

function isWanted(key: string, common: string | undefined, { prefix = "", after }: ListQuery): boolean {
  if (!key.startsWith(prefix)) return false;
  if (after === undefined || after === "") return true;
  // Going on after a common prefix passes over all of its keys.
  return compareKeys(key, after) > 0 && common !== after;
}

function commonPrefix(key: string, { prefix = "", delimiter }: ListQuery): string | undefined {
  if (delimiter === undefined || delimiter === "") return undefined;
  const at = key.indexOf(delimiter, prefix.length);
  return at < 0 ? undefined : key.slice(0, at + delimiter.length);
}
