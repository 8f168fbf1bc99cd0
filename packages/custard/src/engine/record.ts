/**
 * What happened to a stack: the journal's content. A stack is the fold of its records; a stack event is the
 * rendering of one. Records carry the state that they lead to, so that the fold can't misread them.
 */
import type { ValueMap } from "../template/value.ts";
import type { ChangeSet } from "./change-set.ts";
import type { LogicalId, RequestId, StackId } from "./ids.ts";
import type { Former, Resource } from "./resource.ts";
import type {
  Call,
  Definition,
  Failure,
  Import,
  Importer,
  OperationStart,
  Output,
  Parent,
  ParentLink,
  Pending,
  Phase,
  Signal,
  StackIdentity,
  Terms,
} from "./stack.ts";
import type { StackStatus } from "./stack-status.ts";

/** The part of a resource record that users see as a stack event. */
export interface Shown {
  readonly status: string;
  readonly reason?: string;
  /** Empty while unknown. */
  readonly physicalId: string;
  readonly type: string;
  /** Absent on clean-up deletes (fact 93). */
  readonly properties?: ValueMap;
  readonly requestId?: RequestId;
}

/** How a request ended. `ignored`: the answer came for a request that isn't pending. */
export type Ending = "answered" | "timed-out" | "cancelled" | "refused" | "silent" | "done";

/** What happened between this stack and others that use its exports, or whose exports it uses. */
export type Dealing =
  | { readonly kind: "imports-asked"; readonly names: readonly string[] }
  | { readonly kind: "import-answered"; readonly name: string; readonly found?: Import }
  | { readonly kind: "import-released"; readonly name: string }
  | {
      readonly kind: "importer-added";
      readonly name: string;
      readonly importer: StackId;
      readonly by: Importer;
    }
  | { readonly kind: "importer-removed"; readonly name: string; readonly importer: StackId }
  | { readonly kind: "exports-claimed"; readonly names: ReadonlySet<string> };

/** What happened between a nested stack and its parent. */
export type ParentDealing =
  | { readonly kind: "parent-waits"; readonly link: ParentLink }
  | { readonly kind: "parent-told" };

/** How an operation goes. */
export type Progress =
  | {
      readonly kind: "operation-started";
      readonly operation: OperationStart;
      /** What the stack is to become; absent for a delete. */
      readonly definition?: Definition;
    }
  | { readonly kind: "phase-entered"; readonly phase: Phase; readonly held?: boolean }
  /** The parent's word has come: the clean-up may begin. */
  | { readonly kind: "cleanup-released" }
  | { readonly kind: "pass-started" }
  | { readonly kind: "resources-done"; readonly logicalIds: readonly LogicalId[] }
  | { readonly kind: "resource-failed"; readonly failure: Failure }
  /** A rollback that failed goes on; what is skipped counts as rolled back. */
  | {
      readonly kind: "rollback-continued";
      readonly skipped: readonly LogicalId[];
      readonly skipNested?: readonly string[];
      readonly clientRequestToken?: string;
      readonly terms?: Terms;
    }
  /** An operation that had stopped where it failed is undone after all. */
  | {
      readonly kind: "rollback-chosen";
      readonly retainExceptOnCreate: boolean;
      readonly clientRequestToken?: string;
      readonly terms?: Terms;
    }
  | { readonly kind: "operation-ended" };

/** What happened. */
export type Happening =
  | Progress
  | Dealing
  | ParentDealing
  | {
      readonly kind: "stack-created";
      readonly identity: StackIdentity;
      readonly seed: string;
      readonly terminationProtection: boolean;
      readonly definition: Definition;
      readonly timeoutMinutes?: number;
      readonly parent?: Parent;
    }
  | { readonly kind: "called"; readonly call: Call }
  | { readonly kind: "termination-protection-set"; readonly enabled: boolean }
  | { readonly kind: "policy-set"; readonly policy: string }
  | { readonly kind: "change-set-created"; readonly changeSet: ChangeSet }
  | { readonly kind: "change-set-executed"; readonly name: string }
  | { readonly kind: "change-set-deleted"; readonly name: string }
  | { readonly kind: "stack-status"; readonly status: StackStatus; readonly reason?: string }
  | {
      readonly kind: "resource";
      readonly logicalId: LogicalId;
      /** Null: there is none any more. Absent: as before. */
      readonly current?: Resource | null;
      readonly former?: readonly Former[];
      readonly shown?: Shown;
    }
  | { readonly kind: "resource-forgotten"; readonly logicalId: LogicalId }
  | { readonly kind: "request-issued"; readonly request: Pending }
  | { readonly kind: "request-ended"; readonly requestId: RequestId; readonly ending: Ending }
  | { readonly kind: "signalled"; readonly logicalId: LogicalId; readonly signal: Signal }
  | { readonly kind: "signals-cleared"; readonly logicalId: LogicalId }
  | { readonly kind: "answer-ignored"; readonly requestId: RequestId; readonly why: string }
  | { readonly kind: "definition-restored"; readonly definition: Definition }
  | { readonly kind: "outputs-changed"; readonly outputs: ReadonlyMap<string, Output> };

/**
 * What happened, when, and in which operation: its client request token, if the call had one (fact 95), and the number
 * of the record with which it began.
 */
export type StackRecord = Happening & {
  readonly at: number;
  readonly token?: string;
  readonly operationNumber?: number;
};
