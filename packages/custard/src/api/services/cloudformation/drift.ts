/**
 * Drift: nothing changes resources here behind their stacks' backs, so that nothing has drifted. Custom resources are
 * not checked, as with AWS.
 */
import { createHash } from "node:crypto";
import type { ResourceView, StackView } from "../../../engine/views.ts";
import type { StackId } from "../../../engine/ids.ts";
import { pageOf } from "../../pages.ts";
import type { Handler } from "../../service.ts";
import type { WireObject } from "../../wire.ts";
import { validationError } from "./errors.ts";
import { stackOf, summariesIn } from "./stacks.ts";
import { bracketed, type CloudFormationWorld } from "./world.ts";

type Handle = Handler<CloudFormationWorld>;

export const detectStackDrift: Handle = async (call, world) => {
  const { stackId } = await stackOf(call, world, bracketed);
  return { StackDriftDetectionId: detectionIdOf(stackId) };
};

export const describeStackDriftDetectionStatus: Handle = async (call, world) => {
  const detectionId = call.input.need("StackDriftDetectionId");
  const summaries = await summariesIn(call.scope, world);
  const found = summaries.find(({ stackId }) => detectionIdOf(stackId) === detectionId);
  if (found === undefined) throw validationError(`Stack drift detection [${detectionId}] does not exist`);
  return {
    StackId: found.stackId,
    StackDriftDetectionId: detectionId,
    StackDriftStatus: "IN_SYNC",
    DetectionStatus: "DETECTION_COMPLETE",
    DriftedStackResourceCount: 0,
    Timestamp: world.now(),
  };
};

export const detectStackResourceDrift: Handle = async (call, world) => {
  const stack = await stackOf(call, world, bracketed);
  const logicalId = call.input.need("LogicalResourceId");
  const resource = stack.resources.find((each) => each.logicalId === logicalId);
  if (resource === undefined)
    throw validationError(`Resource ${logicalId} does not exist for stack ${stack.stackName}`);
  return { StackResourceDrift: toDrift(resource, { stack, now: world.now() }) };
};

export const describeStackResourceDrifts: Handle = async (call, world) => {
  const stack = await stackOf(call, world, bracketed);
  const filters = call.input.texts("StackResourceDriftStatusFilters") ?? [];
  const resources = stack.resources.filter(
    (resource) => filters.length === 0 || filters.includes(statusOf(resource)),
  );
  const { items, next } = pageOf(resources, {
    keyOf: ({ logicalId }) => logicalId,
    size: call.input.number("MaxResults") ?? 100,
    token: call.input.text("NextToken"),
  });
  return {
    StackResourceDrifts: items.map((resource) => toDrift(resource, { stack, now: world.now() })),
    NextToken: next,
  };
};

/** The same for a stack at any time: there is nothing to be remembered of a detection. */
function detectionIdOf(stackId: StackId): string {
  const hex = createHash("sha256").update(`drift ${stackId}`).digest("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
}

function toDrift(resource: ResourceView, { stack, now }: { stack: StackView; now: number }): WireObject {
  const properties = JSON.stringify(resource.properties);
  return {
    StackId: stack.stackId,
    LogicalResourceId: resource.logicalId,
    PhysicalResourceId: resource.physicalId,
    ResourceType: resource.type,
    StackResourceDriftStatus: statusOf(resource),
    Timestamp: now,
    ...(statusOf(resource) === "IN_SYNC"
      ? { ExpectedProperties: properties, ActualProperties: properties, PropertyDifferences: [] }
      : {}),
  };
}

function statusOf({ type }: ResourceView): "IN_SYNC" | "NOT_CHECKED" {
  const isCustom = !type.startsWith("AWS::") || type === "AWS::CloudFormation::CustomResource";
  return isCustom ? "NOT_CHECKED" : "IN_SYNC";
}
