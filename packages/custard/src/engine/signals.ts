/**
 * Waiting for signals: wait conditions, and resources with a creation policy. Source: the references of
 * AWS::CloudFormation::WaitCondition and of the CreationPolicy attribute.
 *
 * W1: a signal counts once for each unique id, whether it comes before its wait or during it.
 * W2: one failure ends the wait.
 */
import { evaluateExpression } from "../template/evaluate.ts";
import type { Expression } from "../template/expression.ts";
import type { Known } from "../template/known.ts";
import { isValueMap, reveal, type Value, type ValueMap } from "../template/value.ts";
import type { Draft } from "./draft.ts";
import type { Happened } from "./event.ts";
import type { LogicalId, PhysicalId, RequestId } from "./ids.ts";
import { notSignalable, signalReceived } from "./messages.ts";
import { isLive, isWaitHandle, type CreationPolicy, type Declared, type Resource } from "./resource.ts";
import { showResource } from "./shown.ts";
import { StackError } from "./stack-error.ts";
import type { Signal, SignalsPending } from "./stack.ts";

/** Types of which CloudFormation heeds a creation policy. */
const patientTypes: ReadonlySet<string> = new Set([
  "AWS::AppStream::Fleet",
  "AWS::AutoScaling::AutoScalingGroup",
  "AWS::CloudFormation::WaitCondition",
  "AWS::EC2::Instance",
]);

/** The creation policy of a resource, as far as it asks for signals. */
export function creationPolicyOf(
  { type, creationPolicy }: { type: string; creationPolicy?: Expression },
  known: Known,
): CreationPolicy | undefined {
  if (creationPolicy === undefined || !patientTypes.has(type)) return undefined;
  const evaluation = evaluateExpression(creationPolicy, known);
  const value = evaluation.kind === "value" ? evaluation.value : undefined;
  const signal = value !== undefined && isValueMap(value) ? value["ResourceSignal"] : undefined;
  if (signal === undefined || !isValueMap(signal)) return undefined;
  return {
    count: numberOf(signal["Count"]) ?? 1,
    timeout: durationOf(textOf(signal["Timeout"])) ?? 300_000,
  };
}

/** Why a wait condition can't wait, or undefined. */
export function waitFault({ properties, creationPolicy }: Declared): string | undefined {
  if (creationPolicy !== undefined) return undefined;
  const timeout = numberOf(properties["Timeout"]);
  if (textOf(properties["Handle"]) === "" || timeout === undefined)
    return "Property validation failure: [Handle and Timeout are required without a CreationPolicy]";
  return timeout <= 43_200
    ? undefined
    : "Property validation failure: [Timeout must be at most 43200 (seconds)]";
}

/** Begins to wait for the signals of a wait condition. */
export function awaitCondition(
  draft: Draft,
  logicalId: LogicalId,
  declared: Declared,
): { readonly requestId: RequestId; readonly targetId: PhysicalId } {
  const { properties, creationPolicy } = declared;
  const source = creationPolicy === undefined ? handleOf(draft, textOf(properties["Handle"])) : undefined;
  const timeout = creationPolicy?.timeout ?? (numberOf(properties["Timeout"]) ?? 0) * 1000;
  const count = creationPolicy?.count ?? numberOf(properties["Count"]) ?? 1;
  const targetId = `${draft.stack.identity.stackId}/${source ?? logicalId}` as PhysicalId;
  const wait = { logicalId, declared, source: source ?? logicalId, count, timeout, targetId, attributes: {} };
  return { requestId: begin(draft, wait), targetId };
}

/** Begins to wait for the signals that a creation policy asks for; the resource itself is there. */
export function awaitPolicy(
  draft: Draft,
  waiting: { logicalId: LogicalId; declared: Declared; physicalId: PhysicalId; attributes: ValueMap },
): RequestId {
  const { logicalId, declared, physicalId, attributes } = waiting;
  const { count, timeout } = declared.creationPolicy ?? { count: 1, timeout: 0 };
  return begin(draft, {
    logicalId,
    declared,
    source: logicalId,
    count,
    timeout,
    targetId: physicalId,
    attributes,
  });
}

