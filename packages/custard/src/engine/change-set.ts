/** Change sets as data: what an update would do, and whether it may be done. */
import type { Value, ValueMap } from "../template/value.ts";
import type { LogicalId, PhysicalId } from "./ids.ts";
import type { Definition, OnFailure, Terms } from "./stack.ts";

/** Is it for a stack that isn't there yet, or for one that is? */
export type ChangeSetType = "CREATE" | "UPDATE";

/** The part of a resource that a change is about. */
export type ChangedPart = "Properties" | "Metadata" | "Tags" | "DeletionPolicy" | "UpdateReplacePolicy";

/** Would the change make a new physical resource? */
export type Recreation = "Never" | "Conditionally" | "Always";

/** Why something changes. Source: fact 126. */
export type ChangeSource =
  | "DirectModification"
  | "ParameterReference"
  | "ResourceReference"
  | "ResourceAttribute"
  | "Automatic";

/** One reason for one change. */
export interface ChangeDetail {
  readonly part: ChangedPart;
  /** The property's name. */
  readonly name?: string;
  readonly recreation: Recreation;
  readonly evaluation: "Static" | "Dynamic";
  readonly source: ChangeSource;
  /** What causes it: a parameter, a resource, or `<resource>.<attribute>`. */
  readonly cause?: string;
  readonly before?: Value;
  readonly after?: Value;
  /** It goes without saying unless values are shown. */
  readonly withValuesOnly?: true;
}

/** What would happen to one resource. */
export interface ResourceChange {
  readonly action: "Add" | "Modify" | "Remove";
  readonly logicalId: LogicalId;
  readonly physicalId?: PhysicalId;
  readonly type: string;
  readonly replacement?: "True" | "False" | "Conditional";
  readonly policyAction?: string;
  readonly details: readonly ChangeDetail[];
  readonly before?: ValueMap;
  readonly after?: ValueMap;
}

/** A change set of a stack. */
export interface ChangeSet {
  readonly id: string;
  readonly name: string;
  readonly type: ChangeSetType;
  readonly description?: string;
  readonly createdAt: number;
  readonly status: "CREATE_COMPLETE" | "FAILED";
  readonly reason?: string;
  readonly executed: boolean;
  readonly definition: Definition;
  readonly changes: readonly ResourceChange[];
  readonly onFailure?: OnFailure;
  readonly terms?: Terms;
  readonly clientToken?: string;
  readonly importExisting?: boolean;
  /** Change sets of its nested stacks were made with it. */
  readonly includesNested?: boolean;
  readonly nestedIn?: ChangeSetFamily;
}

/** Of a nested stack's change set: the one that it belongs to, and the outermost one, by their ids. */
export interface ChangeSetFamily {
  readonly parent: string;
  readonly root: string;
}

/** What stands for a value that only the change itself will bring (fact 126). */
export const knownAfterApply = "{{changeSet:KNOWN_AFTER_APPLY}}";
