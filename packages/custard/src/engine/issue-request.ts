import { stringifyScalars } from "@custard/provider/protocol";
import { equalValues, isValueMap, reveal, type Value, type ValueMap } from "../template/value.ts";
import type { Draft } from "./draft.ts";
import type { LogicalId, PhysicalId, RequestId, StackId } from "./ids.ts";
import { isCustom, isNestedStack } from "./resource.ts";
import type { Action, Pending } from "./stack.ts";

const defaultTimeoutSeconds = 3600;

/** What is to be asked for. `targetId`: the physical id of what a built-in type makes, changes or deletes. */
export type Ask = Action & {
  readonly logicalId: LogicalId;
  readonly type: string;
  readonly properties: ValueMap;
  readonly targetId: PhysicalId;
};

/** Sends what is asked for to the resource's provider or to its built-in type; gives the request's id. */
export function issueRequest(draft: Draft, ask: Ask): RequestId {
  const requestId = draft.newRequestId();
  const { targetId, ...rest } = ask;
  const base = { ...rest, requestId, issuedAt: draft.at };
  if (isNestedStack(ask.type)) {
    const undo = ask.action === "update" && draft.operation.phase === "rollback";
    draft.issue({ ...base, kind: "child", childId: targetId as string as StackId, undo });
  } else draft.issue(isCustom(ask.type) ? toProvider(base) : { ...base, kind: "task", targetId });
  return requestId;
}

function toProvider(
  base: Omit<Ask, "targetId"> & { requestId: RequestId; issuedAt: number } & Action,
): Pending {
  return {
    ...base,
    kind: "provider",
    serviceToken: textOf(base.properties["ServiceToken"]),
    // Facts 47 and 48: the timer runs for each request.
    deadline: base.issuedAt + timeoutSecondsOf(base.properties) * 1000,
  };
}

function timeoutSecondsOf(properties: ValueMap): number {
  const declared = properties["ServiceTimeout"];
  return declared === undefined ? defaultTimeoutSeconds : Number(textOf(declared));
}

/** Why these properties can't be sent, or undefined. Source: design section 9; the reference for ServiceTimeout. */
export function faultOfCustomProperties(properties: ValueMap): string | undefined {
  if (textOf(properties["ServiceToken"]) === "") {
    return "Property validation failure: [The property {/ServiceToken} is required]";
  }
  const timeout = properties["ServiceTimeout"];
  if (timeout === undefined) return undefined;
  const text = textOf(timeout);
  const seconds = /^[0-9]{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds >= 1 && seconds <= 3600) return undefined;
  return `Property validation failure: [ServiceTimeout must be an integer from 1 to 3600 (seconds), but is ${text || "no text"}]`;
}

/** Do two sets of properties look the same to a provider, to which every scalar is a string (facts 10, 21)? */
export function sameProperties(a: ValueMap, b: ValueMap): boolean {
  return equalValues(asSent(a), asSent(b));
}

/** Names of the top-level properties that differ. */
export function changedProperties(a: ValueMap, b: ValueMap): readonly string[] {
  const [left, right] = [asSent(a), asSent(b)];
  if (!isValueMap(left) || !isValueMap(right)) return [];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].filter((name) => !sameValue(left[name], right[name]));
}

function sameValue(a: Value | undefined, b: Value | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equalValues(a, b);
}

function asSent(properties: ValueMap): Value {
  return stringifyScalars(reveal(properties));
}

function textOf(value: Value | undefined): string {
  const plain = value === undefined ? "" : reveal(value);
  return typeof plain === "object" ? "" : String(plain);
}
