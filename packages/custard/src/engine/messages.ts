/** What CloudFormation says, word for word. Each text names the fact that recorded it. */
import { hideSignatures } from "./hide-signatures.ts";
import type { RequestId, StackId } from "./ids.ts";
import type { Failure } from "./stack.ts";

/** Facts 61 and 87. */
export const creationInitiated = "Resource creation Initiated";
/** Fact 87; for custom resources a decision (design section 9). */
export const replacementNeeded =
  "Requested update requires the creation of a new physical resource; hence creating one.";
/** Fact 64. */
export const creationCancelled = "Resource creation cancelled";
/** Fact 66. */
export const updateCancelled = "Resource update cancelled";
/** Fact 66. */
export const stackUpdateCancelled = "Stack update cancelled";
/** Facts 85 and 86. */
export const userInitiated = "User Initiated";
/** Fact 73. */
export const serviceTokenModified = "Modifying service token is not allowed.";
/** Fact 76. */
export const cleanupIncomplete = "Update successful. One or more resources could not be deleted.";
/** The counterpart of fact 76 after a rollback; not recorded. */
export const rollbackCleanupIncomplete = "One or more resources could not be deleted.";
/** The event of a stack whose `TimeoutInMinutes` has passed; recorded publicly, fact 127 adds what follows. */
export const creationTimedOut = "Stack creation time exceeded the specified timeout";
/** Fact 110b. */
export const invalidPolicy = "Error validating stack policy: Invalid stack policy";
/** Fact 120. */
export const noTemplate = "Either Template URL or Template Body must be specified.";
/** Fact 125. */
export const rollbackContradiction = "Either DisableRollback or OnFailure can be specified, not both.";
/** Fact 113. */
export const noUpdates = "No updates are to be performed.";

/** Fact 41; a response URL in the provider's message loses its signature. */
export function providerFailed(reason: string, requestId: RequestId): string {
  return `Received response status [FAILED] from custom resource. Message returned: ${hideSignatures(reason)} (RequestId: ${requestId})`;
}

/** Fact 44. */
export function noResponse(requestId: RequestId): string {
  return (
    `CloudFormation did not receive a response from your Custom Resource. Please check your logs for requestId [${requestId}]. ` +
    "If you are using the Python cfn-response module, you may need to update your Lambda function code so that CloudFormation can attach the updated version."
  );
}

/** Fact 54. */
export function missingAttribute(
  name: string,
  answer: { stackId: StackId; logicalId: string; requestId: RequestId },
): string {
  const object = `${answer.stackId}|${answer.logicalId}|${answer.requestId}`;
  return `CustomResource attribute error: Vendor response doesn't contain ${name} attribute in object ${object}`;
}

/** Facts 89 to 91: what failed, new resources first. */
export function failedResources(failures: readonly Failure[]): string {
  return (["create", "update"] as const)
    .map((verb) => ({
      verb,
      names: failures.filter((failure) => failure.verb === verb).map((failure) => failure.logicalId),
    }))
    .filter(({ names }) => names.length > 0)
    .map(({ verb, names }) => `The following resource(s) failed to ${verb}: [${names.join(", ")}].`)
    .join(" ");
}

/** Fact 78; the blank at its end was recorded. */
export function failedDeletions(names: readonly string[]): string {
  return `The following resource(s) failed to delete: [${names.join(", ")}]. `;
}

/** Fact 127: glued to whatever made a creation fail. */
export function rollbackRequested(reason: string): string {
  return `${reason} Rollback requested by user.`;
}

/** Fact 89, for a stack that goes when its creation fails. */
export function deleteRequested(reason: string): string {
  return `${reason} Delete requested by user.`;
}

/** Fact 114. */
export function notUpdatable(stackId: StackId, status: string): string {
  return `Stack:${stackId} is in ${status} state and can not be updated.`;
}

/** Fact 109. */
export function alreadyExists(stackName: string): string {
  return `Stack [${stackName}] already exists`;
}

/** Fact 110. */
export function stackNotFound(stack: string): string {
  return `Stack with id ${stack} does not exist`;
}

/** What AWS says of a call that the stack's status forbids, by the call's inner name. */
export function notCallable(call: string): string {
  return `${call} cannot be called from current stack status`;
}

/** What AWS shows of a resource that the stack policy protects; `statement` counts from 1. */
export function deniedByPolicy(denied: {
  readonly action: string;
  readonly logicalId: string;
  readonly statement?: number;
}): string {
  const { action, logicalId, statement } = denied;
  return statement === undefined
    ? `Action not allowed by stack policy: No statement allows [${action}] for resource [LogicalResourceId/${logicalId}]`
    : `Action denied by stack policy: Statement [#${statement}] does not allow [${action}] for resource [LogicalResourceId/${logicalId}]`;
}

