/** What the engine shows of stacks: plain values for command line, endpoint and embedders. Sensitive values show masked. */
import type { ChangeSetFamily } from "./change-set.ts";
import type { Json, JsonObject } from "@custard/provider/protocol";
import type { LogicalId, PhysicalId, RequestId, StackId } from "./ids.ts";
import type { OperationEntry, Terms } from "./stack.ts";

/** One stack event, as DescribeStackEvents shows it. */
export interface StackEvent {
  /** Fact 93: `<LogicalId>-<STATUS>-<time>` or a UUID. */
  readonly eventId: string;
  /** Position in the stack's history; later events have larger ones. */
  readonly sequence: number;
  readonly at: number;
  readonly stackId: StackId;
  readonly stackName: string;
  /** The stack's name for events of the stack itself. */
  readonly logicalId: string;
  /** Empty while unknown; the stack's id for events of the stack itself. */
  readonly physicalId: string;
  readonly resourceType: string;
  readonly status: string;
  readonly reason?: string;
  /** Resolved properties, sensitive parts masked; a JSON string on the wire (fact 94). */
  readonly properties?: JsonObject;
  readonly clientRequestToken?: string;
  /** Of the operation that it belongs to; none in journals of older versions. */
  readonly operationId?: string;
  /** The request to a provider that this event is about, for its logs and trace. */
  readonly requestId?: RequestId;
}

/** One output. */
export interface OutputView {
  readonly name: string;
  readonly value: string;
  readonly description?: string;
  readonly exportName?: string;
}

/** One export, as ListExports shows it. */
export interface ExportView {
  readonly name: string;
  readonly value: string;
  readonly stackId: StackId;
}

/** One parameter in force; NoEcho values show as `****` (fact 103). */
export interface ParameterView {
  readonly name: string;
  readonly value: string;
  readonly resolvedValue?: string;
}

/** One resource of a stack. */
export interface ResourceView {
  readonly logicalId: LogicalId;
  readonly physicalId?: PhysicalId;
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly changedAt: number;
  /** A placeholder type: nothing real stands behind it. */
  readonly simulated: boolean;
  readonly properties: JsonObject;
  readonly attributes: JsonObject;
  readonly metadata?: Json;
  /** Of the request that is pending, or else of the last one. */
  readonly requestId?: RequestId;
}

/** A stack, as DescribeStacks and DescribeStackResources show it. */
export interface StackView {
  readonly stackId: StackId;
  readonly stackName: string;
  readonly account: string;
  readonly region: string;
  readonly status: string;
  readonly reason?: string;
  /** No operation is running. */
  readonly settled: boolean;
  readonly createdAt: number;
  readonly updatedAt?: number;
  readonly deletedAt?: number;
  readonly description?: string;
  readonly parameters: readonly ParameterView[];
  readonly outputs: readonly OutputView[];
  readonly tags: Readonly<Record<string, string>>;
  readonly resources: readonly ResourceView[];
  /** As given. */
  readonly templateBody: string;
  /** After its transforms, when they have changed it. */
  readonly processedTemplateBody?: string;
  readonly terminationProtection: boolean;
  readonly disableRollback: boolean;
  readonly notificationArns: readonly string[];
  readonly timeoutMinutes?: number;
  /** Of a nested stack: the stack that it belongs to, and the outermost one. */
  readonly parentId?: StackId;
  readonly rootId?: StackId;
  /** Of the change set that made it what it is; none after a direct update (fact 97). */
  readonly changeSetId?: string;
  readonly terms: Terms;
  readonly retainExceptOnCreate?: boolean;
  /** The last operation, after the rollback that ended it. */
  readonly lastOperations: readonly OperationView[];
}

/** An operation: a rollback is one of its own. */
export interface OperationView {
  readonly type: OperationEntry["type"];
  readonly id: string;
}

/** A change set, as ListChangeSets shows it. */
export interface ChangeSetSummary {
  readonly changeSetId: string;
  readonly changeSetName: string;
  readonly stackId: StackId;
  readonly stackName: string;
  readonly type: "CREATE" | "UPDATE";
  readonly status: "CREATE_COMPLETE" | "FAILED";
  readonly reason?: string;
  readonly executionStatus:
    | "UNAVAILABLE"
    | "AVAILABLE"
    | "EXECUTE_IN_PROGRESS"
    | "EXECUTE_COMPLETE"
    | "EXECUTE_FAILED";
  readonly createdAt: number;
  readonly description?: string;
  readonly importExisting: boolean;
  readonly includesNested: boolean;
  readonly nestedIn?: ChangeSetFamily;
}

/** A change set, as DescribeChangeSet shows it. */
export interface ChangeSetView extends ChangeSetSummary {
  readonly parameters: readonly ParameterView[];
  readonly tags: Readonly<Record<string, string>>;
  readonly notificationArns: readonly string[];
  readonly templateBody: string;
  /** After its transforms, when they have changed it. */
  readonly processedTemplateBody?: string;
  readonly onStackFailure?: "ROLLBACK" | "DELETE" | "DO_NOTHING";
  readonly terms: Terms;
  readonly changes: readonly ResourceChangeView[];
}

/** What would happen to one resource (fact 126). */
export interface ResourceChangeView {
  readonly action: "Add" | "Modify" | "Remove";
  /** Of a nested stack: the change set that tells what would change in it. */
  readonly changeSetId?: string;
  readonly logicalId: LogicalId;
  readonly physicalId?: PhysicalId;
  readonly resourceType: string;
  readonly replacement?: "True" | "False" | "Conditional";
  readonly policyAction?: string;
  readonly scope: readonly string[];
  readonly details: readonly ChangeDetailView[];
  /** With values: the whole resource before and after; JSON texts on the wire. */
  readonly before?: JsonObject;
  readonly after?: JsonObject;
}

/** One reason for one change (fact 126). */
export interface ChangeDetailView {
  readonly target: {
    readonly attribute: string;
    readonly name?: string;
    readonly requiresRecreation: "Never" | "Conditionally" | "Always";
    readonly path?: string;
    readonly attributeChangeType?: "Add" | "Modify" | "Remove";
    readonly beforeValue?: string;
    readonly afterValue?: string;
  };
  readonly evaluation: "Static" | "Dynamic";
  readonly changeSource: string;
  readonly causingEntity?: string;
}
