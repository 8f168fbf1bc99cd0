import { createHash } from "node:crypto";
import type { LogicalId, PhysicalId, RequestId, StackId } from "./ids.ts";
import type { StackIdentity } from "./stack.ts";

/**
 * Ids are hashes of a stack's seed and a counter: a replayed stack makes the same ones (design section 3).
 * The counter is the number of the record that the id goes into, so no id is made twice.
 */
export interface IdSource {
  readonly seed: string;
  readonly counter: number;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** A request id: fact 7, a UUID. */
export function makeRequestId(source: IdSource): RequestId {
  return uuid(`request:${source.seed}:${source.counter}`, 4) as RequestId;
}

/** A stack's ARN; its last part has the form of a time-based UUID (fact 100). */
export function makeStackId(stack: Omit<StackIdentity, "stackId">, seed: string): StackId {
  const { partition, region, account, stackName } = stack;
  const unique = uuid(`stack:${seed}`, 1);
  return `arn:${partition}:cloudformation:${region}:${account}:stack/${stackName}/${unique}` as StackId;
}

/** A change set's ARN. */
export function makeChangeSetId(
  stack: Omit<StackIdentity, "stackId" | "stackName">,
  name: string,
  { seed, counter }: IdSource,
): string {
  const { partition, region, account } = stack;
  const unique = uuid(`change-set:${seed}:${counter}`, 4);
  return `arn:${partition}:cloudformation:${region}:${account}:changeSet/${name}/${unique}`;
}

/** The name in a stack's ARN. */
export function stackNameOf(stackId: StackId): string {
  return stackId.split("/")[1] ?? stackId;
}

/** A physical id as CloudFormation makes them: `<stack>-<LogicalId>-<12 characters>` (facts 63 and 100). */
export function makePhysicalId(stackName: string, logicalId: LogicalId, source: IdSource): PhysicalId {
  const hash = createHash("sha256").update(`physical:${source.seed}:${source.counter}`).digest();
  const suffix = Array.from(hash.subarray(0, 12), (byte) => alphabet[byte % alphabet.length]).join("");
  return `${stackName}-${logicalId}-${suffix}` as PhysicalId;
}

/** The id of a stack-level event, or of a clean-up delete's (fact 93). */
export function makeEventId(stackId: StackId, sequence: number): string {
  return uuid(`event:${stackId}:${sequence}`, 1);
}

/** The id of an operation, by the record with which it began (fact 95). */
export function makeOperationId(stackId: StackId, number: number): string {
  return uuid(`operation:${stackId}:${number}`, 4);
}

function uuid(text: string, version: 1 | 4): string {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = "89ab"[Number.parseInt(hex.slice(16, 17), 16) % 4] ?? "8";
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `${version}${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
