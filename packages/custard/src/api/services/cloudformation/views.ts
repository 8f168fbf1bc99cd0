/** What the engine shows of stacks, in the form of CloudFormation's API. */
import type {
  ChangeDetailView,
  OperationView,
  ParameterView,
  ResourceChangeView,
  ResourceView,
  StackEvent,
  StackView,
} from "../../../engine/views.ts";
import { toTags } from "../../tags.ts";
import type { WireObject } from "../../wire.ts";
import { toDeployment, toRollback } from "./terms.ts";

export function toStack(view: StackView): WireObject {
  return {
    StackId: view.stackId,
    StackName: view.stackName,
    ChangeSetId: view.changeSetId,
    Description: view.description,
    Parameters: toParameters(view.parameters),
    CreationTime: view.createdAt,
    DeletionTime: view.deletedAt,
    LastUpdatedTime: view.updatedAt,
    RollbackConfiguration: toRollback(view.terms),
    StackStatus: view.status,
    StackStatusReason: view.reason,
    DisableRollback: view.disableRollback,
    DeploymentConfig: toDeployment(view.terms),
    NotificationARNs: view.notificationArns,
    TimeoutInMinutes: view.timeoutMinutes,
    Capabilities: view.terms.capabilities,
    RoleARN: view.terms.roleArn,
    RetainExceptOnCreate: view.retainExceptOnCreate,
    DeletionMode: view.terms.deletionMode,
    LastOperations: toOperations(view.lastOperations),
    Outputs: view.outputs.map(({ name, value, description, exportName }) => ({
      OutputKey: name,
      OutputValue: value,
      Description: description,
      ExportName: exportName,
    })),
    Tags: toTags(view.tags),
    // Fact 97.
    EnableTerminationProtection: view.status === "DELETE_COMPLETE" ? undefined : view.terminationProtection,
    ParentId: view.parentId,
    RootId: view.rootId,
    DriftInformation: { StackDriftStatus: "NOT_CHECKED" },
  };
}

/** Undefined for stacks that were made before operations were counted. */
export function toOperations(operations: readonly OperationView[]): readonly WireObject[] | undefined {
  if (operations.length === 0) return undefined;
  return operations.map(({ type, id }) => ({ OperationType: type, OperationId: id }));
}

export function toParameters(parameters: readonly ParameterView[]): readonly WireObject[] {
  return parameters.map(({ name, value, resolvedValue }) => ({
    ParameterKey: name,
    ParameterValue: value,
    ResolvedValue: resolvedValue,
  }));
}

export function toEvent(event: StackEvent): WireObject {
  return {
    StackId: event.stackId,
    EventId: event.eventId,
    StackName: event.stackName,
    OperationId: event.operationId,
    LogicalResourceId: event.logicalId,
    PhysicalResourceId: event.physicalId,
    ResourceType: event.resourceType,
    Timestamp: event.at,
    ResourceStatus: event.status,
    ResourceStatusReason: event.reason,
    // Fact 94.
    ResourceProperties: event.properties === undefined ? undefined : JSON.stringify(event.properties),
    ClientRequestToken: event.clientRequestToken,
  };
}

/** A resource with its stack, as DescribeStackResources shows it. */
export function toResource(resource: ResourceView, stack: StackView): WireObject {
  return {
    StackName: stack.stackName,
    StackId: stack.stackId,
    LogicalResourceId: resource.logicalId,
    PhysicalResourceId: resource.physicalId,
    ResourceType: resource.type,
    Timestamp: resource.changedAt,
    ResourceStatus: resource.status,
    ResourceStatusReason: resource.reason,
    DriftInformation: { StackResourceDriftStatus: "NOT_CHECKED" },
  };
}

/** The same for DescribeStackResource. */
export function toResourceDetail(resource: ResourceView, stack: StackView): WireObject {
  const { Timestamp, ...shared } = toResource(resource, stack);
  return { ...shared, LastUpdatedTimestamp: Timestamp, Metadata: JSON.stringify(resource.metadata ?? {}) };
}

/** The same for ListStackResources. */
export function toResourceSummary(resource: ResourceView): WireObject {
  return {
    LogicalResourceId: resource.logicalId,
    PhysicalResourceId: resource.physicalId,
    ResourceType: resource.type,
    LastUpdatedTimestamp: resource.changedAt,
    ResourceStatus: resource.status,
    ResourceStatusReason: resource.reason,
    DriftInformation: { StackResourceDriftStatus: "NOT_CHECKED" },
  };
}

/** Fact 126. */
export function toChange(change: ResourceChangeView): WireObject {
  return {
    Type: "Resource",
    ResourceChange: {
      PolicyAction: change.policyAction,
      Action: change.action,
      LogicalResourceId: change.logicalId,
      PhysicalResourceId: change.physicalId,
      ResourceType: change.resourceType,
      ChangeSetId: change.changeSetId,
      Replacement: change.replacement,
      Scope: change.scope,
      Details: change.details.map(toDetail),
      BeforeContext: change.before === undefined ? undefined : JSON.stringify(change.before),
      AfterContext: change.after === undefined ? undefined : JSON.stringify(change.after),
    },
  };
}

function toDetail({ target, evaluation, changeSource, causingEntity }: ChangeDetailView): WireObject {
  return {
    Target: {
      Attribute: target.attribute,
      Name: target.name,
      RequiresRecreation: target.requiresRecreation,
      Path: target.path,
      BeforeValue: target.beforeValue,
      AfterValue: target.afterValue,
      AttributeChangeType: target.attributeChangeType,
    },
    Evaluation: evaluation,
    ChangeSource: changeSource,
    CausingEntity: causingEntity,
  };
}
