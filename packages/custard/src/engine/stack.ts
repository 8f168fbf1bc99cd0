/**
 * The state of a stack: one immutable, serialisable value; a fold of its records (`apply.ts`).
 *
 * Invariants
 * S1: `requests` holds at most one request per logical id.
 * S2: while an operation runs there is a pending request or an export asked for, or the decision that left none has
 *     ended it.
 * S3: during an update `operation.before` is the state that a rollback returns to.
 */
import type { ParameterValue } from "../template/known.ts";
import type { Template } from "../template/template.ts";
import type { Value, ValueMap } from "../template/value.ts";
import type { ChangeSet } from "./change-set.ts";
import type { LogicalId, PhysicalId, RequestId, StackId } from "./ids.ts";
import type { Slot } from "./resource.ts";
import type { StackStatus } from "./stack-status.ts";

/** Who a stack is; never changes. */
export interface StackIdentity {
  readonly stackId: StackId;
  readonly stackName: string;
  readonly account: string;
  readonly region: string;
  readonly partition: string;
}

/** What a stack is to be: a template with everything that gives it values. */
export interface Definition {
  readonly template: Template;
  readonly parameters: ReadonlyMap<string, ParameterValue>;
  readonly conditions: ReadonlyMap<string, boolean>;
  /** Every resource that exists under the conditions, in the template's order, with all that it depends on. */
  readonly dependencies: ReadonlyMap<LogicalId, ReadonlySet<LogicalId>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly notificationArns: readonly string[];
  /** The folder of the template's file, when it came from one. */
  readonly directory?: string;
}

/** One output in force. */
export interface Output {
  readonly value: Value;
  readonly description?: string;
  readonly exportName?: string;
}

/** What to do when a stack's creation or update fails. */
export type OnFailure = "ROLLBACK" | "DELETE" | "DO_NOTHING";

/** The part of an operation that runs. */
export type Phase = "forward" | "rollback" | "cleanup" | "rollback-cleanup" | "delete";

/** A resource that failed in the phase, by what was being done to it. */
export interface Failure {
  readonly logicalId: LogicalId;
  readonly verb: "create" | "update";
  /** It failed only because something else did. */
  readonly cancelled?: true;
}

/** The state that an update's rollback returns to. */
export interface Before {
  readonly definition: Definition;
  readonly resources: ReadonlyMap<LogicalId, Slot>;
  readonly outputs: ReadonlyMap<string, Output>;
}

/** A rollback trigger: an alarm that would undo an operation. Nothing here has alarms; they are shown, not watched. */
export interface RollbackTrigger {
  readonly arn: string;
  readonly type: string;
}

/**
 * What a caller says beside the template that decides nothing here and is shown to whoever asks: nobody is authorised
 * by a role, and nothing has alarms.
 */
export interface Terms {
  readonly roleArn?: string;
  readonly capabilities?: readonly string[];
  readonly rollback?: { readonly triggers: readonly RollbackTrigger[]; readonly minutes?: number };
  readonly deploymentMode?: string;
  readonly deletionMode?: string;
}

/** An operation as users count them: a rollback is one of its own. */
export interface OperationEntry {
  readonly type: "CREATE_STACK" | "UPDATE_STACK" | "DELETE_STACK" | "ROLLBACK" | "CONTINUE_ROLLBACK";
  /** Of the record with which it began: its id is made of that. */
  readonly number: number;
}

/** What an operation starts with. */
export interface OperationStart {
  readonly kind: "create" | "update" | "delete";
  readonly phase: Phase;
  readonly onFailure: OnFailure;
  readonly clientRequestToken?: string;
  /** Logical ids that a delete is to leave alone. */
  readonly retain: ReadonlySet<LogicalId>;
  /** A rollback deletes what the operation created, even where its policy says Retain. */
  readonly retainExceptOnCreate?: boolean;
  /** A parent stack decides when the operation is over: nothing is cleaned up before it says so. */
  readonly nested?: true;
  /** The name of the change set that is being executed. */
  readonly changeSet?: string;
  /** A delete ends well although something could not be deleted. */
  readonly force?: boolean;
  /** The stack policy of this one update, in place of the stack's own. */
  readonly policy?: string;
  readonly terms?: Terms;
}

/** The operation in flight. It stays after a failure from which it may be continued. */
export interface Operation extends OperationStart {
  /** S3; an update of a stack that was stable once has it, also across updates that failed without rollback. */
  readonly before?: Before;
  /** Logical ids with which the phase has finished. */
  readonly done: ReadonlySet<LogicalId>;
  /** Logical ids that the forward phase has changed or tried to change. */
  readonly touched: ReadonlySet<LogicalId>;
  readonly failures: readonly Failure[];
  /** Names of exports for whose value the phase waits. */
  readonly asked: ReadonlySet<string>;
  /** Deletions go in passes; a clean-up has up to three. */
  readonly pass: number;
  /** The phase is a clean-up that waits for the parent's word. */
  readonly held: boolean;
  /** Who waits for the end of what is being done. */
  readonly waiting?: ParentLink;
  /** Resources of nested stacks that a rollback is to skip, as `<stack name>.<logical id>`. */
  readonly skipNested: readonly string[];
}