function begin(
  draft: Draft,
  wait: Pick<SignalsPending, "logicalId" | "source" | "count" | "targetId" | "attributes"> & {
    readonly declared: Declared;
    readonly timeout: number;
  },
): RequestId {
  const { declared, timeout, ...rest } = wait;
  const requestId = draft.newRequestId();
  const { type, properties } = declared;
  const deadline = draft.at + timeout;
  draft.issue({
    ...rest,
    kind: "signals",
    action: "create",
    requestId,
    type,
    properties,
    issuedAt: draft.at,
    deadline,
  });
  return requestId;
}

function handleOf(draft: Draft, url: string): LogicalId | undefined {
  for (const [logicalId, { current }] of draft.stack.resources)
    if (isLive(current) && current.good.physicalId === url) return logicalId;
  return undefined;
}

// -------------------------------------------------------------------------------------------------- signals

/** SignalResource. */
export function signalResource(draft: Draft, { logicalId, signal }: Happened<"signal-resource">): void {
  const current = draft.slot(logicalId)?.current;
  if (current === undefined)
    throw new StackError(
      "InvalidInput",
      `Resource ${logicalId} does not exist for stack ${draft.stack.identity.stackName}`,
    );
  if (!isComing(current)) throw new StackError("InvalidInput", notSignalable(logicalId, current.status));
  if (!note(draft, logicalId, signal)) return;
  const shown = showResource(current, {
    reason: signalReceived(signal.status, signal.uniqueId),
    physicalId: waitingId(draft, logicalId),
  });
  if (signal.status === "SUCCESS") draft.setCurrent(logicalId, current, shown);
}

/** Is it being created, for the first time or in place of what it was? */
function isComing(resource: Resource): boolean {
  if (resource.status === "CREATE_IN_PROGRESS") return true;
  return resource.status === "UPDATE_IN_PROGRESS" && resource.replacementId !== undefined;
}

/** The id of a resource that waits for signals; empty while it isn't there yet. */
function waitingId(draft: Draft, logicalId: LogicalId): string {
  for (const request of draft.stack.requests.values())
    if (request.kind === "signals" && request.logicalId === logicalId) return request.targetId;
  return "";
}

/** A signal that came at a handle's URL; one for a handle that isn't there is ignored. */
export function signalHandle(draft: Draft, { logicalId, signal }: Happened<"handle-signalled">): void {
  const current = draft.slot(logicalId)?.current;
  if (isLive(current) && isWaitHandle(current.good.declared.type)) note(draft, logicalId, signal);
}

/** W1 */
function note(draft: Draft, logicalId: LogicalId, signal: Signal): boolean {
  const known = draft.stack.signals.get(logicalId) ?? [];
  if (known.some(({ uniqueId }) => uniqueId === signal.uniqueId)) return false;
  draft.record({ kind: "signalled", logicalId, signal });
  return true;
}

/** Signals for what a logical id stood for before don't count for what it is to be. */
export function forgetSignals(draft: Draft, logicalId: LogicalId): void {
  if (draft.stack.signals.has(logicalId)) draft.record({ kind: "signals-cleared", logicalId });
}

// --------------------------------------------------------------------------------------------------- values

function textOf(value: Value | undefined): string {
  const plain = value === undefined ? "" : reveal(value);
  return typeof plain === "object" ? "" : String(plain);
}

/** A whole number of at least 1. */
function numberOf(value: Value | undefined): number | undefined {
  const text = textOf(value);
  return /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : undefined;
}

/** `PT#H#M#S` in ms. */
function durationOf(text: string): number | undefined {
  const [whole, hours = 0, minutes = 0, seconds = 0] =
    /^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?$/.exec(text) ?? [];
  if (whole === undefined || whole === "PT") return undefined;
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
}
