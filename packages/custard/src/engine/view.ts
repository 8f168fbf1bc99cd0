/** Stacks and records as users see them: the masks are put on here. */
import { show, showMap, type Value } from "../template/value.ts";
import type { RequestId } from "./ids.ts";
import type { StackRecord } from "./record.ts";
import { declaredOf, isOwnType, physicalIdOf, type Former, type Resource, type Slot } from "./resource.ts";
import type { LogicalId } from "./ids.ts";
import type { Knowledge } from "./draft.ts";
import { isSettled } from "./stack-status.ts";
import type { Definition, Stack, StackIdentity } from "./stack.ts";
import { makeEventId, makeOperationId } from "./unique-id.ts";
import { exportsOf } from "./exports.ts";
import type { ExportView, OutputView, ParameterView, ResourceView, StackEvent, StackView } from "./views.ts";

/** Fact 103. */
const parameterMask = "****";

/** A stack, as DescribeStacks and DescribeStackResources show it. */
export function viewStack(stack: Stack, knowledge: Knowledge): StackView {
  const { identity, definition, status } = stack;
  return {
    stackId: identity.stackId,
    stackName: identity.stackName,
    account: identity.account,
    region: identity.region,
    status,
    settled: isSettled(status),
    createdAt: stack.createdAt,
    ...(stack.reason === undefined ? {} : { reason: stack.reason }),
    ...(stack.updatedAt === undefined ? {} : { updatedAt: stack.updatedAt }),
    ...(stack.deletedAt === undefined ? {} : { deletedAt: stack.deletedAt }),
    ...(definition.template.description === undefined
      ? {}
      : { description: definition.template.description }),
    parameters: status === "REVIEW_IN_PROGRESS" ? [] : viewParametersOf(definition),
    outputs: viewOutputs(stack),
    tags: definition.tags,
    resources: [...stack.resources].flatMap(([logicalId, slot]) => viewSlot({ logicalId, slot, knowledge })),
    templateBody: definition.template.original ?? definition.template.body,
    ...(definition.template.original === undefined
      ? {}
      : { processedTemplateBody: definition.template.body }),
    terminationProtection: stack.terminationProtection,
    disableRollback: stack.disableRollback,
    notificationArns: definition.notificationArns,
    ...(stack.parent === undefined ? {} : { parentId: stack.parent.stackId, rootId: stack.parent.rootId }),
    ...(stack.timeoutMinutes === undefined ? {} : { timeoutMinutes: stack.timeoutMinutes }),
    ...(stack.changeSetId === undefined ? {} : { changeSetId: stack.changeSetId }),
    ...viewCall(stack),
  };
}

/** How the stack's last operation was asked for. */
function viewCall({
  identity,
  terms = {},
  lastOperations = [],
  retainExceptOnCreate,
}: Stack): Pick<StackView, "terms" | "lastOperations" | "retainExceptOnCreate"> {
  const { stackId } = identity;
  return {
    terms,
    lastOperations: lastOperations.map(({ type, number }) => ({
      type,
      id: makeOperationId(stackId, number),
    })),
    ...(retainExceptOnCreate === undefined ? {} : { retainExceptOnCreate }),
  };
}

/** The parameters of a definition; NoEcho values masked (fact 103). */
export function viewParametersOf(definition: Definition): ParameterView[] {
  return [...definition.parameters].map(([name, { value, noEcho, ssmName }]) => {
    const shown = noEcho ? parameterMask : textOf(value);
    return ssmName === undefined ? { name, value: shown } : { name, value: ssmName, resolvedValue: shown };
  });
}

function viewOutputs({ outputs }: Stack): OutputView[] {
  return [...outputs].map(([name, { value, description, exportName }]) => ({
    name,
    value: textOf(value),
    ...(description === undefined ? {} : { description }),
    ...(exportName === undefined ? {} : { exportName }),
  }));
}

