/** Operations on the resources and events of a stack. */
import type { ResourceView, StackEvent, StackView } from "../../../engine/views.ts";
import { pageOf } from "../../pages.ts";
import type { ApiCall, Handler } from "../../service.ts";
import { changeSetOf } from "./change-sets.ts";
import { validationError } from "./errors.ts";
import { changeSetEvents, type OperationEvent, operationEvents, operationIdOf } from "./operation-events.ts";
import { stackOf, summariesIn } from "./stacks.ts";
import { toEvent, toResource, toResourceDetail, toResourceSummary } from "./views.ts";
import { bracketed, type CloudFormationWorld, missingAs, referenceOf } from "./world.ts";

type Handle = Handler<CloudFormationWorld>;

const pageSize = 100;

/** Newest first. */
export const describeStackEvents: Handle = async (call, world) => {
  const stack = call.input.need("StackName");
  const { items, next } = pageOf((await eventsOf(stack, call, world)).toReversed(), {
    keyOf: ({ eventId }) => eventId,
    size: pageSize,
    token: call.input.text("NextToken"),
  });
  return { StackEvents: items.map(toEvent), NextToken: next };
};

/** The same events in the newer form, by operation. Failed ones alone when the filter says so. */
export const describeEvents: Handle = async (call, world) => {
  const failedOnly = call.input.object("Filters")?.flag("FailedEvents") === true;
  const operationId = call.input.text("OperationId");
  const events = (await operationEventsOf(call, world)).filter(
    (event) =>
      (operationId === undefined || event.operationId === operationId) && (!failedOnly || event.failed),
  );
  const { items, next } = pageOf(events.toReversed(), {
    keyOf: ({ id }) => id,
    size: pageSize,
    token: call.input.text("NextToken"),
  });
  return { OperationEvents: items.map(({ wire }) => wire), NextToken: next };
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
  stack: string,
  call: ApiCall,
  { engine }: CloudFormationWorld,
): Promise<readonly StackEvent[]> {
  return await missingAs(stack, bracketed, async () => engine.events(referenceOf(stack, call)));
}

/** Of a stack, of a change set's making, or of an operation of whatever stack. */
async function operationEventsOf(
  call: ApiCall,
  world: CloudFormationWorld,
): Promise<readonly OperationEvent[]> {
  const { input } = call;
  if (input.has("ChangeSetName"))
    return changeSetEvents(await world.engine.changeSets.describe(changeSetOf(call)));
  const stack = input.text("StackName");
  if (stack !== undefined) return operationEvents(await eventsOf(stack, call, world));
  const operationId = input.text("OperationId");
  if (operationId === undefined)
    throw validationError("One of ChangeSetName, OperationId or StackName must be specified.");
  for (const { stackId } of await summariesIn(call.scope, world)) {
    const events = operationEvents(await world.engine.events(stackId));
    if (events.some((event) => event.operationId === operationId)) return events;
    for (const made of await world.engine.changeSets.list(stackId)) {
      if (operationIdOf(made.changeSetId) === operationId)
        return changeSetEvents(await world.engine.changeSets.describe({ changeSet: made.changeSetId }));
    }
  }
  throw validationError(`Operation [${operationId}] does not exist`);
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
