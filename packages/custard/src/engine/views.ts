/** What the engine shows of stacks: plain values for command line, endpoint and embedders. Sensitive values show masked. */
import type { Json, JsonObject } from "@custard/provider/protocol";
import type { LogicalId, PhysicalId, RequestId, StackId } from "./ids.ts";

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
  readonly templateBody: string;
}