/** The exports of a stack, as ListExports shows them. */
export function viewExports(stack: Stack): ExportView[] {
  const { stackId } = stack.identity;
  return [...exportsOf(stack)].map(([name, value]) => ({ name, value: textOf(value), stackId }));
}

function textOf(value: Value): string {
  const shown = show(value);
  if (Array.isArray(shown)) return shown.map(String).join(",");
  return typeof shown === "object" ? JSON.stringify(shown) : String(shown);
}

function viewSlot(of: { logicalId: LogicalId; slot: Slot; knowledge: Knowledge }): ResourceView[] {
  const { current, former, changedAt } = of.slot;
  // Fact 99: what failed before it was there is not described.
  const last = former.findLast(({ physicalId }) => physicalId !== undefined);
  const part =
    current === undefined ? (last === undefined ? undefined : partOfFormer(last)) : partOfCurrent(current);
  if (part === undefined) return [];
  return [
    {
      ...part,
      logicalId: of.logicalId,
      changedAt,
      simulated: !isOwnType(part.type) && of.knowledge.facts(part.type)?.kind === "simulated",
    },
  ];
}

type Part = Omit<ResourceView, "logicalId" | "changedAt" | "simulated">;

function partOfCurrent(resource: Resource): Part {
  const { type, properties, metadata } = declaredOf(resource);
  const physicalId = physicalIdOf(resource);
  const requestId: RequestId | undefined = "requestId" in resource ? resource.requestId : undefined;
  return {
    type,
    status: resource.status,
    properties: showMap(properties),
    attributes: "good" in resource ? showMap(resource.good.attributes) : {},
    ...(physicalId === undefined ? {} : { physicalId }),
    ...("reason" in resource ? { reason: resource.reason } : {}),
    ...(metadata === undefined ? {} : { metadata: show(metadata) }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

function partOfFormer(former: Former): Part {
  const { declared, physicalId, requestId, reason, status } = former;
  return {
    type: declared.type,
    // What waits for its turn still looks as it did.
    status: status === "WAITING" ? "DELETE_IN_PROGRESS" : status,
    properties: showMap(declared.properties),
    attributes: showMap(former.attributes),
    ...(physicalId === undefined ? {} : { physicalId }),
    ...(reason === undefined ? {} : { reason }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

/** The stack event that a record shows as, if it does. `sequence`: the record's number in its stack, from 1. */
export function viewEvent(
  record: StackRecord,
  at: { identity: StackIdentity; sequence: number },
): StackEvent | undefined {
  const { identity, sequence } = at;
  const { token, operationNumber } = record;
  const base = {
    sequence,
    at: record.at,
    stackId: identity.stackId,
    stackName: identity.stackName,
    ...(token === undefined ? {} : { clientRequestToken: token }),
    ...(operationNumber === undefined
      ? {}
      : { operationId: makeOperationId(identity.stackId, operationNumber) }),
  };
  if (record.kind === "stack-status") {
    return {
      ...base,
      eventId: makeEventId(identity.stackId, sequence),
      logicalId: identity.stackName,
      physicalId: identity.stackId,
      resourceType: "AWS::CloudFormation::Stack",
      status: record.status,
      ...(record.reason === undefined ? {} : { reason: record.reason }),
    };
  }
  if (record.kind !== "resource" || record.shown === undefined) return undefined;
  const { status, physicalId, type, properties, reason, requestId } = record.shown;
  return {
    ...base,
    eventId: resourceEventId(record, { stackId: identity.stackId, sequence }),
    logicalId: record.logicalId,
    physicalId,
    resourceType: type,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(properties === undefined ? {} : { properties: showMap(properties) }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

/** Fact 93. */
function resourceEventId(
  record: Extract<StackRecord, { kind: "resource" }>,
  at: { stackId: StackIdentity["stackId"]; sequence: number },
): string {
  if (record.shown?.properties === undefined)
    return `${record.logicalId}-${makeEventId(at.stackId, at.sequence)}`;
  return `${record.logicalId}-${record.shown.status}-${new Date(record.at).toISOString()}`;
}