/** Of a wait condition; seen in public event logs. */
export function waitTimedOut(received: number, expected: number): string {
  return `WaitCondition timed out. Received ${received} conditions when expecting ${expected}`;
}

/** Of a wait condition; seen in public event logs. */
export function waitFailed(reason: string, uniqueId: string): string {
  return `WaitCondition received failed message: '${hideSignatures(reason)}' for uniqueId: ${uniqueId}`;
}

/** Of a wait condition whose signal can't be read; seen in public event logs. */
export const unreadableSignal = "Unparsable WaitCondition data";

/** Of a resource with a creation policy; seen in public event logs. */
export function signalReceived(status: string, uniqueId: string): string {
  return `Received ${status} signal with UniqueId ${uniqueId}`;
}

/** Of a resource with a creation policy; seen in public event logs. */
export function signalsMissing(count: number): string {
  return `Failed to receive ${count} resource signal(s) within the specified duration`;
}

/** What SignalResource says of a resource that waits for no signal (any more). */
export function notSignalable(logicalId: string, status: string): string {
  return `Resource ${logicalId} is in ${status} state and cannot be signaled`;
}

/** Of a wait condition whose properties change. */
export const waitConditionFixed =
  "Update to resource type AWS::CloudFormation::WaitCondition is not supported.";

/** Fact 92. */
export function childNotCreated(stackId: StackId, reason: string): string {
  return `Embedded stack ${stackId} was not successfully created: ${reason}`;
}

/** The counterpart of fact 92 for an update; seen in public event logs. */
export function childNotUpdated(stackId: StackId, now: { status: string; reason: string }): string {
  return `Embedded stack ${stackId} was not successfully updated. Currently in ${now.status} with reason: ${now.reason}`;
}

/** The counterpart of fact 92 for a deletion; seen in public event logs. */
export function childNotDeleted(stackId: StackId, reason: string): string {
  return `Embedded stack ${stackId} was not successfully deleted: ${reason}`;
}

/** Of Fn::GetAtt on a nested stack. */
export function outputNotFound(name: string, stackId: string): string {
  return `Output '${name}' not found in stack '${stackId}'`;
}

/** Fact 112. */
export const noChanges =
  "The submitted information didn't contain changes. Submit different information to create a change set.";

/** Fact 112. */
export function notExecutable(changeSetId: string, status: string): string {
  return `ChangeSet [${changeSetId}] cannot be executed in its current status of [${status}]`;
}

/** Fact 111. */
export function changeSetNotFound(changeSet: string): string {
  return `ChangeSet [${changeSet}] does not exist`;
}

/** Fact 115. */
export function notCreatableAgain(stack: string, changeSetName: string): string {
  return `Stack [${stack}] already exists and cannot be created again with the changeSet [${changeSetName}].`;
}

/** Fact 110, of everything about change sets. */
export function stackMissing(stack: string): string {
  return `Stack [${stack}] does not exist`;
}

/** Fact 110b. */
export const changeSetWithoutStack =
  "StackName must be specified if ChangeSetName is not specified as an ARN.";

/** Fact 123. */
export function noExport(name: string): string {
  return `No export named ${name} found`;
}

/** Fact 123. */
export function exportNotDeletable(name: string, importers: readonly string[]): string {
  return `Export ${name} cannot be deleted as it is in use by ${enumerate(importers)}`;
}

/** The same for an export whose value would change; seen in public event logs. */
export function exportNotUpdatable(name: string, importers: readonly string[]): string {
  return `Export ${name} cannot be updated as it is in use by ${enumerate(importers)}`;
}

/** Two stacks with one export name; seen in public event logs. */
export function exportTaken(name: string, stackName: string): string {
  return `Export with name ${name} is already exported by stack ${stackName}`;
}

/** What ListImports says of an export that nobody uses. */
export function notImported(name: string): string {
  return `Export '${name}' is not imported by any stack.`;
}

/** `a`, `a and b`, `a, b and c`. */
function enumerate(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** Fact 122. */
export function terminationProtected(stackName: string): string {
  return `Stack [${stackName}] cannot be deleted while TerminationProtection is enabled`;
}

/** Of a nested stack's change set; not recorded. */
export function nestedNotExecutable(changeSetId: string, rootId: string): string {
  return `ChangeSet [${changeSetId}] is of a nested stack: execute the root change set [${rootId}]`;
}
