/** What went well, and may still not be what was meant: CloudFormation says nothing of it. */
import type { ResourceView, StackEvent, StackView } from "../engine/views.ts";

/** A stack after an operation that succeeded, and the events of that. */
export interface Course {
  readonly events: readonly StackEvent[];
  readonly stack: StackView;
}

/** A line for each thing that is worth knowing, in the stack's order. */
export function notesOn(course: Course): readonly string[] {
  const custom = course.stack.resources.filter(isCustom);
  return [
    ...custom.flatMap((resource) => noteOnReplacement(resource, course)),
    ...custom.flatMap((resource) => noteOnId(resource, course)),
    ...noteOnCode(custom, course),
  ];
}

/** Is it a custom resource, by either spelling of its type? */
function isCustom({ type }: Pick<ResourceView, "type">): boolean {
  return type.startsWith("Custom::") || type === "AWS::CloudFormation::CustomResource";
}

/** The function of the same stack that answers for a custom resource. */
export function functionOf(resource: ResourceView, stack: StackView): ResourceView | undefined {
  const token = resource.properties["ServiceToken"];
  return stack.resources.find(
    ({ type, attributes }) => type === "AWS::Lambda::Function" && attributes["Arn"] === token,
  );
}

function noteOnReplacement({ logicalId }: ResourceView, { events }: Course): readonly string[] {
  const own = events.filter((event) => event.logicalId === logicalId);
  const before = own.find(({ status }) => status === "UPDATE_IN_PROGRESS")?.physicalId;
  const after = own.find(({ status }) => status === "UPDATE_COMPLETE")?.physicalId;
  if (before === undefined || after === undefined || before === after) return [];
  const deleted = own.some(
    ({ status, physicalId }) => status === "DELETE_IN_PROGRESS" && physicalId === before,
  );
  const consequence = deleted ? ", and Delete was sent for the old one" : "; the old one is kept";
  return [
    `${logicalId} was replaced, since its provider answered Update with another physical id (${before}, then ${after})${consequence}.`,
  ];
}

/** The form of a log stream's name, which `cfn-response` and `cfnresponse` take when they are given no id. */
const logStream = /^\d{4}\/\d\d\/\d\d\/\[[^\]]*\][0-9a-f]{32}$/;

function noteOnId({ logicalId, physicalId }: ResourceView, { events }: Course): readonly string[] {
  const isNew = events.some((event) => event.logicalId === logicalId);
  if (!isNew || physicalId === undefined || !logStream.test(physicalId)) return [];
  return [
    `${logicalId} has the name of a log stream as its physical id: the next instance of its provider answers with another, so that an Update replaces it. Give send an id as its fifth argument, the same in every answer.`,
  ];
}

function noteOnCode(custom: readonly ResourceView[], { events, stack }: Course): readonly string[] {
  const updated = new Set(
    events.filter(({ status }) => status === "UPDATE_COMPLETE").map(({ logicalId }) => logicalId),
  );
  const stale = custom.filter((resource) => {
    const provider = functionOf(resource, stack);
    const isNew = events.some((event) => event.logicalId === resource.logicalId);
    return !isNew && provider !== undefined && updated.has(provider.logicalId);
  });
  if (stale.length === 0) return [];
  const names = stale.map(({ logicalId }) => logicalId).join(", ");
  return [
    `The function behind ${names} has changed, but was not called: an Update is sent only when the resource's own properties change. Give it one that changes with the code, e.g. a version.`,
  ];
}
