/** Operations on the resources and events of a stack. */
import type { ResourceView, StackEvent, StackView } from "../../../engine/views.ts";
import { pageOf } from "../../pages.ts";
import type { ApiCall, Handler } from "../../service.ts";
import type { WireObject } from "../../wire.ts";
import { validationError } from "./errors.ts";
import { stackOf, summariesIn } from "./stacks.ts";
import { toEvent, toResource, toResourceDetail, toResourceSummary } from "./views.ts";
import { bracketed, type CloudFormationWorld, missingAs, referenceOf } from "./world.ts";

type Handle = Handler<CloudFormationWorld>;

const pageSize = 100;

/** Newest first. */
export const describeStackEvents: Handle = async (call, world) => {
  const { items, next } = await eventsOf(call, world);
  return { StackEvents: items.map(toEvent), NextToken: next };
};

/** The same events in the newer form, an operation's id on each. Failed ones alone when the filter says so. */
export const describeEvents: Handle = async (call, world) => {
  const failedOnly = call.input.object("Filters")?.flag("FailedEvents") === true;
  const { items, next } = await eventsOf(
    call,
    world,
    ({ status }) => !failedOnly || status.endsWith("_FAILED"),
  );
  return { OperationEvents: items.map(toOperationEvent), NextToken: next };
};

export const describeStackResource: Handle = async (call, world) => {
  const logicalId = call.input.need("LogicalResourceId");
  // Fact 110.
  const stack = await stackOf(call, world, (name) => `Stack '${name}' does not exist`);
  return { StackResourceDetail: toResourceDetail(resourceOf(stack, logicalId), stack) };
};

/** By stack, or by the physical id of one of its resources. */
export const describeStackResources: Handle = async (call, world) => {
  const stack = await stackOfResource(call, world);
  const logicalId = call.input.text("LogicalResourceId");
  const resources = logicalId === undefined ? stack.resources : [resourceOf(stack, logicalId)];
  return { StackResources: resources.slice(0, pageSize).map((resource) => toResource(resource, stack)) };
};

export const listStackResources: Handle = async (call, world) => {
  const stack = await stackOf(call, world, (name) => `Stack with id ${name} does not exist`);
  const { items, next } = pageOf(stack.resources, {
    keyOf: ({ logicalId }) => logicalId,
    size: pageSize,
    token: call.input.text("NextToken"),
  });
  return { StackResourceSummaries: items.map(toResourceSummary), NextToken: next };
};

async function eventsOf(
  call: ApiCall,
  world: CloudFormationWorld,
  isWanted: (event: StackEvent) => boolean = () => true,
) {
  const stack = call.input.need("StackName");
  const events = await missingAs(stack, bracketed, async () => world.engine.events(referenceOf(stack, call)));
  return pageOf(events.filter(isWanted).toReversed(), {
    keyOf: ({ eventId }) => eventId,
    size: pageSize,
    token: call.input.text("NextToken"),
  });
}

async function stackOfResource(call: ApiCall, world: CloudFormationWorld): Promise<StackView> {
  const name = call.input.text("StackName");
  if (name !== undefined)
    return await stackOf(call, world, (stack) => `Stack with id ${stack} does not exist`);
  const physicalId = call.input.text("PhysicalResourceId");
  if (physicalId === undefined)
    throw validationError("Either a stack name or a physical resource id must be specified.");
  for (const { stackId, status } of await summariesIn(call.scope, world)) {
    const stack = status === "DELETE_COMPLETE" ? undefined : await world.engine.stack(stackId);
    if (stack?.resources.some((resource) => resource.physicalId === physicalId) === true) return stack;
  }
  throw validationError(`Stack for ${physicalId} does not exist`);
}

function resourceOf(stack: StackView, logicalId: string): ResourceView {
  const found = stack.resources.find((resource) => resource.logicalId === logicalId);
  if (found !== undefined) return found;
  throw validationError(`Resource ${logicalId} does not exist for stack ${stack.stackName}`);
}

function toOperationEvent(event: StackEvent): WireObject {
  const { StackName: _, ...shared } = toEvent(event);
  return { ...shared, EventType: "STACK_EVENT" };
}