/** A request of a parent stack that this stack answers. */
export interface ParentLink {
  readonly stackId: StackId;
  readonly requestId: RequestId;
}

/** Whose nested stack it is. */
export interface Parent {
  readonly stackId: StackId;
  /** The outermost stack. */
  readonly rootId: StackId;
  readonly logicalId: LogicalId;
}

interface PendingBase {
  readonly requestId: RequestId;
  readonly logicalId: LogicalId;
  readonly type: string;
  readonly properties: ValueMap;
  readonly issuedAt: number;
}

/** What is being done: which change, and to which physical resource. */
export type Action =
  | { readonly action: "create" }
  | { readonly action: "update"; readonly physicalId: PhysicalId; readonly oldProperties: ValueMap }
  | { readonly action: "delete"; readonly physicalId: PhysicalId };

/** A request that awaits its outcome. Its deadline is a command in the journal. */
export type Pending =
  | (PendingBase &
      Action & { readonly kind: "provider"; readonly serviceToken: string; readonly deadline: number })
  | (PendingBase & Action & { readonly kind: "task"; readonly targetId: PhysicalId })
  | ChildPending
  | SignalsPending;

/** What a resource that waits for signals, or a wait condition's handle, was told. */
export interface Signal {
  readonly uniqueId: string;
  /** `INVALID`: what came was no signal. */
  readonly status: "SUCCESS" | "FAILURE" | "INVALID";
  readonly reason?: string;
  readonly data?: string;
}

/** A wait for signals. Its deadline is a command in the journal. */
export type SignalsPending = PendingBase & {
  readonly kind: "signals";
  readonly action: "create";
  /** Whose signals count: the handle's, or the resource's own. */
  readonly source: LogicalId;
  readonly count: number;
  readonly deadline: number;
  /** What the resource is when they have come. */
  readonly targetId: PhysicalId;
  readonly attributes: ValueMap;
};

/** A request to a nested stack. `commit`: the operation can't be rolled back any more, so it may clean up. */
export type ChildPending = PendingBase &
  (Action | { readonly action: "commit" }) & {
    readonly kind: "child";
    readonly childId: StackId;
    /** The update is one that undoes what was done before. */
    readonly undo: boolean;
  };

/** An export of another stack that this one uses. It can't change while it does. */
export interface Import {
  readonly exporter: StackId;
  readonly value: Value;
}

/** A stack that uses one of this one's exports. */
export interface Importer {
  readonly stackName: string;
  /** Grows with each time that the importer asks: an old release doesn't end a newer use. */
  readonly sequence: number;
}

/** A user's call, as far as its repetition has to be known. */
export interface Call {
  readonly action: "create" | "update" | "delete" | "cancel" | "continue" | "rollback" | "execute";
  readonly token: string;
}

/** A stack. */
export interface Stack {
  /** By export name. */
  readonly imports: ReadonlyMap<string, Import>;
  /** Who uses this stack's exports, by export name. */
  readonly importers: ReadonlyMap<string, ReadonlyMap<StackId, Importer>>;
  /** Export names that no other stack can take while this one has them. */
  readonly claimedExports: ReadonlySet<string>;
  /** Signals that came, by the logical id of the handle or resource; each unique id once. */
  readonly signals: ReadonlyMap<LogicalId, readonly Signal[]>;
  /** By name. */
  readonly changeSets: ReadonlyMap<string, ChangeSet>;
  /** The id of the change set that made the stack what it is; none after a direct update (fact 97). */
  readonly changeSetId: string | undefined;
  readonly identity: StackIdentity;
  /** From which all its ids are made. */
  readonly seed: string;
  /** How many records it is made of. */
  readonly version: number;
  readonly status: StackStatus;
  readonly reason: string | undefined;
  /** Of a nested stack. */
  readonly parent?: Parent;
  /** The parent's newest request: its repetition does nothing. */
  readonly lastParentRequest?: RequestId;
  readonly createdAt: number;
  readonly updatedAt?: number;
  readonly deletedAt?: number;
  readonly terminationProtection: boolean;
  /** The stack policy in force, as its owner wrote it. */
  readonly policy?: string;
  /** The last call that had a client request token: its repetition does nothing. */
  readonly lastCall?: Call;
  /** Of the last operation; what it didn't say of role and rollback triggers, of the one before. */
  readonly terms?: Terms;
  /** Did the last creation or update ask for it? */
  readonly retainExceptOnCreate?: boolean;
  /** The last operation, and in front of it the rollback that ended it. Absent in stacks of older journals. */
  readonly lastOperations?: readonly OperationEntry[];
  /** How the stack's creation was to be guarded; shown to users. */
  readonly timeoutMinutes?: number;
  /** Was the last operation to leave everything as it is on failure? */
  readonly disableRollback: boolean;
  readonly definition: Definition;
  readonly operation: Operation | undefined;
  readonly resources: ReadonlyMap<LogicalId, Slot>;
  readonly requests: ReadonlyMap<RequestId, Pending>;
  readonly outputs: ReadonlyMap<string, Output>;
}
