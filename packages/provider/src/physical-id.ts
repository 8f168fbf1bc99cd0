import type { RequestIdentity } from "./protocol/request.ts";

const alphabet = "abcdefghijklmnopqrstuvwxyz234567";
const tombstonePrefix = "never-created:";

/** The SHA-256 of a text. */
export async function sha256(text: string): Promise<Buffer> {
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(text).digest();
}

/**
 * The id of a resource whose author names none: `<LogicalId>-<12 characters>`. It is the same when a request is
 * delivered again. `seed` is the request's id, or, for a type with `replaceOn`, the values that make up its identity:
 * so a rollback that goes back to the old values goes back to the old id.
 */
export async function defaultPhysicalId(identity: RequestIdentity, seed: string): Promise<string> {
  const { stackId, logicalId } = identity;
  const hash = (await sha256([stackId, logicalId, seed].join("|"))).subarray(0, 12);
  return `${logicalId}-${Array.from(hash, (byte) => alphabet[byte & 31]).join("")}`;
}

/** The id that a failed Create answers when nothing was made. The Delete that follows succeeds at once. */
export async function tombstone(identity: RequestIdentity): Promise<string> {
  return tombstonePrefix + (await defaultPhysicalId(identity, identity.requestId));
}

/** Does this id stand for something that was never made? */
export function isTombstone(id: string): boolean {
  return id.startsWith(tombstonePrefix);
}

/**
 * Does this look like an id that CloudFormation made up because no answer had come when it had to delete
 * (facts 39, 63, 65): `<stack>-<LogicalId>-<12 or 13 capitals and digits>`?
 */
export function isInvented(id: string, identity: RequestIdentity): boolean {
  const stackName = identity.stackId.split("/")[1] ?? "";
  const prefix = `${stackName}-${identity.logicalId}-`;
  return id.startsWith(prefix) && /^[A-Z0-9]{12,13}$/u.test(id.slice(prefix.length));
}
