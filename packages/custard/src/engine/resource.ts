/**
 * A resource of a stack: a union by status; what a status doesn't have, it can't hold.
 *
 * Invariants
 * R1: a physical id stands in at most one place of a slot: `current` or one of `former`.
 * R2: `declared` is what was last sent (or is being sent); `good` is what the provider last confirmed.
 * R3: a failed resource without `requested` was never asked for; nothing has to be undone or deleted for it.
 */
import type { DeletionPolicy, UpdateReplacePolicy } from "../template/template.ts";
import type { Value, ValueMap } from "../template/value.ts";
import type { LogicalId, PhysicalId, RequestId } from "./ids.ts";

/** A resource's declaration with its values resolved. */
export interface Declared {
  readonly type: string;
  readonly properties: ValueMap;
  readonly deletionPolicy: DeletionPolicy;
  readonly updateReplacePolicy: UpdateReplacePolicy;
  /** Everything that it depends on, explicitly and by reference. */
  readonly dependsOn: readonly LogicalId[];
  readonly metadata?: Value;
  /** It is complete only after so many signals (CreationPolicy). */
  readonly creationPolicy?: CreationPolicy;
}

/** How many signals a resource waits for, and how long in ms. */
export interface CreationPolicy {
  readonly count: number;
  readonly timeout: number;
}

/** What a provider confirmed. */
export interface Good {
  readonly declared: Declared;
  readonly physicalId: PhysicalId;
  /** `Data` of the newest successful answer (fact 57). */
  readonly attributes: ValueMap;
  /** The request that was answered so; part of the text of fact 54. */
  readonly requestId: RequestId;
}

/** The resource that a logical id stands for now. */
export type Resource =
  | {
      readonly status: "CREATE_IN_PROGRESS";
      readonly declared: Declared;
      readonly requestId: RequestId;
      /** Made by the engine: taken when no answer brings an id (facts 39, 63, 65). */
      readonly provisionalId: PhysicalId;
      /** Its "Resource creation Initiated" was shown before the outcome. */
      readonly initiated?: true;
    }
  | {
      readonly status: "CREATE_FAILED";
      readonly declared: Declared;
      readonly requested: false;
      readonly reason: string;
    }
  | {
      readonly status: "CREATE_FAILED";
      readonly declared: Declared;
      readonly requested: true;
      readonly physicalId: PhysicalId;
      readonly requestId: RequestId;
      readonly reason: string;
    }
  | { readonly status: "CREATE_COMPLETE" | "UPDATE_COMPLETE"; readonly good: Good }
  | {
      readonly status: "UPDATE_IN_PROGRESS";
      readonly declared: Declared;
      readonly good: Good;
      /** The id that the request names; differs from `good`'s when a failed update brought another (fact 71). */
      readonly physicalId: PhysicalId;
      readonly requestId: RequestId;
      /** Set when a new physical resource is being created for it: a built-in type's replacement. */
      readonly replacementId?: PhysicalId;
      /** The new physical resource is there, and waits for its signals. */
      readonly initiated?: true;
    }
  | {
      readonly status: "UPDATE_FAILED";
      readonly declared: Declared;
      readonly good: Good;
      readonly physicalId: PhysicalId;
      readonly requested: boolean;
      readonly requestId?: RequestId;
      readonly reason: string;
    };

/** A physical resource that awaits its deletion, or has met it. */
export interface Former {
  readonly declared: Declared;
  /** Absent: nothing was ever requested, so nothing is to be deleted (R3). */
  readonly physicalId?: PhysicalId;
  readonly attributes: ValueMap;
  /** Why it goes: it decides which policy may keep it. */
  readonly cause: "removed" | "replaced" | "creation-undone" | "replacement-undone";
  readonly status: "WAITING" | "DELETE_IN_PROGRESS" | "DELETE_FAILED" | "DELETE_COMPLETE" | "DELETE_SKIPPED";
  readonly reason?: string;
  readonly requestId?: RequestId;
  /** How many deletions of it were tried in this operation. */
  readonly attempts: number;
}

/** All that a logical id stands for. */
export interface Slot {
  readonly current?: Resource;
  readonly former: readonly Former[];
  readonly changedAt: number;
}

/** Is it there and unharmed? */
export function isLive(
  resource: Resource | undefined,
): resource is Extract<Resource, { status: "CREATE_COMPLETE" | "UPDATE_COMPLETE" }> {
  return resource?.status === "CREATE_COMPLETE" || resource?.status === "UPDATE_COMPLETE";
}

/** What was last sent to the provider, or would have been. */
export function declaredOf(resource: Resource): Declared {
  return isLive(resource) ? resource.good.declared : resource.declared;
}

/** Its physical id as far as it is known; a create in flight has none yet. */
export function physicalIdOf(resource: Resource): PhysicalId | undefined {
  switch (resource.status) {
    case "CREATE_IN_PROGRESS":
      return undefined;
    case "CREATE_FAILED":
      return resource.requested ? resource.physicalId : undefined;
    case "CREATE_COMPLETE":
    case "UPDATE_COMPLETE":
      return resource.good.physicalId;
    case "UPDATE_IN_PROGRESS":
    case "UPDATE_FAILED":
      return resource.physicalId;
  }
}

/** What failed in an update without anybody having been asked is what it was before (R3). */
export function unharmed(resource: Resource | undefined): Resource | undefined {
  return resource?.status === "UPDATE_FAILED" && !resource.requested
    ? { status: "UPDATE_COMPLETE", good: { ...resource.good, physicalId: resource.physicalId } }
    : resource;
}

/** What its provider was last sent: an update that was refused before it left never reached it (R3). */
function sentOf(resource: Resource): Declared {
  if (resource.status === "UPDATE_FAILED" && !resource.requested) return resource.good.declared;
  return declaredOf(resource);
}

/** The resource as one that awaits deletion. A create in flight goes by its provisional id. */
export function toFormer(resource: Resource, cause: Former["cause"]): Former {
  const physicalId =
    resource.status === "CREATE_IN_PROGRESS" ? resource.provisionalId : physicalIdOf(resource);
  return {
    // Fact 6: also the service token and the timeout are those in force.
    declared: sentOf(resource),
    ...(physicalId === undefined ? {} : { physicalId }),
    attributes: "good" in resource ? resource.good.attributes : {},
    cause,
    status: "WAITING",
    attempts: 0,
  };
}

/** Is it a stack of its own? */
export function isNestedStack(type: string): boolean {
  return type === "AWS::CloudFormation::Stack";
}

/** Does it wait for signals, and for nothing else? */
export function isWaitCondition(type: string): boolean {
  return type === "AWS::CloudFormation::WaitCondition";
}

/** Is it the address that a wait condition's signals go to? */
export function isWaitHandle(type: string): boolean {
  return type === "AWS::CloudFormation::WaitConditionHandle";
}

/** Does the engine itself bring it about, without a provider or a built-in type? */
export function isOwnType(type: string): boolean {
  return isNestedStack(type) || isWaitCondition(type) || isWaitHandle(type);
}

/** Is its type a custom resource? Source: AWS::CloudFormation::CustomResource reference. */
export function isCustom(type: string): boolean {
  return type.startsWith("Custom::") || type === "AWS::CloudFormation::CustomResource";
}
