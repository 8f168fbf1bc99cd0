/** What the operations of IAM share. */
import type { Identities } from "../../../services/identities.ts";
import { IdentityError, type IdentityErrorCode } from "../../../services/identity.ts";
import { declaredTags, type KeptRecord, textOf, toDeclaredTags } from "../../../services/records.ts";
import { ApiError } from "../../api-error.ts";
import type { Input } from "../../input.ts";
import { pageOf } from "../../pages.ts";
import type { Handler } from "../../service.ts";
import { tagsOf } from "../../tags.ts";
import type { WireObject } from "../../wire.ts";

/** What IAM works on. */
export interface IamWorld {
  readonly identities: Identities;
}

/** An operation of IAM. */
export type Handle = Handler<IamWorld>;

const statuses: Readonly<Record<IdentityErrorCode, number>> = {
  DeleteConflict: 409,
  EntityAlreadyExists: 409,
  LimitExceeded: 409,
  MalformedPolicyDocument: 400,
  NoSuchEntity: 404,
  ValidationError: 400,
};

/** The refusal in IAM's form. */
export function explainIdentityError(error: unknown): ApiError | undefined {
  return error instanceof IdentityError
    ? new ApiError(error.code, error.message, { status: statuses[error.code] })
    : undefined;
}

/** A name: letters, digits and `+=,.@_-`. */
export function nameIn(input: Input, member: string): string {
  const name = input.need(member);
  if (/^[\w+=,.@-]+$/.test(name)) return name;
  const shown = `${member.charAt(0).toLowerCase()}${member.slice(1)}`;
  throw new IdentityError(
    "ValidationError",
    `The specified value for ${shown} is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-`,
  );
}

/** Starts and ends with a slash; default `/`. */
export function pathIn(input: Input): string {
  const path = input.text("Path") ?? "/";
  if (/^\/(?:[!-~]+\/)?$/.test(path)) return path;
  throw new IdentityError(
    "ValidationError",
    "The specified value for path is invalid. It must begin and end with / and contain only alphanumeric characters and/or / characters.",
  );
}

/** The path that something declares. */
export function pathOf({ properties }: KeptRecord): string {
  return textOf(properties["Path"]) ?? "/";
}

/** Is it under the path that is asked for? */
export function isUnder(input: Input): (record: KeptRecord) => boolean {
  const prefix = input.text("PathPrefix") ?? "/";
  return (record) => pathOf(record).startsWith(prefix);
}

/** Documents go out percent-encoded. */
export function encodeDocument(document: string): string {
  return encodeURIComponent(document).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A page of a list, in IAM's form. */
export function iamPage<Item>(
  input: Input,
  items: readonly Item[],
  { member, keyOf, show }: PageForm<Item>,
): WireObject {
  const page = pageOf(items, { keyOf, size: input.number("MaxItems") ?? 100, token: input.text("Marker") });
  return {
    [member]: page.items.map((item) => show(item)),
    IsTruncated: page.next !== undefined,
    Marker: page.next,
  };
}

interface PageForm<Item> {
  readonly member: string;
  readonly keyOf: (item: Item) => string;
  readonly show: (item: Item) => WireObject | string;
}

/** Given tags in the form of templates; nothing when there are none. */
export function givenTags(input: Input): { readonly Tags?: ReturnType<typeof toDeclaredTags> } {
  return input.has("Tags") ? { Tags: toDeclaredTags(tagsOf(input)) } : {};
}

/** The tags after a call that adds some. */
export function tagsWith(record: KeptRecord, input: Input): ReturnType<typeof toDeclaredTags> {
  return toDeclaredTags({ ...declaredTags(record.properties["Tags"]), ...tagsOf(input) });
}

/** The tags after a call that removes some. */
export function tagsWithout(record: KeptRecord, input: Input): ReturnType<typeof toDeclaredTags> {
  const removed = input.texts("TagKeys") ?? [];
  const before = Object.entries(declaredTags(record.properties["Tags"]));
  return toDeclaredTags(Object.fromEntries(before.filter(([key]) => !removed.includes(key))));
}
